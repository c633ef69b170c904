/**
 * The results of a routing policy's experiments, by arm, with confidence intervals. Arms are compared as assigned
 * (intention to treat): a call that its arm's endpoint could not serve still counts for the arm.
 */

import type { Clock } from "../../base/clock.ts";
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";
import { HOUR_MS } from "../../base/time.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";
import {
  CONFIDENCE,
  type Interval,
  meanInterval,
  medianInterval,
  quantile,
  type ValueCount,
  wilson,
} from "../intervals.ts";

/**
 * One arm on the wire: the specification's members, then those that state the confidence. (A type alias, because an
 * interface is not assignable to an index signature.)
 */
export type ArmReport = {
  readonly arm: string;
  readonly experiment: string;
  /** Calls assigned to the arm, including cancelled ones, without those refused before any attempt. */
  readonly requests: number;
  /** Calls that failed, and calls that only another endpoint than the arm's could answer. */
  readonly errors: number;
  /** Cost of the calls, whether or not it was charged: test calls have a cost too. */
  readonly cost_micro: number;
  /** Time to the first byte that the client received, including failed attempts before it; 0 if no call had one. */
  readonly ttft_p50_ms: number;
  readonly ttft_p95_ms: number;
  readonly output_tokens: number;
  /** Which calls are counted: if an experiment has any live calls, only those. */
  readonly environment: "live" | "test";
  /** Calls in which the arm's endpoint was tried. In the others it was cooling down, or could not serve the call. */
  readonly tried: number;
  readonly confidence: number;
  /** `errors` of `requests`, 0 to 1; Wilson's interval. */
  readonly error_rate: number;
  readonly error_rate_interval: Interval;
  /** Mean, with Student's interval: null for fewer than two calls. */
  readonly cost_per_request_micro: number;
  readonly cost_per_request_micro_interval: Interval | null;
  /** By ranks; null for fewer than six calls with a first byte. */
  readonly ttft_p50_ms_interval: Interval | null;
};

/** The endpoint of an arm in one version of a policy, as the policy's document declares it. */
export interface ArmEndpoint {
  readonly version: number;
  readonly experiment: string;
  readonly arm: string;
  readonly endpointId: string;
}

export interface ExperimentsReport extends MayLackCalls {
  readonly arms: readonly ArmReport[];
}

export interface PolicyReports {
  /**
   * The arms of every experiment of a policy over the last hours, by experiment and arm, over all versions of the policy:
   * arms with the same name are added up.
   *
   * @param arms whose endpoint's failures count for which arm; for an arm that is not listed, those of the endpoint
   * tried first
   * @throws WeirError `analytics_unavailable`
   */
  experiments(
    orgId: string,
    policy: string,
    hours: number,
    arms?: readonly ArmEndpoint[],
  ): Promise<ExperimentsReport>;
}

export interface PolicyReportsDeps {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly waitForInserts: WaitForInserts;
}

interface ArmRow {
  readonly environment: "live" | "test";
  readonly experiment: string;
  readonly arm: string;
  readonly requests: number;
  readonly cost: number;
  /** Sample standard deviation of the cost; null (NaN) for a single call. */
  readonly cost_deviation: number | null;
  readonly tokens: number;
  /** Milliseconds, number of calls. */
  readonly ttfts: ValueCount[];
}

/** Number of calls of an arm that tried the same endpoints with the same outcome. */
interface OutcomeRow extends Pick<ArmRow, "environment" | "experiment" | "arm"> {
  readonly policy_version: number;
  readonly ended_in_error: 0 | 1;
  /** Empty if none was tried. */
  readonly first: string;
  readonly tried: readonly string[];
  readonly failed: readonly string[];
  readonly calls: number;
}

/** Error classes that are the endpoint's fault, not the request's. */
const FAULTS = "'capacity', 'auth', 'server', 'network', 'timeout', 'protocol'";

const CALLS = `FROM requests
  WHERE org_id = {org:String} AND ts >= fromUnixTimestamp64Milli({from:Int64})
    AND ts <= fromUnixTimestamp64Milli({to:Int64}) AND policy = {policy:String} AND arm != '' AND status != 'rejected'`;

/**
 * Time to first byte is taken of streams only: that of a whole answer is as long as the answer. It is counted by the
 * millisecond, not in a digest, so that ranks are exact: there are at most some ten thousand different values, however
 * many the calls.
 */
const ARMS = `
  SELECT environment, experiment, arm, sum(n) AS requests, sum(micro) AS cost,
    stddevSampStableMerge(spread) AS cost_deviation, sum(out) AS tokens,
    arraySort(groupArrayIf((ttft_ms, n), ttft_ms > 0)) AS ttfts
  FROM
  (
    SELECT environment, experiment, arm, if(stream, requests.ttft_ms, 0) AS ttft_ms, count() AS n, sum(cost_micro) AS micro,
      stddevSampStableState(cost_micro) AS spread, sum(toUInt64(output_tokens)) AS out
    ${CALLS} GROUP BY environment, experiment, arm, ttft_ms
  )
  GROUP BY environment, experiment, arm
  ORDER BY experiment, arm`;

/** Which endpoints were tried and which failed: few combinations, however many the calls. */
const OUTCOMES = `
  SELECT environment, experiment, arm, policy_version, status = 'error' AS ended_in_error,
    attempt_rows.endpoint_id[1] AS first, arraySort(arrayDistinct(attempt_rows.endpoint_id)) AS tried,
    arraySort(arrayDistinct(arrayFilter((id, class) -> class IN (${FAULTS}),
      attempt_rows.endpoint_id, attempt_rows.error_class))) AS failed,
    count() AS calls
  ${CALLS} GROUP BY ALL`;

export function policyReports({ clickhouse, clock, waitForInserts }: PolicyReportsDeps): PolicyReports {
  return {
    async experiments(orgId, policy, hours, arms = []) {
      const missingSinceMs = await waitForInserts();
      const nowMs = clock.now();
      const params = { org: orgId, policy, from: nowMs - hours * HOUR_MS, to: nowMs };
      const [rows, outcomes] = await Promise.all([
        clickhouse.rows<ArmRow>(ARMS, params),
        clickhouse.rows<OutcomeRow>(OUTCOMES, params),
      ]);
      const failures = failuresOf(outcomes, arms);
      const live = new Set(rows.filter((r) => r.environment === "live").map((r) => r.experiment));
      const counted = rows.filter((r) => r.environment === "live" || !live.has(r.experiment));
      const reports = counted.map((r) => reportOf(r, failures.get(armOf(r)) ?? NO_FAILURES));
      return { arms: reports, missingSinceMs };
    },
  };
}

interface Failures {
  errors: number;
  tried: number;
}
const NO_FAILURES: Readonly<Failures> = { errors: 0, tried: 0 };

const armOf = ({
  environment,
  experiment,
  arm,
}: Pick<ArmRow, "environment" | "experiment" | "arm">): string =>
  JSON.stringify([environment, experiment, arm]);

/** For each arm: the calls in which its endpoint was tried, and the calls that failed or in which that endpoint failed. */
function failuresOf(
  outcomes: readonly OutcomeRow[],
  arms: readonly ArmEndpoint[],
): ReadonlyMap<string, Failures> {
  const nameOf = (version: number, experiment: string, arm: string) =>
    JSON.stringify([version, experiment, arm]);
  const endpoints = new Map(arms.map((a) => [nameOf(a.version, a.experiment, a.arm), a.endpointId]));
  const found = new Map<string, Failures>();
  for (const outcome of outcomes) {
    const known = endpoints.get(nameOf(outcome.policy_version, outcome.experiment, outcome.arm));
    const endpoint = known ?? outcome.first;
    const sum = found.get(armOf(outcome)) ?? { errors: 0, tried: 0 };
    found.set(armOf(outcome), sum);
    if (outcome.tried.includes(endpoint)) sum.tried += outcome.calls;
    if (outcome.ended_in_error === 1 || outcome.failed.includes(endpoint)) sum.errors += outcome.calls;
  }
  return found;
}

/** A record that was inserted between the two queries may count as a failure but not as a call: hence the minimum. */
function reportOf(row: ArmRow, failures: Failures): ArmReport {
  const { arm, experiment, environment, requests, cost } = row;
  const errors = Math.min(failures.errors, requests);
  const tried = Math.min(failures.tried, requests);
  return {
    arm,
    experiment,
    requests,
    errors,
    cost_micro: cost,
    ttft_p50_ms: quantile(row.ttfts, 0.5),
    ttft_p95_ms: quantile(row.ttfts, 0.95),
    output_tokens: row.tokens,
    environment,
    tried,
    confidence: CONFIDENCE,
    error_rate: errors / requests,
    error_rate_interval: wilson(errors, requests),
    cost_per_request_micro: cost / requests,
    cost_per_request_micro_interval: meanInterval(cost / requests, row.cost_deviation ?? 0, requests) ?? null,
    ttft_p50_ms_interval: medianInterval(row.ttfts) ?? null,
  };
}
