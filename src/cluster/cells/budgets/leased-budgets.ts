/**
 * Budgets of a cell among several: a hard budget's part is leased before it is used, like credit and with it, so a call waits for Redis
 * only where the lease does not cover it. What a call cost is counted by the exchange that brings its charge. Each hold is closed once.
 */
import type { Clock } from "../../../base/clock.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import { assertAmount } from "../../../base/money.ts";
import {
  BUDGET_NAMES,
  type BudgetExceeded,
  type BudgetName,
  type BudgetRefusal,
  type BudgetScope,
  budgetOf,
} from "../../../credits/budgets/budget.ts";
import type {
  BudgetHold,
  Budgets,
  KeyPeriodSpend,
  KeyScope,
  KeyStandingScope,
  PeriodSpend,
} from "../../../credits/budgets/budgets.ts";
import { monthOf, type Period } from "../../../credits/budgets/periods.ts";
import type { BudgetRoom } from "../../../credits/budgets/standing.ts";
import type { ChargeSpend } from "../../../credits/ledger/purse.ts";
import type { Store } from "../../../store/store.ts";
import type { CreditLane } from "../leases/credit-lane.ts";
import type { ScopeLease } from "../leases/scope-lease.ts";
import { keyScope, orgScope, projectScope, type ScopeNames, scopeNames } from "../leases/scopes.ts";
import type { SharedSpend } from "./shared-spend.ts";

type BudgetLane = Pick<CreditLane, "scopes" | "isValid" | "changed" | "wait">;

export interface LeasedBudgetsOptions {
  readonly store: Pick<Store, "act" | "ifDropped">;
  readonly clock: Clock;
  /** The lane of credit carries what budgets lease, too. */
  readonly credit: BudgetLane;
  readonly spend: SharedSpend;
  /** Port: a hard budget refused its first call of the period at this cell. Must not throw. */
  readonly onBudgetExceeded?: ((event: BudgetExceeded) => void) | undefined;
  /** Port, like it, called in an act: puts what follows, once over all cells. */
  readonly putExceeded?: ((event: BudgetExceeded) => void) | undefined;
}

/** What a hold wants more of each lease, on a day of the scope. */
interface Wanted {
  readonly microUsd: number;
  readonly day: string;
  /** See `Budgets.hold`. */
  readonly isTrial: boolean;
}

/** What a hold has of one lease. */
interface Part {
  readonly lease: ScopeLease;
  microUsd: number;
}

class LeasedBudgetHold implements BudgetHold {
  readonly admitted = true;
  readonly scope: BudgetScope;
  readonly parts: Part[] = [];
  amountMicroUsd = 0;
  isOpen = true;
  spend: ChargeSpend | undefined;

  constructor(scope: BudgetScope) {
    this.scope = scope;
  }

  grow(lease: ScopeLease, microUsd: number): void {
    const part = this.parts.find((known) => known.lease === lease);
    if (part !== undefined) {
      part.microUsd += microUsd;
      return;
    }
    lease.openHolds++;
    this.parts.push({ lease, microUsd });
  }

  shrink(lease: ScopeLease, microUsd: number): void {
    const part = this.parts.find((known) => known.lease === lease);
    if (part === undefined) return;
    const less = Math.min(microUsd, part.microUsd);
    part.microUsd -= less;
    lease.free(less);
  }
}

export class LeasedBudgets implements Budgets {
  readonly #options: LeasedBudgetsOptions;
  readonly #credit: BudgetLane;
  readonly #names = new WeakMap<BudgetScope, ScopeNames>();
  #openHolds = 0;

  constructor(options: LeasedBudgetsOptions) {
    this.#options = options;
    this.#credit = options.credit;
  }

  /** As far as this cell knows: false where its leases do not cover it and nothing else is known. */
  wouldHold(scope: BudgetScope, microUsd: number): boolean {
    return this.#hard(scope).every(
      (lease) => lease.fits(microUsd) || (lease.day !== "" && lease.availableMicroUsd >= microUsd),
    );
  }

  room(scope: BudgetScope): BudgetRoom {
    let microUsd = Number.POSITIVE_INFINITY;
    let idleMicroUsd = Number.POSITIVE_INFINITY;
    for (const lease of this.#hard(scope)) {
      microUsd = Math.min(microUsd, lease.availableMicroUsd);
      idleMicroUsd = Math.min(idleMicroUsd, lease.idleMicroUsd);
    }
    return { microUsd, idleMicroUsd };
  }

  /** @throws WeirError 503, as a rejection, where the budgets are neither had nor proven to be used up in time */
  hold(scope: BudgetScope, microUsd: number, isTrial = false): MaybePromise<BudgetHold | BudgetRefusal> {
    assertAmount(microUsd);
    const hold = new LeasedBudgetHold(scope);
    this.#openHolds++;
    const grown = this.#grow(hold, microUsd, isTrial);
    if (!(grown instanceof Promise)) return hold;
    return grown.then(
      (refusal) => {
        if (refusal === undefined) return hold;
        this.#close(hold);
        return refusal;
      },
      (error: unknown) => {
        this.#close(hold);
        throw error;
      },
    );
  }

  extend(hold: BudgetHold, moreMicroUsd: number): MaybePromise<boolean> {
    assertAmount(moreMicroUsd);
    const grown = this.#grow(asOpen(hold), moreMicroUsd);
    return grown instanceof Promise ? grown.then((refusal) => refusal === undefined) : true;
  }

  shrink(hold: BudgetHold, lessMicroUsd: number): void {
    assertAmount(lessMicroUsd);
    const mine = asOpen(hold);
    if (lessMicroUsd > mine.amountMicroUsd) throw new Error("a budget hold cannot shrink below nothing");
    mine.amountMicroUsd -= lessMicroUsd;
    for (const { lease } of mine.parts) mine.shrink(lease, lessMicroUsd);
  }

  /** Its day goes with the charge: the purse must be given the hold's `spend`. */
  charging(hold: BudgetHold, amountMicroUsd: number): () => void {
    assertAmount(amountMicroUsd);
    const mine = asOpen(hold);
    const { scope } = mine;
    const names = this.#namesOf(scope);
    const { keyId, lineageId, projectId } = scope;
    const steadyMs = this.#credit.scopes.steady();
    mine.spend = { keyId, lineageId, projectId, day: this.#dayOf(scope, names), steadyMs };
    return () => {
      this.#close(mine);
      const charged = amountMicroUsd === 0 ? [] : BUDGET_NAMES.map((name) => this.#lease(scope, name, names));
      for (const lease of charged) lease.charge(amountMicroUsd);
      this.#options.store.ifDropped(() => {
        for (const lease of charged) lease.charge(-amountMicroUsd);
        this.#reopen(mine);
      });
    };
  }

  release(hold: BudgetHold): void {
    this.#close(asOpen(hold));
  }

  spendOfKey({ keyId, lineageId = keyId, timeZone }: KeyScope): Promise<PeriodSpend> {
    return this.#options.spend.of(keyScope(lineageId), timeZone);
  }

  /** Cells tell each other what they hold of hard budgets alone. */
  async standingOfKey({
    keyId,
    lineageId = keyId,
    timeZone,
    keyDaily,
  }: KeyStandingScope): Promise<KeyPeriodSpend> {
    const spend = await this.#options.spend.withHolds(keyScope(lineageId), timeZone);
    const isTold = keyDaily?.hard === true && keyDaily.limitMicroUsd > 0;
    return { ...spend, heldMicroUsd: isTold ? spend.heldMicroUsd : undefined };
  }

  spendOfProject({ projectId, timeZone }: Pick<BudgetScope, "projectId" | "timeZone">): Promise<PeriodSpend> {
    return this.#options.spend.of(projectScope(projectId), timeZone);
  }

  spendOfOrg({ orgId, timeZone }: Pick<BudgetScope, "orgId" | "timeZone">): Promise<PeriodSpend> {
    return this.#options.spend.of(orgScope(orgId), timeZone);
  }

  /** By the dataset's latest answer to this cell: known of hard budgets that it has a lease of. */
  heldOf(scope: KeyScope, name: BudgetName): number | undefined {
    const lease = this.#credit.scopes.find(scopeNames(scope)[name]);
    return lease !== undefined && lease.hardMicroUsd > 0 ? lease.heldByAllMicroUsd : undefined;
  }

  openHolds(): number {
    return this.#openHolds;
  }

  /** Takes from all leases or none. @returns the refusal; undefined where it was taken */
  #grow(hold: LeasedBudgetHold, microUsd: number, isTrial = false): MaybePromise<BudgetRefusal | undefined> {
    const { scope } = hold;
    const leases = microUsd === 0 ? [] : this.#hard(scope);
    if (leases.length > 0) {
      const { day } = this.#credit.scopes.periodOf(scope.timeZone);
      const isCovered = leases.every((lease) => lease.covers(microUsd, day));
      if (!isCovered || !this.#credit.isValid()) {
        return this.#wait(hold, leases, { microUsd, day, isTrial });
      }
      for (const lease of leases) this.#take(hold, lease, microUsd);
    }
    hold.amountMicroUsd += microUsd;
    return undefined;
  }

  async #wait(
    hold: LeasedBudgetHold,
    leases: readonly ScopeLease[],
    { microUsd, day, isTrial }: Wanted,
  ): Promise<BudgetRefusal | undefined> {
    const taken: ScopeLease[] = [];
    const outcomes = await Promise.allSettled(
      leases.map((lease) => {
        const take = () => {
          // The call may have ended meanwhile.
          if (!hold.isOpen) return;
          this.#take(hold, lease, microUsd);
          taken.push(lease);
        };
        if (!lease.covers(microUsd, day) || !this.#credit.isValid())
          return this.#credit.wait(lease, microUsd, take);
        take();
        return true;
      }),
    );
    if (taken.length === leases.length && hold.isOpen) {
      hold.amountMicroUsd += microUsd;
      return undefined;
    }
    // A hold that was closed meanwhile has given everything back.
    if (hold.isOpen) for (const lease of taken) hold.shrink(lease, microUsd);
    const refusing = leases.find((_, at) => isRefusal(outcomes[at]));
    if (refusing !== undefined && !isTrial) return this.#refuse(hold.scope, refusing);
    if (refusing !== undefined) return refusalOf(hold.scope, refusing, this.#periodOf(hold.scope));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return refusalOf(hold.scope, leases[0] as ScopeLease, this.#periodOf(hold.scope));
  }

  #take(hold: LeasedBudgetHold, lease: ScopeLease, microUsd: number): void {
    const nowMs = this.#options.clock.monotonic();
    hold.grow(lease, microUsd);
    lease.take(microUsd, nowMs);
    if (lease.needsMore(nowMs)) this.#credit.changed(lease);
  }

  #close(hold: LeasedBudgetHold): void {
    const nowMs = this.#options.clock.monotonic();
    hold.isOpen = false;
    this.#openHolds--;
    for (const { lease, microUsd } of hold.parts) {
      lease.openHolds--;
      lease.free(microUsd);
      lease.usedAtMs = nowMs;
      if (lease.isScarce(nowMs) || lease.isTight) this.#credit.changed(lease);
    }
  }

  #reopen(hold: LeasedBudgetHold): void {
    hold.isOpen = true;
    this.#openHolds++;
    for (const { lease, microUsd } of hold.parts) {
      lease.openHolds++;
      lease.free(-microUsd);
    }
  }

  /** Leases of the scope's hard budgets. */
  #hard(scope: BudgetScope): ScopeLease[] {
    const leases: ScopeLease[] = [];
    for (const name of BUDGET_NAMES) {
      const budget = budgetOf(scope, name);
      if (budget?.hard !== true || budget.limitMicroUsd === 0) continue;
      leases.push(this.#lease(scope, name, this.#namesOf(scope)));
    }
    return leases;
  }

  #lease(scope: BudgetScope, name: BudgetName, names: ScopeNames): ScopeLease {
    const lease = this.#credit.scopes.of(names[name]);
    lease.scope = scope;
    return lease;
  }

  #namesOf(scope: BudgetScope): ScopeNames {
    let names = this.#names.get(scope);
    if (names === undefined) {
      names = scopeNames(scope);
      this.#names.set(scope, names);
    }
    return names;
  }

  /** The day of a charge now. A lease that was granted on a day is never charged to an earlier one. */
  #dayOf(scope: BudgetScope, names: ScopeNames): string {
    let { day } = this.#periodOf(scope);
    for (const name of BUDGET_NAMES) {
      const told = this.#credit.scopes.find(names[name])?.day;
      if (told !== undefined && told > day) day = told;
    }
    return day;
  }

  #periodOf({ timeZone }: BudgetScope): Period {
    return this.#credit.scopes.periodOf(timeZone);
  }

  #refuse(scope: BudgetScope, lease: ScopeLease): BudgetRefusal {
    const period = this.#periodOf(scope);
    const refusal = refusalOf(scope, lease, period);
    const { keyId, lineageId, projectId, orgId } = scope;
    const label = lease.budget === "key_daily" ? period.day : monthOf(period.day);
    if (lease.refused !== label) {
      lease.refused = label;
      const { budget, limitMicroUsd, spentMicroUsd, resetsAtMs } = refusal;
      const standing = { budget, limitMicroUsd, spentMicroUsd, resetsAtMs };
      const event = { ...standing, keyId, lineageId, projectId, orgId, hard: true };
      const { store, onBudgetExceeded, putExceeded } = this.#options;
      onBudgetExceeded?.(event);
      // The call is refused whether or not this can be stored; the next refusal tries again.
      store.act(() => putExceeded?.(event)).catch(() => (lease.refused = ""));
    }
    return refusal;
  }
}

const isRefusal = (outcome: PromiseSettledResult<boolean> | undefined): boolean =>
  outcome?.status === "fulfilled" && !outcome.value;

function refusalOf(scope: BudgetScope, lease: ScopeLease, period: Period): BudgetRefusal {
  const isDaily = lease.budget === "key_daily";
  return {
    admitted: false,
    budget: lease.budget,
    limitMicroUsd: budgetOf(scope, lease.budget)?.limitMicroUsd ?? 0,
    spentMicroUsd: lease.spentMicroUsd,
    resetsAtMs: isDaily ? period.dayEndsMs : period.monthEndsMs,
    heldMicroUsd: lease.heldByAllMicroUsd,
  };
}

/** @throws Error for a hold of other budgets, or one that is closed. */
function asOpen(hold: BudgetHold): LeasedBudgetHold {
  if (!(hold instanceof LeasedBudgetHold)) throw new Error("not a hold of these budgets");
  if (!hold.isOpen) throw new Error(`a budget hold of ${hold.scope.keyId} was charged or released before`);
  return hold;
}
