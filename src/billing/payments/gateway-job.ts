/** How often and how many at once a job is tried that asks a payment gateway: for days, so that a long outage loses nothing. */
import { MINUTE_MS } from "../../base/time.ts";

export const GATEWAY_JOB = {
  tries: 100,
  backoff: { firstMs: 5_000, mostMs: 60 * MINUTE_MS },
  atOnce: 8,
  atOncePerLane: 2,
  leaseMs: 2 * MINUTE_MS,
};
