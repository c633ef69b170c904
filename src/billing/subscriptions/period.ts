/**
 * Months of a subscription, counted from its start in UTC: same day and time of each month, or the month's last day where it has
 * no such day. Each is counted from the start, so 31 January, 28 February and 31 March follow each other.
 */

/** @param months may be below zero */
export function monthsAfter(fromMs: number, months: number): number {
  const from = new Date(fromMs);
  const month = from.getUTCMonth() + months;
  // Day 0 of the next month is the last one of this month.
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return new Date(fromMs).setUTCFullYear(from.getUTCFullYear(), month, Math.min(from.getUTCDate(), lastDay));
}

export interface Period {
  /** How many months after the start it begins. */
  readonly month: number;
  readonly startMs: number;
  readonly endMs: number;
}

export const periodOf = (startedAtMs: number, month: number): Period => ({
  month,
  startMs: monthsAfter(startedAtMs, month),
  endMs: monthsAfter(startedAtMs, month + 1),
});

/** The month in which an instant lies; before the start, the first one. */
export function periodAt(startedAtMs: number, nowMs: number): Period {
  const [start, now] = [new Date(startedAtMs), new Date(nowMs)];
  const years = now.getUTCFullYear() - start.getUTCFullYear();
  const month = Math.max(0, years * 12 + now.getUTCMonth() - start.getUTCMonth());
  const period = periodOf(startedAtMs, month);
  return period.startMs > nowMs && month > 0 ? periodOf(startedAtMs, month - 1) : period;
}

const WHOLE_BPS = 10_000;

/** What is left of a period, basis points: floor(seconds left × 10⁴ / seconds of the period). */
export function leftBps({ startMs, endMs }: Omit<Period, "month">, nowMs: number): number {
  const seconds = Math.floor((endMs - startMs) / 1000);
  const left = Math.floor((endMs - nowMs) / 1000);
  return Math.max(0, Math.min(WHOLE_BPS, Math.floor((left * WHOLE_BPS) / seconds)));
}

/** That part of an amount, rounded down. */
export const bpsOf = (amount: number, bps: number): number =>
  Number((BigInt(amount) * BigInt(bps)) / BigInt(WHOLE_BPS));
