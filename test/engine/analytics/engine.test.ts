import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Engine, type ServerAddress, startEngine } from "../../../src/analytics/engine/engine.ts";
import { openBench } from "../../support/analytics/bench.ts";
import { record, temporaryFolder } from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { rest } from "../../support/pace.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

const KILLS = amount(3, 2);
/** Rows of a thousand bytes each. */
const STREAMED_ROWS = amount(600_000, 250_000);
/** The engine holds a few blocks at a time. */
const BLOCK_ROWS = amount(8192, 2048);

let home: string;
let engine: Engine;
let address: ServerAddress;
let client: ClickHouseClient;
const warnings: string[] = [];

beforeAll(async () => {
  home = temporaryFolder();
  engine = startEngine(home, { warn: (_fields, message) => void warnings.push(message) });
  address = await engine.address(LIMIT_MS);
  client = createClient({
    ...address,
    compression: { request: true, response: true },
    log: { level: ClickHouseLogLevel.OFF },
  });
});
afterAll(async () => {
  await client.close();
  await engine.stop();
  rmSync(home, { recursive: true, force: true });
});

const rows = async <T>(query: string, query_params: Record<string, unknown> = {}) =>
  (await client.query({ query, query_params, format: "JSONEachRow" })).json<T>();

/** As curl would. */
async function http(
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; code: string | null; text: string }> {
  const headers = {
    "x-clickhouse-user": address.username,
    "x-clickhouse-key": address.password,
    ...init.headers,
  };
  const response = await fetch(`${address.url}${path}`, { ...init, headers });
  return {
    status: response.status,
    code: response.headers.get("x-clickhouse-exception-code"),
    text: await response.text(),
  };
}

const get = (sql: string, more = "") => http(`/?query=${encodeURIComponent(sql)}${more}`);
const post = (body: string, path = "/") => http(path, { method: "POST", body });

describe("the embedded engine, seen by ClickHouse's official client", () => {
  it("answers pings, queries and commands", async () => {
    expect(await client.ping()).toEqual({ success: true });
    expect(await client.ping({ select: true })).toEqual({ success: true });
    const result = await client.query({ query: "SELECT 1 AS x", format: "JSON" });
    expect(await result.json()).toMatchObject({ data: [{ x: 1 }], rows: 1 });
    await client.command({
      query: "CREATE TABLE default.t (a UInt32, s String) ENGINE = MergeTree ORDER BY a",
    });
  });

  it.each(["compress", "decompress"])("refuses ClickHouse's own compression by name: %s", async (name) => {
    const refused = await get("SELECT 1", `&${name}=1`);
    expect([refused.status, refused.code]).toEqual([501, "48"]);
    expect(refused.text).toContain(`set ${name}=0`);
    expect((await get("SELECT 1", `&${name}=0`)).text).toBe("1\n");
  });

  it("binds typed parameters, whatever is in them, also at once", async () => {
    const values = {
      s: 'it\'s\ta\nb\\c é😀 "q" {x:String}',
      list: ["x'y", "\tz"],
      n: 42,
      time: new Date(1_700_000_000_123),
      none: null,
      map: { a: "b'c" },
    };
    const sql = `SELECT {s:String} AS s, {list:Array(String)} AS list, {n:UInt64} AS n, {time:DateTime64(3, 'UTC')} AS time,
      {none:Nullable(String)} AS none, {map:Map(String, String)} AS map`;
    expect(await rows(sql, values)).toEqual([{ ...values, time: "2023-11-14 22:13:20.123" }]);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        rows<{ n: number }>("SELECT {n:UInt32} AS n, sum(number) FROM numbers(1000)", { n }),
      ),
    );
    expect(answers.map(([row]) => row?.n)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });

  it("inserts rows with blank lines, semicolons and quotes in them, by stream too", async () => {
    const texts = ["x\n\ny;", "'; DROP TABLE default.t; --", "\\", '"', "é😀\u0000z", ""];
    await client.insert({
      table: "default.t",
      values: texts.map((s, a) => ({ a, s })),
      format: "JSONEachRow",
    });
    expect((await rows<{ s: string }>("SELECT s FROM default.t ORDER BY a")).map((r) => r.s)).toEqual(texts);
    expect((await post('INSERT INTO default.t FORMAT CSV\n100,"a\n\n;b"\n101,c\n')).status).toBe(200);
    expect((await post("INSERT INTO default.t VALUES (102, 'v;'), (103, 'w')")).status).toBe(200);
    expect(
      (await post("(104, 'v')", `/?query=${encodeURIComponent("INSERT INTO default.t VALUES")}`)).status,
    ).toBe(200);
    const gzipped = { method: "POST", body: gzipSync("105\tgz\n"), headers: { "content-encoding": "gzip" } };
    expect(
      (await http(`/?query=${encodeURIComponent("INSERT INTO default.t FORMAT TSV")}`, gzipped)).status,
    ).toBe(200);
    expect(
      (await rows<{ s: string }>("SELECT s FROM default.t WHERE a >= 100 ORDER BY a")).map((r) => r.s),
    ).toEqual(["a\n\n;b", "c", "v;", "w", "v", "gz"]);
  });

  it("keeps settings and databases of one statement from the next", async () => {
    expect((await get("SELECT getSetting('max_threads')", "&max_threads=3")).text).toBe("3\n");
    expect((await get("SELECT getSetting('max_threads')")).text).not.toBe("3\n");
    expect((await get("SELECT currentDatabase()", "&database=system")).text).toBe("system\n");
    expect((await get("SELECT currentDatabase()")).text).toBe("default\n");
    expect((await get("SELECT 1 AS x", "&default_format=JSONEachRow")).text).toBe('{"x":1}\n');
  });

  it("names faults as ClickHouse does", async () => {
    await expect(rows("SELECT * FROM missing")).rejects.toMatchObject({ code: "60", type: "UNKNOWN_TABLE" });
    expect(await get("SELEC 1")).toMatchObject({ status: 400, code: "62" });
    expect(await get("SELECT 1", "&nonsense=1")).toMatchObject({ status: 400, code: "115" });
    expect(await post("")).toMatchObject({ status: 400, code: "62" });
    await expect(
      client.insert({ table: "default.t", values: [{ a: "text" }], format: "JSONEachRow" }),
    ).rejects.toMatchObject({ code: "27" });
  });

  it("O2: runs no two statements of one id at a time, so that a retry can tell whether the first try has ended", async () => {
    const again = () => get("SELECT 1", "&query_id=insertion-1");
    /** @returns false where it was over before a second one came, or came behind a second one */
    const runsAlone = async () => {
      let isOver = false;
      const slow = get("SELECT sum(sleepEachRow(0.1)) FROM numbers(20)", "&query_id=insertion-1").finally(
        () => {
          isOver = true;
        },
      );
      const isRefused = ({ code }: Awaited<ReturnType<typeof again>>) => code === "216";
      const last = await until(
        "a second one is refused, or it is over",
        again,
        (one) => isRefused(one) || isOver,
      );
      if (isRefused(last)) expect((await get("SELECT 1", "&query_id=insertion-2")).status).toBe(200);
      const { status, code } = await slow;
      if (status !== 200) expect(code).toBe("216");
      return status === 200 && isRefused(last);
    };
    await until("a second one is refused while it runs", runsAlone);
    expect((await again()).status).toBe(200);
  });

  it("changes nothing by GET and lets nobody in without the password", async () => {
    expect(await get("DROP TABLE default.t")).toMatchObject({ status: 403, code: "164" });
    for (const password of ["", "wrong", `${address.password}x`]) {
      const answer = await fetch(`${address.url}/?query=SELECT+1&user=weir&password=${password}`);
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("Code: 516")]);
    }
    const anonymous = await fetch(`${address.url}/?query=SELECT+1`);
    expect(anonymous.status).toBe(403);
  });

  it("streams a big result without holding it, and cuts the body where the query fails half way", async () => {
    const before = residentMb();
    const result = await client.query({
      query: `SELECT number, repeat('x', 1000) AS s FROM numbers(${STREAMED_ROWS}) SETTINGS max_block_size = ${BLOCK_ROWS}`,
      format: "JSONEachRow",
    });
    let count = 0;
    for await (const chunk of result.stream()) count += chunk.length;
    expect(count).toBe(STREAMED_ROWS);
    const whole = await client.query({ query: "SELECT number FROM numbers(100000)", format: "JSON" });
    expect(await whole.json()).toMatchObject({ rows: 100_000 });
    // Three quarters of the result.
    expect(residentMb() - before).toBeLessThan((0.75 * STREAMED_ROWS) / 1000);
    const broken = client.query({
      query: "SELECT throwIf(number = 250000) FROM numbers(300000) SETTINGS max_threads = 1",
      format: "JSONEachRow",
    });
    // Where the head has not gone out yet, the answer says it instead.
    await expect(broken.then((result) => result.json())).rejects.toThrow();
  });
});

/** One column of `ps` for a process; empty when there is none. */
function ps(column: string, pid: number | undefined): string {
  try {
    return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}

const residentMb = (): number => Number(ps("rss", engine.pid())) / 1024;

describe("the engine's process", () => {
  it("starts again on the same address when it dies, with its data", async () => {
    await client.command({ query: "CREATE TABLE default.kept (a UInt32) ENGINE = MergeTree ORDER BY a" });
    await client.command({ query: "INSERT INTO default.kept SELECT number FROM numbers(1000)" });
    const before = engine.pid();
    process.kill(before ?? 0, "SIGKILL");
    await until(
      "the engine runs again",
      () => ({ restarts: engine.restarts(), pid: engine.pid() }),
      ({ restarts, pid }) => restarts === 1 && pid !== undefined && pid !== before,
    );
    expect((await engine.address(LIMIT_MS)).url).toBe(address.url);
    expect(await rows("SELECT count() AS n FROM default.kept")).toEqual([{ n: 1000 }]);
    expect(warnings).toEqual(["the embedded analytics engine ended; starting it again"]);
  });

  it("goes when its parent is killed, and the next parent gets the folder", async () => {
    const folder = temporaryFolder();
    const parent: ChildProcess = fork(
      fileURLToPath(new URL("./engine-parent.ts", import.meta.url)),
      [folder],
      {
        execArgv: [],
      },
    );
    const pid = await new Promise<number>((resolve) => parent.once("message", (m) => resolve(m as number)));
    parent.kill("SIGKILL");
    // At once, while the orphan may still be there.
    const next = startEngine(folder, { warn: () => {} });
    try {
      await next.address(LIMIT_MS);
      // Gone, or only not yet reaped by whoever adopted it.
      expect(ps("stat", pid)).toMatch(/^(Z.*)?$/);
    } finally {
      await next.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it("T35: killing the engine again and again under load loses and doubles nothing", async () => {
  const bench = openBench();
  try {
    await until("the engine runs", () => bench.analytics.metrics().enginePid !== undefined);
    await bench.analytics.flush(LIMIT_MS);
    let added = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      for (let burst = 0; burst < 10; burst++) {
        await bench.add(Array.from({ length: 20 }, () => record()));
        added += 20;
        await rest(5);
      }
      const { enginePid } = bench.analytics.metrics();
      if (enginePid !== undefined) process.kill(enginePid, "SIGKILL");
    }
    expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
    const { url, username, password } = JSON.parse(readFileSync(`${bench.dataDir}/clickhouse.json`, "utf8"));
    const reader = createClient({ url, username, password, database: "weir" });
    const counts = await reader.query({
      query: `SELECT (SELECT count() FROM requests) AS requests, (SELECT uniqExact(request_id) FROM requests) AS distinct,
        (SELECT count() FROM payloads) AS payloads, (SELECT sum(requests) FROM usage_hourly) AS usage`,
      format: "JSONEachRow",
    });
    expect(await counts.json()).toEqual([
      { requests: added, distinct: added, payloads: added, usage: added },
    ]);
    await reader.close();
    expect(bench.analytics.metrics().engineRestarts).toBeGreaterThan(0);
  } finally {
    await bench.close();
  }
});
