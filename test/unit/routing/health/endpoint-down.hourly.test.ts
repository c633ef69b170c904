/** How often an org hears that an endpoint is down, over hours and restarts: with a clock that the test moves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { openEndpointDown } from "../../../../src/routing/health/endpoint-down.ts";
import type { Outage } from "../../../../src/routing/health/health.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";

const HOUR = 3_600_000;
const START = Date.parse("2026-03-01T10:00:00Z");
const EP = { id: "ep_a", model: "test/model", provider: { id: "a" } } as Endpoint;

let folder: string;
let store: Store;
let nowMs: number;
let outage: Outage | undefined;
const clock = { now: () => nowMs, monotonic: () => nowMs - START + 7 };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-down-"));
  store = openStore(folder, { actsTwice: true });
  nowMs = START;
  outage = { sinceMs: clock.monotonic(), reason: "timeout" };
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A process: what it knows in memory is new. */
function open() {
  const onFailure = (error: unknown) => {
    throw error;
  };
  const events = new Events({ store, clock, onFailure });
  const health = { outage: () => outage };
  const down = openEndpointDown({ store, clock, events, health, log: pino({ level: "silent" }) });
  const close = () => {
    down.close();
    events.close();
  };
  /** Behind all acts so far. */
  const countOf = async (orgId: string) => {
    await store.act(() => {});
    return [...events.of(orgId)].length;
  };
  return { missed: down.missed, countOf, events, close };
}

test("it is once an hour at most for an endpoint, however often that goes down, and each org has its own hour", async () => {
  const { missed, countOf, events, close } = open();
  for (const minutes of [0, 20, 40, 59]) {
    nowMs = START + minutes * 60_000;
    outage = { sinceMs: clock.monotonic(), reason: "timeout" };
    missed(EP, "org_a");
    if (minutes === 40) missed(EP, "org_b");
  }
  expect([await countOf("org_a"), await countOf("org_b")]).toEqual([1, 1]);
  nowMs = START + HOUR;
  outage = { sinceMs: clock.monotonic(), reason: "auth" };
  missed(EP, "org_a");
  expect(await countOf("org_a")).toBe(2);
  expect([...events.of("org_a")][0]?.data).toMatchObject({
    reason: "auth",
    since: "2026-03-01T11:00:00.000Z",
  });
  close();
});

test("a restart within the hour tells nobody again", async () => {
  const before = open();
  before.missed(EP, "org_a");
  expect(await before.countOf("org_a")).toBe(1);
  before.close();
  nowMs += HOUR / 2;
  const after = open();
  after.missed(EP, "org_a");
  expect(await after.countOf("org_a")).toBe(1);
  after.close();
});

test("very many orgs are told in acts of a few, all of them", async () => {
  const { missed, countOf, close } = open();
  outage = undefined;
  const orgs = Array.from({ length: 500 }, (_, n) => `org_${n}`);
  for (const org of orgs) missed(EP, org);
  outage = { sinceMs: clock.monotonic(), reason: "server" };
  missed(EP, "org_0");
  for (let acts = 0; acts < 30; acts++) await countOf("org_0");
  const counts = await Promise.all(orgs.map(countOf));
  expect(new Set(counts)).toEqual(new Set([1]));
  close();
});
