/** Shadow runs on their way from a commit into ClickHouse and into the report: none lost, none twice, none in the way. */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type ClickHouse, openClickHouse, type Target } from "../../../src/analytics/clickhouse/client.ts";
import type { ShadowRow } from "../../../src/analytics/outbox/shadow-rows.ts";
import {
  openShadowRuns,
  type ShadowRuns,
  type ShadowRunsDeps,
} from "../../../src/analytics/outbox/shadow-runs.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import type { Store } from "../../../src/store/store.ts";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { ORG, OTHER_ORG, shadowRow, silentLog } from "../../support/analytics/records.ts";
import { tempStore } from "../../support/credits/fixtures.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

let bench: Bench;
let clickhouse: ClickHouse;
let runs: ShadowRuns;

const open = (store: Store, change: Partial<ShadowRunsDeps> = {}): ShadowRuns =>
  openShadowRuns({ store, clickhouse, clock: systemClock, log: silentLog, ageMs: 5, ...change });

const row = shadowRow;

const put = (to: ShadowRuns, store: Store, rows: readonly ShadowRow[]): Promise<unknown> =>
  Promise.all(rows.map((r) => store.act(to.prepare(r))));

/** A store of its own, and a ClickHouse that does as it is told; `inserted` are the tokens that it took. */
async function apart<T>(
  act: (store: ReturnType<typeof tempStore>, engine: FakeEngine) => Promise<T>,
): Promise<T> {
  const temp = tempStore();
  try {
    return await act(temp, new FakeEngine());
  } finally {
    await temp.dispose();
  }
}

class FakeEngine {
  readonly tokens: string[] = [];
  away = false;
  #hasRows = false;
  // Whoever looks up ids finds all of them once rows were taken.
  rows = async <T>(sql: string) =>
    (this.#hasRows ? [...sql.matchAll(/'([^']+)'/g)].map(([, id]) => ({ id })) : []) as T[];
  ended = async () => {};
  synced = async () => {};
  insert = async (_table: string, _columns: readonly string[], _parts: unknown, { token }: Target) => {
    this.tokens.push(token);
    if (this.away) throw new Error("away");
    this.#hasRows = true;
  };
}

beforeAll(async () => {
  bench = openBench();
  await until("ClickHouse answers", () => bench.analytics.live());
  const { url, username, password } = JSON.parse(readFileSync(`${bench.dataDir}/clickhouse.json`, "utf8"));
  clickhouse = openClickHouse({ address: async () => ({ url, username, password }), database: "weir" });
  // One spool a store: two would each give the same rows a token of their own.
  runs = bench.analytics.shadowRuns;
});
afterAll(async () => {
  await clickhouse.close();
  await bench.close();
});

describe("the table", () => {
  it("holds every member of a row in its own column", async () => {
    const tsMs = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
    const distinct: ShadowRow = {
      orgId: "org_d",
      tsMs,
      requestId: "r",
      shadowRequestId: "s",
      policy: "p",
      policyVersion: 2,
      primaryEndpoint: "pe",
      shadowEndpoint: "se",
      bill: "org",
      charged: true,
      primaryStatus: "ok",
      shadowStatus: "ok",
      shadowErrorClass: "server",
      primaryCostMicroUsd: 3,
      shadowCostMicroUsd: 4,
      primaryTtftMs: 5,
      shadowTtftMs: 6,
      stream: false,
      primaryStopReason: "stop",
      shadowStopReason: "length",
      primaryOutputTokens: 7,
      shadowOutputTokens: 8,
    };
    await put(runs, bench.store, [distinct]);
    expect(await runs.flush(LIMIT_MS)).toBe(true);
    expect(await clickhouse.rows("SELECT * FROM shadow_runs WHERE org_id = 'org_d'")).toEqual([
      {
        org_id: "org_d",
        ts: "2026-02-03 04:05:06.789",
        request_id: "r",
        shadow_request_id: "s",
        policy: "p",
        policy_version: 2,
        primary_endpoint: "pe",
        shadow_endpoint: "se",
        bill: "org",
        charged: true,
        primary_status: "ok",
        shadow_status: "ok",
        shadow_error_class: "server",
        primary_cost_micro: 3,
        shadow_cost_micro: 4,
        primary_ttft_ms: 5,
        shadow_ttft_ms: 6,
        primary_stop_reason: "stop",
        shadow_stop_reason: "length",
        stop_mismatch: true,
        primary_output_tokens: 7,
        shadow_output_tokens: 8,
        stream: false,
      },
    ]);
  });

  it("takes a batch that comes again once", async () => {
    const temp = tempStore();
    // The engine takes the rows, and its answer is lost.
    let lost = 1;
    const forgetful = {
      rows: clickhouse.rows.bind(clickhouse),
      ended: clickhouse.ended.bind(clickhouse),
      synced: clickhouse.synced.bind(clickhouse),
      insert: async (...given: Parameters<ClickHouse["insert"]>) => {
        await clickhouse.insert(...given);
        if (lost-- > 0) throw new Error("the answer was lost");
      },
    };
    const retrying = open(temp.store, { clickhouse: forgetful });
    await put(
      retrying,
      temp.store,
      Array.from({ length: 1500 }, () => row({ orgId: "org_again" })),
    );
    expect(await retrying.flush(LIMIT_MS)).toBe(true);
    expect(await clickhouse.rows("SELECT count() AS n FROM shadow_runs WHERE org_id = 'org_again'")).toEqual([
      { n: 1500 },
    ]);
    expect(retrying.metrics()).toEqual({ pending: 0, inserted: 1500, dropped: 0, insertFailures: 1 });
    await retrying.stop(1000);
    await temp.dispose();
  });
});

describe("the report", () => {
  /** A report waits a second at most for what is on its way. */
  const arrive = async (rows: readonly ShadowRow[]): Promise<void> => {
    await put(runs, bench.store, rows);
    expect(await runs.flush(LIMIT_MS)).toBe(true);
  };
  const summary = {
    shadow_endpoint: "ep_b",
    primary_endpoint: "ep_a",
    policy_version: 1,
    bill: "platform",
    runs: 1,
    errors: 0,
    compared: 1,
    stop_mismatch: 0,
    primary_cost_micro: 100,
    shadow_cost_micro: 60,
    cost_delta_micro: -40,
    primary_ttft_ms: 200,
    shadow_ttft_ms: 300,
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    confidence: 0.95,
    error_rate: 0,
    error_rate_interval: { low: 0, high: expect.closeTo(0.7935, 4) },
    cost_delta_per_run_micro: -40,
    cost_delta_per_run_micro_interval: null,
    ttft_compared: 1,
    ttft_delta_ms: 100,
    ttft_delta_ms_interval: null,
  };

  it("has what was put just before: it waits until that is inserted", () =>
    apart(async ({ store }) => {
      // Without a report that asks for it, no batch is sent in this test's time.
      const patient = open(store, { ageMs: 600_000 });
      let tries = 0;
      const has = async () => {
        const policy = `just_${++tries}`;
        await put(patient, store, [row({ policy }), row({ policy })]);
        return (await patient.shadows(ORG, policy))[0]?.runs === 2;
      };
      // It waits for a second, which may be too short on a machine with much else to do.
      expect(await holdsUnlessCrowded(has)).toBe(true);
      await patient.stop(1000);
    }));

  it("O27: sums costs of runs that both sides answered, and averages first tokens of streams", async () => {
    await arrive([
      row({ policy: "sums" }),
      row({ policy: "sums", shadowCostMicroUsd: 200, shadowTtftMs: 401, shadowStopReason: "length" }),
      // A whole answer has no first token.
      row({ policy: "sums", stream: false, primaryTtftMs: 9000, shadowTtftMs: 9000, primaryCostMicroUsd: 0 }),
      // Whoever fails early is cheap: that is no comparison.
      row({ policy: "sums", shadowStatus: "error", shadowErrorClass: "server", shadowCostMicroUsd: 1 }),
      row({ policy: "sums", primaryStatus: "error", primaryCostMicroUsd: 1 }),
    ]);
    expect(await runs.shadows(ORG, "sums")).toEqual([
      {
        ...summary,
        runs: 5,
        errors: 1,
        compared: 3,
        stop_mismatch: 1,
        primary_cost_micro: 200,
        shadow_cost_micro: 320,
        cost_delta_micro: 120,
        shadow_ttft_ms: 350.5,
        error_rate: 0.2,
        error_rate_interval: { low: expect.closeTo(0.0362, 4), high: expect.closeTo(0.6245, 4) },
        // −40, 100 and 60: a deviation of 72.11, and Student's t of two degrees is 4.303.
        cost_delta_per_run_micro: 40,
        cost_delta_per_run_micro_interval: { low: expect.closeTo(-139.1, 1), high: expect.closeTo(219.1, 1) },
        // 100 and 201 ms.
        ttft_compared: 2,
        ttft_delta_ms: 150.5,
        ttft_delta_ms_interval: { low: expect.closeTo(-491.1, 0), high: expect.closeTo(792.1, 0) },
      },
    ]);
  });

  it("leaves out what compares nothing: a client that left, a copy that was cut, a fallback to the shadow itself", async () => {
    await arrive([
      row({ policy: "odd" }),
      row({ policy: "odd", primaryStatus: "cancelled" }),
      row({ policy: "odd", shadowStatus: "cancelled" }),
      row({ policy: "odd", primaryEndpoint: "ep_b" }),
    ]);
    expect(await runs.shadows(ORG, "odd")).toEqual([summary]);
  });

  it("has an entry for each version, pair of endpoints and payer, the newest version first, of one org and policy", async () => {
    const base = { policy: "many" };
    await arrive([
      row({ ...base, policyVersion: 1 }),
      row({ ...base, policyVersion: 3 }),
      row({ ...base, policyVersion: 3, primaryTtftMs: 0, shadowTtftMs: 0 }),
      row({ ...base, policyVersion: 3, primaryEndpoint: "ep_c" }),
      row({ ...base, policyVersion: 2, bill: "org", charged: true, tsMs: Date.now() - 100 * DAY_MS }),
      row({ ...base, orgId: OTHER_ORG }),
    ]);
    const found = await runs.shadows(ORG, "many");
    expect(found.map((s) => [s.policy_version, s.primary_endpoint, s.bill, s.runs])).toEqual([
      [3, "ep_a", "platform", 2],
      [3, "ep_c", "platform", 1],
      [2, "ep_a", "org", 1],
      [1, "ep_a", "platform", 1],
    ]);
    // One of the two was not measured.
    expect(found[0]).toMatchObject({ primary_ttft_ms: 200, shadow_ttft_ms: 300 });
  });

  it("is empty for a policy without runs, whatever it is called", async () => {
    expect(await runs.shadows(ORG, "' OR 1 = 1 --")).toEqual([]);
  });

  it("shows means of 0 where nothing was compared", async () => {
    await arrive([row({ policy: "failing", shadowStatus: "error", shadowErrorClass: "server" })]);
    expect(await runs.shadows(ORG, "failing")).toEqual([
      expect.objectContaining({
        runs: 1,
        compared: 0,
        primary_ttft_ms: 0,
        shadow_ttft_ms: 0,
        cost_delta_micro: 0,
        cost_delta_per_run_micro: 0,
        ttft_compared: 0,
        ttft_delta_ms: null,
        ttft_delta_ms_interval: null,
      }),
    ]);
  });
});

describe("while ClickHouse is away", () => {
  test("rows wait over a restart, and their batch keeps its token", () =>
    apart(async (temp, engine) => {
      engine.away = true;
      const before = open(temp.store, { clickhouse: engine });
      await put(before, temp.store, [row(), row()]);
      await until(
        "two inserts are made",
        () => engine.tokens,
        ({ length }) => length >= 2,
      );
      await before.stop(0);
      const store = await temp.reopen();
      engine.away = false;
      const after = open(store, { clickhouse: engine });
      await put(after, store, [row()]);
      expect(await after.flush(LIMIT_MS)).toBe(true);
      expect(new Set(engine.tokens.slice(0, -1)).size).toBe(1);
      expect(new Set(engine.tokens).size).toBe(2);
      expect(after.metrics()).toMatchObject({ pending: 0, inserted: 3 });
      await after.stop(1000);
    }));

  test("the oldest beyond the bound give way, counted, those of a batch under way as well", () =>
    apart(async (temp, engine) => {
      engine.away = true;
      const bounded = open(temp.store, { clickhouse: engine, maxWaiting: 10 });
      await put(bounded, temp.store, [row(), row()]);
      await until(
        "an insert is made",
        () => engine.tokens,
        ({ length }) => length > 0,
      );
      for (let i = 0; i < 5; i++)
        await put(
          bounded,
          temp.store,
          Array.from({ length: 5 }, () => row()),
        );
      expect(bounded.metrics()).toMatchObject({ pending: 10, dropped: 17, inserted: 0 });
      expect(await bounded.flush(20)).toBe(false);
      engine.away = false;
      expect(await bounded.flush(LIMIT_MS)).toBe(true);
      expect(bounded.metrics()).toMatchObject({ pending: 0, inserted: 10 });
      await bounded.stop(1000);
    }));

  test("nor does a stop wait for it: the rows are in for the next start", () =>
    apart(async (temp, engine) => {
      engine.away = true;
      const stopping = open(temp.store, { clickhouse: engine });
      await put(stopping, temp.store, [row(), row()]);
      // Longer than this test may take.
      await stopping.stop(600_000);
      expect(stopping.metrics()).toMatchObject({ pending: 2, inserted: 0 });
    }));

  test("a damaged row is left out and holds nobody up", () =>
    apart(async (temp, engine) => {
      await temp.store.act(() => temp.store.log("shadow_runs").append(1, Buffer.from('{"orgId":')));
      const mending = open(temp.store, { clickhouse: engine, ageMs: 50 });
      await put(mending, temp.store, [row(), row()]);
      expect(await mending.flush(LIMIT_MS)).toBe(true);
      expect(mending.metrics()).toMatchObject({ pending: 0, inserted: 2 });
      await mending.stop(1000);
    }));
});
