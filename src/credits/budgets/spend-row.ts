/** A key's row of spend as stored, in the forms of all releases. */
import { DAY_MS } from "../../base/time.ts";
import type { Period } from "./periods.ts";
import type { PartsRow } from "./spend-parts.ts";
import { BEFORE_ALL_SPANS } from "./wall-clock.ts";

/**
 * Row of release 0.1: the newest day (`YYYY-MM-DD`, local) with a charge, micro-USD of that day, and of its month. Such
 * a row is read until the key's next charge replaces it.
 */
type DayRow = readonly [day: string, dayMicroUsd: number, monthMicroUsd: number];

export type SpendRow = PartsRow | DayRow;

const isDayRow = (row: SpendRow): row is DayRow => typeof row[0] === "string";

/**
 * Parts of a row of release 0.1: the day's spend at noon of its day; the rest of its month at noon of the day before,
 * or before today.
 */
export function partsOf(row: SpendRow, period: Period): PartsRow {
  if (!isDayRow(row)) return row;
  const [day, dayMicroUsd, monthMicroUsd] = row;
  const noonMs = period.dayStartsMs + Date.parse(day) - Date.parse(period.day) + DAY_MS / 2;
  const restMs = day > period.day ? Math.max(period.monthStartsMs, period.dayStartsMs - 1) : noonMs - DAY_MS;
  return [BEFORE_ALL_SPANS, restMs, monthMicroUsd - dayMicroUsd, BEFORE_ALL_SPANS, noonMs, dayMicroUsd];
}
