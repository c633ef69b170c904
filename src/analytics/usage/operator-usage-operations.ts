/** `GET /v1/operator/usage`: what each org uses, and how much of the disk its calls take. */
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { INCOMPLETE_SINCE, incompleteSince } from "../../base/operation/incomplete-since.ts";
import { operation } from "../../base/operation/operation.ts";
import type { ClickHouse, QueryLimits } from "../clickhouse/client.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";
import { type Key, ONE_SUM, SUMS, sumsSql } from "./usage-sums.ts";
import {
  added,
  periodOf,
  RANGE_FIELDS,
  SUM_FIELDS,
  type Totals,
  totalsOf,
  totalsSchema,
} from "./usage-wire.ts";

export interface OperatorUsageDeps {
  readonly clickhouse: Pick<ClickHouse, "rows">;
  readonly clock: Clock;
  readonly waitForInserts: WaitForInserts;
}

const LIMITS: QueryLimits = Object.freeze({
  memoryBytes: 1_000_000_000,
  readRows: 2_000_000_000,
  seconds: 60,
  threads: 2,
});

const storedSchema = z.object({
  records: z.int().describe("Records of calls, and of its attempts"),
  record_bytes: z.int().describe("Their share of the table's bytes on the disk, by number"),
  payloads: z.int().describe("Stored prompts and answers"),
  payload_bytes: z.int().describe("Their share of the table's bytes on the disk, by the size of the calls"),
});

const answer = z.object({
  object: field.objectOf("operator_usage"),
  range: z.object(field.period).describe("The period that is summed."),
  ...INCOMPLETE_SINCE,
  totals: totalsSchema.describe("Sums of the whole period."),
  tables: z
    .array(
      z.object({
        name: z.string().describe("The table's name."),
        rows: z.int().describe("Rows; of sums, several may still be merged into one"),
        bytes: z.int().describe("On the disk"),
      }),
    )
    .describe("Tables of the analytics database, the largest first"),
  orgs: z
    .array(
      z.object({
        org_id: z.string().describe("The org that called."),
        ...SUM_FIELDS,
        stored: storedSchema.describe("What is kept of its calls, whenever they were"),
      }),
    )
    .describe("Orgs that called in the period, or of which something is stored"),
});

const BY_ORG: Key = { of: () => "org_id", order: "k", limit: undefined };
const ALL = { where: "1 = 1", isFiltered: false };
const STOCKS = ["records", "payloads", "weight"] as const;

/** A part of the union: the named columns, and 0 for all others. */
const part = (org: string, given: Readonly<Partial<Record<string, string>>>, from: string): string =>
  `SELECT ${org} AS org_id, ${[...SUMS, ...STOCKS].map((name) => `toInt64(${given[name] ?? 0}) AS ${name}`).join(", ")} FROM ${from}`;

const ORDERS = {
  cost: "cost_micro",
  requests: "requests",
  bytes: "record_bytes + payload_bytes",
} as const;

/**
 * A row for each org. Payloads themselves would be gigabytes to read: their share goes by the size of the calls whose payloads are
 * still kept, as `weight`.
 */
function orgsSql(usage: string, sort: keyof typeof ORDERS): string {
  const parts = [
    part("k", Object.fromEntries(SUMS.map((name) => [name, name])), `(${usage})`),
    part("org_id", { records: "count()" }, "requests GROUP BY org_id"),
    part("org_id", { payloads: "count()" }, "payloads GROUP BY org_id"),
    part(
      "org_id",
      { weight: "sum(bytes_in + bytes_out)" },
      `requests WHERE payload_state = 'available' AND ts >= (SELECT min(ts) FROM payloads)
         AND ts > now() - toIntervalDay(retention_days) GROUP BY org_id`,
    ),
  ];
  const share = (name: string) => `${name} / greatest(sum(${name}) OVER (), 1)`;
  return `SELECT *, toInt64(round({record_bytes:Float64} * ${share("records")})) AS record_bytes,
      toInt64(round({payload_bytes:Float64} * ${share("weight")})) AS payload_bytes
    FROM (SELECT org_id, ${[...SUMS, ...STOCKS].map((name) => `sum(${name}) AS ${name}`).join(", ")}
      FROM (${parts.join(" UNION ALL ")}) AS parts GROUP BY org_id)
    ORDER BY ${ORDERS[sort]} DESC, org_id LIMIT {limit:UInt32}`;
}

type OrgRow = Totals & { readonly org_id: string } & z.output<typeof storedSchema>;

/** On a cluster, the tables with the rows: their names end differently. */
const TABLES = `SELECT replaceRegexpOne(stored.name, '_local$', '') AS name,
    toUInt64(sum(total_rows)) AS rows, toUInt64(sum(total_bytes)) AS bytes
  FROM system.tables AS stored WHERE database = currentDatabase() AND total_bytes > 0
  GROUP BY name ORDER BY bytes DESC, name`;

export function operatorUsageOperations({ clickhouse, clock, waitForInserts }: OperatorUsageDeps) {
  const ask = <T>(sql: string, params: Record<string, unknown> = {}) =>
    clickhouse.rows<T>(sql, params, LIMITS);

  return {
    operatorGetUsage: operation({
      summary: "What each org uses, and what it takes of the disk, the largest first",
      method: "GET",
      path: "/v1/operator/usage",
      access: "operator",
      group: "Operator",
      query: z.object({
        ...RANGE_FIELDS,
        sort: z.enum(["cost", "requests", "bytes"]).default("cost").describe("What the order goes by."),
        limit: z.coerce.number().int().min(1).max(1000).default(100).describe("So many at most."),
      }),
      output: answer,
      errors: ["query_too_large", "analytics_unavailable"],
      async run({ query: { sort, limit, ...range } }) {
        const period = periodOf(range, clock.now());
        const missingSinceMs = await waitForInserts();
        const tables = await ask<{ name: string; rows: number; bytes: number }>(TABLES);
        const bytesOf = (table: string) => tables.find(({ name }) => name === table)?.bytes ?? 0;
        const stored = { record_bytes: bytesOf("requests"), payload_bytes: bytesOf("payloads") };
        const all = sumsSql(ONE_SUM, ALL, period);
        const totals = await ask<Totals>(all.sql, all.params);
        const { sql, params } = sumsSql(BY_ORG, ALL, period);
        const orgs = await ask<OrgRow>(orgsSql(sql, sort), { ...params, ...stored, limit });
        return {
          object: "operator_usage" as const,
          range: { from: isoTime(period.fromMs), to: isoTime(period.toMs) },
          ...incompleteSince(missingSinceMs),
          totals: added(totals),
          tables,
          orgs: orgs.map(orgWire),
        };
      },
    }),
  };
}

const orgWire = (row: OrgRow) => ({
  org_id: row.org_id,
  ...totalsOf(row),
  stored: {
    records: row.records,
    record_bytes: row.record_bytes,
    payloads: row.payloads,
    payload_bytes: row.payload_bytes,
  },
});
