/**
 * `GET /v1/requests/export` and `GET /v1/usage/export`: rows as ClickHouse writes them, sent as the client reads. A result that
 * would be longer than the bound is refused, never cut.
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { download } from "../../base/operation/answer.ts";
import { inParts } from "../../base/operation/body.ts";
import { incompleteHeader } from "../../base/operation/incomplete-since.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { type ClickHouse, STREAM_MS, type StreamAs } from "../clickhouse/client.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";
import { EXPORT_LIMITS, type QueryBudget } from "../clickhouse/query-budget.ts";
import { environmentCondition } from "../requests/record-access.ts";
import { FILTERS, sqlOf } from "../requests/request-filters.ts";
import { USAGE_QUERY, type UsageExport, usageExport } from "./usage-operations.ts";

/**
 * A place among what runs at once under a name, over all gateways of the installation.
 * @param most places of that name
 * @returns a function that gives it back; undefined where all are taken
 * @throws WeirError 503 where that cannot be known
 */
export type TakePlace = (name: string, most: number) => MaybePromise<(() => void) | undefined>;

export interface ExportDeps {
  readonly clickhouse: Pick<ClickHouse, "stream">;
  /** For the count that precedes an export. */
  readonly budget: QueryBudget;
  readonly clock: Clock;
  readonly waitForInserts: WaitForInserts;
  readonly takePlace: TakePlace;
  /** Most rows of one export. Default: 5,000,000. */
  readonly mostRows?: number;
}

const MOST_ROWS = 5_000_000;
/** Exports that are being read, of an org and of all. */
const AT_ONCE_OF_ORG = 2;
const AT_ONCE = 8;

const FORMATS = {
  csv: { clickhouse: "CSVWithNames", type: "text/csv; charset=utf-8" },
  jsonl: { clickhouse: "JSONEachRow", type: "application/x-ndjson" },
  parquet: { clickhouse: "Parquet", type: "application/vnd.apache.parquet" },
} as const satisfies Record<string, { clickhouse: StreamAs["format"]; type: string }>;
type Format = keyof typeof FORMATS;

const format = z
  .enum(["csv", "jsonl", "parquet"])
  .default("csv")
  .describe("csv: texts that a spreadsheet would take for a formula begin with an apostrophe");
const requestsQuery = z.object({ ...FILTERS, format });
const usageQuery = USAGE_QUERY.extend({ format });

const shared = {
  output: z.undefined(),
  otherTypes: Object.values(FORMATS).map(({ type }) => type.split(";")[0] as string),
  errors: ["query_too_large", "concurrency", "analytics_unavailable", "gateway_unavailable"],
} as const;

/** Fields of the request record of the specification, with those of its detail that are plain values. */
const TEXTS = [
  "request_id",
  "project_id",
  "key_id",
  "environment",
  "model",
  "provider",
  "endpoint_id",
  "region",
  "status",

  "error_code",
  "stop_reason",
  "usage_source",
  "app_id",
  "user_hash",
  "cell",
  "dialect_in",
  "upstream_model",
  "price_version_id",
  "user_agent",
  "client_ip_prefix",
  "route_trace",
  "payload_state",
];
const FIGURES = [
  "http_status",
  "attempts",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",

  "reasoning_tokens",
  "cost_micro",
  "charged",
  "ttft_ms",
  "upstream_ttft_ms",
  "duration_ms",
  "gw_overhead_ms",

  "bytes_in",
  "bytes_out",
  "stream",
  "byok",
  "zdr",
  "tool_calls",
  "has_images",
  "has_tools",
  "has_schema",
];

/** Neutralised as OWASP advises ("CSV Injection"): a spreadsheet would run what begins so. */
const cell = (column: string, of: Format): string =>
  of === "csv"
    ? `if(match(${column}, '^[=+\\\\-@\\\\t\\\\r]'), concat('''', ${column}), toString(${column})) AS ${column}`
    : `toString(${column}) AS ${column}`;

interface Query {
  readonly sql: string;
  readonly count: string;
  readonly params: Record<string, unknown>;
}

/** Takes its place once it is read, and gives it back however it ends. */
async function* inPlace<T>(
  takePlace: TakePlace,
  name: string,
  most: number,
  body: () => AsyncIterable<T>,
): AsyncGenerator<T> {
  const exit = await takePlace(name, most);
  if (exit === undefined) throw tooMany();
  try {
    yield* body();
  } finally {
    exit();
  }
}

export function analyticsExportOperations(deps: ExportDeps) {
  const { clickhouse, budget, clock, waitForInserts, takePlace, mostRows = MOST_ROWS } = deps;

  async function answer(caller: Caller, { sql, count, params }: Query, of: Format, name: string) {
    const missingSinceMs = await waitForInserts();
    const [{ rows } = { rows: 0 }] = await budget.of(caller.orgId).rows<{ rows: number }>(count, params);
    if (rows > mostRows) {
      const message = `The export would have ${rows} rows; one has ${mostRows} at most. Ask for less with the filters.`;
      throw fail("invalid_value", message);
    }
    const { type, clickhouse: format } = FORMATS[of];
    const leaving = new AbortController();
    async function* written() {
      const as = { format, signal: leaving.signal, limits: EXPORT_LIMITS };
      yield* await clickhouse.stream(sql, params, as);
    }
    const ofAll = () => inPlace(takePlace, "exports", AT_ONCE, written);
    const body = inPlace(takePlace, `exports:${caller.orgId}`, AT_ONCE_OF_ORG, ofAll);
    const headers = headersOf(rows, mostRows, missingSinceMs);
    const stream = { type, body: inParts(body), stop: () => leaving.abort() };
    return download(stream, { name: `${name}.${of}`, headers });
  }

  return {
    exportRequests: operation({
      summary: "The requests of the org as a file, newest first, with the filters of the feed",
      method: "GET",
      path: "/v1/requests/export",
      access: "read:usage / viewer",
      group: "Usage",
      query: requestsQuery,
      ...shared,
      run: ({ query: { format: of, ...filters } }, caller) =>
        answer(caller, requestsOf(caller, filters, of), of, "requests"),
    }),
    exportUsage: operation({
      summary: "The sums of a range by hour or day and by group, as a file",
      method: "GET",
      path: "/v1/usage/export",
      access: "read:usage / viewer",
      group: "Usage",
      query: usageQuery,
      ...shared,
      run: ({ query: { format: of, ...query } }, caller) =>
        answer(caller, usageOf(usageExport(query, caller, clock.now()), of), of, "usage"),
    }),
  };
}

/** Headers that describe the file: the file itself has nothing but rows. */
const headersOf = (rows: number, mostRows: number, missingSinceMs: number | undefined) => ({
  "x-svc-rows": `${rows}`,
  "x-svc-row-limit": `${mostRows}`,
  "x-svc-time-limit-seconds": `${STREAM_MS / 1000}`,
  ...incompleteHeader(missingSinceMs),
});

const tooMany = () =>
  fail(
    "concurrency",
    `At most ${AT_ONCE_OF_ORG} exports of an organisation, and ${AT_ONCE} of all, run at once.`,
    { retryAfterMs: 5000 },
  );

function requestsOf(caller: Caller, filters: Parameters<typeof sqlOf>[0], of: Format): Query {
  const { conditions, params } = sqlOf(filters);
  const own = `org_id = {org:String}${environmentCondition(caller)}`;
  const where = [own, ...conditions].join(" AND ");
  const columns = ["toString(ts) AS time", ...TEXTS.map((name) => cell(name, of)), ...FIGURES];
  const tags = of === "parquet" || of === "csv" ? "toJSONString(tags) AS tags_json" : "tags";
  // Filters mean the table's columns, so the columns that are written are made outside of the selection of rows.
  return {
    sql: `SELECT ${[...columns, tags].join(", ")} FROM
      (SELECT * FROM requests WHERE ${where} ORDER BY org_id DESC, ts DESC, request_id DESC)`,
    count: `SELECT count() AS rows FROM requests WHERE ${where}`,
    params: { ...params, org: caller.orgId },
  };
}

function usageOf({ sql, params }: UsageExport, of: Format): Query {
  return {
    sql: `SELECT bucket, ${cell("group", of)}, * EXCEPT (bucket, group) FROM (${sql}) ORDER BY bucket, group`,
    count: `SELECT count() AS rows FROM (${sql})`,
    params,
  };
}
