import { describe, expect, test } from "vitest";
import type { Outage } from "../../../../src/routing/health/health.ts";
import { Outages } from "../../../../src/routing/health/outages.ts";

const SECOND = 1000;
const HOUR = 3_600_000;
const down = (sinceMs: number | undefined): Outage => ({ sinceMs, reason: "server" });
const orgs = (count: number) => Array.from({ length: count }, (_, n) => `org_${n}`);

describe("who is told of an endpoint that is down", () => {
  test("is whose call found it down, and whose calls failed there in the minute before", () => {
    const outages = new Outages();
    outages.missed("ep", "org_long_ago", undefined, 0);
    outages.missed("ep", "org_before", undefined, 100 * SECOND);
    outages.missed("other", "org_elsewhere", undefined, 101 * SECOND);
    const news = outages.missed("ep", "org_now", down(102 * SECOND), 102 * SECOND);
    expect(news).toEqual({ orgIds: ["org_before", "org_now"], sinceMs: 102 * SECOND });
  });

  test("is each org that meets it later, and each once while it is down", () => {
    const outages = new Outages();
    const missed = (org: string, nowMs: number, sinceMs = 5) =>
      outages.missed("ep", org, down(sinceMs), nowMs)?.orgIds ?? [];
    expect([missed("a", 5), missed("a", 6), missed("b", 7), missed("a", HOUR), missed("b", HOUR)]).toEqual([
      ["a"],
      [],
      ["b"],
      [],
      [],
    ]);
    expect(missed("b", 2 * HOUR, 2 * HOUR)).toEqual(["b"]);
  });

  test("hears of the next outage, also of one whose begin is not known", () => {
    const outages = new Outages();
    const missed = (outage: Outage | undefined, nowMs: number) => outages.missed("ep", "a", outage, nowMs);
    expect(missed(down(undefined), 10)).toEqual({ orgIds: ["a"], sinceMs: 10 });
    expect(missed(down(undefined), 20)).toBeUndefined();
    expect(missed(undefined, 30)).toBeUndefined();
    expect(missed(down(undefined), 40)).toEqual({ orgIds: ["a"], sinceMs: 40 });
  });

  test("is bounded: of very many orgs those that came last, and no more than a thousand of one outage", () => {
    const outages = new Outages();
    for (const org of orgs(5_000)) outages.missed("ep", org, undefined, 1);
    const first = outages.missed("ep", "org_now", down(2), 2)?.orgIds ?? [];
    expect([first.length, first.at(0), first.at(-1)]).toEqual([1_000, "org_4001", "org_now"]);
    expect(outages.missed("ep", "org_late", down(2), 3)).toBeUndefined();
  });
});
