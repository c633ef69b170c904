/**
 * Changes of plan that people ask for. All of a change happens in one act. A dearer plan takes over at once: the rest of the month
 * costs the difference to what was paid for already. A cheaper one takes over when the month ends, unless asked for now; then
 * nothing is paid back, and what was paid for stays paid until the month ends. Cancelling is choosing a free plan.
 */
import type { OrgRow } from "../../account/org.ts";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { isFree, monthlyMinor, type Plan } from "../../base/plan.ts";
import { after } from "../state-moves.ts";
import { subscriptionChanged } from "./events.ts";
import { grantIncluded, mayInclude } from "./included-credit.ts";
import { bpsOf, leftBps, periodOf } from "./period.ts";
import { changeLines, feeOf, takeFee } from "./plan-fee.ts";
import {
  beginMonth,
  chargeMonth,
  end,
  monthOf,
  orderRenewal,
  putInForce,
  type RenewalDeps,
  renew,
} from "./renewal.ts";
import {
  type ChangeRecord,
  SUBSCRIPTION_MOVES,
  type SubscriptionRow,
  subscriptionWire,
  unpaidWire,
} from "./subscription.ts";

export const EFFECTIVE = ["now", "period_end"] as const;
export type Effective = (typeof EFFECTIVE)[number];

export interface ChangeRequest {
  readonly planId: string;
  readonly effective: Effective | undefined;
  readonly idempotencyKey: string;
}

/** Changes in one period: each may be an event and a statement. */
const MOST_CHANGES = 50;

/** Nothing was charged. */
const free = (planId: string, effective: Effective): ChangeRecord => ({
  planId,
  effective,
  feeMicroUsd: 0,
  includedMicroUsd: 0,
  proratedBps: 0,
  invoiceId: "",
});

/**
 * Only in an act. @returns what the change did; of one that was made before, what that did
 * @throws WeirError 400 where it cannot be, 402 with what is missing, 403 `plan_limit`, 409 `idempotency_mismatch`, 503 `fx_stale`
 */
export function changePlan(deps: RenewalDeps, org: OrgRow, request: ChangeRequest): ChangeRecord {
  const { planId, effective, idempotencyKey } = request;
  const { subscriptions } = deps;
  const earlier = subscriptions.ofKey(org.id, idempotencyKey);
  if (earlier !== undefined) {
    if (earlier.planId === planId && earlier.effective === (effective ?? "")) return earlier.change;
    throw fail("idempotency_mismatch", "This Idempotency-Key was used for another change of plan.", {
      param: "Idempotency-Key",
    });
  }
  const plan = chosen(deps, org, planId);
  const change = changed(deps, org, plan, effective);
  subscriptions.putKey(org.id, idempotencyKey, { planId, effective: effective ?? "", change });
  return change;
}

/** @throws WeirError 400 where nobody can choose it */
function chosen({ plans }: RenewalDeps, org: OrgRow, planId: string): Plan {
  const plan = plans.find(planId);
  const isOpen = plan?.public === true || planId === plans.free.id || planId === org.planId;
  if (plan !== undefined && isOpen) return plan;
  throw fail("invalid_value", "There is no such plan: GET /v1/plans lists them.", { param: "/plan_id" });
}

function changed(
  deps: RenewalDeps,
  given: OrgRow,
  plan: Plan,
  effective: Effective | undefined,
): ChangeRecord {
  const nowMs = deps.clock.now();
  const { subscriptions, accounts } = deps;
  const before = subscriptions.get(given.id);
  // Its job has not come to it yet.
  const row = before?.status === "active" && nowMs >= before.periodEndMs ? renew(deps, before) : before;
  const org = accounts.org(given.id) ?? given;
  if (effective === "period_end" && row?.status !== "active") {
    throw fail("invalid_value", "No paid month is running: use now.", { param: "/effective" });
  }
  if (row === undefined || (row.status === "cancelled" && nowMs >= row.periodEndMs))
    return subscribe(deps, org, row, plan);
  if (row.status === "cancelled")
    return isFree(plan) ? chooseFree(deps, org, row, plan) : changeNow(deps, org, row, plan);
  if (row.status === "past_due") return settleDue(deps, org, row, plan);
  return changeActive(deps, org, row, plan, effective);
}

/** Subscribes an org that pays for no month: the first one begins now. */
function subscribe(
  deps: RenewalDeps,
  org: OrgRow,
  before: SubscriptionRow | undefined,
  plan: Plan,
): ChangeRecord {
  if (isFree(plan)) return chooseFree(deps, org, before, plan);
  const nowMs = deps.clock.now();
  const period = periodOf(nowMs, 0);
  const id = newId("sub", nowMs);
  const charged = chargeMonth(deps, org, id, plan, period);
  if (charged.outcome !== "taken") throw missing(charged.microUsd, charged.availableMicroUsd);
  const { change } = charged;
  const row: SubscriptionRow = {
    id,
    orgId: org.id,
    planId: plan.id,
    startedAtMs: nowMs,
    status: after(SUBSCRIPTION_MOVES.subscribe, before?.status ?? "cancelled", "subscription") ?? "active",
    ...monthOf(org, plan, period, change.includedMicroUsd > 0),
    nextPlanId: "",
    missed: 0,
    missedAtMs: null,
    lastChange: change,
  };
  putInForce(deps, row);
  tell(deps, row);
  orderRenewal(deps, row);
  return change;
}

/** From one free plan to another, or to the same. */
function chooseFree(
  { accounts, events, subscriptions, clock }: RenewalDeps,
  org: OrgRow,
  row: SubscriptionRow | undefined,
  plan: Plan,
): ChangeRecord {
  if (org.planId === plan.id)
    return row?.lastChange?.planId === plan.id ? row.lastChange : free(plan.id, "now");
  accounts.replaceOrg({ ...org, planId: plan.id });
  if (row !== undefined) subscriptions.put({ ...row, planId: plan.id });
  events.emit(subscriptionChanged, org.id, unpaidWire(org, plan.id, clock.now()));
  return free(plan.id, "now");
}

/** The month that is due is paid now, for the plan that is chosen. */
function settleDue(deps: RenewalDeps, org: OrgRow, row: SubscriptionRow, plan: Plan): ChangeRecord {
  if (isFree(plan)) return noted(deps, end(deps, row, plan), free(plan.id, "now"));
  const begun = beginMonth(deps, org, row, plan);
  if (begun.outcome !== "taken") throw missing(begun.microUsd, begun.availableMicroUsd);
  return noted(deps, begun.row, begun.change);
}

function changeActive(
  deps: RenewalDeps,
  org: OrgRow,
  row: SubscriptionRow,
  plan: Plan,
  effective: Effective | undefined,
): ChangeRecord {
  if (plan.id === row.planId) {
    const isReplay = row.nextPlanId === "" && row.lastChange?.planId === plan.id;
    if (isReplay && row.lastChange !== null) return row.lastChange;
    if (row.nextPlanId === "") return free(plan.id, "now");
    // It stays after all.
    assertFew(row);
    return put(deps, row, { nextPlanId: "" }, free(plan.id, "now"));
  }
  // Whoever cancels is never refused.
  if (!isFree(plan)) assertFew(row);
  const isCheaper =
    monthlyMinor(plan, row.currency) < monthlyMinor(deps.plans.inForce(row.planId), row.currency);
  if ((effective ?? (isCheaper ? "period_end" : "now")) === "period_end") {
    const change = free(plan.id, "period_end");
    return row.nextPlanId === plan.id ? change : put(deps, row, { nextPlanId: plan.id }, change);
  }
  if (!isFree(plan)) return changeNow(deps, org, row, plan);
  return noted(deps, end(deps, row, plan), free(plan.id, "now"));
}

/** The rest of the month, for what it costs more than what was paid for. */
function changeNow(deps: RenewalDeps, org: OrgRow, row: SubscriptionRow, plan: Plan): ChangeRecord {
  assertFew(row);
  const nowMs = deps.clock.now();
  const period = { startMs: row.periodStartMs, endMs: row.periodEndMs };
  const bps = leftBps(period, nowMs);
  const newMinor = Math.max(row.paidMinor, monthlyMinor(plan, row.currency));
  const fee = feeOf(deps, row.currency, bpsOf(newMinor, bps) - bpsOf(row.paidMinor, bps));
  const isIncluded = mayInclude(deps, org.id);
  const included = isIncluded ? Math.max(row.includedMicroUsd, plan.included_micro) : row.includedMicroUsd;
  const includedMicroUsd = bpsOf(included - row.includedMicroUsd, bps);
  const refId = `${row.id}/${row.month}/${row.changes + 1}`;
  const prices = { newMinor, paidMinor: row.paidMinor };
  const lines = changeLines(plan, prices, { bps, nowMs, endMs: period.endMs }, includedMicroUsd);
  const taken = takeFee(deps, org, { refId, fee, lines, plan, period });
  if (taken.outcome !== "taken") throw missing(fee.microUsd, taken.availableMicroUsd);
  grantIncluded(deps, org.id, { refId, amountMicroUsd: includedMicroUsd, expiresAtMs: period.endMs });
  const move = row.status === "cancelled" ? SUBSCRIPTION_MOVES.subscribe : SUBSCRIPTION_MOVES.change;
  const status = after(move, row.status, "subscription") ?? row.status;
  const invoiceId = taken.invoice?.id ?? "";
  const change: ChangeRecord = {
    planId: plan.id,
    effective: "now",
    proratedBps: bps,
    invoiceId,
    feeMicroUsd: fee.microUsd,
    includedMicroUsd,
  };
  const paid = { planId: plan.id, status, nextPlanId: "", paidMinor: newMinor, includedMicroUsd: included };
  const next = put(deps, row, paid, change);
  orderRenewal(deps, { ...row, ...paid });
  return next;
}

/** Puts the changed row with the event. */
function put(
  deps: RenewalDeps,
  before: SubscriptionRow,
  changes: Partial<SubscriptionRow>,
  lastChange: ChangeRecord,
): ChangeRecord {
  const row: SubscriptionRow = { ...before, ...changes, changes: before.changes + 1, lastChange };
  putInForce(deps, row);
  tell(deps, row);
  return lastChange;
}

/** Keeps what a change did, whose event was put with it. */
function noted({ subscriptions }: RenewalDeps, row: SubscriptionRow, lastChange: ChangeRecord): ChangeRecord {
  subscriptions.put({ ...row, changes: row.changes + 1, lastChange });
  return lastChange;
}

const tell = ({ events }: RenewalDeps, row: SubscriptionRow): void =>
  events.emit(subscriptionChanged, row.orgId, subscriptionWire(row));

/** @throws WeirError 403 */
function assertFew({ changes }: SubscriptionRow): void {
  if (changes < MOST_CHANGES) return;
  throw fail(
    "plan_limit",
    `The plan was changed ${MOST_CHANGES} times in this month. Wait for the next one.`,
  );
}

const missing = (requiredMicroUsd: number, availableMicroUsd: number) =>
  fail("insufficient_credits", "There is too little credit for the fee of this plan. Top up first.", {
    details: {
      required_micro: requiredMicroUsd,
      available_micro: availableMicroUsd,
      missing_micro: requiredMicroUsd - availableMicroUsd,
    },
  });
