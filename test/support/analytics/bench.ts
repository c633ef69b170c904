/** The room of analytics on a folder of a test's own, with the real store, workers and ClickHouse. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AnalyticsOptions, openAnalytics } from "../../../src/analytics/analytics.ts";
import { type ClickHouse, openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import type { RollUp } from "../../../src/analytics/clickhouse/rollups.ts";
import type { RowFiles } from "../../../src/analytics/clickhouse/row-files.ts";
import { openOutbox } from "../../../src/analytics/outbox/outbox.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { cursors } from "../../../src/base/operation/cursor.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { Events } from "../../../src/store/events/events.ts";
import { openStore } from "../../../src/store/store.ts";
import { canonicalRequest } from "../../../src/wire/canonical.ts";
import type { FormatName } from "../../../src/wire/format.ts";
import { openPool, type WorkerPool } from "../../../src/workers/pool.ts";
import { putAnalyticsTables } from "../analytics-folder.ts";
import { temporaryFolder } from "./records.ts";

export interface Bench {
  readonly dataDir: string;
  readonly store: ReturnType<typeof openStore>;
  readonly outbox: ReturnType<typeof openOutbox>;
  readonly pool: ReturnType<typeof openPool>;
  readonly analytics: ReturnType<typeof openAnalytics>;
  readonly warnings: string[];
  /** Puts records as settle does, and resolves when they are committed. */
  add(records: readonly CallRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** @param options a pool that is given is the caller's to close */
export function openBench(options: Partial<AnalyticsOptions> & { readonly pool?: WorkerPool } = {}): Bench {
  const dataDir = options.dataDir ?? temporaryFolder();
  if (options.dataDir === undefined && options.clickhouseUrl === undefined) putAnalyticsTables(dataDir);
  const store = openStore(dataDir);
  const outbox = openOutbox(store);
  const pool = options.pool ?? openPool();
  const warnings: string[] = [];
  const clock = options.clock ?? systemClock;
  const analytics = openAnalytics({
    outbox,
    store,
    dataDir,
    clock,
    events: new Events({ store, clock, onFailure: (error) => void warnings.push(String(error)) }),
    creditOf: () => Promise.reject(new Error("there is no ledger here")),
    cursors: cursors(Buffer.from("a secret of the tests")),
    pool,
    canonical: async (dialectIn, body) => canonicalRequest(dialectIn as FormatName, body),
    log: { warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`) },
    batchAgeMs: 20,
    ...options,
  });
  return {
    dataDir,
    store,
    outbox,
    pool,
    analytics,
    warnings,
    async add(records) {
      await Promise.all(
        records.map((r) => {
          const prepared = outbox.prepare(r);
          return store.act(() => outbox.put(prepared));
        }),
      );
    },
    async close() {
      await analytics.stop();
      if (options.pool === undefined) await pool.close();
      await store.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Statements over what a roll-up says and over what the records sum up to: their rows must be equal. */
export function sumsOf(
  { table, columns, keys, from }: RollUp,
  where: string,
): { readonly table: string; readonly sums: string; readonly again: string } {
  const keyed = columns.slice(0, keys);
  const names = keyed.map(([name]) => name).join(", ");
  // Neither states of quantiles, which depend on the order of rows, nor the marks of batches.
  const summed = columns.slice(keys).filter(([name]) => !/^(ttft|tpot|duration|batches)$/.test(name));
  const sums = summed.map(([name]) => `sum(t.${name}) AS ${name}`).join(", ");
  const again = [...keyed, ...summed].map(([name, by]) => `${by} AS ${name}`).join(", ");
  return {
    table,
    sums: `SELECT ${names}, ${sums} FROM ${table} AS t WHERE ${where} GROUP BY ${names} ORDER BY ${names}`,
    again: `SELECT ${again} FROM ${from} WHERE ${where} GROUP BY ${names} ORDER BY ${names}`,
  };
}

/**
 * A connection of the test's own to the bench's engine, which must have been reached once. The caller closes it.
 * @param rowFiles as the gateway inserts into its own engine; default: rows are sent
 */
export function clickhouseOf({ dataDir }: Bench, database = "weir", rowFiles?: RowFiles): ClickHouse {
  const { url, username, password } = JSON.parse(readFileSync(join(dataDir, "clickhouse.json"), "utf8"));
  return openClickHouse({ address: async () => ({ url, username, password }), database, rowFiles });
}
