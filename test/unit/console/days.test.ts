/** Days of a zone: where they begin, also in the nights in which clocks change, and how a chart names its times. */
import { expect, test } from "vitest";
import { chartTimes, dayOf, dayStart, daysAfter, isDay } from "../../../console/text/days.ts";

test.each([
  ["2026-11-30", "UTC", "2026-11-30T00:00:00.000Z"],
  ["2026-11-30", "Asia/Kolkata", "2026-11-29T18:30:00.000Z"],
  ["2026-11-30", "America/New_York", "2026-11-30T05:00:00.000Z"],
  ["2026-07-01", "America/New_York", "2026-07-01T04:00:00.000Z"],
  // Clocks are set forward at two that night, and back at two of the other: both days begin before that.
  ["2026-03-08", "America/New_York", "2026-03-08T05:00:00.000Z"],
  ["2026-03-09", "America/New_York", "2026-03-09T04:00:00.000Z"],
  ["2026-11-01", "America/New_York", "2026-11-01T04:00:00.000Z"],
  ["2026-11-02", "America/New_York", "2026-11-02T05:00:00.000Z"],
  ["2026-11-30", "Pacific/Kiritimati", "2026-11-29T10:00:00.000Z"],
])("%s begins in %s at %s", (day, zone, at) => {
  expect(dayStart(day, zone)).toBe(at);
  expect(dayOf(Date.parse(at), zone)).toBe(day);
});

test("what is no day is none", () => {
  expect(["2026-02-28", "2028-02-29"].map(isDay)).toEqual([true, true]);
  for (const text of ["", "2026-02-29", "2026-13-01", "26-01-01", "2026-1-1", "2026-01-01T00:00Z"])
    expect(isDay(text), text).toBe(false);
  expect(daysAfter("2026-12-31", 1)).toBe("2027-01-01");
  expect(daysAfter("2028-03-01", -1)).toBe("2028-02-29");
});

test("hours are named in the zone, with the day where one begins; days by themselves", () => {
  const hours = chartTimes("Asia/Kolkata", false);
  expect(hours.tick(Date.parse("2026-11-30T12:30:00Z"))).toBe("18:00");
  expect(hours.tick(Date.parse("2026-11-30T18:30:00Z"))).toBe("1 Dec");
  expect(hours.item(Date.parse("2026-11-30T18:30:00Z"))).toBe("1 Dec, 00:00");
  const days = chartTimes("UTC", true);
  expect(days.tick(Date.parse("2026-11-30T00:00:00Z"))).toBe("30 Nov");
  expect(days.item(Date.parse("2026-11-30T00:00:00Z"))).toBe("30 Nov 2026");
});
