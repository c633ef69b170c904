/** What orgs do about plans: subscribe, change, cancel, and pay by card when a fee could not be taken. */

import { isDeepStrictEqual } from "node:util";
import { newId } from "../../../src/base/ids.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import type { SubscriptionChange } from "../../../src/billing/subscriptions/plan-operations.ts";
import type { Customer } from "./customers.ts";
import { Deviation } from "./figures.ts";
import { buyFor } from "./payers.ts";
import { FREE_PLAN, PLANS } from "./plans.ts";
import { isStale } from "./rates-check.ts";
import { callerOf, headWith } from "./rooms.ts";
import type { SubscriptionModule } from "./subscriptions.ts";
import { kindOf, type World } from "./world.ts";

type Effective = "now" | "period_end" | undefined;

const PAID = PLANS.filter(({ id }) => id !== FREE_PLAN).map(({ id }) => id);

/** What an org does about its plan today, if anything. */
export function decide(module: SubscriptionModule, world: World, customer: Customer): void {
  const room = module.room;
  if (room === undefined) return;
  const { dice } = world.parts;
  const row = room.subscriptions.get(customer.org.id);
  const choose = (planId: string, effective?: Effective) =>
    world.later(0, () => change(module, world, customer, planId, effective));
  if (row === undefined || row.status === "cancelled") {
    if (dice.chance(1 / 30)) choose(dice.weighted({ starter: 60, team: 30, business: 10 }));
    return;
  }
  if (row.status === "past_due") {
    pastDue(module, world, customer, row.planId);
    return;
  }
  if (!dice.chance(1 / 20)) return;
  const effective = dice.pick([undefined, undefined, "now", "period_end"] as const);
  const way = dice.weighted({ change: 60, cancel: 12, stay: 28 });
  if (way === "cancel") choose(FREE_PLAN, dice.pick([undefined, "now", "period_end"] as const));
  else choose(way === "stay" ? row.planId : dice.pick(PAID), way === "stay" ? undefined : effective);
}

/** Some pay by card and wait for the next try, some choose the plan again, some another one, some do nothing. */
function pastDue(module: SubscriptionModule, world: World, customer: Customer, planId: string): void {
  const { dice, figures } = world.parts;
  const way = dice.weighted({ waits: 35, pays: 35, again: 20, smaller: 5, cancels: 5 });
  figures.add(`past due: ${way}`);
  if (way === "waits") return;
  if (way === "cancels") {
    world.later(0, () => change(module, world, customer, FREE_PLAN, undefined));
    return;
  }
  payFee(world, customer, planId);
  if (way === "pays") return;
  const chosen = way === "again" ? planId : "starter";
  world.later(dice.between(0.5, 5) * HOUR_MS, () => change(module, world, customer, chosen, undefined));
}

/** Buys credit by card for a month of a plan. */
function payFee(world: World, customer: Customer, planId: string): void {
  const price = PLANS.find(({ id }) => id === planId)?.monthly_minor[customer.org.billingCurrency] ?? 0;
  const least = customer.org.billingCurrency === "INR" ? 10_000 : 500;
  world.parts.figures.add("subscriptions: fees bought by card");
  world.later(1000, () => buyFor(world, customer, Math.max(least, price + 500)));
}

async function change(
  module: SubscriptionModule,
  world: World,
  customer: Customer,
  planId: string,
  effective: Effective,
): Promise<void> {
  const { process, parts } = world;
  const { room } = module;
  if (process === undefined || room === undefined) return;
  const { dice, figures, time } = parts;
  const key = dice.chance(0.5) ? newId("job", time.now()) : "";
  const body = { plan_id: planId, ...(effective !== undefined && { effective }) };
  const ask = () =>
    room.operations.changeSubscription.run(
      { params: undefined, query: undefined, body },
      callerOf(customer.org.id),
      headWith(key),
    ) as Promise<SubscriptionChange>;
  const wasPastDue = room.subscriptions.get(customer.org.id)?.status === "past_due";
  try {
    const [one, other] = await Promise.all(dice.chance(0.3) ? [ask(), ask()] : [ask()]);
    if (other !== undefined && !isSameChange(one as SubscriptionChange, other))
      throw new Deviation(
        `asked twice for ${planId}, ${customer.org.id} was answered ${JSON.stringify([one, other])}`,
      );
    const { effective: when = "", subscription } = one ?? {};
    figures.add(
      `subscriptions: chosen, ${planId === FREE_PLAN ? "to cancel" : "a plan"}, ${when.replace("_", " ")}`,
    );
    if (wasPastDue && subscription?.status === "active")
      figures.add("past due: recovered by choosing a plan");
  } catch (error) {
    const kind = kindOf(error);
    if (kind === undefined || !EXPECTED.has(kind)) throw error;
    if (kind === "fx_stale" && !isStale(world)) throw new Deviation("fx_stale, though there is a rate");
    // Only where no paid month runs.
    if (kind === "invalid_value" && effective !== "period_end") throw error;
    figures.add(`subscriptions: refused, ${kind}`);
    if (kind === "insufficient_credits" && dice.chance(0.6)) payFee(world, customer, planId);
  }
}

const EXPECTED = new Set(["insufficient_credits", "fx_stale", "plan_limit", "invalid_value"]);

/** All but what the next moment may change. */
const isSameChange = (one: SubscriptionChange, other: SubscriptionChange): boolean =>
  isDeepStrictEqual(
    [one.fee_micro, one.included_micro, one.invoice?.number, one.effective, one.plan.id],
    [other.fee_micro, other.included_micro, other.invoice?.number, other.effective, other.plan.id],
  );
