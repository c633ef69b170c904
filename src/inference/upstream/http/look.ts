/**
 * Looks at a socket without the event loop, whose next look may be far: with 1,000 streams a round of the loop takes tens of milliseconds. Takes
 * ten microseconds, since Node tells by an error that nothing has come.
 */
import { readSync } from "node:fs";
import type { Socket } from "node:net";

const ONE_BYTE = Buffer.alloc(1);

/**
 * Whether the peer of a plain TCP socket has neither sent a byte nor closed it; undefined where the system does not say. The byte is taken: a
 * socket that is not quiet must be closed.
 */
export function isQuiet(socket: Socket): boolean | undefined {
  // Node's only way to a socket's descriptor; where a later one has none, the event loop looks.
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd ?? -1;
  if (fd < 0) return undefined;
  try {
    readSync(fd, ONE_BYTE, 0, 1, null);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EAGAIN";
  }
}
