/**
 * The worker threads for work that would block the event loop: one for what is redacted to be stored, which may take an org's own
 * patterns many seconds, and one for what somebody waits for.
 */
import type { Redaction } from "../record/record.ts";
import type { Badge } from "./badge.ts";
import type { Finished, FinishInput } from "./finish.ts";
import { checkPreview, type RedactionPreview } from "./redact-preview.ts";
import { openThread } from "./thread.ts";
import type { Encoding } from "./tokenise.ts";

export interface PoolOptions {
  /** Maximum number of waiting token counts. Beyond it `countTokens` fails at once, and the caller uses an estimate. */
  readonly maxWaiting?: number;
}

/** A task may take a minute; one that takes longer fails with an Error that names it. */
export interface WorkerPool {
  /** Decodes, redacts and encodes a batch of outbox rows. Transfers the input's buffers. */
  finish(input: FinishInput): Promise<Finished>;
  /** Redacts payloads; at once where there are no rules. @throws Error if a preset is unknown or a pattern is not RE2 */
  redactPayload(redaction: Redaction, parts: readonly Uint8Array[]): Promise<Uint8Array[]>;
  /**
   * Shows what rules redact in a sample; undefined where own patterns take too long on it.
   * @throws WeirError `invalid_value` for a preset or a sample that `checkPreview` refuses
   */
  previewRedaction(redaction: Redaction, sample: string): Promise<RedactionPreview | undefined>;
  /** Which of an org's own patterns makes them too slow together; undefined if they are quick. @param patterns that compile */
  slowPattern(patterns: readonly string[]): Promise<number | undefined>;
  /**
   * Counts the tokens of each text in one of OpenAI's public encodings, about 50 MB/s for prose. Bytes are UTF-8: one text,
   * or several, each ended by the byte 0xff, whose sum is returned. Shared memory is not copied.
   * @throws Error when too many counts wait, or when `signal` aborts (the thread is then restarted)
   */
  countTokens(
    texts: readonly (string | Uint8Array)[],
    encoding: Encoding,
    signal?: AbortSignal,
  ): Promise<number[]>;
  /** An SVG image. */
  drawBadge(badge: Badge): Promise<string>;
  close(): Promise<void>;
}

/** The module that each thread runs. */
const TASKS = new URL("./tasks.ts", import.meta.url);

export function openPool({ maxWaiting = 64 }: PoolOptions = {}): WorkerPool {
  const storing = openThread(TASKS);
  const asked = openThread(TASKS);
  let counting = 0;
  return {
    finish(input) {
      const transferList = [input.bytes.buffer as ArrayBuffer, input.lengths.buffer as ArrayBuffer];
      return storing.run("finish", input, { transferList }) as Promise<Finished>;
    },
    async redactPayload(redaction, parts) {
      if (redaction.presets.length + redaction.patterns.length === 0) return [...parts];
      return storing.run("redact", { redaction, parts }) as Promise<Uint8Array[]>;
    },
    async previewRedaction(redaction, sample) {
      checkPreview(redaction, sample);
      return (await asked.run("preview", { redaction, sample })) as RedactionPreview | undefined;
    },
    async countTokens(texts, encoding, signal) {
      if (counting > maxWaiting) throw new Error("too many token counts wait");
      counting++;
      try {
        return (await asked.run("tokenise", { texts, encoding }, { signal })) as number[];
      } finally {
        counting--;
      }
    },
    async slowPattern(patterns) {
      if (patterns.length === 0) return undefined;
      return (await storing.run("trial", patterns)) as number | undefined;
    },
    drawBadge: (badge) => asked.run("drawBadge", badge) as Promise<string>,
    async close() {
      await Promise.all([storing.close(), asked.close()]);
    },
  };
}
