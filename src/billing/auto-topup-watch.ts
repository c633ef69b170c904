/**
 * Hears of balances that fell below an org's threshold, and puts jobs for them. On the path of a call it only takes a note in memory;
 * jobs are put a moment later, in an act of their own. What is lost with the process is found by the sweep.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock, Timers } from "../clock.ts";
import type { JobHandler } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import type { AutoTopupRow } from "./auto-topup.ts";
import { autoTopup, lookAtOrg, sweepAutoTopups } from "./auto-topup-jobs.ts";
import { isBelow, type PlanDeps } from "./auto-topup-plan.ts";

export interface AutoTopupWatchDeps extends Pick<PlanDeps, "autoTopups" | "mandates" | "book"> {
  readonly store: Pick<Store, "act">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly jobs: Pick<Jobs, "enqueue" | "has" | "row">;
  readonly onFailure: (error: unknown) => void;
}

const TICK_MS = 1000;
/** Orgs of one act. */
const SLICE = 500;
const SWEEP_MS = 10 * 60_000;

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
  #cancel: () => void = () => {};
  #isStopped = false;

  constructor(deps: AutoTopupWatchDeps) {
    this.#deps = deps;
  }

  /** Port of `openCredits`: called in acts that may be dropped, at most once an entry. */
  readonly below = (orgId: string): void => void this.#below.add(orgId);

  /** After the jobs have handlers. */
  async start(): Promise<void> {
    await this.#deps.store.act(() => this.#deps.jobs.enqueue(sweepAutoTopups, SWEEP), { isOwed: true });
    this.#later();
  }

  #later(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#deps.timers.after(TICK_MS, () => void this.flush().then(() => this.#later()));
  }

  /** Puts jobs for the orgs that were heard of. Never rejects: they are kept for the next time. */
  async flush(): Promise<void> {
    const { store, jobs, onFailure } = this.#deps;
    const heard = [...this.#below];
    this.#below = new Set();
    for (let i = 0; i < heard.length; i += SLICE) {
      const asked = heard.slice(i, i + SLICE).filter((orgId) => this.#isToBeAsked(orgId));
      if (asked.length === 0) continue;
      try {
        await store.act(() => {
          for (const orgId of asked) lookAtOrg(jobs, orgId);
        });
      } catch (error) {
        for (const orgId of heard.slice(i)) this.#below.add(orgId);
        onFailure(error);
        return;
      }
    }
  }

  /** A job that waits looks by itself. One that runs may have looked before the balance fell, so it is asked again after it. */
  #isToBeAsked(orgId: string): boolean {
    const state = this.#deps.jobs.row(autoTopup.name, orgId)?.state;
    if (state === "running") this.#below.add(orgId);
    return state === undefined || state === "given_up";
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }
}

const SWEEP = { key: "all", lane: "installation", orgId: "", payload: {} };

/** Reads all orgs that were ever set up, in slices, so that the event loop is free between two of them. */
export const autoTopupSweeper = (deps: AutoTopupWatchDeps): JobHandler<unknown> => ({
  async run(_payload, { signal }) {
    const { autoTopups, store, jobs, clock } = deps;
    for (let after = ""; !signal.aborted; await setImmediate()) {
      const rows = autoTopups.slice(SLICE, after);
      const left = rows.filter((row) => isLeft(deps, row));
      if (left.length > 0) {
        await store.act(() => {
          for (const { orgId } of left) lookAtOrg(jobs, orgId);
        });
      }
      if (rows.length < SLICE) return { againAtMs: clock.now() + SWEEP_MS };
      after = rows.at(-1)?.orgId ?? after;
    }
    throw new Error("the process stops");
  },
  gaveUp: () => deps.jobs.enqueue(sweepAutoTopups, { ...SWEEP, dueMs: deps.clock.now() + SWEEP_MS }),
});

/** Something is to be done for it, and nothing does it. */
const isLeft = (deps: AutoTopupWatchDeps, row: AutoTopupRow): boolean =>
  !deps.jobs.has(autoTopup, row.orgId) &&
  (row.debit !== null || (watchedBelow(deps, row.orgId) !== undefined && isBelow(deps, row)));
