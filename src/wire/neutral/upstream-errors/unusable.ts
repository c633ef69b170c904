/**
 * Answers with status 200 of which the provider says, where it says why they ended, that they are none: the model wrote no valid call, or
 * was interrupted. They fail like an answer that cannot be read: another try may succeed.
 */
import type { UpstreamError } from "../contract.ts";
import type { StopReason } from "../neutral.ts";
import { stringOf } from "../reader.ts";
import { MESSAGE_LIMIT, WORD_LIMIT } from "./said.ts";

/**
 * The error that an answer is in which nothing was made. A known reason may end one: the model had nothing to say, or was kept from it.
 * Undefined where the reason is known.
 * @param word the reason as the provider says it
 */
export const nothingMade = (reason: StopReason, word: string, said?: unknown): UpstreamError | undefined =>
  reason === "other" ? unusable(word || "no_finish_reason", said) : undefined;

/** @param reason in the provider's word, for the record @param said its own account, if it gives one */
export const unusable = (reason: string, said?: unknown): UpstreamError => ({
  code: reason.slice(0, WORD_LIMIT),
  type: "",
  message: stringOf(said).slice(0, MESSAGE_LIMIT),
  isUnusable: true,
});
