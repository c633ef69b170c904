/** The worker thread for what would hold up the event loop: finishing records and counting tokens. */
import type { Redaction } from "../record.ts";
import type { Finished, FinishInput } from "./finish.ts";
import { openThread } from "./thread.ts";
import type { Encoding } from "./tokenise.ts";

export interface PoolOptions {
  /** Token counts waiting; beyond, `countTokens` fails at once and the caller estimates. */
  readonly maxWaiting?: number;
}

/** Every task may take a minute; the caller of a longer one gets an Error that names it. */
export interface WorkerPool {
  /** Decodes, redacts and writes a batch of outbox rows. Takes the buffers of the input over. */
  finish(input: FinishInput): Promise<Finished>;
  /** Payloads as they may be shown. @throws Error where a preset is unknown or a pattern is not RE2. */
  redactPayload(redaction: Redaction, parts: readonly Uint8Array[]): Promise<Uint8Array[]>;
  /**
   * Tokens of each text in one of OpenAI's public encodings. About 50 MB/s for prose. Bytes are UTF-8, one text or several,
   * each ended by the byte 0xff: their sum is told. Memory that threads share is not copied.
   * @throws Error when too many counts wait, or when `signal` aborts (the thread then starts anew).
   */
  countTokens(
    texts: readonly (string | Uint8Array)[],
    encoding: Encoding,
    signal?: AbortSignal,
  ): Promise<number[]>;
  close(): Promise<void>;
}

/** The entry of the thread. */
const TASKS = new URL("./tasks.ts", import.meta.url);

export function openPool({ maxWaiting = 64 }: PoolOptions = {}): WorkerPool {
  const thread = openThread(TASKS);
  let counting = 0;
  return {
    finish(input) {
      const transferList = [input.bytes.buffer as ArrayBuffer, input.lengths.buffer as ArrayBuffer];
      return thread.run("finish", input, { transferList }) as Promise<Finished>;
    },
    redactPayload(redaction, parts) {
      return thread.run("redact", { redaction, parts }) as Promise<Uint8Array[]>;
    },
    async countTokens(texts, encoding, signal) {
      if (counting > maxWaiting) throw new Error("too many token counts wait");
      counting++;
      try {
        return (await thread.run("tokenise", { texts, encoding }, { signal })) as number[];
      } finally {
        counting--;
      }
    },
    close: thread.close,
  };
}
