/** Requests in canonical form: small bodies synchronously, large ones in a worker thread. */
import { type Canonical, canonicalRequest } from "./canonical.ts";
import type { FormatName } from "./format.ts";
import { FORMATS } from "./formats.ts";
import { LARGE_BODY_BYTES } from "./neutral/contract.ts";
import { fromThread, type ThreadResult } from "./thread.ts";

/** Runs a function of `thread.ts` beside the event loop. */
interface Thread {
  run(name: string, input: unknown): Promise<unknown>;
}

/** @returns undefined where the bytes are no request of that format, or no format has that name */
export const canonicaliser =
  (thread: Thread) =>
  async (dialectIn: string, bytes: Uint8Array): Promise<Canonical> => {
    if (!isFormat(dialectIn)) return undefined;
    if (bytes.length <= LARGE_BODY_BYTES) return canonicalRequest(dialectIn, bytes);
    const task = { format: dialectIn, bytes };
    return fromThread((await thread.run("canonicalInThread", task)) as ThreadResult<Canonical>);
  };

/** A record of a later release may name an unknown format. */
const isFormat = (name: string): name is FormatName => Object.hasOwn(FORMATS, name);
