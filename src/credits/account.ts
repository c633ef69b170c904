/**
 * One org's credit in memory: the arithmetic of holds and of the running balance, with no I/O.
 * held = sum of the open holds; a hold is taken only from what is available; each closes exactly once.
 */

/** Credit set aside for one call: closed exactly once, by `settle` or `release`. In memory only. */
export interface Hold {
  readonly orgId: string;
  readonly amountMicroUsd: number;
}

export class OpenHold implements Hold {
  readonly account: Account;
  amountMicroUsd: number;
  closed = false;

  constructor(account: Account, amountMicroUsd: number) {
    this.account = account;
    this.amountMicroUsd = amountMicroUsd;
  }

  get orgId(): string {
    return this.account.orgId;
  }
}

/** Loaded once from the newest entry; from then on it is ahead of the disk by what is in the commit queue. */
export class Account {
  readonly orgId: string;
  balanceMicroUsd: number;
  grantedMicroUsd: number;
  heldMicroUsd = 0;
  openHolds = 0;
  #nextSeq: number;

  constructor(orgId: string, balanceMicroUsd: number, grantedMicroUsd: number, newestSeq: number) {
    this.orgId = orgId;
    this.balanceMicroUsd = balanceMicroUsd;
    this.grantedMicroUsd = grantedMicroUsd;
    this.#nextSeq = newestSeq + 1;
  }

  get availableMicroUsd(): number {
    return this.balanceMicroUsd - this.heldMicroUsd;
  }

  hold(microUsd: number): OpenHold | undefined {
    checkAmount(microUsd);
    if (this.availableMicroUsd < microUsd) return undefined;
    this.heldMicroUsd += microUsd;
    this.openHolds += 1;
    return new OpenHold(this, microUsd);
  }

  extend(hold: OpenHold, moreMicroUsd: number): boolean {
    checkAmount(moreMicroUsd);
    if (this.availableMicroUsd < moreMicroUsd) return false;
    this.heldMicroUsd += moreMicroUsd;
    hold.amountMicroUsd += moreMicroUsd;
    return true;
  }

  close(hold: OpenHold): void {
    hold.closed = true;
    this.heldMicroUsd -= hold.amountMicroUsd;
    this.openHolds -= 1;
  }

  /** Number and running balance of the next entry: given at the call, in the order entries join the commit queue. */
  advance(amountMicroUsd: number, createdAtMs: number) {
    const balanceMicroUsd = this.balanceMicroUsd + amountMicroUsd;
    if (!Number.isSafeInteger(balanceMicroUsd)) throw new Error("balance out of range");
    this.balanceMicroUsd = balanceMicroUsd;
    return { seq: this.#nextSeq++, amountMicroUsd, balanceMicroUsd, createdAtMs };
  }
}

/** @throws Error for a hold that is closed: settling or releasing twice is a fault of the caller, never a state. */
export function asOpen(hold: Hold): OpenHold {
  if (!(hold instanceof OpenHold)) throw new Error("not a hold of this ledger");
  if (hold.closed) throw new Error(`a hold of ${hold.orgId} was settled or released before`);
  return hold;
}

export function checkAmount(microUsd: number): void {
  if (!Number.isSafeInteger(microUsd) || microUsd < 0) throw new Error(`not an amount: ${microUsd}`);
}
