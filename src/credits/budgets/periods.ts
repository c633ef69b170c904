/**
 * Budget periods: an org's local day and month, and the instants at which they begin and end, including daylight-saving
 * changes. Computed once per zone and day.
 */

import { isoTime, localDay } from "../../base/clock.ts";
import { DAY_MS, HOUR_MS } from "../../base/time.ts";

export interface Period {
  /** IANA name. */
  readonly timeZone: string;
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly dayStartsMs: number;
  readonly monthStartsMs: number;
  readonly dayEndsMs: number;
  readonly monthEndsMs: number;
}

/** `YYYY-MM` of a day. */
export const monthOf = (day: string): string => day.slice(0, 7);

/** The day, `YYYY-MM-DD`, that is so many days before this one. */
export const daysBefore = (day: string, days: number): string =>
  isoTime(Date.parse(day) - days * DAY_MS).slice(0, day.length);

/** @param timeZone IANA name, such as `Asia/Kolkata`. @throws RangeError for a zone that does not exist. */
export type Periods = (timeZone: string, nowMs: number) => Period;

const QUARTER_MS = 900_000;
/** Upper bounds for the length of a day and a month, including time zone changes. */
const LONGEST_DAY_MS = 50 * HOUR_MS;
const LONGEST_MONTH_MS = 33 * 24 * HOUR_MS;

export function openPeriods(): Periods {
  const current = new Map<string, Period>();
  return (timeZone, nowMs) => {
    const known = current.get(timeZone);
    if (known !== undefined && nowMs >= known.dayStartsMs && nowMs < known.dayEndsMs) return known;
    const day = localDay(nowMs, timeZone);
    const month = monthOf(day);
    const dayOf = (ms: number) => localDay(ms, timeZone);
    const period = {
      timeZone,
      day,
      dayStartsMs: firstInstant(nowMs - LONGEST_DAY_MS, LONGEST_DAY_MS, (ms) => dayOf(ms) >= day),
      monthStartsMs: firstInstant(
        nowMs - LONGEST_MONTH_MS,
        LONGEST_MONTH_MS,
        (ms) => monthOf(dayOf(ms)) >= month,
      ),
      dayEndsMs: firstInstant(nowMs, LONGEST_DAY_MS, (ms) => dayOf(ms) > day),
      monthEndsMs: firstInstant(nowMs, LONGEST_MONTH_MS, (ms) => monthOf(dayOf(ms)) > month),
    };
    current.set(timeZone, period);
    return period;
  };
}

/**
 * The first instant after `nowMs`, within `withinMs` of it or at the next quarter of an hour, for which `isLater`
 * holds. Every zone's offset is a multiple of a quarter of an hour.
 */
function firstInstant(nowMs: number, withinMs: number, isLater: (ms: number) => boolean): number {
  let before = Math.floor(nowMs / QUARTER_MS);
  let after = Math.ceil((nowMs + withinMs) / QUARTER_MS);
  while (after - before > 1) {
    const middle = (before + after) >> 1;
    if (isLater(middle * QUARTER_MS)) after = middle;
    else before = middle;
  }
  return after * QUARTER_MS;
}
