/** The conversation with Redis by which leases grow and go back, as those see it who spend them: see `credit-lane.ts`. */
import type { Lease } from "./lease.ts";

export interface LeaseLane<Leased extends Lease> {
  /** Whether leases may be spent: they end some time after the cell last heard of Redis. */
  isValid(): boolean;
  /** What the last exchange did not know of the lease goes with the next. */
  changed(lease: Leased): void;
  /**
   * Waits for a lease that covers the amount.
   * @returns whether `take` was called: false where it is proven that there is not enough
   * @throws WeirError 503, as a rejection, where that is not known in time
   */
  wait(lease: Leased, microUsd: number, take: () => void): Promise<boolean>;
}
