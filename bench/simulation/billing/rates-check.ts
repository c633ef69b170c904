/** What money buys, by rates and a spread that are written down here independently. */
import { DAY_MS } from "../../../src/base/time.ts";
import { SPREAD_BPS } from "./customers.ts";
import { must } from "./figures.ts";
import type { World } from "./world.ts";

export interface Converted {
  readonly minor: number;
  readonly currency: "INR" | "USD";
  readonly fxDay: string;
  readonly atMs: number;
}

/** A rate is used for so long; then nothing in rupees is sold. */
const STALE_MS = 4 * DAY_MS;

/** Credit is what the money buys at the rate of a day of the last four, with the spread. @throws Deviation */
export function checkConverted(
  { rates }: World,
  what: string,
  microUsd: number,
  { minor, currency, fxDay, atMs }: Converted,
): void {
  if (currency === "USD") {
    must(microUsd === minor * 10_000, () => `${what}: ${microUsd} for ${minor} cents`);
    return;
  }
  const rate = rates.get(fxDay);
  must(rate !== undefined, () => `${what}: there is no rate of ${fxDay}`);
  const ageMs = atMs - Date.parse(fxDay);
  must(
    ageMs >= 0 && ageMs < STALE_MS + DAY_MS,
    () => `${what}: the rate of ${fxDay} at ${new Date(atMs).toISOString()}`,
  );
  const scaled = BigInt(rate.replace(".", "")) * (10_000n + SPREAD_BPS);
  const paid = BigInt(minor) * 10_000n * 100_000_000n * 10_000n;
  const credits = BigInt(microUsd);
  must(credits * scaled <= paid, () => `${what}: ${microUsd} micro-USD is more than ${minor} paise buy`);
  // And not less than the next millionth; the rate is rounded up to eight digits.
  must(
    (credits + 2n) * scaled > paid,
    () => `${what}: ${microUsd} micro-USD is less than ${minor} paise buy`,
  );
}

/** Whether there is no rate of the last days. */
export function isStale({ rates, parts }: World): boolean {
  const newest = [...rates.keys()].sort().at(-1);
  return newest === undefined || parts.time.now() - Date.parse(newest) >= STALE_MS;
}
