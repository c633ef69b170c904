/**
 * Data for the replay of a policy: an org's requests of some hours as RowBinary, and statistics of endpoints in that time.
 * Rows are not decoded here: the thread that replays them does it.
 */
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";
import type { Reader } from "../clickhouse/query-budget.ts";
import { addAfter, type FeedPosition } from "../requests/feed-pages.ts";

interface TrafficWindow {
  readonly orgId: string;
  /** Limits the window to one project. */
  readonly projectId: string | undefined;
  /** Milliseconds since 1970; `untilMs` is exclusive. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Medians over the window; if it has no stream of the endpoint, over all orgs' streams of 30 days. Undefined if there is
 * none.
 */
interface EndpointFigures {
  readonly endpointId: string;
  /** Time of streams to the first token. */
  readonly ttftMs: number | undefined;
  /** Time of whole answers to the end. */
  readonly wholeMs: number | undefined;
  /** Speed of streams after the first token. */
  readonly tokensPerSecond: number | undefined;
  /** 0 to 1: attempts that failed by the endpoint's fault. */
  readonly errorRate: number;
}

interface TrafficSummary extends MayLackCalls {
  readonly requests: number;
  readonly figures: readonly EndpointFigures[];
}

export interface Traffic {
  /** @throws WeirError `analytics_unavailable` */
  summary(window: TrafficWindow): Promise<TrafficSummary>;
  /**
   * The columns of at most `limit` requests, newest first, after the last position of the previous page. In chunks that end
   * anywhere, also within a row, and share no memory, so that they can be transferred.
   * @throws WeirError `analytics_unavailable`
   */
  page(
    window: TrafficWindow,
    columns: readonly string[],
    after: FeedPosition | undefined,
    limit: number,
  ): Promise<readonly Uint8Array<ArrayBuffer>[]>;
}

export interface TrafficDeps {
  readonly clickhouse: Reader;
  readonly waitForInserts: WaitForInserts;
}

export function traffic({ clickhouse, waitForInserts }: TrafficDeps): Traffic {
  return {
    async summary(window) {
      const missingSinceMs = await waitForInserts();
      const { where, params } = conditions(window);
      const [[counted], own, usual] = await Promise.all([
        clickhouse.rows<{ requests: number }>(
          `SELECT count() AS requests FROM requests WHERE ${where}`,
          params,
        ),
        clickhouse.rows<FigureRow>(figuresSql(where), params),
        clickhouse.rows<FigureRow>(USUAL_FIGURES),
      ]);
      return { requests: counted?.requests ?? 0, figures: merged(own, usual), missingSinceMs };
    },

    page(window, columns, after, limit) {
      const { where, params } = conditions(window, after);
      const names = columns.map((name) => `\`${name}\``).join(", ");
      return clickhouse.bytes(
        `SELECT ${names} FROM requests WHERE ${where}
         ORDER BY org_id DESC, ts DESC, request_id DESC LIMIT {limit:UInt32}`,
        { ...params, limit },
      );
    },
  };
}

/** Null or 0 if nothing was measured. */
interface FigureRow {
  endpoint_id: string;
  first_ms: number | null;
  whole_ms: number | null;
  speed: number | null;
  failed: number | null;
}

/** Failures by the endpoint's fault, as the roll-up counts them; an org's bad or exhausted key is none. */
const DOWN = `try.error_class IN ('server', 'network', 'timeout', 'protocol')
      OR (try.error_class IN ('capacity', 'auth') AND NOT startsWith(try.pool_id, 'byok_'))`;
const HAS_SPEED = "stream AND try.ttft_ms > 0 AND try.output_tokens > 1 AND try.duration_ms > try.ttft_ms";

const figuresSql = (where: string): string => `
  SELECT try.endpoint_id AS endpoint_id,
    quantileTDigestIf(0.5)(try.ttft_ms, stream AND try.ttft_ms > 0) AS first_ms,
    quantileTDigestIf(0.5)(try.ttft_ms, NOT stream AND try.ttft_ms > 0) AS whole_ms,
    quantileTDigestIf(0.5)(try.output_tokens * 1000 / greatest(toInt64(try.duration_ms) - toInt64(try.ttft_ms), 1), ${HAS_SPEED})
      AS speed,
    countIf(${DOWN}) / countIf(try.outcome != 'cancelled') AS failed
  FROM requests ARRAY JOIN attempt_rows AS try WHERE ${where} GROUP BY endpoint_id`;

/** The roll-up has times to the first token of streams only, none of whole answers. */
const USUAL_FIGURES = `
  SELECT endpoint_id, quantilesTDigestIfMerge(0.5, 0.95)(ttft)[1] AS first_ms, NULL AS whole_ms,
    1000 / quantilesTDigestIfMerge(0.5, 0.95)(tpot)[1] AS speed,
    sum(down) / (sum(attempts) - sum(cancelled)) AS failed
  FROM attempts_hourly WHERE hour >= toStartOfHour(now('UTC')) - INTERVAL 30 DAY GROUP BY endpoint_id`;

function merged(own: readonly FigureRow[], usual: readonly FigureRow[]): EndpointFigures[] {
  const rows = new Map(usual.map((row) => [row.endpoint_id, row]));
  for (const row of own) {
    const known = rows.get(row.endpoint_id);
    rows.set(row.endpoint_id, {
      endpoint_id: row.endpoint_id,
      first_ms: row.first_ms || (known?.first_ms ?? null),
      whole_ms: row.whole_ms || (known?.whole_ms ?? null),
      speed: row.speed || (known?.speed ?? null),
      failed: row.failed ?? known?.failed ?? null,
    });
  }
  return [...rows.values()].map((row) => ({
    endpointId: row.endpoint_id,
    ttftMs: row.first_ms || undefined,
    wholeMs: row.whole_ms || undefined,
    tokensPerSecond: row.speed || undefined,
    errorRate: row.failed ?? 0,
  }));
}

function conditions({ orgId, projectId, fromMs, untilMs }: TrafficWindow, after?: FeedPosition) {
  const parts = [
    "org_id = {org:String}",
    "ts >= fromUnixTimestamp64Milli({from:Int64})",
    "ts < fromUnixTimestamp64Milli({until:Int64})",
  ];
  const params: Record<string, unknown> = { org: orgId, from: fromMs, until: untilMs };
  if (projectId !== undefined) {
    parts.push("project_id = {project:String}");
    params.project = projectId;
  }
  addAfter(after, parts, params);
  return { where: parts.join(" AND "), params };
}
