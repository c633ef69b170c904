/** Kinds of jobs of mandates. */
import { z } from "zod";
import { jobKind } from "../../store/jobs/job.ts";
import { GATEWAY_JOB } from "../payments/gateway-job.ts";

/** Reads a mandate until it is registered, or will not be, and while the bank pauses it. */
export const watchMandate = jobKind({
  name: "billing.watch_mandate",
  payload: z.object({ mandateId: z.string() }),
  ...GATEWAY_JOB,
});

/** Ends a mandate at the payment gateway. */
export const endMandate = jobKind({
  name: "billing.end_mandate",
  payload: z.object({ mandateId: z.string() }),
  ...GATEWAY_JOB,
  isKeptOnErasure: true,
});
