/** Subscriptions: an org's plan by months. States and moves, the stored row, and its wire shape. */

import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { type Clock, isoTime } from "../../base/clock.ts";
import type { Currency } from "../../base/currency.ts";
import * as field from "../../base/operation/fields.ts";
import { moves } from "../state-moves.ts";
import { periodAt } from "./period.ts";

export const SUBSCRIPTION_STATUSES = ["active", "past_due", "cancelled"] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

const CHARGE = "the fee, its statement, the included credit";

export const SUBSCRIPTION_MOVES = moves<SubscriptionStatus>()({
  subscribe: {
    from: ["cancelled"],
    to: "active",
    by: "an owner, admin or billing member",
    puts: `${CHARGE}, event \`subscription.changed\``,
  },
  change: {
    from: ["active"],
    to: "active",
    by: "an owner, admin or billing member",
    puts: "what the rest of the month costs more, its statement, the rest of the included credit, event `subscription.changed`",
  },
  renew: {
    from: ["active", "past_due"],
    to: "active",
    by: "time, or whoever chooses a plan while it is past due",
    puts: `${CHARGE}, event \`subscription.renewed\``,
  },
  miss: { from: ["active"], to: "past_due", by: "time", puts: "event `subscription.past_due`" },
  end: {
    from: ["active", "past_due"],
    to: "cancelled",
    by: "an owner, admin or billing member, time after the last retry, or closing of the org",
    puts: "the default plan, event `subscription.changed`",
  },
});

/** What a change did; told again where it is asked for again. */
export interface ChangeRecord {
  readonly planId: string;
  readonly effective: "now" | "period_end";
  readonly feeMicroUsd: number;
  readonly includedMicroUsd: number;
  readonly proratedBps: number;
  /** Empty where nothing was charged. */
  readonly invoiceId: string;
}

export interface SubscriptionRow {
  readonly id: string;
  readonly orgId: string;
  readonly planId: string;
  readonly status: SubscriptionStatus;
  /** Currency of this month's prices. */
  readonly currency: Currency;
  readonly startedAtMs: number;
  /** How many months after the start the period began. */
  readonly month: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** Takes over when the period ends; empty: the plan stays. */
  readonly nextPlanId: string;
  /** Highest monthly price that was paid for until the period's end. */
  readonly paidMinor: number;
  /** Highest monthly included credit that was granted until the period's end. */
  readonly includedMicroUsd: number;
  /** In this period. */
  readonly changes: number;
  readonly lastChange: ChangeRecord | null;
  /** Charges that failed since the period ended, and when the first one did. */
  readonly missed: number;
  readonly missedAtMs: number | null;
}

export const subscriptionShape = z.object({
  org_id: z.string().describe("The org that is subscribed"),
  plan_id: z.string().describe("The plan in force"),
  status: z
    .enum(SUBSCRIPTION_STATUSES)
    .describe("`active`; `past_due`: the fee could not be taken from the credit; `cancelled`: it ended"),
  period_start: field.time("When the month began"),
  period_end: field.time("When it is renewed, or its next plan takes over"),
  started_at: field.time("From when its months are counted"),
  next_plan_id: z
    .string()
    .optional()
    .describe("The plan that takes over at the period's end; absent: the same"),
});

export const subscriptionWire = (row: SubscriptionRow): z.input<typeof subscriptionShape> => ({
  org_id: row.orgId,
  plan_id: row.planId,
  status: row.status,
  period_start: isoTime(row.periodStartMs),
  period_end: isoTime(row.periodEndMs),
  started_at: isoTime(row.startedAtMs),
  ...(row.nextPlanId !== "" && { next_plan_id: row.nextPlanId }),
});

/** The subscription of an org that never paid for a plan: its months are counted from its creation, and it ends when the org is closed. */
export function unpaidWire(
  org: { readonly id: string; readonly createdAtMs: number; readonly status: OrgRow["status"] },
  planId: string,
  nowMs: number,
): z.input<typeof subscriptionShape> {
  const { startMs, endMs } = periodAt(org.createdAtMs, nowMs);
  return {
    org_id: org.id,
    plan_id: planId,
    status: org.status === "closed" ? "cancelled" : "active",
    period_start: isoTime(startMs),
    period_end: isoTime(endMs),
    started_at: isoTime(org.createdAtMs),
  };
}

/** What an org is told of its subscription; that of an org without one is its plan by months. */
export function shownSubscription(
  { subscriptions, clock, plans }: ShownDeps,
  org: Pick<OrgRow, "id" | "planId" | "createdAtMs" | "status">,
): z.input<typeof subscriptionShape> {
  const row = subscriptions.get(org.id);
  return row === undefined
    ? unpaidWire(org, plans.inForce(org.planId).id, clock.now())
    : subscriptionWire(row);
}

interface ShownDeps {
  readonly subscriptions: { get(orgId: string): SubscriptionRow | undefined };
  readonly clock: Pick<Clock, "now">;
  readonly plans: { inForce(id: string): { readonly id: string } };
}
