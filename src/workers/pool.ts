/**
 * The worker threads for what would hold up the event loop: finishing records and counting tokens. Started with the
 * first task, gone after a minute without one. The number of waiting tasks is bounded.
 */
import { Piscina } from "piscina";
import type { Redaction } from "../record.ts";
import { runBounded } from "./bounded-task.ts";
import type { Finished, FinishInput } from "./finish.ts";
import type { Encoding } from "./tokenise.ts";

export interface PoolOptions {
  readonly threads?: number;
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
  /** Tasks not yet begun. */
  waiting(): number;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;

export function openPool(options: PoolOptions = {}): WorkerPool {
  const { threads = 1, maxWaiting = 64 } = options;
  let pool: Piscina | undefined;
  let counting = 0;
  const running = () => {
    pool ??= new Piscina({
      filename: new URL("./tasks.ts", import.meta.url).href,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      // Whatever flags this process runs under (a debugger, a test runner's loader) are not the workers'.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    return pool;
  };
  return {
    finish(input) {
      const transferList = [input.bytes.buffer as ArrayBuffer, input.lengths.buffer as ArrayBuffer];
      return runBounded(running(), input, { name: "finish", transferList }) as Promise<Finished>;
    },
    redactPayload(redaction, parts) {
      return runBounded(running(), { redaction, parts }, { name: "redact" }) as Promise<Uint8Array[]>;
    },
    async countTokens(texts, encoding, signal) {
      if (counting > maxWaiting) throw new Error("too many token counts wait");
      counting++;
      try {
        return (await runBounded(running(), { texts, encoding }, { name: "tokenise", signal })) as number[];
      } finally {
        counting--;
      }
    },
    waiting: () => pool?.queueSize ?? 0,
    async close() {
      await pool?.destroy();
      pool = undefined;
    },
  };
}
