/**
 * Enforces budgets: spend is held before a call and counted when it settles, like credits. Invariants: for a hard
 * budget, spend + held <= limit after every admission; stored spend is what the committed ledger charged in the period.
 * A call counts in the period in which it settles, even if the clock that determined the period is corrected later.
 */
import type { Clock } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { assertAmount } from "../../base/money.ts";
import type { Store } from "../../store/store.ts";
import type { LocalBook } from "../ledger/book.ts";
import type { ChargeSpend } from "../ledger/purse.ts";
import {
  type BudgetExceeded,
  type BudgetName,
  type BudgetRefusal,
  type BudgetScope,
  type CallOwners,
  crosses,
  isSpike,
  type SpendSpike,
} from "./budget.ts";
import { type NoteNear, noteKey, noteProject } from "./near-budgets.ts";
import { buildOrgSpend, type OrgOfProject } from "./org-spend-build.ts";
import { monthOf, openPeriods } from "./periods.ts";
import { KEY_DETAIL, type Now, openSpendTable, type Spend, type SpendTable } from "./spend.ts";
import { type JoinedRows, joinLineages } from "./spend-lineages.ts";
import { type BudgetRoom, exceeded, forbiddenBy, refusalOf, roomIn, spendFor } from "./standing.ts";
import { WallClock } from "./wall-clock.ts";

/** Closed exactly once, by `charge` or `release`. In memory only. */
export interface BudgetHold {
  readonly admitted: true;
  readonly amountMicroUsd: number;
  /** Since `charging`, where the spend of several cells is counted with the charge: the purse takes it. */
  readonly spend?: ChargeSpend | undefined;
}

export interface PeriodSpend {
  readonly todayMicroUsd: number;
  readonly monthMicroUsd: number;
}

export interface KeyPeriodSpend extends PeriodSpend {
  /** Held by calls under way; undefined where no process knows it of all. */
  readonly heldMicroUsd: number | undefined;
}

export type KeyScope = CallOwners & Pick<BudgetScope, "timeZone">;
export type KeyStandingScope = KeyScope & Pick<BudgetScope, "keyDaily">;

export interface Budgets {
  /** Whether `hold` would admit it now; does not report a refusal. */
  wouldHold(scope: BudgetScope, microUsd: number): boolean;
  /** What the hard budgets leave, as far as this process knows: all that is to be known where `hold` has just refused. */
  room(scope: BudgetScope): BudgetRoom;
  /**
   * Checks all budgets before holding any. An amount of 0 is never refused. Returns a promise where the budgets are
   * kept in another process.
   * @param isTrial a refusal is not reported: the caller asks for less, or later
   */
  hold(scope: BudgetScope, microUsd: number, isTrial?: boolean): MaybePromise<BudgetHold | BudgetRefusal>;
  /**
   * Increases an open hold; false (with nothing changed) where a hard budget does not allow it. May return a promise,
   * like `hold`.
   */
  extend(hold: BudgetHold, moreMicroUsd: number): MaybePromise<boolean>;
  /**
   * Reads the clock for a charge. The returned function closes the hold and counts the charge; call it in the act of
   * the ledger entry, in the same turn of the event loop, with the number of that entry if there is one.
   * @throws Error for an invalid amount; the returned function throws when the hold is closed.
   */
  charging(hold: BudgetHold, amountMicroUsd: number): (entrySeq?: number) => void;
  /** Reduces an open hold: the extension was not needed. @throws Error when it is closed. */
  shrink(hold: BudgetHold, lessMicroUsd: number): void;
  /** @throws Error when the hold is closed. */
  release(hold: BudgetHold): void;
  /** Spend of the key's lineage. May return a promise, like `hold`; so may the next two. */
  spendOfKey(scope: KeyScope): MaybePromise<PeriodSpend>;
  spendOfProject(scope: Pick<BudgetScope, "projectId" | "timeZone">): MaybePromise<PeriodSpend>;
  /** Spend of all the org's projects, deleted ones included. */
  spendOfOrg(scope: Pick<BudgetScope, "orgId" | "timeZone">): MaybePromise<PeriodSpend>;
  /** What calls under way hold of a scope's budget, micro-USD; undefined where this process does not know it. */
  heldOf(scope: KeyScope, name: BudgetName): number | undefined;
  /** Spend of the key's lineage, and what calls under way hold. May return a promise, like `hold`. */
  standingOfKey(scope: KeyStandingScope): MaybePromise<KeyPeriodSpend>;
  /** Number of open holds; zero when idle. */
  openHolds(): number;
}

export interface BudgetDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Id of the machine's boot, which `clock.monotonic` counts from; undefined where the system has none. */
  readonly boot?: string | undefined;
  /** Port, called synchronously; must not throw. After a crash the same event may be reported again. */
  readonly onBudgetExceeded?: ((event: BudgetExceeded) => void) | undefined;
  /** Port, called in an act: puts what follows from it. After a crash the same event may be told again. */
  readonly putExceeded?: ((event: BudgetExceeded) => void) | undefined;
  /** Port, like `putExceeded`. */
  readonly putSpike?: ((event: SpendSpike) => void) | undefined;
  /** Port: half of a key's or project's budget is used. Told once a period, and after a restart once more. */
  readonly noteNear?: NoteNear | undefined;
  /** The ledger of the charges. Without it the row of an org's spend is written with every charge. */
  readonly book?: Pick<LocalBook, "entries"> | undefined;
  /** Port, with `book`: for folders of releases that kept no spend of orgs. Also of deleted projects. */
  readonly orgOf?: ((projectId: string) => OrgOfProject | undefined) | undefined;
  /** Port, with `orgOf`: for folders of releases that counted each key of a lineage apart. The first key of a key's lineage. */
  readonly lineageOf?: ((keyId: string) => string) | undefined;
}

export const openBudgets = (deps: BudgetDeps): LocalBudgets => new LocalBudgets(deps);

class OpenBudgetHold implements BudgetHold {
  readonly admitted = true;
  readonly scope: BudgetScope;
  /** Spend objects of its key, project and org; they stay the same objects. */
  readonly key: Spend;
  readonly project: Spend;
  readonly org: Spend;
  amountMicroUsd = 0;
  closed = false;

  constructor(scope: BudgetScope, { key, project, org }: Now) {
    this.scope = scope;
    this.key = key;
    this.project = project;
    this.org = org;
  }

  grow(microUsd: number): void {
    this.amountMicroUsd += microUsd;
    this.#add(microUsd);
  }

  close(): void {
    this.closed = true;
    this.#add(-this.amountMicroUsd);
  }

  reopen(): void {
    this.closed = false;
    this.#add(this.amountMicroUsd);
  }

  #add(microUsd: number): void {
    this.key.heldMicroUsd += microUsd;
    this.project.heldMicroUsd += microUsd;
    this.org.heldMicroUsd += microUsd;
  }
}

/** Budgets within one process: it knows all holds and spend, so it answers synchronously. */
export class LocalBudgets implements Budgets {
  readonly #store: Store;
  #wall: WallClock;
  #table: SpendTable;
  #periodOf = openPeriods();
  #onBudgetExceeded: (event: BudgetExceeded) => void;
  readonly #putExceeded: (event: BudgetExceeded) => void;
  readonly #putSpike: (event: SpendSpike) => void;
  readonly #noteNear: NoteNear;
  #openHolds = 0;
  /** Exceeded budgets of acts that may still be rolled back; reported once the acts cannot be. */
  readonly #crossed: BudgetExceeded[] = [];

  constructor({ store, clock, boot, book, orgOf, lineageOf, ...ports }: BudgetDeps) {
    this.#store = store;
    const wall = new WallClock({ store, clock, boot });
    this.#wall = wall;
    const periodOf = this.#periodOf;
    const built =
      book && orgOf ? buildOrgSpend({ store, wall, periodOf, book, orgOf }) : new Map<string, never>();
    const joined: JoinedRows =
      orgOf && lineageOf
        ? joinLineages({ store, wall, periodOf, orgOf, lineageOf, detail: KEY_DETAIL })
        : new Map();
    this.#table = openSpendTable(store, wall, { book, built, joined });
    this.#onBudgetExceeded = ports.onBudgetExceeded ?? (() => {});
    this.#putExceeded = ports.putExceeded ?? (() => {});
    this.#putSpike = ports.putSpike ?? (() => {});
    this.#noteNear = ports.noteNear ?? (() => {});
  }

  wouldHold(scope: BudgetScope, microUsd: number): boolean {
    return forbiddenBy(scope, this.#standing(scope), microUsd) === undefined;
  }

  room(scope: BudgetScope): BudgetRoom {
    return roomIn(scope, this.#standing(scope));
  }

  hold(scope: BudgetScope, microUsd: number, isTrial = false): BudgetHold | BudgetRefusal {
    const now = this.#standing(scope);
    const hold = new OpenBudgetHold(scope, now);
    const refusal = this.#grow(hold, microUsd, now, isTrial);
    if (refusal === undefined) this.#openHolds += 1;
    return refusal ?? hold;
  }

  extend(hold: BudgetHold, moreMicroUsd: number): boolean {
    const mine = asOpen(hold);
    return this.#grow(mine, moreMicroUsd, this.#standing(mine.scope)) === undefined;
  }

  shrink(hold: BudgetHold, lessMicroUsd: number): void {
    assertAmount(lessMicroUsd);
    const mine = asOpen(hold);
    if (lessMicroUsd > mine.amountMicroUsd) throw new Error("a budget hold cannot shrink below nothing");
    mine.grow(-lessMicroUsd);
  }

  charging(hold: BudgetHold, amountMicroUsd: number): (entrySeq?: number) => void {
    assertAmount(amountMicroUsd);
    const mine = asOpen(hold);
    // Outside the act: a clock jump is written in an act of its own.
    const now = this.#standing(mine.scope);
    return (entrySeq) => {
      this.#close(mine);
      this.#store.ifDropped(this.#reopen, mine);
      if (amountMicroUsd === 0) return;
      const { scope } = mine;
      const { key, project, org } = now;
      this.#table.charge(scope, amountMicroUsd, now, entrySeq);
      if (crosses(scope.keyDaily, key.dayMicroUsd, amountMicroUsd)) this.#cross(scope, "key_daily", now);
      if (crosses(scope.projectMonthly, project.monthMicroUsd, amountMicroUsd)) {
        this.#cross(scope, "project_monthly", now);
      }
      if (crosses(scope.orgMonthly, org.monthMicroUsd, amountMicroUsd))
        this.#cross(scope, "org_monthly", now);
      if (isSpike(scope.spikeAlertPct, org)) this.#spike(scope, now);
      this.#lookNear(scope, now);
    };
  }

  release(hold: BudgetHold): void {
    this.#close(hold);
  }

  spendOfKey(scope: KeyScope): PeriodSpend {
    return periodSpend(this.#standing(scope).key);
  }

  standingOfKey(scope: KeyStandingScope): KeyPeriodSpend {
    const { key } = this.#standing(scope);
    return { ...periodSpend(key), heldMicroUsd: key.heldMicroUsd };
  }

  spendOfProject({ projectId, timeZone }: Pick<BudgetScope, "projectId" | "timeZone">): PeriodSpend {
    return periodSpend(this.#table.ofProject(projectId, this.#periodOf(timeZone, this.#wall.now())));
  }

  spendOfOrg({ orgId, timeZone }: Pick<BudgetScope, "orgId" | "timeZone">): PeriodSpend {
    return periodSpend(this.#table.ofOrg(orgId, this.#periodOf(timeZone, this.#wall.now())));
  }

  heldOf(scope: KeyScope, name: BudgetName): number {
    return spendFor(name, this.#standing(scope)).heldMicroUsd;
  }

  openHolds(): number {
    return this.#openHolds;
  }

  #standing(scope: KeyScope): Now {
    const nowMs = this.#wall.now();
    const period = this.#periodOf(scope.timeZone, nowMs);
    const { key, project, org } = this.#table.of(scope, period);
    return { nowMs, period, key, project, org };
  }

  #grow(hold: OpenBudgetHold, microUsd: number, now: Now, isTrial = false): BudgetRefusal | undefined {
    assertAmount(microUsd);
    const { scope } = hold;
    const forbidden = forbiddenBy(scope, now, microUsd);
    if (forbidden !== undefined && isTrial) return refusalOf(scope, forbidden, now);
    if (forbidden !== undefined) return this.#refuse(scope, forbidden, now);
    hold.grow(microUsd);
    return undefined;
  }

  #close(hold: BudgetHold): void {
    asOpen(hold).close();
    this.#openHolds -= 1;
  }

  /** One function for all calls. */
  readonly #reopen = (hold: OpenBudgetHold): void => {
    hold.reopen();
    this.#openHolds += 1;
  };

  #refuse(scope: BudgetScope, name: BudgetName, now: Now): BudgetRefusal {
    const spend = spendFor(name, now);
    // The budget may have been lowered since the last charge.
    this.#lookNear(scope, now);
    const { day } = now.period;
    const label = name === "key_daily" ? day : monthOf(day);
    if (spend.reported !== label) {
      spend.reported = label;
      const event = exceeded(scope, name, now);
      this.#onBudgetExceeded(event);
      // The call is refused whether or not this can be stored; the next refusal tries again.
      this.#store.act(() => this.#putExceeded(event)).catch(() => (spend.reported = ""));
    }
    return refusalOf(scope, name, now);
  }

  /** Runs in an act, which may still be rolled back. */
  #cross(scope: BudgetScope, name: BudgetName, now: Now): void {
    const event = exceeded(scope, name, now);
    this.#putExceeded(event);
    this.#crossed.push(event);
    this.#store.ifDropped(() => this.#crossed.pop());
    queueMicrotask(() => {
      for (const event of this.#crossed.splice(0)) this.#onBudgetExceeded(event);
    });
  }

  #lookNear(scope: BudgetScope, { key, project, period: { day } }: Now): void {
    noteKey(this.#noteNear, key, scope, key.dayMicroUsd, day);
    noteProject(this.#noteNear, project, scope, project.monthMicroUsd, day);
  }

  /** Runs in an act: once a day, and after a restart once more. */
  #spike({ orgId, spikeAlertPct = 0 }: BudgetScope, { org, period: { day, dayEndsMs } }: Now): void {
    const { spikeDay } = org;
    if (spikeDay === day) return;
    org.spikeDay = day;
    this.#store.ifDropped(() => {
      org.spikeDay = spikeDay;
    });
    const { dayMicroUsd: spentMicroUsd, usualMicroUsd } = org;
    this.#putSpike({ orgId, day, spentMicroUsd, usualMicroUsd, alertPct: spikeAlertPct, dayEndsMs });
  }
}

const periodSpend = ({ dayMicroUsd, monthMicroUsd }: Spend): PeriodSpend => ({
  todayMicroUsd: dayMicroUsd,
  monthMicroUsd,
});

function asOpen(hold: BudgetHold): OpenBudgetHold {
  if (!(hold instanceof OpenBudgetHold)) throw new Error("not a budget hold");
  if (hold.closed) throw new Error(`a budget hold of ${hold.scope.keyId} was charged or released before`);
  return hold;
}
