import { afterAll, expect, test } from "vitest";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { MOST_WALKED } from "../../../../src/base/operation/page.ts";
import { openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { KeptBytes } from "../../../../src/credits/kept/kept-bytes.ts";
import { openLimits } from "../../../../src/credits/limits/limits.ts";
import {
  type KeyInForce,
  limitsOperations,
  type Refusals24h,
} from "../../../../src/credits/limits/operations.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());
const caller = { orgId: "org_1" } as Caller;

const limited: KeyInForce = {
  keyId: "key_1",
  projectId: "prj_1",
  orgId: "org_1",
  name: "production",
  hint: "svc-live-…abcd",
  isOfPlayground: false,
  status: "active",
  timeZone: "Asia/Kolkata",
  limits: { rpm: 60, tpm: 10_000, concurrency: 4 },
  keyDaily: { limitMicroUsd: 5_000_000, hard: true },
};
const unlimited: KeyInForce = {
  keyId: "key_2",
  projectId: "prj_1",
  orgId: "org_1",
  name: "batch",
  hint: "svc-live-…efgh",
  isOfPlayground: true,
  status: "rotating",
  timeZone: "Asia/Kolkata",
  limits: {},
};

const nothing = { bytes: 0, responses_bytes: 0, answers_bytes: 0, payloads_bytes: 0 };

function desk(
  counts24h: () => Promise<Refusals24h>,
  keys: readonly KeyInForce[] = [limited, unlimited],
  unwanted: ReadonlySet<string> = new Set(),
) {
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const limits = openLimits({ clock });
  const budgets = openBudgets({ store: folder.store, clock });
  const { getLimits } = limitsOperations({
    limits,
    budgets,
    counts24h,
    kept: new KeptBytes({
      store: folder.store,
      clock,
      retentionDays: () => 30,
      maxBytes: ({ environment }) => (environment === "test" ? 1000 : 0),
      onFailure: (error) => expect.fail(String(error)),
    }),
    exportBytesOf: () => ({ bytes: 7, maxBytes: 700 }),
    cursors: cursors(Buffer.alloc(32, 1)),
    *keysOf(orgId, _filter, afterId) {
      for (const key of orgId === "org_1" ? keys : [])
        if (afterId === undefined || key.keyId > afterId)
          yield { id: key.keyId, isWanted: () => !unwanted.has(key.keyId), inForce: () => key };
    },
    orgOf: () => ({ monthly: { limitMicroUsd: 9_000_000, hard: false }, timeZone: "Asia/Kolkata" }),
    planOf: () => ({ rpm: 600, tpm: 1_000_000, concurrency: 50, keys: 20, projects: 5 }),
  });
  return {
    limits,
    budgets,
    isQuery: (query: object) => getLimits.query?.safeParse(query).success,
    async read(query: object = {}) {
      const input = {
        params: undefined,
        query: getLimits.query?.parse(query) ?? expect.fail("it has a query"),
        body: undefined,
      };
      return getLimits.output.parse(await getLimits.run(input, caller, NO_HEAD));
    },
  };
}

test("GET /v1/limits: the plan, each key's limits, what is left of them now, and its spend", async () => {
  const { limits, budgets, read } = desk(async () => ({ rpm: 3, concurrency: 2, upstreamCapacity: 1 }));
  limits.admit(limited, 2_500);
  limits.admit(limited, 500);
  const hold = budgets.hold(limited, 900);
  if (hold.admitted) await folder.store.act(budgets.charging(hold, 812));
  budgets.hold(limited, 77);

  expect(await read()).toEqual({
    plan: { rpm: 600, tpm: 1_000_000, concurrency: 50, keys: 20, projects: 5 },
    org: {
      budget: { monthly_micro: 9_000_000, hard: false },
      spend_today_micro: 812,
      spend_month_micro: 812,
    },
    kept: {
      live: { max_bytes: 0, ...nothing },
      test: { max_bytes: 1000, ...nothing },
      exports: { bytes: 7, max_bytes: 700 },
    },
    keys: [
      {
        key_id: "key_1",
        name: "production",
        hint: "svc-live-…abcd",
        project_id: "prj_1",
        status: "active",
        configured: { rpm: 60, tpm: 10_000, concurrency: 4 },
        budget: { daily_micro: 5_000_000, hard: true },
        live: {
          rpm_remaining: 58,
          tpm_remaining: 7_000,
          rpm_used: 2,
          tpm_used: 3_000,
          concurrency_in_use: 2,
        },
        held_micro: 77,
        spend_today_micro: 812,
        spend_month_micro: 812,
      },
      {
        key_id: "key_2",
        name: "batch",
        hint: "svc-live-…efgh",
        kind: "playground",
        project_id: "prj_1",
        status: "rotating",
        configured: { rpm: 0, tpm: 0, concurrency: 0 },
        budget: { daily_micro: 0, hard: false },
        live: {
          rpm_remaining: null,
          tpm_remaining: null,
          rpm_used: null,
          tpm_used: null,
          concurrency_in_use: 0,
        },
        held_micro: 0,
        spend_today_micro: 0,
        spend_month_micro: 0,
      },
    ],
    next_cursor: "",
    rejected_24h: { rpm: 3, concurrency: 2 },
    upstream_capacity_24h: 1,
    live: true,
    analytics: true,
  });
});

test("without analytics the overview still answers, and says so", async () => {
  const { read } = desk(() => Promise.reject(new Error("connection refused")));
  expect(await read()).toMatchObject({
    rejected_24h: { rpm: 0, concurrency: 0 },
    upstream_capacity_24h: 0,
    live: true,
    analytics: false,
    keys: [{ key_id: "key_1" }, { key_id: "key_2" }],
  });
});

test("keys come in pages, of which one looks at a bounded number of keys", async () => {
  const many = Array.from({ length: MOST_WALKED + 250 }, (_, i) => ({
    ...unlimited,
    keyId: `key_${String(i).padStart(6, "0")}`,
  }));
  const { read } = desk(async () => ({ rpm: 0, concurrency: 0, upstreamCapacity: 0 }), many);
  const first = await read();
  expect(first.keys).toHaveLength(100);
  const second = await read({ limit: "500", cursor: first.next_cursor });
  expect([second.keys.length, second.keys[0]?.key_id]).toEqual([500, "key_000100"]);
  // None but the last one is wanted.
  const others = new Set(many.slice(0, -1).map(({ keyId }) => keyId));
  const few = desk(async () => ({ rpm: 0, concurrency: 0, upstreamCapacity: 0 }), many, others);
  const short = await few.read();
  expect([short.keys, short.next_cursor === ""]).toEqual([[], false]);
  const rest = await few.read({ cursor: short.next_cursor });
  expect([rest.keys.map(({ key_id }) => key_id), rest.next_cursor]).toEqual([[many.at(-1)?.keyId], ""]);
});

test.each([{ limit: "501" }, { limit: "0" }, { status: "revoked" }, { q: "" }])("%j is refused", (query) => {
  expect(desk(async () => expect.fail("not asked")).isQuery(query)).toBe(false);
});
