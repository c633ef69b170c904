/** People who buy credit, and what they do on the payment service's page. */

import { newId } from "../../../src/base/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time.ts";
import type { topupWire } from "../../../src/billing/topups/topup.ts";
import type { Customer } from "./customers.ts";
import { Deviation } from "./figures.ts";
import { isStale } from "./rates-check.ts";
import { callerOf, headWith } from "./rooms.ts";
import { kindOf, type World } from "./world.ts";

/** Longer than a checkout is open. */
const LATE_MS = 31 * MINUTE_MS;

const FATES = {
  paid: 62,
  failed_then_paid: 6,
  failed: 5,
  left: 9,
  paid_late: 4,
  paid_twice: 3,
  wrong_amount: 2,
  wrong_then_right: 1,
  wrong_currency: 0.5,
  slow: 5,
  authorized: 3,
} as const;
type Fate = keyof typeof FATES;

/** Refusals that a buyer may meet. */
const EXPECTED = new Set(["gateway_unavailable", "plan_limit", "fx_stale"]);

/** Opens a checkout of that amount, before tax, and pays it or does not. */
export const buyFor = (world: World, customer: Customer, amountMinor: number): Promise<void> =>
  ask(world, customer, amountMinor, "");

/** The same, of any amount. */
export async function buy(world: World, customer: Customer): Promise<void> {
  const { dice } = world.parts;
  const isIndian = customer.org.billingCurrency === "INR";
  const amountMinor = isIndian ? dice.integer(10_000, 2_000_000) : dice.integer(500, 25_000);
  const key = dice.chance(0.5) ? newId("job", world.parts.time.now()) : "";
  await ask(world, customer, amountMinor, key);
}

async function ask(world: World, customer: Customer, amountMinor: number, key: string): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  const { figures, dice } = parts;
  figures.add("top-ups: asked for");
  // Its process may die: who has a key asks again with it.
  if (key !== "") world.later(2 * MINUTE_MS, () => again(world, customer, amountMinor, key));
  const asked = process.rooms.operations.createTopup.run(
    { body: { amount_minor: amountMinor }, params: undefined, query: undefined },
    callerOf(customer.org.id),
    headWith(key),
  );
  try {
    const { topup } = (await asked) as { topup: ReturnType<typeof topupWire> };
    figures.add("top-ups: opened");
    const fate = dice.weighted<Fate>(FATES);
    figures.add(`payers: ${fate.replaceAll("_", " ")}`);
    follow(world, topup.gateway_ref, topup.total_minor, fate);
  } catch (error) {
    const kind = kindOf(error);
    if (kind === undefined || !EXPECTED.has(kind)) throw error;
    figures.add(`top-ups: refused, ${kind}`);
    if (kind === "fx_stale" && !isStale(world)) throw new Deviation("fx_stale, though there is a rate");
  }
}

/** Only where the first answer was lost; the same top-up comes back, and is paid by nobody. */
async function again(world: World, customer: Customer, amountMinor: number, key: string): Promise<void> {
  const { process, parts } = world;
  const row = process?.rooms.topups.ofKey(customer.org.id, key);
  if (process === undefined || row === undefined) return;
  parts.figures.add("top-ups: asked for again with the key");
  try {
    const { topup } = (await process.rooms.operations.createTopup.run(
      { body: { amount_minor: amountMinor }, params: undefined, query: undefined },
      callerOf(customer.org.id),
      headWith(key),
    )) as { topup: ReturnType<typeof topupWire> };
    if (topup.id !== row.id) throw new Deviation(`another top-up for the key of ${row.id}: ${topup.id}`);
  } catch (error) {
    if (kindOf(error) !== "gateway_unavailable") throw error;
  }
}

function follow(world: World, checkout: string, total: number, fate: Fate): void {
  const { dice, service } = world.parts;
  const { engine } = service;
  const soonMs = dice.between(0.2, 12) * MINUTE_MS;
  const pay = (delayMs: number, options: Parameters<typeof engine.pay>[1] = {}) =>
    world.laterAtService(delayMs, () => engine.pay(checkout, options));
  const wrong = Math.max(1, total + dice.pick([-100, -1, 1, 100_000]));
  switch (fate) {
    case "paid":
      pay(soonMs);
      break;
    case "failed_then_paid":
      pay(soonMs, { outcome: dice.pick(["decline_soft", "insufficient_funds", "decline_hard"]) });
      pay(soonMs + dice.between(1, 10) * MINUTE_MS);
      break;
    case "failed":
      pay(soonMs, { outcome: "decline_hard" });
      break;
    case "left":
      break;
    case "paid_late":
      pay(LATE_MS + dice.between(0, 20) * dice.between(0, 1) * DAY_MS, { force: true });
      break;
    case "paid_twice":
      pay(soonMs);
      pay(soonMs + dice.between(0.01, 48) * HOUR_MS, { force: true });
      break;
    case "wrong_amount":
      pay(soonMs, { amount: wrong, force: true });
      break;
    case "wrong_then_right":
      pay(soonMs, { amount: wrong, force: true });
      pay(soonMs + dice.between(0.1, 30) * HOUR_MS, { force: true });
      break;
    case "wrong_currency":
      pay(soonMs, { currency: dice.pick(["INR", "USD"]), force: true });
      break;
    case "slow":
      world.laterAtService(soonMs, () => payByBank(world, checkout));
      break;
    case "authorized":
      pay(soonMs, { outcome: "authorized" });
      break;
  }
}

/** A bank debit: it takes days, and may fail then. */
function payByBank(world: World, checkout: string): void {
  const { dice, service } = world.parts;
  const { id } = service.engine.pay(checkout, { outcome: "processing", method: "netbanking" });
  const outcome = dice.chance(0.8) ? "paid" : "insufficient_funds";
  world.laterAtService(dice.between(0.1, 5) * DAY_MS, () =>
    service.engine.finishPayment("simulated", id, outcome),
  );
}
