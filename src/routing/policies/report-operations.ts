/**
 * Reports on policies: canaries from this room's own counts, shadows and experiments from analytics.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import {
  INCOMPLETE_SINCE,
  incompleteSince,
  type MayLackCalls,
} from "../../base/operation/incomplete-since.ts";
import { operation } from "../../base/operation/operation.ts";
import { listOf } from "../../base/operation/page.ts";
import type { AccountView } from "./account-view.ts";
import { canaryReason } from "./canary/canary.ts";
import type { CanaryRow } from "./canary/canary-row.ts";
import { highestRate, lowestRate } from "./canary/sequential-test.ts";
import type { Policies } from "./policies.ts";
import { ownPolicy } from "./policy-lookup.ts";
import type { VersionKey } from "./policy-tables.ts";
import { currentActivations } from "./policy-wire.ts";

export interface ReportDeps {
  readonly policies: Policies;
  readonly accounts: AccountView;
  /** Port: analytics; fails with `analytics_unavailable` while it is unreachable. */
  readonly reports: {
    /** @param arms the endpoint of each arm in each version. */
    experiments(
      orgId: string,
      policy: string,
      hours: number,
      arms: readonly ArmEndpoint[],
    ): Promise<ExperimentsReport>;
    shadows(orgId: string, policy: string): Promise<readonly ShadowReport[]>;
  };
}

export interface ArmEndpoint {
  readonly version: number;
  readonly experiment: string;
  readonly arm: string;
  readonly endpointId: string;
}

const byName = z.object({ name: z.string().describe("The policy's name.") });
const count = z.int();
const rate = z.number().min(0).max(1);

const interval = z.object({
  low: z.number().describe("Its lower end."),
  high: z.number().describe("Its upper end."),
});

const canaryShape = z.object({
  version: z.int().describe("The version's number, from 1."),
  endpoint_id: field.endpointId,
  state: z
    .enum(["warming", "green", "red"])
    .describe(
      "`warming` (too few results), `green`, or `red`: it gets no share until another version is activated.",
    ),
  error_rate: rate.describe("0 where there are no results"),
  error_rate_interval: z
    .object({
      low: rate.describe(
        "The lower bound: `red` as soon as it reaches `max_error_rate`, with enough samples.",
      ),
      high: rate.describe("The upper bound."),
    })
    .describe(
      "Each bound holds with 99 % certainty however often one looks, since the test behind it may be repeated after every result.",
    ),
  samples: count.describe("Results so far."),
  failures: count.describe("Those of the results that failed."),
  max_error_rate: rate.describe("Above it the canary turns red, 0 to 1."),
  min_samples: count.describe("So many results are needed for a verdict."),
  reason: z.string().describe("Why it has this state."),
  is_active: z.boolean().describe("Whether the version is in force somewhere."),
  active_since: z
    .string()
    .nullable()
    .describe(
      "Since when it is in force where it has been longest; null: it is not in force. ISO 8601, UTC.",
    ),
  evaluated_at: z.string().nullable().describe("When the last result came in; null where there is none"),
});

const shadowShape = z.object({
  shadow_endpoint: z.string().describe("Where copies go."),
  primary_endpoint: z.string().describe("Where the calls themselves were answered."),
  policy_version: z.int().describe("The version that asked for the copies."),
  runs: count.describe("Copies that ended."),
  errors: count.describe("Those that failed."),
  stop_mismatch: count.describe("Pairs that ended for different reasons."),
  primary_cost_micro: z.number().describe("What the calls cost, micro-USD."),
  shadow_cost_micro: z.number().describe("What the copies cost, micro-USD."),
  cost_delta_micro: z.number().describe("Shadow minus primary"),
  primary_ttft_ms: z.number().nullable().describe("Mean time to the first token of the calls, milliseconds."),
  shadow_ttft_ms: z.number().nullable().describe("Mean time to the first token of the copies, milliseconds."),
  bill: z.string().describe("Who pays for the copies: `platform` or `org`."),
  since: z.string().describe("When the first of these calls came; ISO 8601, UTC."),
  compared: count.describe("Pairs that were both answered: costs and times are of these."),
  confidence: rate.describe("Of the intervals, for one look at a time that was fixed before."),
  error_rate: rate.describe("Errors of all copies."),
  error_rate_interval: interval.describe("Where the true share of errors is, by Wilson's score interval."),
  cost_delta_per_run_micro: z.number().describe("The mean of shadow minus primary of a pair, micro-USD."),
  cost_delta_per_run_micro_interval: interval
    .nullable()
    .describe("Where the true mean is, by Student's interval; null: fewer than two pairs."),
  ttft_compared: count.describe("Pairs of streams with a first token on both sides."),
  ttft_delta_ms: z
    .number()
    .nullable()
    .describe("The mean of shadow minus primary of these, milliseconds; null where there is none."),
  ttft_delta_ms_interval: interval
    .nullable()
    .describe("Where the true mean is, by Student's interval, milliseconds; null: fewer than two pairs."),
});
/** And whatever more the port tells, which is passed on. */
type ShadowReport = z.input<typeof shadowShape>;

const armShape = z.object({
  arm: z.string().describe("The experiment's arm."),
  experiment: z.string().describe("The experiment's name."),
  requests: count.describe("How many calls."),
  errors: count.describe("Those that failed."),
  cost_micro: z.number().describe("What was charged, micro-USD."),
  ttft_p50_ms: z.number().nullable().describe("Median time to the first token of streams, milliseconds."),
  ttft_p95_ms: z.number().nullable().describe("95 of 100 streams had a first token in so many milliseconds."),
  output_tokens: count.describe("Tokens of the answer, reasoning included."),
  environment: z
    .enum(["live", "test"])
    .describe("Which calls are counted: where an experiment has live calls, only those."),
  tried: count.describe("Calls in which the arm's own endpoint was asked."),
  confidence: rate.describe("Of the intervals, for one look at a time that was fixed before."),
  error_rate: rate.describe("Errors of all calls."),
  error_rate_interval: interval.describe("Where the true share of errors is, by Wilson's score interval."),
  cost_per_request_micro: z.number().describe("The mean of what a call was charged, micro-USD."),
  cost_per_request_micro_interval: interval
    .nullable()
    .describe("Where the true mean is, by Student's interval; null: fewer than two calls."),
  ttft_p50_ms_interval: interval
    .nullable()
    .describe("Where the true median is, by ranks, milliseconds; null: fewer than six streams."),
});
/** And whatever more the port tells, which is passed on. */
type ExperimentArm = z.input<typeof armShape>;

interface ExperimentsReport extends MayLackCalls {
  readonly arms: readonly ExperimentArm[];
}

/** Number of newest versions reported besides the active ones. */
const LATEST_VERSIONS = 10;

export function reportOperations(deps: ReportDeps) {
  const { policies, reports } = deps;
  return {
    listCanaries: operation({
      summary: "Canaries of the versions in force, and those of the latest versions that turned red",
      method: "GET",
      path: "/v1/policies/{name}/canaries",
      access: "read:policies / viewer",
      group: "Routing policies",
      params: byName,
      output: listOf(canaryShape),
      errors: ["not_found"],
      run: async ({ params }, { orgId }) => {
        ownPolicy(policies, orgId, params.name);
        return { object: "list" as const, data: await canariesOf(deps, orgId, params.name) };
      },
    }),
    listShadows: operation({
      summary: "Shadow calls compared with the calls they copied",
      method: "GET",
      path: "/v1/policies/{name}/shadows",
      access: "read:policies / viewer",
      group: "Routing policies",
      params: byName,
      output: listOf(shadowShape.loose()),
      errors: ["not_found", "analytics_unavailable"],
      run: async ({ params }, { orgId }) => {
        ownPolicy(policies, orgId, params.name);
        const rows = await reports.shadows(orgId, params.name);
        return { object: "list" as const, data: rows.map((row) => ({ ...row })) };
      },
    }),
    listExperiments: operation({
      summary: "Arms of a policy's experiments, over the last hours",
      method: "GET",
      path: "/v1/policies/{name}/experiments",
      access: "read:policies / viewer",
      group: "Routing policies",
      params: byName,
      query: z.object({
        hours: z.coerce.number().int().min(1).max(720).default(24).describe("How many hours back."),
      }),
      output: z.object({
        object: field.objectOf("list"),
        hours: z.int().describe("How many hours back."),
        data: z.array(armShape.loose()).describe("What is listed."),
        ...INCOMPLETE_SINCE,
      }),
      errors: ["not_found", "analytics_unavailable"],
      run: async ({ params, query: { hours } }, { orgId }) => {
        ownPolicy(policies, orgId, params.name);
        const arms = await armsOf(deps, orgId, params.name);
        const report = await reports.experiments(orgId, params.name, hours, arms);
        return {
          object: "list" as const,
          hours,
          data: report.arms.map((row) => ({ ...row })),
          ...incompleteSince(report.missingSinceMs),
        };
      },
    }),
  };
}

/** Recently used versions, newest first: the active ones with the time since when, and those of the newest that were active once. */
function usedVersions({ policies, accounts }: ReportDeps, orgId: string, policy: string) {
  const { tables } = policies;
  const active = currentActivations(tables, accounts, orgId).filter((a) => a.name === policy);
  const sinceMs = (version: number) =>
    Math.min(...active.filter((a) => a.version === version).map((a) => a.activatedAtMs));
  const inUse = new Set(active.map((a) => a.version));
  const newest = ownPolicy(policies, orgId, policy).versions;
  const used = new Set(inUse);
  for (let version = newest; version > Math.max(newest - LATEST_VERSIONS, 0); version--) {
    if (tables.version(orgId, policy, version)?.wasActive) used.add(version);
  }
  return [...used]
    .sort((a, b) => b - a)
    .map((version) => ({ version, activeSinceMs: inUse.has(version) ? sinceMs(version) : undefined }));
}

async function armsOf(deps: ReportDeps, orgId: string, policy: string): Promise<readonly ArmEndpoint[]> {
  const found: ArmEndpoint[] = [];
  for (const { version } of usedVersions(deps, orgId, policy)) {
    const read = await deps.policies.prepare({ orgId, policy, version });
    for (const { name, arms } of read?.experiments ?? []) {
      for (const { arm, endpoint } of arms)
        found.push({ version, experiment: name, arm, endpointId: endpoint });
    }
  }
  return found;
}

async function canariesOf(deps: ReportDeps, orgId: string, policy: string) {
  const found: z.input<typeof canaryShape>[] = [];
  for (const { version, activeSinceMs } of usedVersions(deps, orgId, policy)) {
    const isActive = activeSinceMs !== undefined;
    for (const row of await rowsOf(deps.policies, { orgId, policy, version }, isActive)) {
      if (isActive || row.state === "red") found.push(canaryWire(version, row, activeSinceMs));
    }
  }
  return found;
}

/** Canary rows of a version; of an active one also canaries without a result. */
async function rowsOf(policies: Policies, key: VersionKey, isActive: boolean): Promise<readonly CanaryRow[]> {
  const version = isActive ? await policies.prepare(key) : undefined;
  if (version === undefined) return policies.tables.canariesOf(key);
  const trials = Array.from(version.canaries.values(), (canary) => policies.canaries.trial(key, canary));
  return Promise.all(
    trials.map(async (trial) => {
      const { row } = trial;
      // Reported only once kill -9 cannot undo it. A red row never changes again, so one commit suffices.
      if (row.state === "red") await trial.save();
      return row;
    }),
  );
}

function canaryWire(
  version: number,
  row: CanaryRow,
  activeSinceMs: number | undefined,
): z.input<typeof canaryShape> {
  return {
    version,
    endpoint_id: row.endpointId,
    state: row.state,
    error_rate: row.samples === 0 ? 0 : row.failures / row.samples,
    error_rate_interval: {
      low: lowestRate(row.failures, row.samples),
      high: highestRate(row.failures, row.samples),
    },
    samples: row.samples,
    failures: row.failures,
    max_error_rate: row.maxErrorRate,
    min_samples: row.minSamples,
    reason: canaryReason(row),
    is_active: activeSinceMs !== undefined,
    active_since: activeSinceMs === undefined ? null : isoTime(activeSinceMs),
    evaluated_at: row.evaluatedAtMs === 0 ? null : isoTime(row.evaluatedAtMs),
  };
}
