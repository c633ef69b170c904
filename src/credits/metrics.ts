/** What `/metrics` says of what calls under way hold. */
import { measured, type RoomMetrics } from "../base/metrics/sources.ts";
import type { Budgets } from "./budgets/budgets.ts";
import type { Purse } from "./ledger/purse.ts";
import type { Limits } from "./limits/limits.ts";

interface Measured {
  readonly purse: Pick<Purse, "open">;
  readonly budgets: Pick<Budgets, "openHolds">;
  readonly limits: Pick<Limits, "inFlight">;
}

export const creditMetrics = ({ purse, budgets, limits }: Measured): RoomMetrics => ({
  gauges: {
    weir_holds_open: measured("Credit holds open.", () => purse.open().holds),
    weir_held_micro_usd: measured("Credit held for calls under way.", () => purse.open().heldMicroUsd),
    weir_budget_holds_open: measured("Budget holds open.", () => budgets.openHolds()),
    weir_slots_taken: measured(
      "Slots of concurrency taken: one by each model call of a key, two by each export that runs.",
      () => limits.inFlight(),
    ),
  },
});
