/**
 * Looks at the balances after charges: the one that took an org's balance below a bound is known once charges have numbers, and only
 * the cell that sent it sees it. It is told of once, also where the same charges come again after a kill.
 */
import { type CreditFall, type FallBounds, fallOf } from "../../../credits/ledger/credit-events.ts";
import type { Store, Table } from "../../../store/store.ts";
import type { NumberedCharge } from "../leases/charges.ts";

export interface ChargeFallsDeps {
  readonly store: Store;
  readonly boundsOf: (orgId: string) => FallBounds;
  /** Called in an act, or outside one where a balance is only watched; must not throw. */
  readonly onFall: (fall: CreditFall) => void;
}

export class ChargeFalls {
  readonly #deps: ChargeFallsDeps;
  /** [org id] → number of the charge that was told of last: a row that all cells have. */
  readonly #told: Table<number>;

  constructor(deps: ChargeFallsDeps) {
    this.#deps = deps;
    this.#told = deps.store.table("credits.told_falls");
  }

  /** Resolves once those who must know are told. */
  async look(charges: readonly NumberedCharge[]): Promise<void> {
    const { store, boundsOf, onFall } = this.#deps;
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
        if ((this.#told.get([fall.orgId]) ?? 0) >= seq) continue;
        this.#told.put([fall.orgId], seq);
        onFall(fall);
      }
    };
    await store.act(act, { isOwed: true });
  }
}
