/**
 * Input and output of a replay: the `replay` members of a dry run's body and answer. Counts are of requests, money is
 * micro-USD, times are milliseconds.
 */
import { z } from "zod";
import { INCOMPLETE_SINCE } from "../../../base/operation/incomplete-since.ts";

const MAX_REPLAY_HOURS = 720;

export const replaySchema = z
  .strictObject({
    hours: z
      .number()
      .int()
      .min(1)
      .max(MAX_REPLAY_HOURS)
      .describe("How far back: the requests of so many hours before now."),
    version: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe("The version to run; the dry run's own unless given."),
    project_id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("Only this project's requests, as if the version were active for it alone."),
  })
  .describe("Runs the version over recorded requests and compares with what happened.");

const count = z.number().int().nonnegative();
const micro = z.number().int();
const ms = z.number().nullable();

const refusals = z.object({
  denied_by_policy: count,
  no_endpoint: count.describe("Every endpoint was left out, also for the length of the prompt."),
});

export const replayReportSchema = z.object({
  hours: count,
  version: count,
  requests: count.describe("Recorded requests looked at: those replayed and those skipped."),
  replayed: count,
  skipped: z.object({
    requests: count,
    rejected: count.describe(
      "Refused then for what no policy changes: a limit, no credit, a body that cannot be read.",
    ),
    unknown_model: count.describe("The catalog has no such model, or no longer."),
    unreadable: count.describe("Their record could not be planned again."),
  }),
  moved: count.describe("Another endpoint serves them."),
  moved_share: z.number().describe("0 to 1, of those replayed."),
  cost_micro: z.object({
    recorded: micro,
    replayed: micro,
    delta: micro.describe("Replayed minus recorded."),
    repriced: count.describe("Requests that stay where they were and cost something else by now."),
  }),
  ttft_ms: z
    .object({
      compared: count.describe(
        "Requests whose first token is known on both sides; the figures are of these.",
      ),
      recorded_p50: ms,
      recorded_mean: ms,
      expected_p50: ms,
      expected_mean: ms,
      delta_p50: ms.describe("Expected minus recorded."),
      delta_mean: ms,
      unknown: count.describe("Moved to an endpoint of which no first token was measured."),
    })
    .describe("Time to first token as the caller saw it; `null` where nothing can be compared."),
  refusals: z.object({ recorded: refusals, replayed: refusals }),
  failures: z.object({
    recorded: count.describe("Ended in an error."),
    replayed: count.describe("Failed then at every endpoint that the version would try."),
  }),
  by_endpoint: z.array(
    z.object({
      endpoint_id: z.string(),
      recorded: count.describe("Requests it served, or was the last to fail."),
      replayed: count.describe("Requests it serves under the version."),
    }),
  ),
  by_rule: z.array(
    z.object({ rule: z.string().describe("Empty: none matched, the defaults apply."), requests: count }),
  ),
  truncated: z.boolean().describe("There were more requests than are replayed; the newest were taken."),
  ...INCOMPLETE_SINCE,
  examples: z
    .array(z.object({ request_id: z.string(), reason: z.string() }))
    .max(5)
    .describe("Requests that the version refuses, first those that were not refused then."),
  assumptions: z.array(z.string()).describe("What the figures take for granted, in plain words."),
});

export type ReplayReport = z.output<typeof replayReportSchema>;
