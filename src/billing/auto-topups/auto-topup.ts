/**
 * Automatic top-ups of an org: when and how much, the debit that is under way, and what bounds them. One row an org. At most one
 * debit is under way; its phases are kept, so that after a crash it is gone on with where it stood.
 */

import type { Currency } from "../../base/currency.ts";
import { DAY_MS } from "../../base/time.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import type { ConfigWire, MandateTerms } from "../mandates/mandate.ts";
import type { DebitedTopups } from "../mandates/moves.ts";
import type { Failure } from "../payments/gateway.ts";

/**
 * `announced`: the payer knows when the debit comes. `ordered`: it has a top-up. `prepared`: the payment gateway has an object that
 * takes no money yet. `confirming`: the payment gateway was asked to take the money, perhaps.
 */
export type DebitPhase = "announced" | "ordered" | "prepared" | "confirming";

export interface Debit {
  readonly phase: DebitPhase;
  readonly mandateId: string;
  /** Tax included; what was announced. */
  readonly totalMinor: number;
  /** Not before this; of an announcement. */
  readonly dueMs: number;
  /** Empty until it is ordered. */
  readonly topupId: string;
  /** Counts idempotency keys of the phase: a payment gateway repeats its stored answer to a key. */
  readonly attempt: number;
  /** Since when that key is used. */
  readonly keyFromMs: number;
  /** When the payment gateway was last asked to take the money. */
  readonly askedAtMs: number;
  /** What it said no with, where a no may still become a yes. */
  readonly declined: Failure | null;
}

/** A debit that the payment gateway was asked for. */
export interface RecentDebit {
  readonly topupId: string;
  readonly atMs: number;
  /** Tax included; 0 where it failed for certain. */
  readonly minor: number;
}

export interface AutoTopupRow {
  readonly orgId: string;
  readonly enabled: boolean;
  readonly thresholdMicroUsd: number;
  /** Before tax. */
  readonly amountMinor: number;
  readonly debit: Debit | null;
  /** Debits of the last day, oldest first. */
  readonly recent: readonly RecentDebit[];
  /** No debit before this: the last one failed, or the payer did not want it. */
  readonly notBeforeMs: number;
}

/** What bounds debits. */
export interface DebitRules extends MandateTerms {
  /** In any 24 hours. */
  readonly mostADay: number;
  /** In any 24 hours, as a multiple of the mandate's cap. */
  readonly mostCapsADay: number;
}

/**
 * INR: RBI, "Processing of e-mandates for recurring transactions": an announcement at least 24 hours before each debit, and up to
 * ₹15,000 without asking the payer again.
 */
export const DEBIT_RULES: Readonly<Record<Currency, DebitRules>> = {
  INR: { capMinor: 1_500_000, notifyHours: 24, mostADay: 3, mostCapsADay: 2 },
  USD: { capMinor: 100_000, notifyHours: 0, mostADay: 3, mostCapsADay: 2 },
};

const NONE = {
  enabled: false,
  thresholdMicroUsd: 0,
  amountMinor: 0,
  debit: null,
  recent: [],
  notBeforeMs: 0,
};

export class AutoTopupTables extends StoreTables implements DebitedTopups {
  /** [org id]. */
  readonly #rows = this.store.table<AutoTopupRow>("billing.auto_topups");
  /** [org id] → the same: those that are switched on or have a debit, so that the sweep reads no others. */
  readonly #live = this.store.table<string>("billing.auto_topups_live");
  /** [top-up id] → id of the mandate that it was debited of. */
  readonly #mandateOf = this.store.table<string>("billing.mandates_of_topups");

  /** Off, where the org never said anything. */
  of(orgId: string): AutoTopupRow {
    return this.#rows.get([orgId]) ?? { orgId, ...NONE };
  }

  /** A slice of those that are switched on or have a debit, by org. @param after the last org of the slice before */
  liveSlice(most: number, after = ""): AutoTopupRow[] {
    const rows: AutoTopupRow[] = [];
    for (const { value: orgId } of this.#live.range({ start: [after] })) {
      if (orgId !== after) rows.push(this.of(orgId));
      if (rows.length === most) break;
    }
    return rows;
  }

  configOf(orgId: string): ConfigWire {
    return configWire(this.of(orgId));
  }

  isAsked(orgId: string, mandateId: string): boolean {
    const { debit } = this.of(orgId);
    return debit?.mandateId === mandateId && debit.phase === "confirming";
  }

  mandateOf(topupId: string): string {
    return this.#mandateOf.get([topupId]) ?? "";
  }

  /** Only in an act. */
  put(row: AutoTopupRow): void {
    const key = [row.orgId];
    this.#rows.put(key, row);
    const isLive = row.enabled || row.debit !== null;
    const wasLive = this.#live.get(key) !== undefined;
    if (isLive && !wasLive) this.#live.put(key, row.orgId);
    if (!isLive && wasLive) this.#live.remove(key);
  }

  switchOff(orgId: string): void {
    const row = this.of(orgId);
    if (row.enabled) this.put({ ...row, enabled: false });
  }

  /** Only in an act. */
  putMandateOf(topupId: string, mandateId: string): void {
    this.#mandateOf.put([topupId], mandateId);
  }

  /** Calls the watcher for each changed row, once it is committed. */
  watch(changed: (orgId: string) => void): void {
    this.#rows.watch((_key, row) => {
      if (row !== undefined) changed(row.orgId);
    });
  }
}

/** A clock may be wrong by so much without anything following from it. */
const SLACK_MS = 60_000;

/**
 * The row where its times are of a clock that was ahead and has been set right: what has happened happened now at the latest, and
 * what was announced for a day after tomorrow is announced again. The same row where there is nothing to mend.
 */
export function withoutFuture(row: AutoTopupRow, nowMs: number): AutoTopupRow {
  const { debit, recent, notBeforeMs } = row;
  const isAhead = (ms: number) => ms > nowMs + SLACK_MS;
  const past = (ms: number) => (isAhead(ms) ? nowMs : ms);
  const isAnnounced = debit?.phase === "announced";
  const isFarOff = isAnnounced && isAhead(debit.dueMs - 2 * DAY_MS);
  const since = isAnnounced || debit === null ? [] : [debit.dueMs, debit.keyFromMs, debit.askedAtMs];
  const isBarred = isAhead(notBeforeMs - DAY_MS);
  if (!isFarOff && !isBarred && ![...since, ...recent.map(({ atMs }) => atMs)].some(isAhead)) return row;
  return {
    ...row,
    debit: isFarOff ? null : debit && (isAnnounced ? debit : sinceThen(debit, past)),
    recent: recent.map((one) => ({ ...one, atMs: past(one.atMs) })),
    notBeforeMs: isBarred ? nowMs + DAY_MS : notBeforeMs,
  };
}

const sinceThen = (debit: Debit, past: (ms: number) => number): Debit => ({
  ...debit,
  dueMs: past(debit.dueMs),
  keyFromMs: past(debit.keyFromMs),
  askedAtMs: past(debit.askedAtMs),
});

export const configWire = (row: AutoTopupRow): ConfigWire => ({
  enabled: row.enabled,
  threshold_micro: row.thresholdMicroUsd,
  amount_minor: row.amountMinor,
});

/**
 * From when the ceilings allow another debit. Counted over any 24 hours and not by calendar days, so that midnight doubles nothing.
 * @returns `nowMs` or later; `Infinity` where the amount alone is too much
 */
export function allowedFrom(
  { recent }: Pick<AutoTopupRow, "recent">,
  { mostADay, mostCapsADay }: DebitRules,
  { totalMinor, capMinor, nowMs }: { totalMinor: number; capMinor: number; nowMs: number },
): number {
  if (totalMinor > mostCapsADay * capMinor || mostADay < 1) return Number.POSITIVE_INFINITY;
  let counted = withinADay(recent, nowMs);
  let fromMs = nowMs;
  const sum = () => counted.reduce((all, { minor }) => all + minor, totalMinor);
  while (counted.length >= mostADay || sum() > mostCapsADay * capMinor) {
    fromMs = (counted[0] as RecentDebit).atMs + DAY_MS;
    counted = counted.slice(1);
  }
  return fromMs;
}

export const withinADay = (recent: readonly RecentDebit[], nowMs: number): readonly RecentDebit[] =>
  recent.filter(({ atMs }) => atMs + DAY_MS > nowMs);
