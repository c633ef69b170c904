/**
 * Looks at the balances after charges: the one that took an org's balance below a bound is known once charges have numbers, and only
 * the cell that sent it sees it. It is told of once, also where the same charges come again after a kill.
 */
import { type CreditFall, type FallBounds, fallOf } from "../../../credits/ledger/credit-events.ts";
import type { Store } from "../../../store/store.ts";
import type { NumberedCharge } from "../leases/charges.ts";

export interface ChargeFallsDeps {
  readonly store: Store;
  readonly boundsOf: (orgId: string) => FallBounds;
  /** Called in an act, or outside one where a balance is only watched; must not throw. */
  readonly onFall: (fall: CreditFall) => void;
}

/** @returns what looks at charges, and resolves once those who must know are told */
export function chargeFalls({ store, boundsOf, onFall }: ChargeFallsDeps) {
  /** [org id] → number of the charge that was told of last: a row that all cells have. */
  const told = store.table<number>("credits.told_falls");
  return async (charges: readonly NumberedCharge[]): Promise<void> => {
    const crossed: { fall: CreditFall; seq: number }[] = [];
    for (const charge of charges) {
      const { orgId, seq, balanceMicroUsd, amountMicroUsd } = charge;
      const bounds = boundsOf(orgId);
      if (balanceMicroUsd >= Math.max(0, bounds.lowMicroUsd, bounds.watchedMicroUsd)) continue;
      const fall = fallOf(charge, balanceMicroUsd + amountMicroUsd, bounds);
      if (fall === undefined) continue;
      if (fall.lowMicroUsd === undefined && !fall.isNegative) onFall(fall);
      else crossed.push({ fall, seq });
    }
    if (crossed.length === 0) return;
    const act = () => {
      for (const { fall, seq } of crossed) {
        if ((told.get([fall.orgId]) ?? 0) >= seq) continue;
        told.put([fall.orgId], seq);
        onFall(fall);
      }
    };
    await store.act(act, { isOwed: true });
  };
}
