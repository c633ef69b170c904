/**
 * Hears of balances that fell below an org's threshold, and puts jobs for them. On the path of a call it only takes a note in memory;
 * jobs are put a moment later, in an act of their own. What is lost with the process is found by the sweep.
 */
import { type Clock, nextTurn, type Timers } from "../../base/clock.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { JobHandler } from "../../store/jobs/job.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { autoTopup, hastenLook, lookAtOrg, sweepAutoTopups } from "./jobs.ts";
import type { PlanDeps } from "./plan.ts";

export interface AutoTopupWatchDeps extends Pick<PlanDeps, "autoTopups" | "mandates"> {
  readonly book: Pick<Book, "balanceOnce" | "fresh">;
  readonly store: Pick<Store, "act">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly jobs: Pick<Jobs, "enqueue" | "drop" | "row">;
  readonly onFailure: (error: unknown) => void;
}

const TICK_MS = 1000;
/** Orgs that are looked at without a pause: some ten reads each. */
const SLICE = 50;
const SWEEP_MS = 3_600_000;
/** An org's job waits less than this for an announced debit or a ceiling; a longer wait is of a clock that was ahead. */
const MOST_WAIT_MS = 2 * 86_400_000;

/** The balance below which an org's credit is to be looked at; undefined: nothing would follow. Port of `openCredits`. */
export function watchedBelow(
  { autoTopups, mandates }: Pick<PlanDeps, "autoTopups" | "mandates">,
  orgId: string,
): number | undefined {
  const { enabled, thresholdMicroUsd } = autoTopups.of(orgId);
  return enabled && mandates.inForce(orgId)?.status === "active" ? thresholdMicroUsd : undefined;
}

export class AutoTopupWatch {
  readonly #deps: AutoTopupWatchDeps;
  /** Orgs whose balance was seen below their threshold. */
  #below = new Set<string>();
  /** Cancels the timer; undefined: nothing was heard of, so there is none. */
  #cancel: (() => void) | undefined;
  #isRunning = false;

  constructor(deps: AutoTopupWatchDeps) {
    this.#deps = deps;
  }

  /** For `openCredits`, at most once an entry, in acts that may be dropped; and where settings or a mandate have changed. */
  readonly below = (orgId: string): void => {
    this.#below.add(orgId);
    this.#later();
  };

  /** After the jobs have handlers. The sweep begins at once: what the process before heard is forgotten. */
  async start(): Promise<void> {
    await this.#deps.store.act(() => sweepNow(this.#deps.jobs), { isOwed: true });
    this.#isRunning = true;
    this.#later();
  }

  #later(): void {
    if (!this.#isRunning || this.#cancel !== undefined || this.#below.size === 0) return;
    this.#cancel = this.#deps.timers.after(TICK_MS, () => void this.#flushAndGoOn());
  }

  async #flushAndGoOn(): Promise<void> {
    await this.flush();
    this.#cancel = undefined;
    this.#later();
  }

  /** Puts jobs for the orgs that were heard of. Never rejects: they are kept for the next time. */
  async flush(): Promise<void> {
    const heard = [...this.#below];
    this.#below = new Set();
    let done = 0;
    try {
      await this.#keepSweep();
      for (; done < heard.length; done += SLICE) {
        await this.#ask(heard.slice(done, done + SLICE));
        if (done > 0) await nextTurn();
      }
    } catch (error) {
      for (const orgId of heard.slice(done)) this.#below.add(orgId);
      if (this.#isRunning) this.#deps.onFailure(error);
    }
  }

  /** A clock that was ahead has put the next sweep far off. */
  async #keepSweep(): Promise<void> {
    const { store, jobs, clock } = this.#deps;
    const row = jobs.row(sweepAutoTopups.name, SWEEP.key);
    if (row?.state === "waiting" && row.dueMs > clock.now() + 2 * SWEEP_MS)
      await store.act(() => sweepNow(jobs));
  }

  async #ask(heard: readonly string[]): Promise<void> {
    const { store, jobs, book } = this.#deps;
    await book.fresh(heard);
    const asked = heard.filter((orgId) => this.#isToBeAsked(orgId));
    if (asked.length === 0) return;
    await store.act(() => {
      for (const orgId of asked) lookAtOrg(jobs, orgId);
    });
  }

  /** A job that waits looks by itself. One that runs may have looked before the balance fell, so it is asked again after it. */
  #isToBeAsked(orgId: string): boolean {
    const state = this.#deps.jobs.row(autoTopup.name, orgId)?.state;
    if (state === "running") this.#below.add(orgId);
    return (state === undefined || state === "given_up") && hasWork(this.#deps, orgId);
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel?.();
  }
}

const SWEEP = { key: "all", lane: "installation", orgId: "", payload: {} };

/** Only in an act. */
function sweepNow(jobs: Pick<Jobs, "enqueue" | "drop">): void {
  jobs.drop(sweepAutoTopups.name, SWEEP.key);
  jobs.enqueue(sweepAutoTopups, SWEEP);
}

/**
 * Looks at all orgs that have automatic top-ups, in slices between which the event loop is free, and keeps none of their accounts in
 * memory. It finds what was heard of and lost with a process, and jobs that a clock which was ahead has put far off.
 */
export const autoTopupSweeper = (deps: AutoTopupWatchDeps): JobHandler<unknown> => ({
  async run(_payload, { signal }) {
    const { autoTopups, store, jobs, clock, book } = deps;
    for (let after = ""; !signal.aborted; await nextTurn()) {
      const rows = autoTopups.liveSlice(SLICE, after);
      await book.fresh(rows.map(({ orgId }) => orgId));
      const left = rows.filter(({ orgId }) => isLeft(deps, orgId));
      if (left.length > 0) {
        await store.act(() => {
          for (const { orgId } of left) hastenLook(jobs, orgId);
        });
      }
      if (rows.length < SLICE) return { againAtMs: clock.now() + SWEEP_MS };
      after = rows.at(-1)?.orgId ?? after;
    }
    throw new Error("the process stops");
  },
  gaveUp: () => deps.jobs.enqueue(sweepAutoTopups, { ...SWEEP, dueMs: deps.clock.now() + SWEEP_MS }),
});

/** Something is to be done for it, and nothing does it soon. */
function isLeft(deps: AutoTopupWatchDeps, orgId: string): boolean {
  const job = deps.jobs.row(autoTopup.name, orgId);
  if (job?.state === "running") return false;
  if (job?.state === "waiting") return job.dueMs > deps.clock.now() + MOST_WAIT_MS;
  return hasWork(deps, orgId);
}

/** A debit is under way, or the balance is below the threshold. */
function hasWork(deps: AutoTopupWatchDeps, orgId: string): boolean {
  if (deps.autoTopups.of(orgId).debit !== null) return true;
  const belowMicroUsd = watchedBelow(deps, orgId);
  return belowMicroUsd !== undefined && deps.book.balanceOnce(orgId) < belowMicroUsd;
}
