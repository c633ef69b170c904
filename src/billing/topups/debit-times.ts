/** When a debit may be asked for, and when a failed one has failed for good. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { Failure, Method } from "../payments/gateway.ts";

/** India has no daylight saving time. */
const IST_MS = 5.5 * HOUR_MS;

/** NPCI, peak hours of UPI AutoPay in IST: from, to, in minutes of the day. */
const UPI_PEAKS = [
  [10 * 60, 13 * 60],
  [17 * 60, 21 * 60 + 30],
] as const;

/** The first time from `ms` on at which the method's debits are executed. */
export function debitTime(method: Method, ms: number): number {
  if (method !== "upi") return ms;
  const dayMs = (((ms + IST_MS) % DAY_MS) + DAY_MS) % DAY_MS;
  const peak = UPI_PEAKS.find(([from, to]) => dayMs >= from * MINUTE_MS && dayMs < to * MINUTE_MS);
  return peak === undefined ? ms : ms - dayMs + peak[1] * MINUTE_MS;
}

/** A debit by UPI is tried again by the bank for two days, so until then its failure is none. */
const UPI_OPEN_MS = 2 * DAY_MS;

/** Whether a failure is the end of the debit. @param askedAtMs when it was ordered */
export const isFinal = (method: Method, kind: Failure["kind"], askedAtMs: number, nowMs: number): boolean =>
  method !== "upi" || kind !== "soft" || nowMs >= askedAtMs + UPI_OPEN_MS;

/** How long to wait after a failed debit, by how many failed in a row. */
const SPACING_MS = [HOUR_MS, 6 * HOUR_MS, DAY_MS] as const;

export const spacingMs = (failures: number): number =>
  SPACING_MS[Math.min(failures, SPACING_MS.length) - 1] ?? HOUR_MS;
