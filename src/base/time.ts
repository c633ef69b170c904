/** Spans of time in milliseconds. A day here has 24 hours; the calendar of a time zone may have shorter and longer days. */

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
