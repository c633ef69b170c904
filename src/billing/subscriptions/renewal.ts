/**
 * Renewals: when a month ends, the next one's fee is taken, or the plan that was chosen takes over. Too little credit makes the
 * subscription past due; it is tried again after one, three and seven days, and then the org has the default plan. Everything
 * of a renewal happens in one act, which reads the row again, so each month is charged once whatever dies meanwhile. Months that
 * passed while nothing ran are not charged. Without an exchange rate it waits, for as long as there is none.
 */

import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import type { AccountTables } from "../../account/tables.ts";
import { WeirError } from "../../base/errors.ts";
import { isFree, monthlyMinor, type Plan } from "../../base/plan.ts";
import { DAY_MS } from "../../base/time.ts";
import type { EventListener } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import { type JobHandler, jobKind } from "../../store/jobs/job.ts";
import { after } from "../state-moves.ts";
import { subscriptionChanged, subscriptionPastDue, subscriptionRenewed } from "./events.ts";
import { expireDue, grantIncluded, type IncludedCreditDeps, mayInclude } from "./included-credit.ts";
import { type Period, periodAt, periodOf } from "./period.ts";
import { type FeeDeps, feeOf, monthLines, takeFee } from "./plan-fee.ts";
import type { PlanList } from "./plan-list.ts";
import {
  type ChangeRecord,
  SUBSCRIPTION_MOVES,
  type SubscriptionRow,
  subscriptionWire,
} from "./subscription.ts";

export const renewSubscription = jobKind({
  name: "billing.renew",
  payload: z.object({ orgId: z.string(), id: z.string(), month: z.int(), missed: z.int() }),
  tries: 1000,
  backoff: { firstMs: 60_000, mostMs: 3_600_000 },
  atOnce: 8,
  atOncePerLane: 1,
  leaseMs: 60_000,
});

/** How often a renewal looks for an exchange rate. It is no failed try: those end. */
const NO_RATE_MS = 3_600_000;
/** After the first failure. When the last one fails too, the subscription ends. */
const RETRIES_MS = [DAY_MS, 3 * DAY_MS, 7 * DAY_MS] as const;

export interface RenewalDeps extends FeeDeps, IncludedCreditDeps {
  readonly accounts: AccountTables;
  readonly plans: PlanList;
  readonly events: Trail["events"];
}

/** When a job looks at it next. */
export const renewalDueMs = ({ missed, missedAtMs, periodEndMs }: SubscriptionRow): number =>
  missed === 0 ? periodEndMs : (missedAtMs ?? periodEndMs) + (RETRIES_MS[missed - 1] ?? 0);

/** Only in an act. */
export function orderRenewal({ jobs }: Pick<RenewalDeps, "jobs">, row: SubscriptionRow): void {
  const { orgId, id, month, missed } = row;
  const payload = { orgId, id, month, missed };
  jobs.enqueue(renewSubscription, {
    key: `${id}/${month}/${missed}`,
    orgId,
    dueMs: renewalDueMs(row),
    payload,
  });
}

export const renewalHandler = (
  deps: RenewalDeps,
): JobHandler<z.output<typeof renewSubscription.payload>> => ({
  run({ orgId, id, month, missed }) {
    const due = (): SubscriptionRow | undefined => {
      const row = deps.subscriptions.get(orgId);
      const isMeant = row?.id === id && row.month === month && row.missed === missed;
      return isMeant && row.status !== "cancelled" ? row : undefined;
    };
    const row = due();
    if (row === undefined) return undefined;
    const dueMs = renewalDueMs(row);
    // The wall clock was set back.
    const nowMs = deps.clock.now();
    if (nowMs < dueMs) return { againAtMs: dueMs };
    if (!hasRate(deps, row)) return { againAtMs: nowMs + NO_RATE_MS };
    return {
      act() {
        const found = due();
        if (found !== undefined) renew(deps, found);
      },
    };
  },
});

/** What takes over when the period ends. */
const nextPlan = ({ plans }: RenewalDeps, { planId, nextPlanId }: SubscriptionRow): Plan =>
  plans.inForce(nextPlanId === "" ? planId : nextPlanId);

/** Whether the renewal can be reckoned: only a fee that is taken needs a rate. */
function hasRate(deps: RenewalDeps, row: SubscriptionRow): boolean {
  const org = deps.accounts.org(row.orgId);
  const plan = nextPlan(deps, row);
  if (org?.status !== "active" || isFree(plan)) return true;
  try {
    feeOf(deps, org.billingCurrency, monthlyMinor(plan, org.billingCurrency));
    return true;
  } catch (error) {
    if (error instanceof WeirError && error.kind === "fx_stale") return false;
    throw error;
  }
}

/** Only in an act, of a row whose period is over. @throws WeirError 503 `fx_stale` @returns the row as it is then */
export function renew(deps: RenewalDeps, row: SubscriptionRow): SubscriptionRow {
  const org = deps.accounts.org(row.orgId);
  const plan = nextPlan(deps, row);
  if (org === undefined || org.status === "closed" || isFree(plan)) return end(deps, row, plan);
  // Calls of a suspended org are refused: nothing is taken for them.
  const begun = org.status === "suspended" ? undefined : beginMonth(deps, org, row, plan);
  return begun?.outcome === "taken" ? begun.row : miss(deps, row);
}

export type MonthCharged =
  | { readonly outcome: "taken"; readonly change: ChangeRecord }
  | {
      readonly outcome: "insufficient_credits";
      readonly availableMicroUsd: number;
      readonly microUsd: number;
    };

type MonthBegun =
  | { readonly outcome: "taken"; readonly change: ChangeRecord; readonly row: SubscriptionRow }
  | Exclude<MonthCharged, { readonly outcome: "taken" }>;

/** Only in an act: takes the fee of the month that runs now. Where there is too little credit, nothing is put. */
export function beginMonth(deps: RenewalDeps, org: OrgRow, before: SubscriptionRow, plan: Plan): MonthBegun {
  const { clock, events } = deps;
  const nowMs = clock.now();
  const now = periodAt(before.startedAtMs, nowMs);
  // A wall clock that was set back must not charge a month twice.
  const period = now.month > before.month ? now : periodOf(before.startedAtMs, before.month + 1);
  const charged = chargeMonth(deps, org, before.id, plan, period);
  if (charged.outcome !== "taken") return charged;
  const { change } = charged;
  const row: SubscriptionRow = {
    ...before,

    planId: plan.id,
    status: after(SUBSCRIPTION_MOVES.renew, before.status, "subscription") ?? "active",
    ...monthOf(org, plan, period, change.includedMicroUsd > 0),
    nextPlanId: "",
    missed: 0,
    missedAtMs: null,
  };
  putInForce(deps, row);
  events.emit(subscriptionRenewed, org.id, subscriptionWire(row));
  if (row.planId !== before.planId) events.emit(subscriptionChanged, org.id, subscriptionWire(row));
  orderRenewal(deps, row);
  return { ...charged, row };
}

/** What a row says of a month that was paid whole. */
export const monthOf = (org: OrgRow, plan: Plan, period: Period, isIncluded: boolean) => ({
  currency: org.billingCurrency,
  month: period.month,
  periodStartMs: period.startMs,
  periodEndMs: period.endMs,
  paidMinor: monthlyMinor(plan, org.billingCurrency),
  includedMicroUsd: isIncluded ? plan.included_micro : 0,
  changes: 0,
  lastChange: null,
});

/** Only in an act: fee, statement and included credit of a whole month. */
export function chargeMonth(
  deps: RenewalDeps,
  org: OrgRow,
  subscriptionId: string,
  plan: Plan,
  period: Period,
): MonthCharged {
  const refId = `${subscriptionId}/${period.month}/0`;
  expireDue(deps, org.id);
  const fee = feeOf(deps, org.billingCurrency, monthlyMinor(plan, org.billingCurrency));
  const includedMicroUsd = mayInclude(deps, org.id) ? plan.included_micro : 0;
  const lines = monthLines(plan, fee.minor, period, includedMicroUsd);
  const taken = takeFee(deps, org, { refId, fee, lines, plan, period });
  if (taken.outcome !== "taken") return { ...taken, microUsd: fee.microUsd };
  grantIncluded(deps, org.id, { refId, amountMicroUsd: includedMicroUsd, expiresAtMs: period.endMs });
  const change: ChangeRecord = {
    planId: plan.id,
    effective: "now",
    feeMicroUsd: fee.microUsd,
    includedMicroUsd,
    proratedBps: 10_000,
    invoiceId: taken.invoice?.id ?? "",
  };
  return { outcome: "taken", change };
}

/** Only in an act. */
function miss(deps: RenewalDeps, before: SubscriptionRow): SubscriptionRow {
  if (before.missed >= RETRIES_MS.length) return end(deps, before, deps.plans.free);
  const nowMs = deps.clock.now();
  const { missed, missedAtMs } = before;
  const row: SubscriptionRow = {
    ...before,
    status: after(SUBSCRIPTION_MOVES.miss, before.status, "subscription") ?? before.status,
    missed: missed + 1,
    missedAtMs: missedAtMs ?? nowMs,
  };
  deps.subscriptions.put(row);
  if (missed === 0) deps.events.emit(subscriptionPastDue, row.orgId, subscriptionWire(row));
  orderRenewal(deps, row);
  return row;
}

/** Only in an act: the org has a free plan now. What it paid for stays paid until the period ends, should it come back. */
export function end(deps: RenewalDeps, before: SubscriptionRow, free: Plan): SubscriptionRow {
  const status = after(SUBSCRIPTION_MOVES.end, before.status, "subscription") ?? before.status;
  const planId = isFree(free) ? free.id : deps.plans.free.id;
  const row: SubscriptionRow = { ...before, planId, status, nextPlanId: "" };
  putInForce(deps, row);
  deps.events.emit(subscriptionChanged, row.orgId, subscriptionWire(row));
  return row;
}

/**
 * What follows from the closing of an org, in its act: no month of it is charged any more. A renewal that its job is about to make
 * reads the row again in an act of its own.
 */
export const closingListener =
  (deps: RenewalDeps): EventListener =>
  ({ type, orgId }) => {
    const row = type === "org.closed" ? deps.subscriptions.get(orgId) : undefined;
    if (row !== undefined && row.status !== "cancelled") end(deps, row, deps.plans.free);
  };

/** Only in an act: the row, and the org's plan, whose change drops what is remembered of its keys. */
export function putInForce({ accounts, subscriptions }: RenewalDeps, row: SubscriptionRow): void {
  subscriptions.put(row);
  const org = accounts.org(row.orgId);
  if (org !== undefined && org.planId !== row.planId) accounts.replaceOrg({ ...org, planId: row.planId });
}
