/** What is parked was planted: each row names something of the payment service that is as its reason says. */
import type { ParkedRow } from "../../../src/billing/parked.ts";
import { must } from "./figures.ts";
import type { World } from "./world.ts";

/** @throws Deviation */
export function checkParked(world: World, row: ParkedRow): void {
  must(isPlanted(world, row), () => `${row.reason} of ${row.ref} is parked for nothing`);
}

function isPlanted(world: World, row: ParkedRow): boolean {
  const { parts, process } = world;
  const { state } = parts.service.engine;
  switch (row.reason) {
    case "amount_differs":
    case "currency_differs":
    case "paid_twice":
    case "unknown_payment":
      // Which of them, is checked with its top-up.
      return state.get("payments", row.ref)?.state === "paid";
    case "fraud_warning":
      return parts.service.warnings.has(row.ref);
    case "refund_failed_late":
      return state.get("refunds", row.ref)?.state === "failed";
    case "refund_does_not_fit": {
      const made = state.get("refunds", row.ref);
      const total = process?.rooms.topups.find(row.topupId)?.quote.totalMinor ?? 0;
      const others = [...(process?.rooms.refunds.ofTopup(row.topupId) ?? [])].filter(
        ({ createdAtMs }) => createdAtMs <= row.createdAtMs,
      );
      const asked = others.reduce((sum, { totalMinor }) => sum + totalMinor, 0);
      return made?.reference === "" && made.amount + asked > total;
    }
    case "reconciliation":
      return world.planted.has(row.ref);
    default:
      return false;
  }
}

/**
 * At the end: what was planted is parked. Not parked are a warning that was over before the gateway read it, a late failure of a refund
 * that the gateway did not hold for done, and either of a payment that was not credited: that payment is parked itself.
 * @throws Deviation
 */
export function checkPlanted({ parts, process }: World, isParked: (ref: string) => boolean): void {
  const { service, figures } = parts;
  const { state } = service.engine;
  const creditedAs = (paymentId: string) => process?.rooms.topups.ofPayment("simulated", paymentId);
  for (const id of [...service.warnings].filter((ref) => !isParked(ref))) {
    const dispute = state.get("disputes", id);
    const isCredited = creditedAs(dispute?.paymentId ?? "") !== undefined;
    figures.add(
      `planted, not parked: warning, ${isCredited ? "over before it was read" : "payment is not credited"}`,
    );
    must(!isCredited || dispute?.state !== "warning", () => `the warning ${id} is not parked`);
  }
  for (const id of [...service.lateFailures].filter((ref) => !isParked(ref))) {
    const refund = state.get("refunds", id);
    const topup = creditedAs(refund?.paymentId ?? "");
    const ours = [...(process?.rooms.refunds.ofTopup(topup?.id ?? "") ?? [])].find(
      ({ gatewayRef }) => gatewayRef === id,
    );
    const why = topup === undefined ? "payment is not credited" : `ours is ${ours?.status ?? "not there"}`;
    figures.add(`planted, not parked: late failure, ${why}`);
    must(ours?.status !== "refunded", () => `the late failure of ${id} is not parked`);
  }
}
