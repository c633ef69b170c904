/** What is parked was planted: each row names something of the payment service that is as its reason says. */
import type { ParkedRow } from "../../../src/billing/parked.ts";
import { must } from "./figures.ts";
import type { World } from "./world.ts";

/** @throws Deviation */
export function checkParked(world: World, row: ParkedRow): void {
  must(isPlanted(world, row), () => `${row.reason} of ${row.ref} is parked for nothing`);
}

function isPlanted({ parts, process }: World, row: ParkedRow): boolean {
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
    default:
      return false;
  }
}
