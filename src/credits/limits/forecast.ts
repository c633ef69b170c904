/**
 * Where spending leads: what a budget's window will have cost at its end, and when credit is used up. An estimate, by the rate of the
 * recent past; no call is refused by it.
 */
import { DAY_MS, HOUR_MS } from "../../base/time.ts";

/** The past whose rate counts, of a budget by the day and of one by the month: whole days and whole weeks, so that nights and weekends are in it. */
export const LOOK_BACK_MS = { day: DAY_MS, month: 7 * DAY_MS } as const;
/** What is younger than this has no rate of its own yet: it is reckoned as if it were this old. */
const LEAST_MS = HOUR_MS;
/** An end that is further away than this is none. */
const MOST_MS = 3650 * DAY_MS;

/** What was spent in the recent past. */
interface Past {
  readonly microUsd: number;
  readonly overMs: number;
}

export interface BudgetWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Micro-USD a millisecond. By what was spent in the recent past, which reaches back beyond the beginning of a window: so the first
 * minutes of a day go by the day before. Without that past, by the window so far.
 * @param recentMicroUsd spent within `lookBackMs`; undefined where it is not known
 * @param sinceMs when that which spends was made: what is new is not diluted by the time before
 */
export function rateOf(
  {
    recentMicroUsd,
    lookBackMs,
    sinceMs,
  }: { recentMicroUsd: number | undefined; lookBackMs: number; sinceMs: number },
  { fromMs, spentMicroUsd }: { fromMs: number; spentMicroUsd: number },
  nowMs: number,
): number {
  const past: Past =
    recentMicroUsd === undefined
      ? { microUsd: spentMicroUsd, overMs: nowMs - Math.max(fromMs, sinceMs) }
      : { microUsd: recentMicroUsd, overMs: Math.min(lookBackMs, nowMs - sinceMs) };
  return Math.max(0, past.microUsd) / Math.max(LEAST_MS, past.overMs);
}

/**
 * `spent + rate × time left` of the window.
 * @returns `reachedAtMs`: when the limit is reached at this rate, now where it is already; undefined: not within the window
 */
export function forecast(
  { spentMicroUsd, limitMicroUsd }: { spentMicroUsd: number; limitMicroUsd: number },
  rate: number,
  { toMs }: BudgetWindow,
  nowMs: number,
): { readonly microUsd: number; readonly reachedAtMs: number | undefined } {
  const leftMs = Math.max(0, toMs - nowMs);
  const microUsd = Math.min(Math.round(spentMicroUsd + rate * leftMs), Number.MAX_SAFE_INTEGER);
  const reachedMs = timeFor(limitMicroUsd - spentMicroUsd, rate);
  const isWithin = reachedMs !== undefined && (reachedMs === 0 || reachedMs < leftMs);
  return { microUsd, reachedAtMs: isWithin ? Math.round(nowMs + reachedMs) : undefined };
}

/** When credit is used up at a rate; undefined: not within ten years. */
export function emptyAt(availableMicroUsd: number, rate: number, nowMs: number): number | undefined {
  const inMs = timeFor(availableMicroUsd, rate);
  return inMs !== undefined && inMs <= MOST_MS ? Math.round(nowMs + inMs) : undefined;
}

/** Milliseconds until so much is spent. */
function timeFor(microUsd: number, rate: number): number | undefined {
  if (microUsd <= 0) return 0;
  return rate > 0 ? microUsd / rate : undefined;
}
