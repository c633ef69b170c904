/** Walks over the feed by its cursors while calls go on: every call is seen once, none twice, whatever is filtered. */

import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { caller, manyRecords } from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const NOW = Date.now();
/** Longer than the spans of time in which pages of a large table are looked for first. */
const FROM = NOW - 45 * DAY_MS;
let bench: Bench;
/** All that was recorded, in the order in which it was. */
const recorded: CallRecord[] = [];
let seed = 0;

async function add(count: number, fromMs: number, toMs: number): Promise<void> {
  const records = manyRecords(count, fromMs, toMs, ++seed);
  await bench.add(records);
  recorded.push(...records);
}

beforeAll(async () => {
  bench = openBench({ largeRows: 0 });
  await add(200, FROM, NOW);
  await add(100, NOW - 2 * DAY_MS, NOW);
  // Many in one millisecond.
  await add(50, NOW - HOUR_MS, NOW - HOUR_MS + 2);
});
afterAll(() => bench.close());

type Filters = Readonly<Record<string, string>>;

/** What filters mean, the obvious way. */
const MEANING: Readonly<Record<string, (record: CallRecord, value: string) => boolean>> = {
  since: ({ tsMs }, value) => tsMs >= Date.parse(value),
  until: ({ tsMs }, value) => tsMs < Date.parse(value),
  key_id: ({ keyId }, value) => keyId === value,
  model: ({ model }, value) => model === value,
  status: ({ status }, value) => status === value,
  errors_only: ({ status }) => status === "error" || status === "rejected",
  fallbacks_only: ({ attempts }) => attempts.length > 1,
  min_cost_micro: ({ cost }, value) => cost.total_micro_usd >= Number(value),
  max_cost_micro: ({ cost }, value) => cost.total_micro_usd <= Number(value),
};
const matching = (filters: Filters, records: readonly CallRecord[]): string[] =>
  records
    .filter((record) => Object.entries(filters).every(([name, value]) => MEANING[name]?.(record, value)))
    .map(({ requestId }) => requestId)
    .sort();

const instant = fc.integer({ min: FROM, max: NOW }).map((ms) => new Date(ms).toISOString());
const filters: fc.Arbitrary<Filters> = fc.record(
  {
    since: instant,
    until: instant,
    key_id: fc.constantFrom("key_a", "key_b"),
    model: fc.constantFrom("acme/model", "bolt/large"),
    status: fc.constantFrom("ok", "error", "cancelled", "rejected"),
    errors_only: fc.constant("1"),
    fallbacks_only: fc.constant("true"),
    min_cost_micro: fc.integer({ min: 0, max: 600 }).map(String),
    max_cost_micro: fc.integer({ min: 300, max: 1000 }).map(String),
  },
  { requiredKeys: [] },
);
/** What is recorded between two pages: calls of just now, and late ones whose time is long past. */
const writes = fc.record({ fresh: fc.nat(4), late: fc.nat(4) });

async function page(query: Filters) {
  const { listRequests } = bench.analytics.operations;
  const input = { params: undefined, query: listRequests.query?.parse(query) as never, body: undefined };
  return listRequests.output.parse(await listRequests.run(input, caller(), NO_HEAD));
}

it("every call that was there at the first page is seen once, and none twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      filters,
      fc.integer({ min: 1, max: 60 }),
      fc.array(writes, { minLength: 3, maxLength: 6 }),
      async (query, limit, meanwhile) => {
        // A page shows what has arrived, and waits a second at most for what is on its way.
        expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
        const before = matching(query, recorded);
        const seen: string[] = [];
        let cursor = "";
        for (let turn = 0; turn === 0 || cursor !== ""; turn++) {
          const { data, next_cursor } = await page({ ...query, limit: String(limit), cursor });
          seen.push(...data.map(({ request_id }) => request_id));
          cursor = next_cursor;
          const { fresh, late } = meanwhile[turn] ?? { fresh: 0, late: 0 };
          if (fresh > 0) await add(fresh, Date.now(), Date.now() + 1);
          if (late > 0) await add(late, FROM, NOW);
        }
        expect(new Set(seen).size).toBe(seen.length);
        const all = new Set(seen);
        expect(before.filter((id) => !all.has(id))).toEqual([]);
        const allowed = new Set(matching(query, recorded));
        expect(seen.filter((id) => !allowed.has(id))).toEqual([]);
      },
    ),
    { numRuns: amount(200, 15), seed: 15 },
  );
});
