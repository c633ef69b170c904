/** The tail over the real store and the real engine: in the order of settling, each call once, whoever leaves and comes back. */

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testOf } from "../../../src/analytics/requests/request-filters.ts";
import { LIST_COLUMNS, listItem } from "../../../src/analytics/requests/wire.ts";
import { risingMicros, seededRandom } from "../../../src/base/clock.ts";
import { newId } from "../../../src/base/ids.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import { valuesOf } from "../../../src/record/columns.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords, record } from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { rest } from "../../support/pace.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";
import { Client, HeldTimers, openTail } from "./tail.fixtures.ts";

let bench: Bench;
/** While they are held, what is due waits. */
const timers = new HeldTimers();
beforeAll(() => {
  bench = openBench({ timers });
});
afterAll(() => bench.close());

const shown = (holds: () => boolean) => until("the tail has sent it", holds);
const settledAtUs = risingMicros({ now: () => Date.now(), monotonic: () => 0 });
const newOrg = (): string => newId("org", Date.now());

/** Settles calls one after another. */
async function settle(orgId: string, changes: Partial<CallRecord>[]): Promise<string[]> {
  const records = changes.map((change) => record({ ...change, orgId, settledAtUs: settledAtUs() }));
  await bench.add(records);
  return records.map(({ requestId }) => requestId);
}
const some = (count: number): Partial<CallRecord>[] => Array.from({ length: count }, () => ({}));

describe("GET /v1/requests/tail", () => {
  test("sends each call of the org once it is settled, and no other org's", async () => {
    const [org, other] = [newOrg(), newOrg()];
    const client = await openTail(bench, org);
    const stranger = await openTail(bench, other);
    const ids = await settle(org, some(5));
    await shown(() => client.ids.length === 5);
    expect(client.ids).toEqual(ids);
    expect(client.events[0]?.data).toMatchObject({ request_id: ids[0], model: "acme/model", cost_micro: 60 });
    expect(stranger.events).toEqual([]);
  });

  test("sends nothing of what was settled before, unless it is told where to begin", async () => {
    const org = newOrg();
    const ids = await settle(org, some(4));
    const live = await openTail(bench, org);
    const resumed = await openTail(bench, org, { after: ids[1] as string });
    const reconnected = await openTail(bench, org, {}, { lastEventId: ids[2] as string });
    const later = await settle(org, some(1));
    await shown(() => live.ids.length + resumed.ids.length + reconnected.ids.length === 1 + 3 + 2);
    expect([live.ids, resumed.ids, reconnected.ids]).toEqual([
      later,
      [...ids.slice(2), ...later],
      [...ids.slice(3), ...later],
    ]);
  });

  test.each(["01ARZ3NDEKTSV4RRFFQ69G5FAV", "no id at all"])(
    "says that it cannot know what followed %s",
    async (lastEventId) => {
      const org = newOrg();
      const client = await openTail(bench, org, {}, { lastEventId });
      expect(client.gaps).toEqual([{ missed: null, first: "", last: "" }]);
      const ids = await settle(org, some(1));
      await shown(() => client.ids.length === 1);
      expect(client.ids).toEqual(ids);
    },
  );

  test("does not begin after a call of another org", async () => {
    const [theirs] = await settle(newOrg(), some(1));
    const client = await openTail(bench, newOrg(), { after: theirs as string });
    expect(client.gaps).toHaveLength(1);
  });

  test("shows a test key the calls of test keys only", async () => {
    const org = newOrg();
    const client = await openTail(bench, org, {}, { as: { ...caller(org), environment: "test" } });
    const [, test] = await settle(org, [{}, { environment: "test" }]);
    await shown(() => client.ids.length === 1);
    expect(client.ids).toEqual([test]);
    const resumed = await openTail(
      bench,
      org,
      { after: test as string },
      { as: { ...caller(org), environment: "test" } },
    );
    expect(resumed.events).toEqual([]);
  });

  test("tells a client that reads too slowly how many calls it missed, and where", async () => {
    const org = newOrg();
    const client = new Client();
    client.isSlow = true;
    await openTail(bench, org, {}, { client });
    const first = await settle(org, some(1));
    await shown(() => client.isBehind);
    const ids = await settle(org, some(1300));
    await shown(() => bench.outbox.committed() === bench.outbox.newest());
    const [last] = await settle(org, some(1));
    client.isSlow = false;
    // All of them have been passed on once a quick client has the last one.
    const quick = await openTail(bench, org, { after: ids.at(-1) as string });
    await shown(() => quick.ids.length === 1);
    client.read();
    await shown(() => client.gaps.length === 1);
    const kept = client.ids.length - 1;
    expect(client.ids).toEqual([...first, ...ids.slice(0, kept)]);
    expect(client.gaps).toEqual([{ missed: 1301 - kept, first: ids[kept], last }]);
    const [next] = await settle(org, some(1));
    await shown(() => client.ids.at(-1) === next);
  });

  test("does not send again what a client has had while it is still passed on to others", async () => {
    const org = newOrg();
    const watching = await openTail(bench, org);
    timers.hold();
    const ids = await settle(org, some(3));
    const client = await openTail(bench, org, { after: ids[1] as string });
    timers.release();
    const next = await settle(org, some(1));
    await shown(() => watching.ids.length === 4 && client.ids.includes(next[0] as string));
    expect(client.ids).toEqual([ids[2], ...next]);
  });

  test("puts no call of an act that was dropped", async () => {
    const org = newOrg();
    const client = await openTail(bench, org);
    const failed = bench.store.act(() => {
      bench.outbox.add(record({ orgId: org, settledAtUs: settledAtUs() }));
      throw new Error("refused");
    });
    await expect(failed).rejects.toThrow("refused");
    const ids = await settle(org, some(1));
    await shown(() => client.ids.length > 0);
    expect(client.ids).toEqual(ids);
  });

  test("has a bound for an org", async () => {
    const org = newOrg();
    const clients = await Promise.all(Array.from({ length: 1000 }, () => openTail(bench, org)));
    await expect(openTail(bench, org)).rejects.toThrow("At most 1000 streams");
    for (const client of clients) client.leave();
    await openTail(bench, org);
  });
});

const hoursAgo = fc
  .integer({ min: 0, max: 24 })
  .map((hours) => new Date(Date.now() - hours * HOUR_MS).toISOString());
const cost = fc.integer({ min: 0, max: 1000 }).map(String);
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  project_id: fc.constantFrom("prj_a", "prj_b", "prj_c"),
  key_id: fc.constantFrom("key_a", "key_b"),
  app_id: fc.constantFrom("app-1", "app-2", "app-3"),
  model: fc.constantFrom("acme/model", "bolt/large"),
  provider: fc.constantFrom("acme", "bolt"),
  status: fc.constantFrom("ok", "error", "cancelled", "rejected"),
  errors_only: fc.constantFrom("true", "false"),
  fallbacks_only: fc.constantFrom("1", "0"),
  min_cost_micro: cost,
  max_cost_micro: cost,
  q: fc.constantFrom("0", "01", "7", "01k"),
  since: hoursAgo,
  until: hoursAgo,
};
/** At most three at once, so that most of them match something. */
const filters = (names: readonly string[]) =>
  fc
    .subarray([...names], { maxLength: 3 })
    .chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((name) => [name, VALUES[name] as fc.Arbitrary<string>]))),
    );

const sample = (seed: number, count: number, names = Object.keys(VALUES)): Record<string, string>[] =>
  fc.sample(filters(names), { seed, numRuns: count });
const TIMELESS = Object.keys(VALUES).filter((name) => name !== "since" && name !== "until");

test("a filter means the same to the tail and to the feed", async () => {
  const org = newOrg();
  await bench.add(
    manyRecords(300, Date.now() - 24 * 3_600_000, Date.now(), 7).map((one) => ({ ...one, orgId: org })),
  );
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  const { listRequests } = bench.analytics.operations;
  const list = async (query: Record<string, string>) => {
    const parsed = listRequests.query?.parse({ ...query, limit: "500" }) as never;
    const page = await listRequests.run(
      { params: undefined, query: parsed, body: undefined },
      caller(org),
      NO_HEAD,
    );
    return { parsed, items: listRequests.output.parse(page).data };
  };
  const { items: all } = await list({});
  expect(all).toHaveLength(300);
  let matched = 0;
  for (const query of sample(3, amount(400, 60))) {
    const { parsed, items } = await list(query);
    expect([query, all.filter(testOf(parsed)).length]).toEqual([query, items.length]);
    expect(all.filter(testOf(parsed))).toEqual(items);
    matched += items.length;
  }
  expect(matched).toBeGreaterThan(300);
});

test("listeners that leave and come back see each matching call once, in order", {
  timeout: 600_000,
}, async () => {
  // With the witness, as many as an org may have.
  const [listeners, calls] = [amount(999, 60), amount(2000, 900)];
  const random = seededRandom(15);
  const org = newOrg();
  const settled: CallRecord[] = [];
  const made = manyRecords(calls, Date.now() - 1000, Date.now(), 15);
  const opened = await Promise.all(
    sample(4, listeners, TIMELESS).map(async (query) => ({
      query,
      sinks: [await openTail(bench, org, query)],
    })),
  );
  const reopening: Promise<unknown>[] = [];
  const cut = ({ query, sinks }: Listener) => {
    const lastEventId = idsOf(sinks).at(-1);
    // One that has seen nothing yet could not say where to begin.
    if (lastEventId === undefined) return;
    sinks.at(-1)?.leave();
    const client = new Client();
    sinks.push(client);
    reopening.push(openTail(bench, org, query, { client, lastEventId }));
  };
  for (const [at, one] of made.entries()) {
    const row = { ...one, orgId: org, settledAtUs: settledAtUs() };
    settled.push(row);
    void bench.add([row]);
    if (at % 20 === 0) await rest(3);
    cut(opened[Math.floor(random() * listeners)] as Listener);
  }
  await Promise.all(reopening);
  // A last call that every listener gets would be seen by none with a filter: the feed itself says when it is through.
  const witness = await openTail(bench, org);
  const [last] = await settle(org, some(1));
  await shown(() => witness.ids.includes(last as string));
  const { tailRequests } = bench.analytics.operations;
  const items = settled.map((row) => listItem(valuesOf(row, LIST_COLUMNS)));
  for (const { query, sinks } of opened) {
    const due = items
      .filter(testOf(tailRequests.query?.parse(query) as never))
      .map((item) => item.request_id);
    const seen = () => idsOf(sinks).filter((id) => id !== last);
    await shown(() => seen().length >= due.length);
    expect(sinks.flatMap(({ gaps }) => gaps)).toEqual([]);
    expect([query, seen()]).toEqual([query, due]);
  }
  expect(opened.filter(({ sinks }) => sinks.length > 1).length).toBeGreaterThan(listeners / 4);
});

interface Listener {
  readonly query: Record<string, string>;
  /** One after another. */
  readonly sinks: Client[];
}

const idsOf = (sinks: readonly Client[]): string[] => sinks.flatMap(({ ids }) => ids);
