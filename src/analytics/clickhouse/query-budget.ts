/**
 * What questions of orgs may take of the analytics database: so many at once for an org and for all, and memory, rows and time
 * for each. So one org's questions neither stall another's nor the inserts, which have connections of their own.
 */
import pLimit, { type LimitFunction } from "p-limit";
import { fail } from "../../base/errors.ts";
import type { ClickHouse, QueryLimits } from "./client.ts";

/** Statements at once on the client's eight connections: the rest are for inserts and for the gateway's own questions. */
const AT_ONCE = 5;
/** Two requests for usage, with three statements each, go on side by side in part. */
const AT_ONCE_OF_ORG = 3;
/** Statements of an org that wait for those; a further one is refused. */
const WAITING_OF_ORG = 60;

/** Limits of one statement. The largest that the routes ask for stay far below, at 100 million records. */
export const LIMITS: QueryLimits = Object.freeze({
  memoryBytes: 1_000_000_000,
  readRows: 200_000_000,
  seconds: 20,
  threads: 2,
});

/** Limits of an export. It goes on as long as its reader reads; the routes that start exports bound how many run at once. */
export const EXPORT_LIMITS: QueryLimits = Object.freeze({ ...LIMITS, seconds: 3600 });

export type Reader = Pick<ClickHouse, "rows" | "bytes">;

export interface QueryBudget {
  /**
   * Reads for an org, within its budget.
   * @throws WeirError `concurrency`, `query_too_large`, `analytics_unavailable`
   */
  of(orgId: string, bounds?: ReadBounds): Reader;
}

interface ReadBounds {
  /** Statements that may wait, of all of the org's. */
  readonly waiting?: number;
  /** Limits of each statement. Default: those of the budget. */
  readonly limits?: QueryLimits;
}

export function queryBudget(
  clickhouse: Reader,
  limits: QueryLimits = LIMITS,
  atOnce = { all: AT_ONCE, org: AT_ONCE_OF_ORG },
): QueryBudget {
  const all = pLimit(atOnce.all);
  /** Lanes of the orgs with a statement under way. */
  const orgs = new Map<string, LimitFunction>();

  async function run<T>(orgId: string, waiting: number, ask: () => Promise<T>): Promise<T> {
    const lane = orgs.get(orgId) ?? pLimit(atOnce.org);
    if (lane.pendingCount >= waiting) {
      throw fail("concurrency", "Too many questions about usage at once; ask again when some are answered.", {
        retryAfterMs: 1000,
      });
    }
    orgs.set(orgId, lane);
    try {
      // At most as many of an org as it may have at once stand in the line of all: lines are fair between orgs.
      return await lane(() => all(ask));
    } finally {
      if (lane.activeCount === 0 && lane.pendingCount === 0) orgs.delete(orgId);
    }
  }

  return {
    of: (orgId, { waiting = WAITING_OF_ORG, limits: each = limits } = {}) => ({
      rows: <T>(sql: string, params?: Record<string, unknown>) =>
        run(orgId, waiting, () => clickhouse.rows<T>(sql, params, each)),
      bytes: (sql, params) => run(orgId, waiting, () => clickhouse.bytes(sql, params, each)),
    }),
  };
}
