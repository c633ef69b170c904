/** Time zones: one name a zone, the one of the IANA database. */
import { describe, expect, test } from "vitest";
import { canonicalTimeZone, timeZoneField } from "../../../../src/account/fields/time-zone.ts";
import { localDay } from "../../../../src/base/clock.ts";
import { faults, reads } from "../field-faults.ts";

describe("a time zone", () => {
  test.each([
    ["Asia/Kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Kolkata"],
    [" asia/KOLKATA ", "Asia/Kolkata"],
    ["UTC", "UTC"],
    ["Etc/UTC", "UTC"],
    ["utc", "UTC"],
    ["GMT", "UTC"],
    ["US/Eastern", "America/New_York"],
    ["Europe/Kiev", "Europe/Kyiv"],
    ["America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["Etc/GMT+5", "Etc/GMT+5"],
  ])("is read under its name in the IANA database: %s", (given, name) => {
    expect(reads(timeZoneField, given)).toBe(name);
  });

  test.each([
    "",
    "IST",
    "EST",
    "+05:30",
    "UTC+5",
    "Asia/Bengaluru",
    "Asia/Kolkata\u0000",
    "../etc/localtime",
    "Factory",
    "A/".repeat(20),
    "x".repeat(65),
  ])("that Node does not know is refused with an example: %s", (given) => {
    expect(faults(timeZoneField, given)).toEqual([": an IANA time zone, such as Asia/Kolkata or UTC"]);
  });

  test("has one name whichever is given, and a local day under it", () => {
    for (const zone of [...Intl.supportedValuesOf("timeZone"), "UTC"]) {
      const name = canonicalTimeZone(zone) ?? "";
      expect(canonicalTimeZone(name), zone).toBe(name);
      expect(canonicalTimeZone(zone.toLowerCase()), zone).toBe(name);
      expect(localDay(0, name), zone).toBe(localDay(0, zone));
    }
  });
});
