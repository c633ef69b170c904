/** Kinds of jobs of mandates and automatic top-ups, and how to ask for a look at an org. */

import { z } from "zod";
import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import { jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";

const usual = {
  tries: 100,
  backoff: { firstMs: 5_000, mostMs: HOUR_MS },
  atOnce: 8,
  atOncePerLane: 2,
  leaseMs: 2 * MINUTE_MS,
};

/** One step of an org's automatic top-up; the key is the org, so that one runs at a time. */
export const autoTopup = jobKind({
  name: "billing.auto_topup",
  payload: z.object({ orgId: z.string() }),
  ...usual,
});

/** Looks at all orgs now and then: nothing is lost if the process died before it asked for a look. */
export const sweepAutoTopups = jobKind({
  name: "billing.auto_topup_sweep",
  payload: z.object({}),
  ...usual,
  tries: 10,
  atOnce: 1,
  atOncePerLane: 1,
});

/** Reads a mandate until it is registered, or will not be, and while the bank pauses it. */
export const watchMandate = jobKind({
  name: "billing.watch_mandate",
  payload: z.object({ mandateId: z.string() }),
  ...usual,
});

/** Ends a mandate at the payment gateway. */
export const endMandate = jobKind({
  name: "billing.end_mandate",
  payload: z.object({ mandateId: z.string() }),
  ...usual,
  isKeptOnErasure: true,
});

/** Only in an act. Nothing happens where there is nothing to do. */
export const lookAtOrg = (jobs: Pick<JobQueue, "enqueue">, orgId: string): void =>
  jobs.enqueue(autoTopup, { key: orgId, orgId, payload: { orgId } });

/** Only in an act: looks now, where a look waits for a later time. */
export function hastenLook(jobs: Pick<JobQueue, "enqueue" | "drop">, orgId: string): void {
  jobs.drop(autoTopup.name, orgId);
  lookAtOrg(jobs, orgId);
}
