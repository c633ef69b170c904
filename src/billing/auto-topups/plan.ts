/**
 * Decides whether an org's credit is topped up, and when: first the announcement, then the order of a debit. Everything here runs in
 * one act. An order that is not asked for at the payment gateway yet is dropped where it is not wanted any more.
 */

import type { OrgRow } from "../../account/org.ts";
import type { AccountTables } from "../../account/tables.ts";
import { isoTime } from "../../base/clock.ts";
import type { Currency } from "../../base/currency.ts";
import { WeirError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import type { MandateRow } from "../mandates/mandate.ts";
import type { MandateDeps } from "../mandates/moves.ts";
import { assertBillable, type Quote, type QuoteDeps, quoteFor } from "../rates/quote.ts";
import { isPossible } from "../state-moves.ts";
import { debitTime } from "../topups/debit-times.ts";
import type { TopupTables } from "../topups/tables.ts";
import { NEW_TOPUP, TOPUP_MOVES, type TopupRow } from "../topups/topup.ts";
import {
  type AutoTopupRow,
  type AutoTopupTables,
  allowedFrom,
  type Debit,
  type DebitRules,
  withinADay,
} from "./auto-topup.ts";
import { autoTopupFailed, autoTopupNotified } from "./events.ts";

export interface PlanDeps extends MandateDeps, QuoteDeps {
  readonly autoTopups: AutoTopupTables;
  readonly jobs: Pick<JobQueue, "enqueue" | "drop">;
  readonly accounts: Pick<AccountTables, "org" | "mustOrg">;
  readonly book: Pick<Book, "balance">;
  readonly topups: TopupTables;
  readonly debitRules: Readonly<Record<Currency, DebitRules>>;
}

/** Banks count the hours of an announcement from when they heard of it. */
const NOTICE_MARGIN_MS = HOUR_MS;
/** A debit that comes later than this after its time was not announced well. */
const NOTICE_KEPT_MS = 24 * HOUR_MS;
const NO_RATE_MS = 15 * MINUTE_MS;

/** A debit may be begun: the org is active, wants it, can be debited, and has too little credit. */
interface Wanted {
  readonly org: OrgRow;
  readonly mandate: MandateRow;
}

/** Only in an act, or of committed rows. */
export function wanted(deps: PlanDeps, row: AutoTopupRow): Wanted | undefined {
  const org = deps.accounts.org(row.orgId);
  const mandate = deps.mandates.inForce(row.orgId);
  if (!row.enabled || org?.status !== "active" || mandate?.status !== "active") return undefined;
  return isBelow(deps, row) ? { org, mandate } : undefined;
}

export const isBelow = ({ book }: Pick<PlanDeps, "book">, { orgId, thresholdMicroUsd }: AutoTopupRow) =>
  book.balance(orgId).balanceMicroUsd < thresholdMicroUsd;

/** Whether the debit that is ordered may still be asked for. An old order has an old rate, and was announced long ago. */
export const isStillWanted = (deps: PlanDeps, row: AutoTopupRow): boolean =>
  row.debit !== null &&
  wanted(deps, row)?.mandate.id === row.debit.mandateId &&
  deps.clock.now() <= row.debit.dueMs + NOTICE_KEPT_MS;

/** Only in an act: the next step. @returns when to look again; undefined: when the balance falls below the threshold */
export function plan(deps: PlanDeps, orgId: string): number | undefined {
  const nowMs = deps.clock.now();
  const row = deps.autoTopups.of(orgId);
  if (row.debit !== null && row.debit.phase !== "announced") return nowMs;
  const want = wanted(deps, row);
  if (want === undefined) {
    if (row.debit !== null) deps.autoTopups.put({ ...row, debit: null });
    return undefined;
  }
  if (deps.gatewayOf(want.mandate.gateway) === undefined) return nowMs + HOUR_MS;
  const quote = quoteOrReason(deps, want.org, row.amountMinor, nowMs);
  if (quote === undefined) return nowMs + NO_RATE_MS;
  if (typeof quote === "string") return stop(deps, row, want.mandate, quote);
  const { totalMinor } = quote;
  if (quote.currency !== want.mandate.currency)
    return stop(deps, row, want.mandate, "The mandate is of another currency.");
  if (totalMinor > want.mandate.capMinor)
    return stop(deps, row, want.mandate, "Amount and tax are more than the mandate allows for one debit.");
  const rules = deps.debitRules[quote.currency];
  const bounds = { totalMinor, capMinor: want.mandate.capMinor, nowMs };
  const fromMs = Math.max(row.notBeforeMs, allowedFrom(row, rules, bounds));
  if (fromMs === Number.POSITIVE_INFINITY)
    return stop(deps, row, want.mandate, "Amount and tax are more than is debited in a day.");
  return fromMs > nowMs ? fromMs : announceOrOrder(deps, row, want.mandate, quote);
}

function announceOrOrder(deps: PlanDeps, row: AutoTopupRow, mandate: MandateRow, quote: Quote): number {
  const nowMs = deps.clock.now();
  if (mandate.notifyHours > 0) {
    if (!isAnnounced(row.debit, mandate, quote, nowMs)) return announce(deps, row, mandate, quote);
    if (row.debit.dueMs > nowMs) return row.debit.dueMs;
  }
  const timeMs = debitTime(mandate.method, nowMs);
  if (timeMs > nowMs) return timeMs;
  order(deps, row, mandate, quote);
  return nowMs;
}

const isAnnounced = (
  debit: Debit | null,
  { id }: MandateRow,
  { totalMinor }: Quote,
  nowMs: number,
): debit is Debit =>
  debit?.mandateId === id && debit.totalMinor === totalMinor && nowMs <= debit.dueMs + NOTICE_KEPT_MS;

const NEW_DEBIT = { topupId: "", attempt: 1, keyFromMs: 0, askedAtMs: 0, declined: null };

/** @returns when it is due */
function announce(deps: PlanDeps, row: AutoTopupRow, mandate: MandateRow, quote: Quote): number {
  const noticeMs = mandate.notifyHours * HOUR_MS + NOTICE_MARGIN_MS;
  const dueMs = debitTime(mandate.method, deps.clock.now() + noticeMs);
  const { totalMinor } = quote;
  const debit: Debit = { ...NEW_DEBIT, phase: "announced", mandateId: mandate.id, totalMinor, dueMs };
  deps.autoTopups.put({ ...row, debit });
  deps.events.emit(autoTopupNotified, row.orgId, {
    ...debitData(mandate, quote.amountMinor, totalMinor),
    due_at: isoTime(dueMs),
  });
  return dueMs;
}

const debitData = ({ id, orgId, currency }: MandateRow, amountMinor: number, totalMinor: number) => ({
  mandate_id: id,
  org_id: orgId,
  currency,
  amount_minor: amountMinor,
  total_minor: totalMinor,
});

function order(deps: PlanDeps, row: AutoTopupRow, mandate: MandateRow, quote: Quote): void {
  const { orgId } = row;
  const nowMs = deps.clock.now();
  const topup: TopupRow = {
    ...NEW_TOPUP,
    id: newId("tup", nowMs),
    orgId,
    source: "auto_topup",
    gateway: mandate.gateway,
    gatewayRef: "",
    method: mandate.method,
    quote,
    createdAtMs: nowMs,
    // It has no page that closes; it ends with its debit.
    expiresAtMs: nowMs,
    idempotencyKey: "",
  };
  deps.topups.put(topup);
  deps.autoTopups.putMandateOf(topup.id, mandate.id);
  const { totalMinor } = quote;
  const ordered = { phase: "ordered", mandateId: mandate.id, totalMinor, dueMs: nowMs } as const;
  const debit: Debit = { ...NEW_DEBIT, ...ordered, topupId: topup.id, keyFromMs: nowMs };
  deps.autoTopups.put({ ...row, debit, recent: withinADay(row.recent, nowMs) });
}

/** Undefined: there is no rate now; a text: why it cannot be quoted. */
function quoteOrReason(
  deps: PlanDeps,
  org: OrgRow,
  amountMinor: number,
  nowMs: number,
): Quote | string | undefined {
  try {
    assertBillable(org);
    return quoteFor(deps, org, amountMinor, nowMs);
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    return error.kind === "fx_stale" ? undefined : error.message;
  }
}

/** Somebody must change something first: it is switched off, and the org is told. */
function stop(deps: PlanDeps, row: AutoTopupRow, mandate: MandateRow, failure: string): undefined {
  deps.autoTopups.put({ ...row, enabled: false, debit: null });
  deps.events.emit(autoTopupFailed, row.orgId, {
    ...debitData(mandate, row.amountMinor, row.debit?.totalMinor ?? row.amountMinor),
    failure,
    consecutive_failures: mandate.consecutiveFailures,
  });
  return undefined;
}

/** Only in an act: the debit was not asked for, or had no effect for certain. Money that comes all the same is credited. */
export function drop(deps: PlanDeps, orgId: string, topupId: string, notBeforeMs?: number): void {
  const row = deps.autoTopups.of(orgId);
  if (row.debit?.topupId !== topupId) return;
  const topup = deps.topups.get(orgId, topupId);
  if (topup !== undefined && isPossible(TOPUP_MOVES.expire, topup.status) === "now")
    deps.topups.put({ ...topup, status: "expired" });
  const recent = row.recent.map((one) => (one.topupId === topupId ? { ...one, minor: 0 } : one));
  deps.autoTopups.put({ ...row, debit: null, recent, notBeforeMs: notBeforeMs ?? row.notBeforeMs });
}

/** Data of an event about a debit of a top-up. */
export const debitOf = (mandate: MandateRow, { id, quote }: TopupRow) => ({
  ...debitData(mandate, quote.amountMinor, quote.totalMinor),
  topup_id: id,
});
