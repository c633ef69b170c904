/**
 * Messages usage, both ways (Anthropic API reference, "usage"). Its `input_tokens` leaves out what was read from and
 * written to the cache; {@link Usage} counts them in (T33). In a stream every report is cumulative: set, never added (T31).
 */
import type { Usage } from "../../base/usage.ts";
import { countOf, isObject, objectOf } from "../neutral/reader.ts";
import { areBelievable } from "../neutral/tokens.ts";

/** The usage reported so far: a stream reports its prompt in the first event and its answer in the last but one. */
export class MessagesUsage {
  #fresh = 0;
  #cacheRead = 0;
  #cacheWrite = 0;
  #cacheWrite5m = 0;
  #cacheWrite1h = 0;
  #output = 0;
  #reasoning = 0;
  #apart = { fresh: 0, read: 0, written: 0, output: 0 };

  /** Takes one report. Members that are absent, null or 0 leave the earlier values. */
  take(value: unknown): void {
    if (!isObject(value)) return;
    const split = objectOf(value.cache_creation);
    this.#fresh = reported(value.input_tokens, this.#fresh);
    this.#cacheRead = reported(value.cache_read_input_tokens, this.#cacheRead);
    this.#cacheWrite = reported(value.cache_creation_input_tokens, this.#cacheWrite);
    this.#cacheWrite5m = reported(split.ephemeral_5m_input_tokens, this.#cacheWrite5m);
    this.#cacheWrite1h = reported(split.ephemeral_1h_input_tokens, this.#cacheWrite1h);
    this.#output = reported(value.output_tokens, this.#output);
    this.#reasoning = reported(objectOf(value.output_tokens_details).thinking_tokens, this.#reasoning);
    if (Array.isArray(value.iterations)) this.#takeCompactions(value.iterations);
  }

  /** The tokens of compactions, which the other members leave out although they are billed. */
  #takeCompactions(iterations: readonly unknown[]): void {
    const apart = { fresh: 0, read: 0, written: 0, output: 0 };
    for (const iteration of iterations) {
      const turn = objectOf(iteration);
      if (turn.type !== "compaction") continue;
      apart.fresh += countOf(turn.input_tokens);
      apart.read += countOf(turn.cache_read_input_tokens);
      apart.written += countOf(turn.cache_creation_input_tokens);
      apart.output += countOf(turn.output_tokens);
    }
    this.#apart = apart;
  }

  /** Undefined if nothing was reported yet, or impossible counts. */
  get usage(): Usage | undefined {
    // A total without a split counts as five minutes (T32); a split without a total is the total.
    const apart = this.#apart;
    const cacheWriteTokens =
      Math.max(this.#cacheWrite, this.#cacheWrite5m + this.#cacheWrite1h) + apart.written;
    const cacheReadTokens = this.#cacheRead + apart.read;
    const outputTokens = this.#output + apart.output;
    const inputTokens = this.#fresh + apart.fresh + cacheReadTokens + cacheWriteTokens;
    const most = Math.max(inputTokens, outputTokens, this.#reasoning);
    if (most === 0 || !areBelievable(most)) return undefined;
    return {
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      reasoningTokens: this.#reasoning,
      ...(this.#cacheWrite1h > 0 && { cacheWrite1hTokens: this.#cacheWrite1h }),
    };
  }
}

const reported = (value: unknown, before: number): number => countOf(value) || before;

/** The `usage` of a whole answer; undefined if it is no report. */
export function readMessagesUsage(value: unknown): Usage | undefined {
  const usage = new MessagesUsage();
  usage.take(value);
  return usage.usage;
}

const freshTokens = (u: Usage): number => Math.max(0, u.inputTokens - u.cacheReadTokens - u.cacheWriteTokens);

const outputDetails = (u: Usage) => (u.reasoningTokens > 0 ? { thinking_tokens: u.reasoningTokens } : null);

function cacheCreation(u: Usage) {
  const hour = Math.min(u.cacheWrite1hTokens ?? 0, u.cacheWriteTokens);
  return { ephemeral_5m_input_tokens: u.cacheWriteTokens - hour, ephemeral_1h_input_tokens: hour };
}

/** The `usage` of a whole answer and of a stream's first event. */
export const writeMessagesUsage = (usage: Usage) => ({
  input_tokens: freshTokens(usage),
  cache_creation_input_tokens: usage.cacheWriteTokens,
  cache_read_input_tokens: usage.cacheReadTokens,
  cache_creation: usage.cacheWriteTokens > 0 ? cacheCreation(usage) : null,
  output_tokens: usage.outputTokens,
  output_tokens_details: outputDetails(usage),
  inference_geo: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
});

/** The `usage` of a stream's `message_delta`. It has the split of cache writes only if the upstream reported one. */
export const writeDeltaUsage = (usage: Usage) => ({
  input_tokens: freshTokens(usage),
  cache_creation_input_tokens: usage.cacheWriteTokens,
  cache_read_input_tokens: usage.cacheReadTokens,
  ...((usage.cacheWrite1hTokens ?? 0) > 0 && { cache_creation: cacheCreation(usage) }),
  output_tokens: usage.outputTokens,
  output_tokens_details: outputDetails(usage),
  server_tool_use: null,
});
