/**
 * What banks make of debits: most are paid at once, some take hours or days, some are refused. By UPI a bank tries a refused debit
 * again, as a rule within two days. A few take another amount than they were asked for.
 */

import type { Outcome } from "../../../simulator/payments/outcomes.ts";
import type { SimPayment } from "../../../simulator/payments/state.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import type { World } from "./world.ts";

const HOUSE = "simulated";
/** For so long a bank tries a debit by UPI again. */
export const UPI_OPEN_MS = 48 * HOUR_MS;

/** Follows debits that were confirmed. */
export function finishDebits(world: World): void {
  world.parts.service.listen((change) => {
    if (change.kind !== "payment" || change.payment.mandateId === "") return;
    const { payment } = change;
    if (payment.state === "processing") endLater(world, payment);
    if (payment.state === "failed" && payment.method === "upi" && payment.failure?.kind === "soft")
      tryAgain(world, payment);
  });
}

/** Longer than two days only where the bank says so from the beginning: a debit that is under way is waited for. */
function endLater(world: World, { id, method }: SimPayment): void {
  const { dice, service } = world.parts;
  const mostMs = method === "ach_debit" || method === "emandate" ? 96 * HOUR_MS : 40 * HOUR_MS;
  const outcome = dice.weighted<Outcome>({
    paid: 82,
    insufficient_funds: 12,
    decline_hard: 6,
    authorized: 0,
    processing: 0,
    decline_soft: 0,
    opt_out: 0,
  });
  world.laterAtService(dice.between(0.2 * HOUR_MS, mostMs), () => {
    if (service.engine.state.get("payments", id)?.state === "processing")
      service.engine.finishPayment(HOUSE, id, outcome);
  });
}

/** Some come so late that the gateway has given them up: the money is there, and is credited all the same. */
function tryAgain(world: World, { id }: SimPayment): void {
  const { dice, figures, service } = world.parts;
  if (!dice.chance(0.45)) return;
  const isLate = dice.chance(0.06);
  const delayMs = isLate ? dice.between(50, 80) * HOUR_MS : dice.between(0.5, 30) * HOUR_MS;
  const outcome = isLate || dice.chance(0.7) ? "paid" : "insufficient_funds";
  world.laterAtService(delayMs, () => {
    if (service.engine.state.get("payments", id)?.state !== "failed") return;
    figures.add(`banks: tried again, ${isLate ? "after more than two days" : outcome.replace("_", " ")}`);
    service.engine.finishPayment(HOUSE, id, outcome);
  });
}
