/** Sends a file as the client reads it: a part of it is in memory at a time. */
import { open } from "node:fs/promises";
import type { SocketReply } from "./reply.ts";

const PART_BYTES = 256 * 1024;

/**
 * The answer ends early, as a broken connection, where the file cannot be read to its end.
 * @param headers lines, each with its line end
 * @throws Error where the file cannot be opened: nothing is sent then
 */
export async function sendFile(reply: SocketReply, headers: string, path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    if (reply.isBodiless) {
      reply.send(200, headers, "");
      return;
    }
    // An empty filler: between any two bytes of a file nothing may stand.
    reply.openStream(headers, "");
    let wake = () => {};
    reply.onDrain(() => wake());
    reply.onGone(() => wake());
    const part = Buffer.alloc(PART_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(part, 0, PART_BYTES, null);
      if (bytesRead === 0) break;
      const room = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!reply.write(part.subarray(0, bytesRead))) await room;
      if (reply.gone) return;
    }
    reply.end();
  } catch (error) {
    reply.abort();
    throw error;
  } finally {
    await handle.close();
  }
}
