import { fork } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClickHouse, openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { type Engine, startEngine } from "../../../src/analytics/engine/engine.ts";
import { storedPayload, storedRequest } from "../../../src/analytics/requests/stored.ts";
import { PAYLOAD_COLUMNS, REQUEST_COLUMNS } from "../../../src/record/columns.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { openPool, type WorkerPool } from "../../../src/workers/pool.ts";
import { openBench } from "../../support/analytics/bench.ts";
import {
  caller,
  distinctRecord,
  recordsOf,
  rowsOfBatch,
  silentLog,
  temporaryFolder,
} from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";
import { Wire } from "./lossy-wire.ts";

/** One for all tests, each of which has an org and an endpoint of its own: to make its tables takes the engine half a second. */
const DATABASE = "spool";
const KILLS = amount(3, 2);

let home: string;
let engine: Engine;
let clickhouse: ClickHouse;
/** One for all benches: a thread takes a quarter of a second to start. */
let pool: WorkerPool;

beforeAll(async () => {
  home = temporaryFolder();
  engine = startEngine(home, silentLog);
  await engine.address(LIMIT_MS);
  clickhouse = openClickHouse({ address: () => engine.address(LIMIT_MS), database: DATABASE });
  await clickhouse.ready();
  pool = openPool();
});
afterAll(async () => {
  await clickhouse.close();
  await engine.stop();
  await pool.close();
  rmSync(home, { recursive: true, force: true });
});

/** What stands in the tables of an org and its endpoint: requests, distinct requests, payloads, and the roll-ups' sums. */
async function counted(of: string) {
  const [counts] = await clickhouse.rows(
    `SELECT (SELECT count() FROM requests WHERE org_id = {of:String}) AS requests,
      (SELECT uniqExact(request_id) FROM requests WHERE org_id = {of:String}) AS distinct,
      (SELECT count() FROM payloads WHERE org_id = {of:String}) AS payloads,
      (SELECT sum(requests) FROM usage_hourly WHERE org_id = {of:String}) AS usage,
      (SELECT sum(cost_micro) FROM usage_hourly WHERE org_id = {of:String}) AS cost,
      (SELECT sum(attempts) FROM attempts_hourly WHERE endpoint_id = {of:String}) AS attempts`,
    { of },
  );
  return counts;
}

const all = (n: number) => ({ requests: n, distinct: n, payloads: n, usage: n, cost: 60 * n, attempts: n });
const many = (n: number, one: () => CallRecord) => Array.from({ length: n }, one);

describe.concurrent("T35: no record is lost, none is doubled", () => {
  it("when answers to inserts are lost after they were applied", async ({ expect }) => {
    const record = recordsOf("lost_answers");
    const wire = new Wire(engine);
    await wire.open();
    const bench = openBench({ pool, clickhouseUrl: await wire.url(DATABASE) });
    try {
      await bench.analytics.flush(LIMIT_MS);
      await bench.analytics.statistics.counts24h("org");
      for (let round = 0; round < 4; round++) {
        // Payloads, then also records: what is there is not sent again.
        wire.loseAnswers = 1 + (round % 2);
        await bench.add(many(50, record));
        expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
      }
      expect(wire.lost).toBe(1 + 2 + 1 + 2);
      expect(bench.analytics.metrics()).toMatchObject({
        outboxRows: 0,
        insertedRows: 200,
        insertFailures: 6,
      });
      expect(await counted("lost_answers")).toEqual(all(200));
    } finally {
      await bench.close();
      wire.close();
    }
  });

  it("when the engine is away, and reads then say so", async ({ expect }) => {
    const record = recordsOf("away");
    const wire = new Wire(engine);
    await wire.open();
    wire.close();
    const bench = openBench({ pool, clickhouseUrl: await wire.url(DATABASE) });
    try {
      const rows = many(300, record);
      await bench.add(rows);
      const { listRequests, getGeneration } = bench.analytics.operations;
      const query = listRequests.query?.parse({}) as never;
      await expect(
        listRequests.run({ params: undefined, query, body: undefined }, caller("away"), NO_HEAD),
      ).rejects.toMatchObject({
        kind: "analytics_unavailable",
        status: 503,
      });
      // What is pending is still found by its id.
      const id = rows[0]?.requestId ?? "";
      const input = { params: { id }, query: undefined, body: undefined };
      expect(await getGeneration.run(input, caller("away"), NO_HEAD)).toMatchObject({ id });
      expect(bench.analytics.live()).toBe(false);
      await wire.open();
      expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
      expect(await counted("away")).toEqual(all(300));
    } finally {
      await bench.close();
      wire.close();
    }
  });

  it("nor does a stop wait for a ClickHouse that refuses: the rows are in for the next start", async ({
    expect,
  }) => {
    const wire = new Wire(engine);
    await wire.open();
    const bench = openBench({ pool, clickhouseUrl: await wire.url(DATABASE) });
    wire.close();
    await bench.add(many(10, recordsOf("refusing")));
    // Longer than this test may take.
    await bench.analytics.stop(600_000);
    expect(bench.analytics.metrics()).toMatchObject({ outboxRows: 10, insertedRows: 0 });
    await bench.close();
  });

  it("when the process ends between an insertion and its acknowledgement", async ({ expect }) => {
    const record = recordsOf("half_way");
    const dataDir = temporaryFolder();
    const wire = new Wire(engine);
    await wire.open();
    const first = openBench({ pool, dataDir, clickhouseUrl: await wire.url(DATABASE), batchAgeMs: 60_000 });
    await first.analytics.flush(1000);
    await first.add(many(40, record));
    // By hand what the spool does, up to the line before the acknowledgement.
    const batch = await first.outbox.nextBatch({ rows: 25, bytes: 1e9 }, () => "weir-token");
    const finished = await pool.finish(joined(await rowsOfBatch(batch)));
    const { payloads, requests } = finished;
    await clickhouse.insert("payloads", PAYLOAD_COLUMNS, [payloads.bytes], as("weir-token-payloads"));
    await clickhouse.insert("requests", REQUEST_COLUMNS, [requests.bytes], as("weir-token-requests"));
    wire.close();
    await first.analytics.stop(1);
    await first.store.close();

    await wire.open();
    const second = openBench({ pool, dataDir, clickhouseUrl: await wire.url(DATABASE) });
    try {
      expect(second.outbox.recent(record().requestId)).toBeUndefined();
      expect(second.analytics.metrics().outboxRows).toBe(40);
      expect(await second.analytics.flush(LIMIT_MS)).toBe(true);
      expect(await counted("half_way")).toEqual(all(40));
    } finally {
      await second.close();
      wire.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it(`when the gateway is killed with -9 at any moment, ${KILLS} times over`, async ({ expect }) => {
    const dataDir = temporaryFolder();
    const url = await engineUrl();
    const committed = new Set<string>();
    for (let round = 0; round < KILLS; round++) {
      const victim = fork(fileURLToPath(new URL("./victim.ts", import.meta.url)), [dataDir, url, "killed"], {
        execArgv: [],
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      const started = committed.size;
      victim.on("message", (ids: string[]) => {
        for (const id of ids) committed.add(id);
      });
      await until(
        "more records are committed",
        () => committed.size,
        (size) => size >= started + 150 + 70 * round,
      );
      victim.kill("SIGKILL");
      await new Promise((resolve) => victim.once("exit", resolve));
    }
    const bench = openBench({ pool, dataDir, clickhouseUrl: url });
    try {
      expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
      const stored = await clickhouse.rows<{ request_id: string }>(
        "SELECT request_id FROM requests WHERE org_id = 'killed'",
      );
      const ids = new Set(stored.map((r) => r.request_id));
      expect([...committed].filter((id) => !ids.has(id))).toEqual([]);
      const counts = await counted("killed");
      // A few were committed and not yet told: they are there too, once.
      expect(counts).toEqual(all(ids.size));
    } finally {
      await bench.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe.concurrent("a batch", () => {
  it("rows that cannot be decoded or redacted hold nobody up", async ({ expect }) => {
    const record = recordsOf("faulty");
    const bench = openBench({ pool, clickhouseUrl: await engineUrl() });
    try {
      const badPattern = record({ redact: { presets: [], patterns: ["(unclosed"] } });
      const badPreset = record({ redact: { presets: ["nonsense"], patterns: [] } });
      const damaged = bench.outbox.prepare(record()).bytes.subarray(0, 100);
      await bench.add(many(5, record));
      await bench.store.act(() => bench.outbox.put({ requestId: "damaged", bytes: damaged }));
      await bench.add([badPattern, badPreset, ...many(5, record)]);
      expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
      expect(bench.analytics.metrics()).toMatchObject({
        payloadsLost: 2,
        rowsSetApart: 1,
        insertedRows: 12,
        outboxRows: 0,
      });
      expect(await counted("faulty")).toMatchObject({ requests: 12, distinct: 12, payloads: 10 });
      expect([...bench.store.bytes("outbox_apart").range()].map((row) => Buffer.from(row.value))).toEqual([
        Buffer.from(damaged),
      ]);
    } finally {
      await bench.close();
    }
  });

  it("values that no column takes are brought into range instead of blocking a batch", async ({ expect }) => {
    const record = recordsOf("odd_values");
    const bench = openBench({ pool, clickhouseUrl: await engineUrl() });
    try {
      const odd = record({
        tsMs: Date.now(),
        ttftMs: Number.NaN,
        durationMs: -5,
        bytesIn: Number.POSITIVE_INFINITY,
        httpStatus: 99_999,
        model: "lone \ud800 surrogate",
        tags: { "\ud83d": "x".repeat(5000), "😀": "" },
        usage: {
          inputTokens: 1e15,
          outputTokens: 1.5,
          cacheReadTokens: -1,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
        },
        retentionDays: 1e9,
        request: Buffer.from([0xff, 0xfe, 0x00, 0x22]),
      });
      await bench.add([odd]);
      expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
      const rows = await clickhouse.rows(
        "SELECT ttft_ms, duration_ms, http_status, model, input_tokens, output_tokens, length(tags) AS tags FROM requests WHERE org_id = 'odd_values'",
      );
      expect(rows).toEqual([
        {
          ttft_ms: 0,
          duration_ms: 0,
          http_status: 65_535,
          model: expect.stringMatching(/^lone \ufffd+ surrogate$/),
          input_tokens: 4_294_967_295,
          output_tokens: 2,
          tags: 2,
        },
      ]);
    } finally {
      await bench.close();
    }
  });

  it("every field of a record lands in the column of its name", async ({ expect }) => {
    const bench = openBench({ pool, clickhouseUrl: await engineUrl() });
    try {
      const distinct = distinctRecord();
      const { request, response, ...kept } = distinct;
      await bench.add([distinct]);
      expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
      const stored = await storedRequest(clickhouse, kept.orgId, kept.requestId);
      expect(stored).toEqual({ ...kept, redact: expect.anything() });
      expect(await storedPayload(clickhouse, kept, kept.tsMs)).toEqual({
        request: String(request),
        response: String(response),
      });
    } finally {
      await bench.close();
    }
  });
});

// Alone: it takes a view away from the others.
it("a part of a batch that had arrived is completed in every table (the engine's own contract)", async () => {
  const record = recordsOf("partial");
  const bench = openBench({ pool, clickhouseUrl: await engineUrl(), batchAgeMs: 60_000 });
  try {
    const old = record({ tsMs: Date.UTC(2026, 0, 31, 23) });
    const young = record({ tsMs: Date.UTC(2026, 1, 1, 1) });
    const finish = async (rows: ReturnType<typeof record>[]) =>
      (
        await pool.finish({
          ...joined(rows.map((r) => bench.outbox.prepare(r).bytes)),
        })
      ).requests;
    // The engine died after the first month's part.
    const half = await finish([old]);
    await clickhouse.insert("requests", REQUEST_COLUMNS, [half.bytes], as("token-requests"));
    const whole = await finish([old, young]);
    for (let times = 0; times < 3; times++) {
      await clickhouse.insert("requests", REQUEST_COLUMNS, [whole.bytes], as("token-requests"));
    }
    expect(await counted("partial")).toMatchObject({ requests: 2, distinct: 2, usage: 2, attempts: 2 });
    // The engine died after the records, before a roll-up.
    await command("DETACH TABLE usage_hourly_view SYNC");
    const late = await finish([record({ tsMs: old.tsMs })]);
    await clickhouse.insert("requests", REQUEST_COLUMNS, [late.bytes], as("late-requests"));
    await command("ATTACH TABLE usage_hourly_view");
    expect(await counted("partial")).toMatchObject({ requests: 3, usage: 2, attempts: 3 });
    for (let times = 0; times < 2; times++) {
      await clickhouse.insert("requests", REQUEST_COLUMNS, [late.bytes], as("late-requests"));
    }
    expect(await counted("partial")).toMatchObject({ requests: 3, distinct: 3, usage: 3, attempts: 3 });
  } finally {
    await bench.close();
  }
});

async function command(sql: string): Promise<void> {
  const { url, username, password } = await engine.address(LIMIT_MS);
  const response = await fetch(`${url}/?database=${DATABASE}`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
    body: sql,
  });
  if (!response.ok) throw new Error(await response.text());
}

async function engineUrl(): Promise<string> {
  const { url, username, password } = await engine.address(LIMIT_MS);
  return `${url.replace("://", `://${username}:${password}@`)}/${DATABASE}`;
}

const as = (token: string) => ({ token, queryId: token });

function joined(rows: readonly Uint8Array[]) {
  return { bytes: new Uint8Array(Buffer.concat(rows)), lengths: Uint32Array.from(rows, (r) => r.length) };
}

it("keeps the password where only its owner reads it", async () => {
  const { statSync } = await import("node:fs");
  expect(statSync(`${home}/clickhouse.json`).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(`${home}/clickhouse.json`, "utf8")).password.length).toBeGreaterThan(20);
});
