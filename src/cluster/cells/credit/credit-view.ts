/**
 * Orgs' credit as a cell knows it: for an act, what the act depends on; for others, what the dataset last said when it was asked.
 */

import { sliced } from "../../../base/lists.ts";
import type { Lane } from "../exchange/exchange.ts";
import { type ActCredit, type OrgFunds, readFunds } from "../replica/act-credit.ts";

export interface CreditViewOptions {
  readonly lane: Lane;
  /** Credit in the act that runs; undefined outside. */
  readonly inAct: () => ActCredit | undefined;
}

/** Orgs that are remembered; the ones that were asked for longest ago are forgotten. */
const MOST_ORGS = 10_000;
/** Orgs of one question. */
const ASKED_ORGS = 1000;

export class CreditView {
  readonly #options: CreditViewOptions;
  readonly #known = new Map<string, OrgFunds>();

  constructor(options: CreditViewOptions) {
    this.#options = options;
  }

  /** @throws Error outside an act where `fresh` was not called for the org: a bug of the caller */
  of(orgId: string): OrgFunds {
    const found = this.#options.inAct()?.of(orgId) ?? this.#known.get(orgId);
    if (found === undefined) throw new Error(`the credit of ${orgId} was read before it was asked for`);
    return found;
  }

  /** What the dataset said of the org when it was asked the last time. */
  known(orgId: string): OrgFunds | undefined {
    return this.#known.get(orgId);
  }

  /** Asks the dataset. Resolves with what it says of these orgs. */
  async fresh(orgIds: readonly string[]): Promise<ReadonlyMap<string, OrgFunds>> {
    const found = new Map<string, OrgFunds>();
    for (const some of sliced(orgIds, ASKED_ORGS)) {
      const [values = []] = (await this.#options.lane.send([["credit_funds", ...some]])) as number[][];
      for (const [orgId, funds] of readFunds(some, values)) {
        found.set(orgId, funds);
        this.#known.delete(orgId);
        this.#known.set(orgId, funds);
      }
    }
    for (const orgId of this.#known.keys()) {
      if (this.#known.size <= MOST_ORGS) break;
      this.#known.delete(orgId);
    }
    return found;
  }
}
