/**
 * Input and output of a replay: the `replay` members of a dry run's body and answer. Counts are of requests, money is
 * micro-USD, times are milliseconds.
 */
import { z } from "zod";
import * as field from "../../../base/operation/fields.ts";
import { INCOMPLETE_SINCE } from "../../../base/operation/incomplete-since.ts";

const MAX_REPLAY_HOURS = 720;

export const replaySchema = z
  .strictObject({
    hours: z
      .int()
      .min(1)
      .max(MAX_REPLAY_HOURS)
      .describe("How far back: the requests of so many hours before now."),
    version: z.int().min(1).optional().describe("The version to run; the dry run's own unless given."),
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
  denied_by_policy: count.describe("A rule refused them."),
  no_endpoint: count.describe("Every endpoint was left out, also for the length of the prompt."),
});

const flowEnd = z.object({
  outcome: z
    .enum(["served", "failed", "refused", "other"])
    .describe(
      "`served` by an endpoint; `failed`: no endpoint answered; `refused` by a policy, or for want of an endpoint; `other`: a sum of several.",
    ),
  endpoint_id: z.string().describe("The endpoint that serves them; empty where none does."),
});

export const replayReportSchema = z.object({
  hours: count.describe("How many hours back."),
  version: count.describe("The version's number, from 1."),
  requests: count.describe("Recorded requests looked at: those replayed and those skipped."),
  replayed: count.describe("As the version would have had it."),
  skipped: z
    .object({
      requests: count.describe("How many."),
      rejected: count.describe(
        "Refused then for what no policy changes: a limit, no credit, a body that cannot be read.",
      ),
      unknown_model: count.describe("The catalog has no such model, or no longer."),
      unreadable: count.describe("Their record could not be planned again."),
    })
    .describe("What was not replayed."),
  moved: count.describe("Another endpoint serves them."),
  moved_share: z.number().describe("0 to 1, of those replayed."),
  cost_micro: z
    .object({
      recorded: micro.describe("As it was."),
      replayed: micro.describe("As the version would have had it."),
      delta: micro.describe("Replayed minus recorded."),
      repriced: count.describe("Requests that stay where they were and cost something else by now."),
    })
    .describe("What was charged, micro-USD."),
  ttft_ms: z
    .object({
      compared: count.describe(
        "Requests whose first token is known on both sides; the figures are of these.",
      ),
      recorded_p50: ms.describe("The median as it was, milliseconds."),
      recorded_p95: ms.describe("95 of 100 were not slower, as it was; milliseconds."),
      recorded_mean: ms.describe("The mean as it was, milliseconds."),
      expected_p50: ms.describe("The median to be expected, milliseconds."),
      expected_p95: ms.describe("95 of 100 are expected to be not slower; milliseconds."),
      expected_mean: ms.describe("The mean to be expected, milliseconds."),
      delta_p50: ms.describe("Expected minus recorded."),
      delta_mean: ms.describe("Expected minus recorded, milliseconds."),
      unknown: count.describe("Moved to an endpoint of which no first token was measured."),
    })
    .describe("Time to first token as the caller saw it; `null` where nothing can be compared."),
  refusals: z
    .object({
      recorded: refusals.describe("As it was."),
      replayed: refusals.describe("As the version would have had it."),
      newly: count.describe("Those that the version refuses and that were not refused then."),
    })
    .describe("Requests refused by policy."),
  failures: z
    .object({
      recorded: count.describe("Ended in an error."),
      replayed: count.describe("Failed then at every endpoint that the version would try."),
    })
    .describe("Requests that failed."),
  by_endpoint: z
    .array(
      z.object({
        endpoint_id: field.endpointId,
        recorded: count.describe("Requests it served, or was the last to fail."),
        replayed: count.describe("Requests it serves under the version."),
      }),
    )
    .describe("By the endpoint that serves them."),
  flows: z
    .array(
      z.object({
        from: flowEnd.describe("What became of them, as recorded."),
        to: flowEnd.describe("What becomes of them under the version."),
        changed: z.boolean().describe("The two are not the same."),
        requests: count.describe("How many requests."),
        recorded_micro: micro.describe("What they were charged, micro-USD."),
        replayed_micro: micro.describe("What they would be charged, micro-USD."),
        compared: count.describe("Those whose first token is known on both sides."),
        recorded_ttft_p50_ms: ms.describe("The median of these as it was, milliseconds."),
        expected_ttft_p50_ms: ms.describe("The median of these to be expected, milliseconds."),
      }),
    )
    .describe(
      "Where requests went, and where they would go: the largest flows first, at most 60. Behind them are sums of all others, in which `other` stands for any endpoint: those that stay, those that move, and those that fail or are refused.",
    ),
  by_rule: z
    .array(
      z.object({
        rule: z.string().describe("Empty: none matched, the defaults apply."),
        requests: count.describe("How many requests the rule took."),
      }),
    )
    .describe("By the rule that applies."),
  truncated: z.boolean().describe("There were more requests than are replayed; the newest were taken."),
  ...INCOMPLETE_SINCE,
  examples: z
    .array(
      z.object({
        request_id: field.requestId,
        reason: z.string().describe("Why."),
        is_new: z.boolean().describe("It was not refused then."),
      }),
    )
    .max(5)
    .describe("Requests that the version refuses, first those that were not refused then."),
  assumptions: z.array(z.string()).describe("What the figures take for granted, in plain words."),
});

export type ReplayReport = z.output<typeof replayReportSchema>;
