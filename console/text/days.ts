/** Days of a zone, for ranges that people choose and for the times along a chart. Pure. */

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a day that exists: `2026-11-30`. */
export const isDay = (text: string): boolean => {
  const at = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
};

/** By how much clocks of the zone are ahead of UTC at a moment, milliseconds. */
function aheadMs(zone: string, atMs: number): number {
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).formatToParts(atMs);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? "00";
  const shown = `${of("year")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}:${of("second")}Z`;
  return Date.parse(shown) - Math.floor(atMs / 1000) * 1000;
}

/** The instant at which a day begins in a zone. @param day `YYYY-MM-DD` @returns ISO 8601 */
export function dayStart(day: string, zone: string): string {
  const utcMs = Date.parse(`${day}T00:00:00Z`);
  // The offset of the night before tells the instant, and the offset there is right where clocks change that night.
  const guessMs = utcMs - aheadMs(zone, utcMs);
  return new Date(utcMs - aheadMs(zone, guessMs)).toISOString();
}

/** The day so many days later. @param day `YYYY-MM-DD` @param count negative: earlier */
export function daysAfter(day: string, count: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + count);
  return at.toISOString().slice(0, 10);
}

/** The day of an instant in a zone: `2026-11-30`. */
export const dayOf = (atMs: number, zone: string): string =>
  new Date(atMs + aheadMs(zone, atMs)).toISOString().slice(0, 10);

export interface ChartTimes {
  /** At the axis: `12:00`, and `30 Nov` where a day begins. */
  tick(atMs: number): string;
  /** Names one item: `30 Nov, 12:00`, or `30 Nov 2026` where items are days. */
  item(atMs: number): string;
}

/** Texts of times along a chart. @param isDaily items are days */
export function chartTimes(zone: string, isDaily: boolean): ChartTimes {
  const of = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options });
  const day = of({ day: "numeric", month: "short" });
  const whole = of({ day: "numeric", month: "short", year: "numeric" });
  const hour = of({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const tick = (atMs: number) => {
    const clock = hour.format(atMs);
    return isDaily || clock === "00:00" ? day.format(atMs) : clock;
  };
  return {
    tick,
    item: (atMs) => (isDaily ? whole.format(atMs) : `${day.format(atMs)}, ${hour.format(atMs)}`),
  };
}

/** A first and a last day; undefined where one is missing, or where they are the wrong way round. */
export const wholeDays = (
  from: string,
  to: string,
): { readonly from: string; readonly to: string } | undefined =>
  isDay(from) && isDay(to) && from <= to ? { from, to } : undefined;
