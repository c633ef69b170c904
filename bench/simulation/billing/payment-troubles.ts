/** What happens to payments after they were made: disputes, refunds in the payment service's dashboard, refunds that end late. */

import type { Change } from "../../../simulator/payments/engine.ts";
import type { SimPayment } from "../../../simulator/payments/state.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { World } from "./world.ts";

const HOUSE = "simulated";
/** Smaller refunds of the dashboard are not made. */
const LEAST_MINOR = 100;

export function troublePayments(world: World): void {
  world.parts.service.listen((change) => {
    if (change.kind === "payment" && change.payment.state === "paid") paid(world, change.payment);
    if (change.kind === "refund") refund(world, change);
  });
}

function paid(world: World, payment: SimPayment): void {
  const { dice } = world.parts;
  if (dice.chance(0.03))
    world.laterAtService(dice.between(0, 1) * dice.between(0, 40) * DAY_MS, () => dispute(world, payment));
  if (dice.chance(0.04))
    world.laterAtService(dice.between(0.02, 40) * DAY_MS, () => refundInDashboard(world, payment));
}

const isWithdrawn = (world: World, payment: SimPayment): boolean =>
  [...world.parts.service.engine.state.all("disputes")].some(
    ({ paymentId, state }) => paymentId === payment.id && (state === "withdrawn" || state === "lost"),
  );

function dispute(world: World, payment: SimPayment): void {
  const { dice, figures, service } = world.parts;
  const left = payment.amount - payment.refundedMinor;
  if (world.isEnding || left < 1 || isWithdrawn(world, payment)) return;
  // Banks do not know of refunds that are under way.
  const whole = dice.chance(0.3) ? payment.amount : left;
  const amount = dice.chance(0.2) ? dice.integer(1, left) : whole;
  const way = dice.weighted({ warning: 15, open: 30, withdrawn: 55 });
  figures.add(`disputes: ${way} at first`);
  const { id } = service.engine.dispute(HOUSE, payment.id, { state: way, amount });
  if (way === "warning" && dice.chance(0.5)) return;
  const steps = way === "withdrawn" ? [] : (["withdrawn"] as const);
  const ends = dice.pick([["won"], ["reinstated"], ["lost"], ["reinstated", "lost"]] as const);
  let atMs = 0;
  for (const state of [...steps, ...ends]) {
    atMs += dice.between(0.01, 20) * DAY_MS;
    world.laterAtService(atMs, () => {
      if (world.isEnding) return;
      figures.add(`disputes: ${state}`);
      service.engine.moveDispute(HOUSE, id, state);
    });
  }
}

/** The service refuses it while the money is withdrawn. */
function refundInDashboard(world: World, payment: SimPayment): void {
  const { dice, figures, service } = world.parts;
  const left = payment.amount - payment.refundedMinor;
  if (world.isEnding || left < LEAST_MINOR || isWithdrawn(world, payment)) return;
  const amount = dice.chance(0.5) ? left : dice.integer(LEAST_MINOR, left);
  figures.add("refunds: made in the dashboard");
  service.engine.nextRefunds.length = 0;
  service.engine.nextRefunds.push(dice.weighted({ refunded: 75, pending: 20, failed: 5 }));
  service.engine.refund(HOUSE, payment.id, amount, "");
  // The rest follows in parts.
  if (amount < left && dice.chance(0.5))
    world.laterAtService(dice.between(0, 5) * DAY_MS, () => refundInDashboard(world, payment));
}

/** A pending one ends; of those that seemed to have ended some fail late. */
function refund(world: World, change: Extract<Change, { kind: "refund" }>): void {
  const { dice, figures, service } = world.parts;
  if (!change.isNew) return;
  const { id } = change.refund;
  const lateMs = dice.between(1 * HOUR_MS, 4 * DAY_MS);
  const isToFail = dice.chance(0.2);
  const failsLate = dice.chance(0.01);
  world.laterAtService(lateMs, () => {
    const { state } = service.engine.refundById(HOUSE, id);
    if (state === "pending") service.engine.finishRefund(HOUSE, id, isToFail ? "failed" : "refunded");
    else if (state === "refunded" && failsLate) {
      figures.add("refunds: failed after they had succeeded");
      service.lateFailures.add(id);
      service.engine.finishRefund(HOUSE, id, "failed");
    }
  });
}
