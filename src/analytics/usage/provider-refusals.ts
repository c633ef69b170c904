/**
 * What providers refused in the last 24 hours, over all orgs: counts alone, never their words, which may quote a prompt. One reading
 * is used for a minute, and an answer waits for it less than a second.
 */
import { type Clock, inTime, type Timers } from "../../base/clock.ts";
import type { AttemptOutcome, ErrorClass } from "../../record/record.ts";
import type { ClickHouse, QueryLimits } from "../clickhouse/client.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";

/** Attempts of one provider that ended in one way. */
export interface RefusedAttempts {
  readonly provider: string;
  /** Row of the table of refusals; empty where none matched. */
  readonly refusal: string;
  readonly outcome: AttemptOutcome;
  readonly httpStatus: number;
  readonly errorClass: ErrorClass;
  /** The provider's own code. */
  readonly upstreamCode: string;
  readonly attempts: number;
  /** Those of them with an org's own key. */
  readonly ownKey: number;
  /** Milliseconds since 1970. */
  readonly lastMs: number;
}

/** Undefined if ClickHouse does not answer in time, or the day has too many calls to be read. */
export type ProviderRefusals = () => Promise<readonly RefusedAttempts[] | undefined>;

interface ProviderRefusalsDeps {
  readonly clickhouse: Pick<ClickHouse, "rows">;
  readonly waitForInserts: WaitForInserts;
  readonly clock: Clock;
  readonly timers?: Timers;
}

const FRESH_MS = 60_000;
const WAIT_MS = 800;
/** Most that one reading may take; an answer that went without it is followed by one that has it. */
const LIMITS: QueryLimits = Object.freeze({
  memoryBytes: 500_000_000,
  readRows: 200_000_000,
  seconds: 20,
  threads: 1,
});
/** Kinds of refusals that are read; the most frequent ones. Codes are the providers' to choose. */
const MOST_ROWS = 5_000;

/** Attempts without an answer (timeouts, connections) are failures, and no refusals. */
const REFUSED = "(try.refusal != '' OR try.outcome IN ('http_error', 'rate_limited', 'stream_error'))";

const SQL = `
  SELECT try.provider AS provider, try.refusal AS refusal, try.outcome AS outcome, try.http_status AS httpStatus,
    try.error_class AS errorClass, try.upstream_code AS upstreamCode, count() AS attempts,
    countIf(startsWith(try.pool_id, 'byok_')) AS ownKey, toUnixTimestamp64Milli(max(try.ts)) AS lastMs
  FROM requests ARRAY JOIN attempt_rows AS try
  WHERE requests.ts >= now64(3, 'UTC') - INTERVAL 24 HOUR AND ${REFUSED}
  GROUP BY provider, refusal, outcome, httpStatus, errorClass, upstreamCode
  ORDER BY attempts DESC, provider, refusal LIMIT ${MOST_ROWS}`;

export function providerRefusals({
  clickhouse,
  waitForInserts,
  clock,
  timers,
}: ProviderRefusalsDeps): ProviderRefusals {
  let last: { readonly startedMs: number; readonly rows: Promise<readonly RefusedAttempts[]> } | undefined;

  function reading(): Promise<readonly RefusedAttempts[]> {
    if (last !== undefined && clock.monotonic() - last.startedMs < FRESH_MS) return last.rows;
    const rows = waitForInserts().then(() => clickhouse.rows<RefusedAttempts>(SQL, {}, LIMITS));
    const now = { startedMs: clock.monotonic(), rows };
    last = now;
    // A reading that failed is not used again: the next request makes a new one.
    now.rows.catch(() => {
      if (last === now) last = undefined;
    });
    return now.rows;
  }

  const none = () => undefined;
  return () => inTime(reading().catch(none), WAIT_MS, none, timers);
}
