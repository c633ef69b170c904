/** When a delivery that failed is tried again: 5 seconds to 6 hours later, for 24 hours from its creation. */

import type { Random } from "../../base/clock.ts";
import { HOUR_MS, SECOND_MS } from "../../base/time.ts";

/** A delivery is tried for so long. */
export const TRIED_MS = 24 * HOUR_MS;

const FIRST_WAIT_MS = 5 * SECOND_MS;
const LONGEST_WAIT_MS = 6 * HOUR_MS;
/** A wait is longer than planned by up to this share, so that what failed together is not tried again together. */
const JITTER = 0.25;

/** The wait doubles each time. @param retry 0 after the first try */
export function waitMs(retry: number, random: Random): number {
  const plannedMs = Math.min(LONGEST_WAIT_MS / (1 + JITTER), FIRST_WAIT_MS * 2 ** Math.min(retry, 40));
  return Math.round(plannedMs * (1 + JITTER * random()));
}

/** Digits of a number of seconds: ten are three centuries. */
const SECONDS = /^\d{1,10}$/;
/** IMF-fixdate (RFC 9110, 5.6.7); the obsolete forms are not read. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Milliseconds that a `Retry-After` (RFC 9110, 10.2.3) asks for; 0 for none, one in the past, or one that is not valid. */
export function retryAfterMs(value: string | undefined, nowMs: number): number {
  if (value === undefined) return 0;
  if (SECONDS.test(value)) return Number(value) * SECOND_MS;
  const atMs = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}
