/** Credits of a cell among several: the purse holds what the cell has leased, the book posts by acts that all cells have. */
import type { Clock } from "../../../base/clock.ts";
import type { CreditBounds } from "../../../credits/ledger/accounts.ts";
import type { CreditFall, FallBounds } from "../../../credits/ledger/credit-events.ts";
import { type LedgerTables, openLedger } from "../../../credits/ledger/ledger.ts";
import { CreditLots } from "../../../credits/ledger/lots.ts";
import type { Cell } from "../cell.ts";
import type { NumberedCharge } from "../leases/charges.ts";
import { chargeFalls } from "./charge-falls.ts";
import { CreditView } from "./credit-view.ts";
import { type LeasedPurseOptions, openLeasedPurse } from "./leased-purse.ts";
import { SharedBook, type SharedBookDeps } from "./shared-book.ts";

export interface SharedCreditsDeps
  extends Pick<
      SharedBookDeps,
      "onPosted" | "charges" | "holes" | "isFormerOver" | "allListed" | "allCharged"
    >,
    Pick<
      LeasedPurseOptions,
      "onUncharged" | "onNotPassed" | "onCrossed" | "onEnd" | "scopeOf" | "lineageOf" | "noteNear"
    > {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly bounds: CreditBounds;
  readonly onFall: (fall: CreditFall) => void;
  /** Takes charges that have numbers; the same may come again. */
  readonly onNumbered: (charges: readonly NumberedCharge[]) => Promise<void>;
}

/** What is posted, at all cells; charges are not in it. */
export const POSTED_LEDGER: LedgerTables = {
  entries: "ledger.posted",
  references: "ledger.posted_references",
  kinds: "ledger.posted_kinds",
};

/** @throws Error with a line for the operator, where the folder is a copy of an older state */
export async function openSharedCredits(deps: SharedCreditsDeps) {
  const { cell, onFall, onNumbered } = deps;
  const { store } = cell;
  const inAct = () => store.creditInAct();
  const view = new CreditView({ lane: cell.lane("credit_view"), inAct });
  const posted = openLedger(store, POSTED_LEDGER);
  const balanceOf = (orgId: string) => view.of(orgId).balanceMicroUsd;
  const lots = new CreditLots({ store, ledger: posted, balanceOf });
  const bounds = new BoundsOfOrgs(deps.bounds);
  const boundsOf = (orgId: string) => bounds.of(orgId);
  const book = new SharedBook({
    ...deps,
    store,
    posted,
    lots,
    view,
    inAct,
    boundsOf,
    caughtUp: () => cell.caughtUp(),
  });
  const lookAtFalls = chargeFalls({ store, boundsOf, onFall });
  const purse = await openLeasedPurse({
    ...deps,
    store,
    clock: cell.clock.machine,
    time: cell.clock,
    staleMs: cell.staleMs,
    view,
    life: cell.entered.life,
    lane: cell.lane("credit"),
    restates: cell.restates,
    async onNumbered(charges) {
      await onNumbered(charges);
      await lookAtFalls(charges);
    },
  });
  return { purse, book, lots, boundsChanged: (orgId: string) => bounds.changed(orgId) };
}

/** Orgs whose bounds are remembered. */
const MOST_ORGS = 50_000;

/** Bounds are asked for with every charge, and change rarely. */
class BoundsOfOrgs {
  readonly #bounds: CreditBounds;
  readonly #known = new Map<string, FallBounds>();

  constructor(bounds: CreditBounds) {
    this.#bounds = bounds;
  }

  of(orgId: string): FallBounds {
    let found = this.#known.get(orgId);
    if (found === undefined) {
      found = {
        lowMicroUsd: this.#bounds.lowCredit(orgId) ?? Number.NEGATIVE_INFINITY,
        watchedMicroUsd: this.#bounds.watchedBelow(orgId) ?? Number.NEGATIVE_INFINITY,
      };
      if (this.#known.size >= MOST_ORGS) this.#known.clear();
      this.#known.set(orgId, found);
    }
    return found;
  }

  changed(orgId: string): void {
    this.#known.delete(orgId);
  }
}
