/** The audit in the console: acts in words, changed values one by one, and filters of an address. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chosenFilters, questionOf } from "../../../console/pages/audit/audit-filters.ts";
import { ACT_OPTIONS, actWords, isGone, isNew, kindOf } from "../../../console/pages/audit/audit-words.ts";
import { changedValues, MOST_VALUES } from "../../../console/pages/audit/changes.ts";
import { formatFor } from "../../../console/text/format.ts";

const FORMAT = formatFor({ locale: "en-US", zone: "UTC" });

/** Acts that the sources name in full. */
function acts(): readonly string[] {
  const root = join(import.meta.dirname, "../../../src");
  const found = new Set<string>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    for (const [, act = ""] of readFileSync(join(root, file), "utf8").matchAll(
      /\bact: "([a-z_]+\.[a-z_]+)"/g,
    ))
      found.add(act);
  }
  return [...found];
}

describe("acts", () => {
  test("each has words, and its kind is a filter", () => {
    const all = acts();
    expect(all.length).toBeGreaterThan(50);
    expect(all.filter((act) => actWords(act).startsWith("did “"))).toEqual([]);
    const kinds = new Set(ACT_OPTIONS.map(([value]) => value.replace(/\.\*$/, "")));
    expect(all.map(kindOf).filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  test("one of a later release is said as the API calls it", () => {
    expect(actWords("moon.land_on")).toBe("did “moon.land on” to");
    expect(actWords("constructor")).toBe("did “constructor” to");
  });

  test("what is deleted has no page; what is revoked has one", () => {
    expect(["webhook.delete", "member.remove", "key.revoke", "app.update"].map(isGone)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isNew({ changes: [{ field: "name", after: "x" }] })).toBe(true);
    expect(isNew({ changes: [{ field: "name", before: "y", after: "x" }] })).toBe(false);
    expect(isNew({ changes: [] })).toBe(false);
  });
});

describe("changed values", () => {
  test("are told one by one, down to what differs, in words", () => {
    const changes = [
      {
        field: "settings",
        before: { budget: { monthly_micro: 0, hard: false }, timezone: "UTC" },
        after: { budget: { monthly_micro: 400_000_000, hard: true }, timezone: "UTC" },
      },
      { field: "events", before: [], after: ["key.created", "key.revoked"] },
      { field: "expires_at", before: "2026-12-01T10:00:00.000Z" },
      { field: "rpm", before: null, after: 1200 },
    ];
    expect(changedValues(changes, FORMAT)).toEqual([
      { field: "settings › budget › monthly", before: "$0.00", after: "$400.00" },
      { field: "settings › budget › hard", before: "no", after: "yes" },
      { field: "events", before: "none", after: "key.created, key.revoked" },
      { field: "expires at", before: "1 Dec 2026, 10:00:00", after: undefined },
      { field: "rpm", before: "nothing", after: "1,200" },
    ]);
  });

  test("are bounded, in number and in depth", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, at]));
    expect(changedValues([{ field: "data", after: many }], FORMAT)).toHaveLength(MOST_VALUES + 1);
    let deep: object = { end: 1 };
    for (let at = 0; at < 100; at++) deep = { deep };
    const [only] = changedValues([{ field: "data", after: deep }], FORMAT);
    expect(only?.field.split(" › ")).toHaveLength(6);
    expect(only?.after).toContain("end");
  });

  test("where a side is no object, the other's members are told", () => {
    expect(changedValues([{ field: "address", before: null, after: { city: "Pune" } }], FORMAT)).toEqual([
      { field: "address › city", before: undefined, after: "Pune" },
    ]);
  });
});

describe("filters", () => {
  const asked = (search: string) =>
    questionOf(
      chosenFilters(new URLSearchParams(search)),
      Date.parse("2026-11-30T12:00:30Z"),
      "Asia/Kolkata",
    );

  test("of an address become the question", () => {
    expect(asked("by=operator&actor=%20usr_1&act=key.*&target=key_1&within=24h")).toEqual({
      limit: 50,
      actor_kind: "operator",
      actor: "usr_1",
      act: "key.*",
      target: "key_1",
      since: "2026-11-29T12:00:00.000Z",
    });
  });

  test("that are none are left out", () => {
    expect(asked("by=neighbour&within=forever&from=2026-11-01")).toEqual({ limit: 50 });
    expect(asked("within=custom&from=2026-13-01&to=x")).toEqual({ limit: 50 });
    expect(asked(`target=${"x".repeat(500)}`).target).toHaveLength(100);
  });

  test("days begin in the org's zone, and the last counts to its end", () => {
    expect(asked("within=custom&from=2026-11-01&to=2026-11-02")).toEqual({
      limit: 50,
      since: "2026-10-31T18:30:00.000Z",
      until: "2026-11-02T18:30:00.000Z",
    });
  });
});
