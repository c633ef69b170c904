/** Sizes of what is kept of calls, as `weir.yaml` gives them under `limits`. A plan may give its orgs other quotas. */
import { z } from "zod";

const MIB = 1024 * 1024;

export const keptFields = {
  /** Bytes stored of an answer for repeated requests (`Idempotency-Key`) and for continuations (stored responses). */
  max_stored_answer_bytes: z
    .int()
    .positive()
    .default(8 * MIB),
  /** Conversations of a project with live keys, and as many with test keys. */
  max_conversations: z.int().positive().default(100_000),
  /** Bytes kept of an org's live calls together; 0: unlimited. */
  max_kept_bytes: z
    .int()
    .nonnegative()
    .default(50 * 1024 * MIB),
  /** The same of its calls with test keys, which cost nothing. */
  max_kept_test_bytes: z
    .int()
    .nonnegative()
    .default(64 * MIB),
};
