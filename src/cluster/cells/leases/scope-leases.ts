/** The scopes of budgets that a cell knows of now: those with a lease, with calls, or with charges that the dataset does not have. */
import type { BudgetScope } from "../../../credits/budgets/budget.ts";
import { type NoteNear, noteKey, noteProject } from "../../../credits/budgets/near-budgets.ts";
import { openPeriods, type Period } from "../../../credits/budgets/periods.ts";
import type { ClockReading, SharedClock } from "../clock/shared-clock.ts";
import type { Operation } from "../exchange/exchange.ts";
import type { OrgLease } from "./lease.ts";
import { ANSWER_VALUES, ScopeLease } from "./scope-lease.ts";
import { type SpentCharge, scopeNames } from "./scopes.ts";

export interface ScopeLeasesOptions {
  /** Redis's time, of which budgets' periods are. */
  readonly time: SharedClock;
  /** Leases are spent at most so long after the cell last heard of Redis (`cells.stale_ms`), and are for as long. */
  readonly staleMs: number;
  /** Port: the budgets of a key whose charges a former process made. */
  readonly scopeOf?: ((keyId: string) => BudgetScope | undefined) | undefined;
  /** Port: half of a key's or project's budget is used, by what all cells have charged. */
  readonly noteNear?: NoteNear | undefined;
  /** A scope is new: somebody looks after it from now on. */
  readonly onNew: () => void;
}

export class ScopeLeases {
  readonly #options: ScopeLeasesOptions;
  readonly #scopes = new Map<string, ScopeLease>();
  readonly #periods = openPeriods();

  constructor(options: ScopeLeasesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#scopes.size;
  }

  all(): Iterable<ScopeLease> {
    return this.#scopes.values();
  }

  find(name: string): ScopeLease | undefined {
    return this.#scopes.get(name);
  }

  of(name: string): ScopeLease {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      const { time, staleMs } = this.#options;
      scope = new ScopeLease(name, time, staleMs);
      this.#scopes.set(name, scope);
      this.#options.onNew();
    }
    return scope;
  }

  forget(scope: ScopeLease): void {
    this.#scopes.delete(scope.id);
  }

  /** An answer that was just received says Redis's time. @param sentMs monotonic time before it was asked for */
  heard(reading: ClockReading, sentMs: number): void {
    this.#options.time.read(reading, sentMs);
  }

  /** The period that Redis's time is in. */
  periodOf(timeZone: string): Period {
    return this.#periods(timeZone, Math.floor(this.#options.time.now()));
  }

  /** Steady time of a charge that is made now. */
  steady(): number {
    return Math.floor(this.#options.time.steady());
  }

  monotonic(): number {
    return this.#options.time.monotonic();
  }

  /** A charge that a former process wrote, and the dataset does not have: its leases cover it. */
  recovered(charge: SpentCharge): void {
    const { orgId, amountMicroUsd, spend } = charge;
    if (spend === undefined) return;
    const budgets = this.#options.scopeOf?.(spend.keyId);
    for (const name of Object.values(scopeNames({ ...spend, orgId }))) {
      const scope = this.of(name);
      scope.scope ??= budgets;
      scope.charge(amountMicroUsd);
    }
  }

  /** Leases, for a new term. */
  restating(): Operation {
    const leases: (string | number)[] = [];
    for (const { id, leaseMicroUsd } of this.#scopes.values())
      if (leaseMicroUsd > 0) leases.push(id, leaseMicroUsd);
    return ["budget_restate", leases];
  }

  #lookNear(lease: ScopeLease): void {
    const { scope, budget, spentMicroUsd, day } = lease;
    const note = this.#options.noteNear;
    if (scope === undefined || note === undefined) return;
    if (budget === "key_daily") noteKey(note, lease, scope, spentMicroUsd, day);
    if (budget === "project_monthly") noteProject(note, lease, scope, spentMicroUsd, day);
  }

  /** Takes in what the dataset answered to the scopes' parts, in their order. */
  *answered(
    sent: Iterable<{ readonly lease: OrgLease | ScopeLease; readonly sumMicroUsd: number }>,
    values: readonly unknown[],
  ): Generator<{ scope: ScopeLease; held: number; freeMicroUsd: number }> {
    let at = 0;
    for (const { lease: scope, sumMicroUsd } of sent) {
      if (scope.kind !== "budget") continue;
      const held = scope.usedMicroUsd - sumMicroUsd;
      scope.told(values.slice(at, at + ANSWER_VALUES), sumMicroUsd);
      this.#lookNear(scope);
      yield { scope, held, freeMicroUsd: Number(values[at + 1]) };
      at += ANSWER_VALUES;
    }
  }
}
