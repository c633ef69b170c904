import { fork } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClickHouse, openClickHouse } from "../../../src/analytics/client.ts";
import { type Engine, startEngine } from "../../../src/analytics/engine.ts";
import { storedPayload, storedRequest } from "../../../src/analytics/stored.ts";
import { PAYLOAD_COLUMNS, REQUEST_COLUMNS } from "../../../src/record/columns.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { Wire } from "./lossy-wire.ts";
import {
  type Bench,
  caller,
  distinctRecord,
  openBench,
  record,
  silentLog,
  temporaryFolder,
  until,
} from "./records.ts";

let home: string;
let engine: Engine;

beforeAll(async () => {
  home = temporaryFolder();
  engine = startEngine(home, silentLog);
  await engine.address(20_000);
});
afterAll(async () => {
  await engine.stop();
  rmSync(home, { recursive: true, force: true });
});

const direct = (database: string): ClickHouse =>
  openClickHouse({ address: () => engine.address(5000), database });

/** What stands in the tables: requests, distinct requests, payloads, and the roll-ups' sums. */
async function counted(database: string) {
  const clickhouse = direct(database);
  try {
    const one = async (sql: string) => (await clickhouse.rows<{ n: number }>(sql))[0]?.n;
    return {
      requests: await one("SELECT count() AS n FROM requests"),
      distinct: await one("SELECT uniqExact(request_id) AS n FROM requests"),
      payloads: await one("SELECT count() AS n FROM payloads"),
      usage: await one("SELECT sum(requests) AS n FROM usage_hourly"),
      cost: await one("SELECT sum(cost_micro) AS n FROM usage_hourly"),
      attempts: await one("SELECT sum(attempts) AS n FROM attempts_hourly"),
    };
  } finally {
    await clickhouse.close();
  }
}

const all = (n: number) => ({ requests: n, distinct: n, payloads: n, usage: n, cost: 60 * n, attempts: n });
const records = (n: number) => Array.from({ length: n }, () => record());

describe("T35: no record is lost, none is doubled", () => {
  it("when answers to inserts are lost after they were applied", async () => {
    const wire = new Wire(engine);
    await wire.open();
    const bench = openBench({ clickhouseUrl: await wire.url("lost_answers") });
    try {
      await bench.analytics.flush(5000);
      await bench.analytics.statistics.counts24h("org");
      for (let round = 0; round < 4; round++) {
        // Payloads, then also records: what is there is not sent again.
        wire.loseAnswers = 1 + (round % 2);
        await bench.add(records(50));
        expect(await bench.analytics.flush(30_000)).toBe(true);
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

  it("when the engine is away, and reads then say so", async () => {
    const wire = new Wire(engine);
    await wire.open();
    wire.close();
    const bench = openBench({ clickhouseUrl: await wire.url("away") });
    try {
      const rows = records(300);
      await bench.add(rows);
      const { listRequests, getGeneration } = bench.analytics.operations;
      const query = listRequests.query?.parse({}) as never;
      await expect(
        listRequests.run({ path: undefined, query, body: undefined }, caller(), NO_HEAD),
      ).rejects.toMatchObject({
        kind: "analytics_unavailable",
        status: 503,
      });
      // What is pending is still found by its id.
      const id = rows[0]?.requestId ?? "";
      const input = { path: { id }, query: undefined, body: undefined };
      expect(await getGeneration.run(input, caller(), NO_HEAD)).toMatchObject({ id });
      expect(bench.analytics.live()).toBe(false);
      await wire.open();
      expect(await bench.analytics.flush(30_000)).toBe(true);
      expect(await counted("away")).toEqual(all(300));
    } finally {
      await bench.close();
      wire.close();
    }
  });

  it("nor does a stop wait for a ClickHouse that refuses: the rows are in for the next start", async () => {
    const wire = new Wire(engine);
    await wire.open();
    const bench = openBench({ clickhouseUrl: await wire.url("refusing") });
    wire.close();
    await bench.add(records(10));
    // Longer than this test may take.
    await bench.analytics.stop(600_000);
    expect(bench.analytics.metrics()).toMatchObject({ outboxRows: 10, insertedRows: 0 });
    await bench.close();
  });

  it("when the process ends between an insertion and its acknowledgement", async () => {
    const dataDir = temporaryFolder();
    const wire = new Wire(engine);
    await wire.open();
    const first = openBench({ dataDir, clickhouseUrl: await wire.url("half_way"), batchAgeMs: 60_000 });
    await first.analytics.flush(1000);
    await first.add(records(40));
    // By hand what the spool does, up to the line before the acknowledgement.
    const batch = await first.outbox.nextBatch({ rows: 25, bytes: 1e9 }, () => "weir-token");
    const finished = await first.pool.finish(joined(batch?.rows ?? []));
    const clickhouse = direct("half_way");
    const { payloads, requests } = finished;
    await clickhouse.insert("payloads", PAYLOAD_COLUMNS, [payloads.bytes], as("weir-token-payloads"));
    await clickhouse.insert("requests", REQUEST_COLUMNS, [requests.bytes], as("weir-token-requests"));
    await clickhouse.close();
    wire.close();
    await first.analytics.stop(1);
    await first.pool.close();
    await first.store.close();

    await wire.open();
    const second = openBench({ dataDir, clickhouseUrl: await wire.url("half_way") });
    try {
      expect(second.outbox.recent(record().requestId)).toBeUndefined();
      expect(second.analytics.metrics().outboxRows).toBe(40);
      expect(await second.analytics.flush(30_000)).toBe(true);
      expect(await counted("half_way")).toEqual(all(40));
    } finally {
      await second.close();
      wire.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it("when the gateway is killed with -9 at any moment, three times over", async () => {
    const dataDir = temporaryFolder();
    const address = await engine.address(5000);
    const { username, password } = address;
    const url = `${address.url.replace("://", `://${username}:${password}@`)}/killed`;
    const committed = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const victim = fork(fileURLToPath(new URL("./victim.ts", import.meta.url)), [dataDir, url], {
        execArgv: [],
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      const started = committed.size;
      victim.on("message", (ids: string[]) => {
        for (const id of ids) committed.add(id);
      });
      await until(() => committed.size >= started + 150 + 70 * round);
      victim.kill("SIGKILL");
      await new Promise((resolve) => victim.once("exit", resolve));
    }
    const bench = openBench({ dataDir, clickhouseUrl: url });
    try {
      expect(await bench.analytics.flush(30_000)).toBe(true);
      const clickhouse = direct("killed");
      const stored = await clickhouse.rows<{ request_id: string }>("SELECT request_id FROM requests");
      await clickhouse.close();
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

it("rows that cannot be decoded or redacted hold nobody up", async () => {
  const bench = openBench({ clickhouseUrl: await urlOf("faulty") });
  try {
    const badPattern = record({ redact: { presets: [], patterns: ["(unclosed"] } });
    const badPreset = record({ redact: { presets: ["nonsense"], patterns: [] } });
    const damaged = bench.outbox.prepare(record()).bytes.subarray(0, 100);
    await bench.add(records(5));
    await bench.store.act(() => bench.outbox.put({ requestId: "damaged", bytes: damaged }));
    await bench.add([badPattern, badPreset, ...records(5)]);
    expect(await bench.analytics.flush(30_000)).toBe(true);
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

it("values that no column takes are brought into range instead of blocking a batch", async () => {
  const bench = openBench({ clickhouseUrl: await urlOf("odd_values") });
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
    expect(await bench.analytics.flush(30_000)).toBe(true);
    const clickhouse = direct("odd_values");
    const rows = await clickhouse.rows(
      "SELECT ttft_ms, duration_ms, http_status, model, input_tokens, output_tokens, length(tags) AS tags FROM requests",
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
    await clickhouse.close();
  } finally {
    await bench.close();
  }
});

it("every field of a record lands in the column of its name", async () => {
  const database = "columns";
  const bench = openBench({ clickhouseUrl: await urlOf(database) });
  const clickhouse = direct(database);
  try {
    const distinct = distinctRecord();
    const { request, response, ...kept } = distinct;
    await bench.add([distinct]);
    expect(await bench.analytics.flush(30_000)).toBe(true);
    const stored = await storedRequest(clickhouse, kept.orgId, kept.requestId);
    expect(stored).toEqual({ ...kept, redact: expect.anything() });
    expect(await storedPayload(clickhouse, kept, kept.tsMs)).toEqual({
      request: String(request),
      response: String(response),
    });
  } finally {
    await clickhouse.close();
    await bench.close();
  }
});

it("a part of a batch that had arrived is completed in every table (the engine's own contract)", async () => {
  const database = "partial";
  const clickhouse = direct(database);
  const bench: Bench = openBench({ clickhouseUrl: await urlOf(database), batchAgeMs: 60_000 });
  try {
    await clickhouse.ready();
    const old = record({ tsMs: Date.UTC(2026, 0, 31, 23) });
    const young = record({ tsMs: Date.UTC(2026, 1, 1, 1) });
    const finish = async (rows: ReturnType<typeof record>[]) =>
      (
        await bench.pool.finish({
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
    expect(await counted(database)).toMatchObject({ requests: 2, distinct: 2, usage: 2, attempts: 2 });
    // The engine died after the records, before a roll-up.
    await command(database, "DETACH TABLE usage_hourly_view SYNC");
    const late = await finish([record({ tsMs: old.tsMs })]);
    await clickhouse.insert("requests", REQUEST_COLUMNS, [late.bytes], as("late-requests"));
    await command(database, "ATTACH TABLE usage_hourly_view");
    expect(await counted(database)).toMatchObject({ requests: 3, usage: 2, attempts: 3 });
    for (let times = 0; times < 2; times++) {
      await clickhouse.insert("requests", REQUEST_COLUMNS, [late.bytes], as("late-requests"));
    }
    expect(await counted(database)).toMatchObject({ requests: 3, distinct: 3, usage: 3, attempts: 3 });
  } finally {
    await clickhouse.close();
    await bench.close();
  }
});

async function command(database: string, sql: string): Promise<void> {
  const { url, username, password } = await engine.address(5000);
  const response = await fetch(`${url}/?database=${database}`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
    body: sql,
  });
  if (!response.ok) throw new Error(await response.text());
}

async function urlOf(database: string): Promise<string> {
  const { url, username, password } = await engine.address(5000);
  return `${url.replace("://", `://${username}:${password}@`)}/${database}`;
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
