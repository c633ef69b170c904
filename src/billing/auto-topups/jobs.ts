/** Kinds of jobs of automatic top-ups, and how to ask for a look at an org. */
import { z } from "zod";
import { jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { GATEWAY_JOB } from "../payments/gateway-job.ts";

/** One step of an org's automatic top-up; the key is the org, so that one runs at a time. */
export const autoTopup = jobKind({
  name: "billing.auto_topup",
  payload: z.object({ orgId: z.string() }),
  ...GATEWAY_JOB,
});

/** Looks at all orgs now and then: nothing is lost if the process died before it asked for a look. */
export const sweepAutoTopups = jobKind({
  name: "billing.auto_topup_sweep",
  payload: z.object({}),
  ...GATEWAY_JOB,
  tries: 10,
  atOnce: 1,
  atOncePerLane: 1,
});

/** Only in an act. Nothing happens where there is nothing to do. */
export const lookAtOrg = (jobs: Pick<JobQueue, "enqueue">, orgId: string): void =>
  jobs.enqueue(autoTopup, { key: orgId, orgId, payload: { orgId } });

/** Only in an act: looks now, where a look waits for a later time. */
export function hastenLook(jobs: Pick<JobQueue, "enqueue" | "drop">, orgId: string): void {
  jobs.drop(autoTopup.name, orgId);
  lookAtOrg(jobs, orgId);
}
