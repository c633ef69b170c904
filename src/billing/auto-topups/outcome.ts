/** How a debit ends: paid, failed, or not wanted by the payer. Only in acts; the same ending twice changes nothing. */

import { isoTime } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import type { EventListener } from "../../store/events/events.ts";
import { cancelAll, pauseMandate } from "../mandates/moves.ts";
import { MISFITS, type ParkedRow } from "../parked.ts";
import type { Checkout, Failure } from "../payments/gateway.ts";
import { spacingMs } from "../topups/debit-times.ts";
import { failed, type SettlementDeps, settle } from "../topups/settlement.ts";
import { isPaid, type TopupRow, topupWire } from "../topups/topup.ts";
import { autoTopupCharged, autoTopupFailed } from "./events.ts";
import { hastenLook } from "./jobs.ts";
import { debitOf, drop, isBelow, type PlanDeps } from "./plan.ts";

/** Debits that may fail in a row; then the mandate is paused. */
const MOST_FAILURES = 3;

export type OutcomeDeps = PlanDeps & SettlementDeps;

/** Credits it; what follows is put by {@link creditListener}, and by {@link concludeParked} for money that does not fit. */
export function concludePaid(deps: OutcomeDeps, topupId: string, checkout: Checkout): void {
  settle(deps, topupId, checkout);
  const topup = deps.topups.find(topupId);
  if (topup === undefined || isPaid(topup)) return;
  drop(deps, topup.orgId, topupId);
}

/** Only in an act: a debit took what was not asked for, perhaps after it was given up. A newer mandate is not paused for it. */
export function concludeParked(deps: OutcomeDeps, { reason, orgId, topupId }: ParkedRow): void {
  const { autoTopups, mandates } = deps;
  if (!MISFITS.includes(reason) || autoTopups.mandateOf(topupId) === "") return;
  if (mandates.inForce(orgId)?.id === autoTopups.mandateOf(topupId)) pauseMandate(deps, orgId, "mismatch");
}

/** Three in a row, or one that would fail again, pause the mandate. */
export function concludeFailed(deps: OutcomeDeps, topupId: string, failure: Failure): void {
  const { topups, autoTopups, mandates, clock } = deps;
  const topup = topups.find(topupId);
  if (topup === undefined || isPaid(topup)) return;
  const { debit } = autoTopups.of(topup.orgId);
  const mandate = mandates.get(topup.orgId, debit?.mandateId ?? "");
  if (debit?.topupId !== topupId || mandate === undefined) return;
  if (failure.kind === "opt_out") {
    optedOut(deps, topupId);
    return;
  }
  failed(deps, topup, failure);
  const consecutiveFailures = mandate.consecutiveFailures + 1;
  const counted = { ...mandate, consecutiveFailures };
  mandates.put(counted);
  const isOver = failure.kind === "hard" || consecutiveFailures >= MOST_FAILURES;
  const notBeforeMs = clock.now() + spacingMs(consecutiveFailures);
  drop(deps, topup.orgId, topupId, notBeforeMs);
  deps.events.emit(autoTopupFailed, topup.orgId, {
    ...debitOf(counted, topup),
    failure: failure.message,
    consecutive_failures: consecutiveFailures,
    ...(!isOver && counted.status === "active" && { retry_at: isoTime(notBeforeMs) }),
  });
  // A newer mandate is not paused for what this one did.
  if (isOver && mandates.inForce(topup.orgId)?.id === mandate.id)
    pauseMandate(deps, topup.orgId, failure.kind === "hard" ? "declined" : "failures");
}

/** The payer refused this one debit at the bank: no failure, and no other debit for a day. */
export function optedOut(deps: OutcomeDeps, topupId: string): void {
  const topup = deps.topups.find(topupId);
  if (topup === undefined || isPaid(topup)) return;
  drop(deps, topup.orgId, topupId, deps.clock.now() + DAY_MS);
}

/**
 * What follows from events, in their acts: a top-up that was paid, whoever told of it, ends its debit; any payment may leave the balance
 * too low still; a mandate that became active may be debited at once; a closed org's mandates end.
 */
export const creditListener =
  (deps: OutcomeDeps): EventListener =>
  ({ type, orgId, data }) => {
    if (type === "org.closed") return cancelAll(deps, orgId);
    if (type === "mandate.active") return hastenLook(deps.jobs, orgId);
    if (type !== "topup.paid" && type !== "topup.failed") return;
    const topup = deps.topups.get(orgId, (data as { id: string }).id);
    if (topup === undefined) return;
    if (type === "topup.paid") return paid(deps, topup);
    // Told of by a webhook: the job reads why, and decides.
    if (deps.autoTopups.of(orgId).debit?.topupId === topup.id) hastenLook(deps.jobs, orgId);
  };

function paid(deps: OutcomeDeps, topup: TopupRow): void {
  const { orgId } = topup;
  if (topup.source === "auto_topup") debited(deps, topup);
  const row = deps.autoTopups.of(orgId);
  // The announced debit may not be needed any more, or still be.
  if (row.debit !== null || (row.enabled && isBelow(deps, row))) hastenLook(deps.jobs, orgId);
}

function debited(deps: OutcomeDeps, topup: TopupRow): void {
  const { autoTopups, mandates, events } = deps;
  const { orgId, id } = topup;
  const mandateId = autoTopups.mandateOf(id);
  const mandate = mandates.get(orgId, mandateId);
  if (mandate !== undefined && mandate.consecutiveFailures > 0)
    mandates.put({ ...mandate, consecutiveFailures: 0 });
  const row = autoTopups.of(orgId);
  if (row.debit?.topupId === id) autoTopups.put({ ...row, debit: null });
  events.emit(autoTopupCharged, orgId, { ...topupWire(topup, topup.invoiceId), mandate_id: mandateId });
}
