/** The job that erases an org's data when its time has come. */
import { z } from "zod";
import { jobKind } from "../jobs/job.ts";

export const eraseOrg = jobKind({
  name: "account.erase",
  payload: z.object({ orgId: z.string() }),
  tries: 50,
  backoff: { firstMs: 60_000, mostMs: 6 * 3_600_000 },
  atOnce: 1,
  atOncePerLane: 1,
  leaseMs: 120_000,
});
