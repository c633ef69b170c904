/**
 * Answers with status 200 of which the provider says, where it says why they ended, that they are none: the model wrote no valid call, or
 * was interrupted. They fail like an answer that cannot be read: another try may succeed.
 */
import type { UpstreamError } from "../contract.ts";
import { stringOf } from "../reader.ts";

const WORD_LIMIT = 200;
const MESSAGE_LIMIT = 2000;

/** @param reason in the provider's word, for the record @param said its own account, if it gives one */
export const unusable = (reason: string, said?: unknown): UpstreamError => ({
  code: reason.slice(0, WORD_LIMIT),
  type: "",
  message: stringOf(said).slice(0, MESSAGE_LIMIT),
  isUnusable: true,
});
