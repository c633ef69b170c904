/**
 * The purse of a cell among several: holds are taken from what the cell has leased of the org's credit, so a call waits for Redis only
 * where that does not cover it. Each hold is closed once; what a call cost is written in the act of its settlement and numbered later.
 */
import type { Clock } from "../../../base/clock.ts";
import { assertAmount } from "../../../base/money.ts";
import type { Charge } from "../../../credits/ledger/book.ts";
import type { ChargeSpend, Funds, Hold, Purse, Settled } from "../../../credits/ledger/purse.ts";
import type { Store } from "../../../store/store.ts";
import type { Restating } from "../exchange/parts.ts";
import { Charges, type ChargesPorts, NOBODYS } from "../leases/charges.ts";
import { CreditLane, type CreditLaneOptions } from "../leases/credit-lane.ts";
import type { OrgLease } from "../leases/lease.ts";
import { lackIn, recoverCredit } from "../leases/recovery.ts";
import type { CreditView } from "./credit-view.ts";

export interface LeasedPurseOptions extends Omit<CreditLaneOptions, "charges">, ChargesPorts {
  readonly store: Store;
  readonly view: CreditView;
  /** `Cell.restates` */
  readonly restates: (part: Restating) => void;
  /** The cell's, in which the charges are written. */
  readonly life: string;
}

/**
 * Sends what the cell's former process had charged, gives back what it had leased, and opens the purse.
 * @throws Error with a line for the operator, where the folder is a copy of an older state
 */
export async function openLeasedPurse(options: LeasedPurseOptions): Promise<LeasedPurse> {
  const { store, life, lane, restates } = options;
  const charges = new Charges(store, life, options);
  const { chargedTo, retired } = await recoverCredit(lane, charges, Number(life));
  const credit = new CreditLane({ ...options, charges }, chargedTo);
  for (let number = chargedTo + 1; number <= charges.newest(); number++) {
    const row = charges.row(number);
    if (row !== undefined && row.life !== NOBODYS) credit.recovered(row);
  }
  restates({
    operations: () => credit.restating(),
    lacking: ([restated]) => lackIn(restated),
    isSettled: () => isSettled(charges, credit),
  });
  charges.passOn();
  // Leases cover these charges until they are in.
  await credit.settleAll();
  for (let left = 1; left > 0; ) {
    const [[count] = []] = await lane.send([["credit_return", RETURN_ORGS]]);
    left = Number(count);
  }
  return new LeasedPurse(options, { charges, credit, retired });
}

/** Redis has all charges, and all leases back. */
function isSettled(charges: Charges, credit: CreditLane): boolean {
  if (charges.isWriting() || charges.numberedTo() < charges.newest()) return false;
  return [...credit.all(), ...credit.scopes.all()].every((lease) => lease.isGone());
}

const RETURN_ORGS = 1000;
const LOOK_MS = 5;

class LeasedHold implements Hold {
  readonly org: OrgLease;
  amountMicroUsd = 0;
  isOpen = false;

  constructor(org: OrgLease) {
    this.org = org;
  }

  get orgId(): string {
    return this.org.id;
  }
}

interface PurseParts {
  readonly charges: Charges;
  readonly credit: CreditLane;
  /** The newest life of the cell that was retired; 0: none was. */
  readonly retired: number;
}

export class LeasedPurse implements Purse {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #view: CreditView;
  readonly #charges: Charges;
  readonly #credit: CreditLane;
  readonly #retired: number;
  readonly life: string;

  /** @internal Use `openLeasedPurse`. */
  constructor({ store, clock, view, life }: LeasedPurseOptions, { charges, credit, retired }: PurseParts) {
    this.life = life;
    this.#retired = retired;
    this.#store = store;
    this.#clock = clock;
    this.#view = view;
    this.#charges = charges;
    this.#credit = credit;
  }

  /** The org's funds over all cells: in an act, or where `Book.fresh` was called for the org. @throws Error otherwise */
  funds(orgId: string): Funds {
    const { balanceMicroUsd, heldMicroUsd } = this.#view.of(orgId);
    return { availableMicroUsd: balanceMicroUsd - heldMicroUsd, heldMicroUsd };
  }

  /** As far as this cell knows; of an org without calls here in the last seconds, what it knew then, or zero. */
  available(orgId: string): number {
    const org = this.#credit.find(orgId);
    if (org !== undefined) return org.availableMicroUsd;
    const { balanceMicroUsd = 0, heldMicroUsd = 0 } = this.#view.known(orgId) ?? {};
    return balanceMicroUsd - heldMicroUsd;
  }

  balance(orgId: string): number {
    return this.#credit.find(orgId)?.idleMicroUsd ?? Number.POSITIVE_INFINITY;
  }

  askAvailable(orgId: string): number | Promise<number> {
    if (this.#credit.find(orgId)?.isTold === true || this.#view.known(orgId) !== undefined)
      return this.available(orgId);
    const org = this.#credit.of(orgId);
    // A hold of nothing: the exchange that answers it says what the org has.
    return this.#credit.wait(org, 0, () => {}).then(() => org.availableMicroUsd);
  }

  /** @throws WeirError 503, as a rejection, where credit is neither had nor proven to be missing in time */
  hold(orgId: string, microUsd: number): Hold | undefined | Promise<Hold | undefined> {
    assertAmount(microUsd);
    const org = this.#credit.of(orgId);
    const hold = new LeasedHold(org);
    const take = () => {
      hold.isOpen = true;
      org.openHolds++;
      this.#grow(hold, microUsd);
    };
    if (org.waiters.length === 0 && org.fits(microUsd) && this.#credit.isValid()) {
      take();
      return hold;
    }
    return this.#credit.wait(org, microUsd, take).then((isTaken) => (isTaken ? hold : undefined));
  }

  extend(hold: Hold, moreMicroUsd: number): boolean | Promise<boolean> {
    const mine = asOpen(hold);
    assertAmount(moreMicroUsd);
    if (mine.org.fits(moreMicroUsd) && this.#credit.isValid()) {
      this.#grow(mine, moreMicroUsd);
      return true;
    }
    let isOpen = true;
    const take = () => {
      // The call may have ended meanwhile.
      isOpen = mine.isOpen;
      if (isOpen) this.#grow(mine, moreMicroUsd);
    };
    return this.#credit.wait(mine.org, moreMicroUsd, take).then((isTaken) => isTaken && isOpen);
  }

  /** The entry is numbered later: `onNumbered` is told of it. */
  settle(hold: Hold, { requestId, amountMicroUsd, atMs }: Charge, spend?: ChargeSpend): Settled {
    const mine = asOpen(hold);
    assertAmount(amountMicroUsd);
    const { org } = mine;
    if (amountMicroUsd > 0) {
      this.#charges.add({ orgId: org.id, requestId, atMs, amountMicroUsd }, spend);
      org.charge(amountMicroUsd);
    }
    this.#close(mine);
    this.#store.ifDropped(() => {
      if (amountMicroUsd > 0) org.charge(-amountMicroUsd);
      mine.isOpen = true;
      org.openHolds++;
      org.free(-mine.amountMicroUsd);
    });
    this.#credit.charged();
    return { entry: undefined, exceeded: amountMicroUsd > mine.amountMicroUsd };
  }

  release(hold: Hold): void {
    this.#close(asOpen(hold));
  }

  /** A folder that was alone before has calls without a life, which are older than each life. */
  isRetired(life: string): boolean {
    return this.#retired > 0 && Number(life) <= this.#retired;
  }

  chargeFormer(orgId: string, charge: Charge, life: string, spend?: ChargeSpend): undefined {
    const { requestId, amountMicroUsd, atMs } = charge;
    assertAmount(amountMicroUsd);
    if (amountMicroUsd === 0) return;
    const call = { orgId, requestId, atMs, amountMicroUsd };
    if (this.isRetired(life)) this.#charges.addUncharged(call);
    else {
      const org = this.#credit.of(orgId);
      this.#charges.add(call, spend);
      org.charge(amountMicroUsd);
      this.#store.ifDropped(() => org.charge(-amountMicroUsd));
    }
    this.#credit.charged();
  }

  open(): { readonly holds: number; readonly heldMicroUsd: number } {
    let holds = 0;
    let heldMicroUsd = 0;
    for (const org of this.#credit.all()) {
      holds += org.openHolds;
      heldMicroUsd += org.holdsMicroUsd;
    }
    return { holds, heldMicroUsd };
  }

  /** What the cell has leased of orgs' credit, without budgets. */
  leased(): { readonly orgs: number; readonly microUsd: number } {
    let orgs = 0;
    let microUsd = 0;
    for (const { leaseMicroUsd } of this.#credit.all()) {
      if (leaseMicroUsd > 0) orgs++;
      microUsd += leaseMicroUsd;
    }
    return { orgs, microUsd };
  }

  /** Carries what budgets lease, too. */
  get lane(): CreditLane {
    return this.#credit;
  }

  /** This cell's charges, by the numbers of their rows: the newest, and up to which they have numbers and were passed on. */
  get passing() {
    const charges = this.#charges;
    return { newest: () => charges.newest(), acknowledged: () => charges.passedTo() };
  }

  /** Resolves true once all charges so far have numbers and were passed on; false where that takes longer. */
  async passed(withinMs: number): Promise<boolean> {
    const last = this.#charges.newest();
    const endMs = this.#clock.monotonic() + withinMs;
    while (this.#charges.passedTo() < last) {
      if (this.#clock.monotonic() >= endMs) return false;
      this.#credit.sendCharges();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return true;
  }

  /** Sends all charges and gives back all leases; nothing is admitted from then on. */
  async close(): Promise<void> {
    try {
      await this.#credit.close();
    } finally {
      await this.#charges.stop();
    }
  }

  #grow(hold: LeasedHold, microUsd: number): void {
    const nowMs = this.#clock.monotonic();
    hold.amountMicroUsd += microUsd;
    hold.org.take(microUsd, nowMs);
    if (hold.org.needsMore(nowMs)) this.#credit.changed(hold.org);
  }

  #close(hold: LeasedHold): void {
    const { org } = hold;
    hold.isOpen = false;
    org.openHolds--;
    org.free(hold.amountMicroUsd);
    const nowMs = this.#clock.monotonic();
    org.usedAtMs = nowMs;
    if (org.isScarce(nowMs) || org.isTight) this.#credit.changed(org);
  }
}

/** @throws Error for a hold of another purse, or one that is closed. */
function asOpen(hold: Hold): LeasedHold {
  if (!(hold instanceof LeasedHold)) throw new Error("not a hold of this purse");
  if (!hold.isOpen) throw new Error(`a hold of ${hold.orgId} was settled or released before`);
  return hold;
}
