/** Ledger entries for the tests of analytics, and an engine that does as it is told. */
import type { ClickHouse, Target } from "../../../src/analytics/clickhouse/client.ts";
import { queryBudget } from "../../../src/analytics/clickhouse/query-budget.ts";
import { type AnalyticsLedger, openAnalyticsLedger } from "../../../src/analytics/outbox/ledger.ts";
import type { OrgEntry } from "../../../src/analytics/outbox/ledger-rows.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import type { Store } from "../../../src/store/store.ts";
import { silentLog } from "./records.ts";

const AT_MS = Date.UTC(2026, 1, 3, 4, 5, 6, 789);

/** The charge of a call, a millisecond after the one before. */
export const settle = (orgId: string, seq: number, amountMicroUsd = -7): OrgEntry => ({
  orgId,
  seq,
  kind: "settle",
  amountMicroUsd,
  balanceMicroUsd: seq * amountMicroUsd,
  createdAtMs: AT_MS + seq,
  requestId: `request-${orgId}-${seq}`,
});

export const topUp = (orgId: string, seq: number): OrgEntry => ({
  orgId,
  seq,
  kind: "topup",
  amountMicroUsd: 5_000_000,
  balanceMicroUsd: 5_000_000 - seq,
  createdAtMs: AT_MS + seq,
  refType: "topup",
  refId: `tup_${seq}`,
});

/** As a list shows it. */
export function shown({ orgId: _, ...entry }: OrgEntry): LedgerEntry {
  return entry;
}

export const settles = (orgId: string, from: number, to: number): OrgEntry[] =>
  Array.from({ length: to - from + 1 }, (_, at) => settle(orgId, from + at));

export const put = (ledger: AnalyticsLedger, store: Store, entries: readonly OrgEntry[]): Promise<void> =>
  store.act(() => ledger.put(entries));

export class FakeEngine {
  readonly tokens: string[] = [];
  away = false;
  /** Rows that are in the table, whoever asks. */
  #hasRows = false;
  rows = async <T>(sql: string) =>
    (this.#hasRows
      ? [...sql.matchAll(/\('([^']+)', (\d+)\)/g)].map(([, org_id, seq]) => ({ org_id, seq: Number(seq) }))
      : []) as T[];
  bytes = async () => [];
  ended = async () => {};
  synced = async () => {};
  insert = async (_table: string, _columns: readonly string[], _parts: unknown, { token }: Target) => {
    this.tokens.push(token);
    if (this.away) throw new Error("away");
    this.#hasRows = true;
  };
}

/** The entries of a store, on their way to an engine. @param ageMs after which those that wait are sent */
export const openLedger = (store: Store, engine: ClickHouse | FakeEngine, ageMs = 5): AnalyticsLedger =>
  openAnalyticsLedger({
    store,
    clickhouse: engine,
    budget: queryBudget(engine),
    clock: systemClock,
    log: silentLog,
    ageMs,
  });
