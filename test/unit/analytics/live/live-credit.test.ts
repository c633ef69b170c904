/** Credit is told when it changed, some times a second however many calls change it, and read for nobody. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { CreditNow } from "../../../../src/analytics/live/credit-now.ts";
import { CreditFeed } from "../../../../src/analytics/live/live-credit.ts";
import { ManualTime } from "../../../support/jobs/fixtures.ts";

const NOW: CreditNow = {
  availableMicroUsd: 100,
  heldMicroUsd: 0,
  todayMicroUsd: 7,
  monthMicroUsd: 8,
  grantedMicroUsd: 25,
  displayAmount: "0.01",
  currency: "INR",
  fxRate: "86.52000000",
  midRate: "84.00000000",
  spreadBps: 300,
  fxDay: "2026-11-27",
};

test("an org's credit is read once for all who watch, and told where it changed", async () => {
  const time = new ManualTime();
  let heldMicroUsd = 0;
  let reads = 0;
  let isAway = false;
  const feed = new CreditFeed({
    clock: time,
    timers: time,
    everyMs: 250,
    async creditOf() {
      reads += 1;
      if (isAway) throw new Error("Redis is away");
      return { ...NOW, availableMicroUsd: 100 - heldMicroUsd, heldMicroUsd };
    },
  });
  const told: [number[], number[]] = [[], []];
  const held = (event: string): number => JSON.parse(event.split("data: ")[1] ?? "").held_micro_usd;
  const leave = told.map((list) => feed.watch("org_1", (event) => void list.push(held(event))));
  await nextTurn();
  expect([told, reads]).toEqual([[[0], [0]], 1]);
  const pass = async (ms: number) => {
    time.advance(ms);
    await nextTurn();
  };
  for (let at = 1; at <= 1000; at++) {
    heldMicroUsd = at;
    if (at % 100 === 0) await pass(100);
  }
  // A second has passed: whatever 1,000 calls held.
  expect(told[0].length).toBeLessThanOrEqual(5);
  await pass(250);
  expect([told[0].at(-1), told[1]]).toEqual([1000, told[0]]);
  const before = told[0].length;
  await pass(250);
  isAway = true;
  heldMicroUsd = 3;
  await pass(250);
  expect(told[0].length).toBe(before);
  isAway = false;
  await pass(250);
  expect(told[0].at(-1)).toBe(3);
  // Who comes later is told at once.
  const late: number[] = [];
  leave.push(feed.watch("org_1", (event) => void late.push(held(event))));
  expect(late).toEqual([3]);
  for (const end of leave) end();
  const read = reads;
  await pass(1000);
  expect(reads).toBe(read);
});

test("an event has what a page shows of credit, in the org's currency, and a new rate or grant is told", async () => {
  const time = new ManualTime();
  let now = NOW;
  const feed = new CreditFeed({ clock: time, timers: time, everyMs: 250, creditOf: () => now });
  const told: Record<string, unknown>[] = [];
  const leave = feed.watch("org_1", (event) => void told.push(JSON.parse(event.split("data: ")[1] ?? "")));
  await nextTurn();
  expect(told).toMatchObject([
    {
      granted_micro_usd: 25,
      display: { currency: "INR", amount: "0.01" },
      currency: "INR",
      fx_rate: "86.52000000",
      mid_rate: "84.00000000",
      spread_bps: 300,
      fx_day: "2026-11-27",
    },
  ]);
  for (const change of [{ fxRate: "87.00000000" }, { fxDay: "2026-11-28" }, { grantedMicroUsd: 26 }]) {
    now = { ...now, ...change };
    time.advance(250);
    await nextTurn();
  }
  expect(told.map((credit) => [credit.fx_rate, credit.fx_day, credit.granted_micro_usd])).toEqual([
    ["86.52000000", "2026-11-27", 25],
    ["87.00000000", "2026-11-27", 25],
    ["87.00000000", "2026-11-28", 25],
    ["87.00000000", "2026-11-28", 26],
  ]);
  leave();
});
