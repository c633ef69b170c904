/**
 * Quotas of kept bytes: stored responses, answers to Idempotency-Keys, and payloads. Rows of the first two are counted in the act that
 * puts or removes them, so the sum is that of the rows, whatever crashes. Payloads go to ClickHouse, which no call may wait for: they
 * are counted as they are put into the outbox, by day, and are free again when their org's retention is over (`kept-retention.ts`). Their count is written
 * ahead, a step at a time, so that a call costs no row; after a crash it is too high by a step at most, never too low.
 */

import type { Clock } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store, Table } from "../../store/store.ts";
import { type MergedTable, openMergedTable } from "../../store/tables/merged-table.ts";
import {
  type KeptChange,
  type KeptCounts,
  type KeptKind,
  NO_COUNTS,
  payloadsIn,
  withChange,
} from "./kept-counts.ts";
import { type CellsOfQuota, KeptOthers, type ToldCounts } from "./kept-others.ts";
import { KeptPool } from "./kept-pool.ts";
import { KeptRetention } from "./kept-retention.ts";

/** Whose bytes: of an org's live calls, or of its calls with test keys. */
export interface KeptOwner {
  readonly orgId: string;
  readonly environment: "live" | "test";
}

export interface KeptBytesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Port: an org's quota by its plan; 0: unlimited. */
  readonly maxBytes: (owner: KeptOwner) => number;
  /** Port: how long the org's payloads are kept. */
  readonly retentionDays: (orgId: string) => number;
  /** Undefined in a gateway alone. */
  readonly cells?: CellsOfQuota | undefined;
  /** Told when payloads whose time is over could not be freed: it is tried again. */
  readonly onFailure: (error: unknown) => void;
}

/** Between two looks at payloads whose time is over. */
const EXPIRE_EVERY_MS = 3_600_000;
/** Payloads are counted ahead by this share of the quota, between these bounds. */
const STEP_SHARE = 1 / 64;
const LEAST_STEP = 1024;
const MOST_STEP = 256 * 1024;

export class KeptBytes {
  readonly #deps: KeptBytesDeps;
  /** `[org, environment]`. */
  readonly #rows: MergedTable<KeptCounts, KeptChange>;
  /** `[org, environment, day]`: payloads of a day. */
  readonly #days: Table<number>;
  readonly #state: Table<true>;
  readonly #live = new Map<string, KeptPool>();
  readonly #test = new Map<string, KeptPool>();
  readonly #others: KeptOthers | undefined;

  constructor(deps: KeptBytesDeps) {
    this.#deps = deps;
    const { store, cells } = deps;
    this.#rows = openMergedTable(store, "kept.bytes", withChange);
    this.#days = store.table("kept.payload_days");
    this.#state = store.table("kept.state");
    if (cells !== undefined) this.#others = new KeptOthers(cells, this.#rows);
  }

  /** Always the same object. In memory once it was asked for; the first time reads one row. */
  pool(owner: KeptOwner): KeptPool {
    const pool = this.#poolsOf(owner).get(owner.orgId) ?? this.#load(owner);
    const nowMs = this.#deps.clock.now();
    if (nowMs >= pool.expiresAtMs) this.#expire(pool, nowMs);
    return pool;
  }

  /** Asks the other cells whether they have room to give. Resolves soon in every case; undefined in a gateway alone. */
  askOthers(): Promise<void> | undefined {
    return this.#others?.exchange();
  }

  /** In the act that puts or removes a row. @param bytes negative where it is removed */
  count(owner: KeptOwner, kind: KeptKind, bytes: number): void {
    const pool = this.#poolsOf(owner).get(owner.orgId) ?? this.#load(owner);
    this.#change(pool, { kind, bytes });
  }

  /** In the act that puts a payload, which its pool counts already: sees to it that the row covers it. Most calls find that it does. */
  cover(pool: KeptPool): void {
    const missing = pool.payloadBytes - payloadsIn(pool.counts);
    if (missing <= 0) return;
    const { orgId, environment, maxBytes } = pool;
    const bytes = Math.max(
      missing,
      Math.min(MOST_STEP, Math.max(LEAST_STEP, Math.ceil(maxBytes * STEP_SHARE))),
    );
    const key = [orgId, environment, dayOf(this.#deps.clock.now())];
    this.#days.put(key, (this.#days.get(key) ?? 0) + bytes);
    this.#change(pool, { kind: "payloads", bytes });
  }

  /** Plan or retention of an org may be another one. */
  orgChanged(orgId: string): void {
    const days = this.#deps.retentionDays(orgId);
    for (const pool of [this.#live.get(orgId), this.#test.get(orgId)]) {
      if (pool === undefined) continue;
      pool.maxBytes = this.#quotaOf(pool);
      pool.retention.changed(days, this.#deps.clock.now());
    }
  }

  /** Payloads of an org were erased. In an act. @returns whether more days are left */
  erase(orgId: string, most: number): boolean {
    const days = [...this.#days.range({ start: [orgId], end: [orgId, "~"], limit: most + 1 })];
    for (const { key, value } of days.slice(0, most)) this.#free(key as DayKey, value);
    return days.length > most;
  }

  /** Counts rows that an earlier release put: once in the life of a folder, before anything is put or removed. */
  async countEarlier(rows: () => Iterable<KeptOwner & KeptChange>): Promise<void> {
    if (this.#state.get("counted") !== undefined) return;
    const sums = new Map<string, KeptOwner & KeptChange>();
    for (const { kind, bytes, orgId, environment } of rows()) {
      const name = `${orgId}/${environment}/${kind}`;
      sums.set(name, { orgId, environment, kind, bytes: bytes + (sums.get(name)?.bytes ?? 0) });
    }
    const act = () => {
      for (const sum of sums.values()) this.count(sum, sum.kind, sum.bytes);
      this.#state.put("counted", true);
    };
    await this.#deps.store.act(act, { isOwed: true });
  }

  /** What this cell counted since the last call, for the others: at most so many rows. */
  takeUntold(most: number): readonly ToldCounts[] {
    return this.#others?.take(most) ?? [];
  }

  /** What cells counted, this one included. */
  heard(rows: readonly ToldCounts[]): void {
    this.#others?.heard(rows);
  }

  /** Cells came or were retired. */
  cellsChanged(): void {
    this.#others?.cellsChanged();
  }

  #poolsOf({ environment }: KeptOwner): Map<string, KeptPool> {
    return environment === "test" ? this.#test : this.#live;
  }

  #quotaOf(owner: KeptOwner): number {
    return this.#deps.maxBytes(owner) || Number.POSITIVE_INFINITY;
  }

  #load(owner: KeptOwner): KeptPool {
    const { orgId, environment } = owner;
    const counts = this.#rows.get([orgId, environment]) ?? NO_COUNTS;
    const retention = new KeptRetention(this.#deps.retentionDays(orgId));
    const pool = new KeptPool({ orgId, environment }, counts, this.#quotaOf(owner), retention);
    this.#poolsOf(owner).set(orgId, pool);
    this.#others?.loaded(pool);
    return pool;
  }

  #change(pool: KeptPool, change: KeptChange): void {
    const { orgId, environment, counts } = pool;
    pool.counts = this.#rows.add([orgId, environment], change);
    this.#deps.store.ifDropped(() => {
      pool.counts = counts;
    });
    this.#others?.changed(pool);
  }

  /** Frees the payloads of days that the org's retention has left behind. */
  #expire(pool: KeptPool, nowMs: number): void {
    pool.expiresAtMs = nowMs + EXPIRE_EVERY_MS;
    const { store, onFailure } = this.#deps;
    const { orgId, environment } = pool;
    // ClickHouse drops them by whole days.
    const end = [orgId, environment, dayOf(nowMs) - pool.retention.daysAt(nowMs) - 1];
    const old = [...this.#days.range({ start: [orgId, environment], end })];
    if (old.length === 0) return;
    const act = () => {
      for (const { key, value } of old)
        if (this.#days.get(key) !== undefined) this.#free(key as DayKey, value);
    };
    store.act(act, { isOwed: true }).catch(onFailure);
  }

  #free(key: DayKey, bytes: number): void {
    const [orgId, environment] = key;
    const pool = this.#poolsOf({ orgId, environment }).get(orgId) ?? this.#load({ orgId, environment });
    this.#days.remove(key);
    this.#change(pool, { kind: "payloads", bytes: -bytes });
    const { payloadBytes } = pool;
    pool.payloadBytes = Math.max(0, payloadBytes - bytes);
    const freed = payloadBytes - pool.payloadBytes;
    this.#deps.store.ifDropped(() => {
      pool.payloadBytes += freed;
    });
  }
}

type DayKey = [orgId: string, environment: "live" | "test", day: number];

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
