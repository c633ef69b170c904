/** Events, audit and jobs over a store, for tests of rooms whose acts put them. Jobs are put and not run. */
import { type Clock, systemRandom, systemTimers } from "../../src/base/clock.ts";
import type { Origin } from "../../src/base/operation/operation.ts";
import type { Quotas } from "../../src/base/quota.ts";
import { Audit, type AuditRow } from "../../src/store/events/audit.ts";
import { type EventRow, Events } from "../../src/store/events/events.ts";
import type { Trail } from "../../src/store/events/trail.ts";
import { Jobs } from "../../src/store/jobs/jobs.ts";
import type { Store } from "../../src/store/store.ts";

/** Where the callers of tests come from. */
export const ORIGIN: Origin = { ipPrefix: "192.0.2.0/24", userAgent: "tests" };

export interface TestTrail {
  readonly trail: Trail;
  readonly events: Events;
  readonly audit: Audit;
  readonly jobs: Jobs;
  /** Newest first. */
  eventsOf(orgId: string): EventRow[];
  auditOf(orgId: string): AuditRow[];
  close(): void;
}

const onFailure = (error: unknown): void => {
  // A table that a test left open sweeps on after its store was closed.
  if (!String(error).includes("closed database")) throw error;
};

export function trailOn(store: Store, clock: Clock, quotas?: Quotas): TestTrail {
  const events = new Events({ store, clock, onFailure });
  const audit = new Audit({ store, clock, onFailure, ...(quotas && { quotas }) });
  const jobs = new Jobs({
    store,
    clock,
    timers: systemTimers,
    random: systemRandom,
    holder: "tests",
    onFailure,
  });
  return {
    trail: { events, audit },
    events,
    audit,
    jobs,
    eventsOf: (orgId) => [...events.of(orgId)],
    auditOf: (orgId) => [...audit.of(orgId)],
    close() {
      events.close();
      audit.close();
    },
  };
}

/** For tests that do not look at it. */
export const NO_TRAIL: Trail = { events: { emit() {} }, audit: { note() {} } };
