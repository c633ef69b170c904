/** Financial years and days of India: a year runs from April to March, a day by Indian Standard Time, whatever the org's zone. */

/** UTC+5:30 all year since 1945. */
const IST_MS = 5.5 * 3_600_000;

const inIndia = (ms: number): Date => new Date(ms + IST_MS);

/** `2026-27`. @param ms wall clock */
export function financialYear(ms: number): string {
  const date = inIndia(ms);
  const first = date.getUTCMonth() >= 3 ? date.getUTCFullYear() : date.getUTCFullYear() - 1;
  return `${first}-${String(first + 1).slice(-2)}`;
}

/** `YYYY-MM-DD`. */
export const indianDay = (ms: number): string => inIndia(ms).toISOString().slice(0, 10);

/** When a day begins in India. @param day `YYYY-MM-DD` @returns NaN where it is no day */
export function indianDayStart(day: string): number {
  const ms = Date.parse(`${day}T00:00:00Z`);
  // `2026-02-30` would be a day of March.
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day ? Number.NaN : ms - IST_MS;
}

/** `YYYY-MM`. */
export const indianMonth = (ms: number): string => indianDay(ms).slice(0, 7);

const pad = (n: number): string => String(n).padStart(2, "0");

/** `05/04/2026`, or with another separator. */
export function indianDate(ms: number, separator = "/"): string {
  const date = inIndia(ms);
  return [pad(date.getUTCDate()), pad(date.getUTCMonth() + 1), date.getUTCFullYear()].join(separator);
}
