/**
 * Parts of a row of spend: what was charged on one day in one span of the clock. A part says when it was charged last, so that its
 * day and month can be computed anew when the clock is corrected. Also the sums that a row gives, kept in memory.
 */
import { DAY_MS } from "../../base/time.ts";
import type { Period } from "./periods.ts";
import type { WallClock } from "./wall-clock.ts";

/** Charges of one day in one span of the clock, with the time of the last charge. */
export interface Part {
  readonly span: number;
  readonly lastMs: number;
  microUsd: number;
}

/** The parts, oldest first: span, time of the last charge, micro-USD. */
export type PartsRow = readonly number[];

/** Numbers per part in a row. */
export const PART = 3;

/** A row or part this far ahead of the clock was charged before the clock was set back. */
export const LATER_MS = 2_000;

/** How much of its past a row tells apart. */
export interface Detail {
  /** Days before today that have parts of their own; what is older is one part. */
  readonly days: number;
  /** Maximum parts: only clock jumps come near it. */
  readonly mostParts: number;
}

/** A charge with the state of the clock at that time. */
export interface Increment {
  readonly microUsd: number;
  readonly nowMs: number;
  readonly period: Period;
  readonly wall: WallClock;
}

/** Spend in the current day and month, as of the last `count` or `add`. */
export class Sums {
  dayMicroUsd = 0;
  monthMicroUsd = 0;
  /** Sum of the open holds, whatever period they began in. */
  heldMicroUsd = 0;
  /** The period (day or month) of the last reported refusal. */
  reported = "";
  /** The period of which it is noted that half of the budget is used. */
  near = "";
  #version = -1;
  #dayStartsMs = 0;
  #monthStartsMs = 0;

  add(microUsd: number): void {
    this.dayMicroUsd += microUsd;
    this.monthMicroUsd += microUsd;
  }

  /** True once per period: the sums must be recomputed. */
  protected isStale({ dayStartsMs, monthStartsMs }: Period, { version }: WallClock): boolean {
    const isSame =
      this.#version === version && this.#dayStartsMs === dayStartsMs && this.#monthStartsMs === monthStartsMs;
    this.#version = version;
    this.#dayStartsMs = dayStartsMs;
    this.#monthStartsMs = monthStartsMs;
    return !isSame;
  }

  protected countParts(row: PartsRow, { dayStartsMs, monthStartsMs }: Period, wall: WallClock): void {
    this.dayMicroUsd = 0;
    this.monthMicroUsd = 0;
    for (const { span, lastMs, microUsd } of partsIn(row)) {
      const placedMs = wall.toCurrentTime(span, lastMs);
      if (placedMs >= dayStartsMs) this.dayMicroUsd += microUsd;
      if (placedMs >= monthStartsMs) this.monthMicroUsd += microUsd;
    }
  }
}

/** Whether a charge belongs to the row's last part: same day, same span of the clock. */
export function continues(row: PartsRow, { period, wall }: Pick<Increment, "period" | "wall">): boolean {
  const last = row.length - PART;
  const lastMs = row[last + 1];
  return lastMs !== undefined && row[last] === wall.span && lastMs >= period.dayStartsMs;
}

/** The row with one more charge in it. */
export function withCharge(row: PartsRow, increment: Increment, detail: Detail): number[] {
  const { microUsd, nowMs, period, wall } = increment;
  if (continues(row, increment)) {
    const grown = row.slice();
    const last = row.length - PART;
    grown[last + 1] = Math.max(row[last + 1] ?? 0, nowMs);
    grown[last + 2] = (row[last + 2] ?? 0) + microUsd;
    return grown;
  }
  return shortened([...partsIn(row), { span: wall.span, lastMs: nowMs, microUsd }], period, wall, detail);
}

/** The row of these parts, oldest first, with no more detail than asked for. */
export function shortened(parts: Part[], period: Period, wall: WallClock, detail: Detail): number[] {
  while (parts.length > detail.mostParts || begins(parts, period, wall, detail)) shorten(parts, period, wall);
  return parts.flatMap((part) => [part.span, part.lastMs, part.microUsd]);
}

export function partsIn(row: PartsRow): Part[] {
  const parts: Part[] = [];
  for (let i = 0; i < row.length; i += PART) {
    const [span = 0, lastMs = 0, microUsd = 0] = row.slice(i, i + PART);
    parts.push({ span, lastMs, microUsd });
  }
  return parts;
}

/** As `shortened` takes them. */
export function oldestFirst(parts: Iterable<Part>, wall: WallClock): Part[] {
  const at = ({ span, lastMs }: Part) => wall.toCurrentTime(span, lastMs);
  return [...parts].sort((a, b) => at(a) - at(b) || a.span - b.span);
}

/** Time of a row's last charge, by the current clock; `-Infinity` for an empty row. */
export const lastChargeMs = (row: PartsRow, wall: WallClock): number =>
  Math.max(...partsIn(row).map(({ span, lastMs }) => wall.toCurrentTime(span, lastMs)));

/** Whether the two oldest parts are older than the days told apart, in the current span of the clock. */
function begins(
  [oldest, second]: readonly Part[],
  { dayStartsMs }: Period,
  { span }: WallClock,
  { days }: Detail,
): boolean {
  return oldest?.span === span && second?.span === span && second.lastMs < dayStartsMs - days * DAY_MS;
}

/** Drops the oldest part if it is of an earlier month, else merges it with the next. */
function shorten(parts: Part[], { monthStartsMs }: Period, wall: WallClock): void {
  const oldest = parts.shift();
  const next = parts[0];
  if (oldest === undefined || next === undefined) return;
  const isEarlier =
    wall.toCurrentTime(oldest.span, oldest.lastMs) < monthStartsMs &&
    wall.toCurrentTime(next.span, next.lastMs) >= monthStartsMs;
  if (!isEarlier) next.microUsd += oldest.microUsd;
}
