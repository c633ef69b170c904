/**
 * The engine killed at its file writes. It writes a line of its deduplication log before the part that the line speaks
 * of: a kill between the two leaves the line alone, and an insertion under the same token then inserts nothing.
 * `WEIR_ENGINE_KILLS=50` for many rounds.
 */
import { fork } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClickHouse, openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { ROLL_UPS } from "../../../src/analytics/clickhouse/rollups.ts";
import { type Engine, startEngine } from "../../../src/analytics/engine/engine.ts";
import type { OrgEntry } from "../../../src/analytics/outbox/ledger-rows.ts";
import { openOutbox } from "../../../src/analytics/outbox/outbox.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { requestId } from "../../../src/base/ids.ts";
import type { CallRecord } from "../../../src/record/record.ts";
import { openStore } from "../../../src/store/store.ts";
import { openPool, type WorkerPool } from "../../../src/workers/pool.ts";
import { type Bench, clickhouseOf, openBench, sumsOf } from "../../support/analytics/bench.ts";
import { settle } from "../../support/analytics/ledger.fixtures.ts";
import { attempt, record, shadowRow, silentLog, temporaryFolder } from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { equals, until } from "../../support/wait.ts";

const ROUNDS = Number(process.env.WEIR_ENGINE_KILLS ?? amount(3, 1));
/** All cases share it, each with orgs and an endpoint of its own: to make its tables takes the engine half a second. */
const DATABASE = "cases";
const TABLES = ["payloads", "requests", "shadow_runs", "ledger", ...ROLL_UPS.map(({ table }) => table)];

const otherOrg = (org: string): string => `${org}_other`;

/** Records of two orgs, some streamed, one with two attempts: everything that roll-ups sum up by. The endpoint is `org` too. */
const someRecords = (org: string, count: number): CallRecord[] =>
  Array.from({ length: count }, (_, n) => {
    const tsMs = Date.now();
    return record({
      tsMs,
      orgId: n % 3 === 0 ? otherOrg(org) : org,
      stream: n % 2 === 0,
      cost: { total_micro_usd: 1 + n, lines: [], price_version: "pv" },
      tags: n % 2 === 0 ? { team: `team-${n % 3}`, run: "kill" } : {},
      attempts: [
        attempt({ tsMs, endpointId: org }),
        ...(n % 4 === 0 ? [attempt({ attempt: 2, tsMs, endpointId: org, outputTokens: n })] : []),
      ],
    });
  });

let entriesMade = 0;

/** Puts records, and of each a shadow run and a ledger entry. */
async function put(bench: Bench, records: readonly CallRecord[]): Promise<void> {
  await bench.add(records);
  await bench.store.act(() => {
    for (const { requestId: id, orgId, tsMs } of records) {
      bench.analytics.shadowRuns.prepare(
        shadowRow({ orgId, tsMs, requestId: id, shadowRequestId: requestId(tsMs) }),
      )();
      bench.analytics.ledger.put([{ ...settle(orgId, ++entriesMade), requestId: id } as OrgEntry]);
    }
  });
}

const flushed = async (bench: Bench): Promise<boolean> =>
  (await bench.analytics.flush(30_000)) &&
  (await bench.analytics.shadowRuns.flush(30_000)) &&
  (await bench.analytics.ledger.flush(30_000));

/** Every record is there once, with its payload, shadow run and ledger entry, and roll-ups say what the records sum up to. */
async function check(clickhouse: ClickHouse, org: string, records: readonly CallRecord[]): Promise<void> {
  const mine = `org_id IN ('${org}', '${otherOrg(org)}')`;
  const ids = records.map(({ requestId: id }) => id).sort();
  for (const table of ["requests", "payloads", "shadow_runs", "ledger"]) {
    const rows = await clickhouse.rows<{ id: string }>(
      `SELECT request_id AS id FROM ${table} WHERE ${mine} ORDER BY id`,
    );
    expect([table, rows.map(({ id }) => id)]).toEqual([table, ids]);
  }
  const hour = "toStartOfHour(toDateTime(ts, 'UTC'), 'UTC')";
  for (const rollUp of ROLL_UPS.filter(({ table }) => table.startsWith("usage_"))) {
    const { table, sums, again } = sumsOf(rollUp, mine);
    expect([table, await clickhouse.rows(sums)]).toEqual([table, await clickhouse.rows(again)]);
  }
  expect(
    await clickhouse.rows(`SELECT endpoint_id, hour, sum(attempts) AS n, sum(output_tokens) AS output
      FROM attempts_hourly WHERE endpoint_id = '${org}' GROUP BY endpoint_id, hour ORDER BY endpoint_id, hour`),
  ).toEqual(
    await clickhouse.rows(`SELECT endpoint_id, ${hour} AS hour, count() AS n, sum(output_tokens) AS output
      FROM attempts WHERE endpoint_id = '${org}' GROUP BY endpoint_id, hour ORDER BY endpoint_id, hour`),
  );
}

/** A wire that passes everything on, until it has lost the answer to an insertion into one table: then nothing passes. */
class Wire {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #target = 0;
  loses: string | undefined;
  lost = 0;
  port = 0;

  async open(target: number): Promise<void> {
    this.#target = target;
    const server = createServer((near) => this.#carry(near));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", () => resolve()));
    this.port = (server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #carry(near: Socket): void {
    const far = connect(this.#target, "127.0.0.1");
    let awaited = false;
    near.on("data", (chunk: Buffer) => {
      if (this.loses !== undefined) awaited ||= chunk.includes(`INSERT+INTO+${this.loses}+`);
      far.write(chunk);
    });
    far.on("data", (chunk: Buffer) => {
      if (!awaited) {
        near.write(chunk);
        return;
      }
      this.lost++;
      this.loses = undefined;
      this.close();
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}

/** What a case loses: the answer to an insertion into `inserted`, and the newest part of each of the tables `lost`. */
interface LossCase {
  readonly name: string;
  readonly inserted: string;
  readonly lost: readonly string[];
}

/** A case whose insertion reached the engine, whose answer was lost, and whose wire passes nothing any more. */
interface Loss {
  readonly org: string;
  readonly dataDir: string;
  readonly wire: Wire;
  readonly bench: Bench;
  readonly records: readonly CallRecord[];
}

const portOf = async (engine: Engine) => Number(new URL((await engine.address(20_000)).url).port);

async function benchOnWire(engine: Engine, wire: Wire, dataDir: string): Promise<Bench> {
  const { username, password } = await engine.address(5000);
  const clickhouseUrl = `http://${username}:${password}@127.0.0.1:${wire.port}/${DATABASE}`;
  return openBench({ pool, dataDir, clickhouseUrl });
}

async function loseAnswer(engine: Engine, { inserted }: LossCase, org: string): Promise<Loss> {
  const wire = new Wire();
  await wire.open(await portOf(engine));
  const dataDir = temporaryFolder();
  const bench = await benchOnWire(engine, wire, dataDir);
  const records = someRecords(org, 20);
  await put(bench, records);
  expect(await flushed(bench)).toBe(true);
  wire.loses = inserted;
  const more = someRecords(org, 30);
  await put(bench, more);
  await until("one answer is lost", () => wire.lost, equals(1));
  return { org, dataDir, wire, bench, records: [...records, ...more] };
}

/** Path of the newest part that a case has in a table. */
async function newestPart({ org }: Loss, table: string): Promise<string> {
  const isItsOwn = table === "attempts_hourly" ? "endpoint_id = {org:String}" : "org_id = {org:String}";
  const [newest] = await clickhouse.rows<{ path: string }>(
    `SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = {table:String}
     AND name IN (SELECT _part FROM ${table} WHERE ${isItsOwn}) ORDER BY min_block_number DESC LIMIT 1`,
    { table, org },
  );
  return newest?.path ?? expect.fail(`${org} has no part of ${table}`);
}

const CASES: readonly LossCase[] = [
  { name: "payloads", inserted: "payloads", lost: ["payloads"] },
  { name: "shadow runs", inserted: "shadow_runs", lost: ["shadow_runs"] },
  { name: "ledger entries", inserted: "ledger", lost: ["ledger"] },
  { name: "records", inserted: "requests", lost: ["requests"] },
  { name: "roll-ups", inserted: "requests", lost: ["usage_hourly", "attempts_hourly"] },
  {
    name: "records and a roll-up, though the other is there",
    inserted: "requests",
    lost: ["requests", "attempts_hourly"],
  },
  {
    name: "records and the roll-up by tag",
    inserted: "requests",
    lost: ["requests", "usage_tags_daily"],
  },
  { name: "roll-ups by tag", inserted: "requests", lost: ["usage_tags_daily"] },
  {
    name: "records and both roll-ups",
    inserted: "requests",
    lost: ["requests", "usage_hourly", "attempts_hourly"],
  },
];
const DEATH: LossCase = { name: "", inserted: "requests", lost: ["requests", "usage_hourly"] };

let home: string;
let engine: Engine;
let clickhouse: ClickHouse;
/** One for all benches on that engine: a thread takes a quarter of a second to start. */
let pool: WorkerPool;

beforeAll(async () => {
  home = temporaryFolder();
  engine = startEngine(home, silentLog);
  clickhouse = openClickHouse({ address: () => engine.address(20_000), database: DATABASE });
  await clickhouse.ready();
  pool = openPool();
});
afterAll(async () => {
  await clickhouse.close();
  await engine.stop();
  await pool.close();
  rmSync(home, { recursive: true, force: true });
});

// The engine starts twice, for all cases together: seconds, or half a minute on a busy machine.
describe("O2: a part that is lost behind its line in the deduplication log", () => {
  /** Each case has orgs, a wire and a bench of its own; the engine is down once, for all of them. */
  const losses = new Map<LossCase, Loss>();

  beforeAll(async () => {
    // Merged with another, a part could not be taken away alone. The engine that starts next merges again.
    const { url, username, password } = await engine.address(5000);
    const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
    const answer = await fetch(url, { method: "POST", headers, body: "SYSTEM STOP MERGES" });
    expect(answer.status).toBe(200);
    await Promise.all(
      [...CASES, DEATH].map(async (one, n) => losses.set(one, await loseAnswer(engine, one, `case_${n}`))),
    );
    const death = losses.get(DEATH)?.bench;
    await death?.analytics.stop(1);
    await death?.store.close();
    const paths = await Promise.all(
      [...losses].flatMap(([{ lost }, loss]) => lost.map((table) => newestPart(loss, table))),
    );
    expect(new Set(paths).size).toBe(paths.length);
    await engine.stop();
    // Taken away while the engine is down: as if it had died before the parts' rename.
    for (const path of paths)
      rmSync(join(home, "clickhouse", path.replace(/^.*?(?=store\/)/, "")), { recursive: true });
    engine = startEngine(home, silentLog);
    for (const { wire } of losses.values()) await wire.open(await portOf(engine));
  });
  afterAll(async () => {
    for (const [one, { bench, wire, dataDir }] of losses) {
      if (one !== DEATH) await bench.close();
      wire.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  const lossOf = (one: LossCase): Loss => {
    const loss = losses.get(one);
    if (loss === undefined) throw new Error(`the case was not prepared: ${one.name}`);
    return loss;
  };

  test.each(CASES.map((one) => [one.name, one] as const))("is inserted anew: %s", async (_name, one) => {
    const { bench, org, records } = lossOf(one);
    expect(await flushed(bench)).toBe(true);
    await check(clickhouse, org, records);
  });

  test("is inserted anew after the gateway has died as well", async () => {
    const { wire, org, dataDir, records } = lossOf(DEATH);
    const second = await benchOnWire(engine, wire, dataDir);
    try {
      expect(await flushed(second)).toBe(true);
      await check(clickhouse, org, records);
    } finally {
      await second.close();
    }
  });
});

test("O2: a batch that the release before this one left under way reaches the roll-ups too", async () => {
  const dataDir = temporaryFolder();
  const org = "earlier";
  const { url, username, password } = await engine.address(20_000);
  const clickhouseUrl = `${url.replace("://", `://${username}:${password}@`)}/${DATABASE}`;
  const before = openBench({ pool, dataDir, clickhouseUrl });
  const records = someRecords(org, 20);
  await put(before, records);
  expect(await flushed(before)).toBe(true);
  await before.close();
  const more = someRecords(org, 30);
  const store = openStore(dataDir);
  const outbox = openOutbox(store);
  for (const record of more) await store.act(() => outbox.add(record));
  // As that release wrote it: it told neither run nor number.
  const { batch } = (await outbox.nextBatch({ rows: 100, bytes: 1e9 }, () => "weir-earlier")) ?? {};
  const { first, last, token } = batch ?? {};
  await store.act(() => store.table("outbox_state").put("batch", { first, last, token }));
  await store.close();
  const after = openBench({ pool, dataDir, clickhouseUrl });
  try {
    expect(await flushed(after)).toBe(true);
    const sums = "SELECT sum(requests) AS n FROM usage_hourly WHERE startsWith(org_id, {org:String})";
    expect(await clickhouse.rows(sums, { org })).toEqual([{ n: records.length + more.length }]);
    const tried = "SELECT sum(attempts) AS n FROM attempts_hourly WHERE endpoint_id = {org:String}";
    const tries = [...records, ...more].flatMap(({ attempts }) => attempts);
    expect(await clickhouse.rows(tried, { org })).toEqual([{ n: tries.length }]);
  } finally {
    await after.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test(
  `O2: kills aimed at the engine's file writes (${ROUNDS}) lose no row and double none`,
  async () => {
    const bench = openBench();
    const random = seededRandom(ROUNDS);
    const killer = fileURLToPath(new URL("./kill-at-writes.ts", import.meta.url));
    const org = "killed";
    const records: CallRecord[] = someRecords(org, 5);
    try {
      await put(bench, records);
      expect(await flushed(bench)).toBe(true);
      const clickhouse = clickhouseOf(bench);
      const folders = new Map(
        (
          await clickhouse.rows<{ name: string; path: string }>(
            "SELECT name, data_paths[1] AS path FROM system.tables WHERE database = 'weir' AND notEmpty(data_paths)",
          )
        ).map(({ name, path }) => [
          name,
          join(bench.dataDir, "clickhouse", path.replace(/^.*?(?=store\/)/, "")),
        ]),
      );
      for (let round = 0; round < ROUNDS; round++) {
        const table = TABLES[round % TABLES.length] as string;
        const folder = folders.get(table) ?? "";
        expect(readdirSync(folder)).toContain("deduplication_logs");
        // Mostly at the line of the log; else while the part is written, or right after it is there.
        const aim = ["log", "log", "log", "writing", "part"][Math.floor(random() * 5)] as string;
        // Where the batch was in before the kill, nothing has waited for the engine to come back.
        await until("ClickHouse answers", () => clickhouse.rows("SELECT 1"));
        if (round % 10 === 9) await check(clickhouse, org, records);
        const pid = bench.analytics.metrics().enginePid;
        const delayUs = Math.floor(random() * random() * 400);
        const child = fork(killer, [String(pid), folder, aim, String(delayUs)], { execArgv: [] });
        const watching = new Promise((resolve) => child.once("message", () => resolve("watching")));
        const ended = new Promise((resolve) => child.once("exit", (code) => resolve(`ended: ${code}`)));
        expect(await Promise.race([watching, ended])).toBe("watching");
        const more = someRecords(org, 1 + Math.floor(random() * 20));
        records.push(...more);
        await put(bench, more);
        expect(await ended).toBe("ended: 0");
        await until(
          "the engine is started again",
          () => bench.analytics.metrics().engineRestarts,
          equals(round + 1),
        );
        expect(await flushed(bench)).toBe(true);
      }
      await until("ClickHouse answers", () => clickhouse.rows("SELECT 1"));
      await check(clickhouse, org, records);
      await clickhouse.close();
    } finally {
      await bench.close();
    }
  },
  60_000 + ROUNDS * 40_000,
);
