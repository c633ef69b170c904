/**
 * What orgs and payers do about mandates. An org registers one, sets threshold and amount, changes them, resumes a paused mandate, or
 * cancels it at the gateway. A payer approves or leaves the payment service's page, or cancels the mandate at the bank.
 */

import type { SimMandate } from "../../../simulator/payments/state.ts";
import { newId } from "../../../src/base/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time.ts";
import type { Customer } from "./customers.ts";
import { Deviation, must } from "./figures.ts";
import { isStale } from "./rates-check.ts";
import { callerOf, headWith } from "./rooms.ts";
import { kindOf, type World } from "./world.ts";

const HOUSE = "simulated";
/** Tax included, of one debit; written down here once more. */
export const CAP_MINOR = { INR: 1_500_000, USD: 100_000 } as const;

const METHODS = {
  INR: { upi: 55, card: 25, emandate: 20 },
  USD: { card: 65, link: 10, ach_debit: 25 },
} as const;

/** What an org does about its mandate today, if anything. */
export function decide(world: World, customer: Customer): void {
  const { process, parts } = world;
  if (process === undefined) return;
  const { dice } = parts;
  const { mandates, autoTopups } = process.rooms.topUps;
  const { id } = customer.org;
  const mandate = mandates.inForce(id);
  const { enabled } = autoTopups.of(id);
  if (mandate === undefined) {
    if (mandates.pending(id) === undefined && dice.chance(1 / 15)) void register(world, customer);
  } else if (mandate.status === "paused") {
    // A bank's pause ends at the bank.
    if (mandate.pauseReason !== "bank" && dice.chance(1 / 6)) void set(world, customer, true);
  } else if (!enabled) {
    if (dice.chance(1 / 3)) void set(world, customer, true);
  } else if (dice.chance(1 / 60)) void set(world, customer, dice.chance(0.8));
  else if (dice.chance(1 / 150)) void register(world, customer);
  else if (dice.chance(1 / 200)) void cancel(world, customer);
  else if (dice.chance(1 / 100)) world.laterAtService(0, () => atBank(world, mandate.ref));
}

async function register(world: World, customer: Customer): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  const { dice, figures, time } = parts;
  const method = dice.weighted<string>(METHODS[customer.org.billingCurrency]);
  const key = dice.chance(0.5) ? newId("job", time.now()) : "";
  figures.add(`mandates: asked for, ${method.replace("_", " ")}`);
  const ask = async () =>
    (await process.rooms.topUps.operations.createMandate.run(
      { body: { method: method as "upi" }, params: undefined, query: undefined },
      callerOf(customer.org.id),
      headWith(key),
    )) as { mandate: { id: string; mandate_ref: string }; url: string };
  await expecting(world, async () => {
    const [one, other] = await Promise.all(key !== "" && dice.chance(0.4) ? [ask(), ask()] : [ask()]);
    must(
      other === undefined || other.mandate.id === one?.mandate.id,
      () => `one key, two mandates of ${customer.org.id}: ${one?.mandate.id} and ${other?.mandate.id}`,
    );
    if (one !== undefined && one.url !== "") onPage(world, one.mandate.mandate_ref, method);
  });
}

/** A bank may take most of a day for an e-mandate. */
function onPage(world: World, checkout: string, method: string): void {
  const { dice, figures, service } = world.parts;
  const fate = dice.weighted({ approved: 76, declined: 10, left: 14 });
  figures.add(`mandates: ${fate} on the page`);
  if (fate === "left") return;
  const delayMs = method === "emandate" ? dice.between(1, 20) * HOUR_MS : dice.between(0.2, 40) * MINUTE_MS;
  world.laterAtService(delayMs, () => {
    if (fate === "approved") service.engine.approveMandate(checkout);
    else service.engine.declineMandate(checkout);
  });
}

/** Amounts above what a mandate may be debited of are refused. */
async function set(world: World, customer: Customer, enabled: boolean): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  const { dice, figures, time } = parts;
  const { billingCurrency: currency, id } = customer.org;
  const most = dice.chance(0.3) ? { INR: 1_350_000, USD: 60_000 } : { INR: 300_000, USD: 8_000 };
  const amount_minor = dice.integer(currency === "INR" ? 20_000 : 500, most[currency]);
  const threshold_micro = dice.integer(5, 250) * 1_000_000;
  await expecting(world, async () => {
    const { topUps } = process.rooms;
    const view = (await topUps.operations.setAutoTopup.run(
      { body: { enabled, threshold_micro, amount_minor }, params: undefined, query: undefined },
      callerOf(id),
      headWith(""),
    )) as { cap_minor: number };
    figures.add(`automatic top-ups: switched ${enabled ? "on, or changed" : "off"}`);
    must(
      view.cap_minor <= CAP_MINOR[currency],
      () => `${id} may be debited of ${view.cap_minor} at ${new Date(time.now()).toISOString()}`,
    );
  });
}

async function cancel(world: World, { org }: Customer): Promise<void> {
  const { process, parts } = world;
  if (process === undefined) return;
  await expecting(world, async () => {
    await process.rooms.topUps.operations.cancelMandate.run(
      { body: undefined, params: undefined, query: undefined },
      callerOf(org.id),
      headWith(""),
    );
    parts.figures.add("mandates: cancelled by the org");
  });
}

/** The payer cancels it at the bank, or the bank pauses it for some days. */
function atBank(world: World, checkout: string): void {
  const { dice, figures, service } = world.parts;
  const { engine } = service;
  const id = engine.checkout(HOUSE, checkout).mandateId;
  if (engine.state.get("mandates", id)?.state !== "active") return;
  const to: SimMandate["state"] = dice.chance(0.6) ? "cancelled" : "paused";
  figures.add(`mandates: ${to} at the bank`);
  engine.moveMandate(HOUSE, id, to);
  if (to === "cancelled") return;
  world.laterAtService(dice.between(0.2, 12) * DAY_MS, () => {
    if (engine.state.get("mandates", id)?.state !== "paused") return;
    figures.add("mandates: active again at the bank");
    engine.moveMandate(HOUSE, id, "active");
  });
}

const EXPECTED = new Set(["gateway_unavailable", "no_mandate", "above_cap", "fx_stale", "plan_limit"]);

/** Runs an org's request. A refusal that real orgs can get is counted; any other error is a deviation. */
async function expecting(world: World, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const kind = kindOf(error);
    if (kind === undefined || !EXPECTED.has(kind)) return world.blame(error);
    if (kind === "fx_stale" && !isStale(world))
      return world.blame(new Deviation("fx_stale, though there is a rate"));
    world.parts.figures.add(`mandates: refused, ${kind}`);
  }
}

/** Switched off for the end, so that nothing new begins. */
export async function switchOff(world: World, customer: Customer): Promise<void> {
  if (world.process?.rooms.topUps.autoTopups.of(customer.org.id).enabled === true)
    await set(world, customer, false);
}
