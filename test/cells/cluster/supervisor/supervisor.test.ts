/** Several gateways on one port: whatever dies, the others serve, and nothing is left behind. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { amount } from "../../../support/effort.ts";
import { removeFolder, seededFolder } from "../../../support/gateway.ts";
import { again } from "../../../support/pace.ts";
import { MAIN, place, run } from "../../../support/process.fixtures.ts";
import {
  faultsOf,
  hasRedis,
  lives,
  load,
  processesOf,
  redisPid,
  startAt,
  startCells,
  why,
} from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

const it = test.skipIf(!hasRedis);

/** In which calls are to be seen to go on while a cell is away. */
const MOST_KILLS = 5;

const HELLO = JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] });

it(`a killed cell and a killed Redis come back while the others serve; no second supervisor gets in${why}`, async () => {
  const cells = await startCells(3);
  await cells.allReady();
  const before = await cells.pids();
  expect(new Set(before).size).toBe(3);
  let after = before;
  let kills = 0;
  // Calls of a late machine may come when the cell is back already: then both are killed once more.
  for (let meanwhile = 0; meanwhile <= 10; ) {
    expect(++kills, "kills behind which hardly any call is answered").toBeLessThanOrEqual(MOST_KILLS);
    const killed = after[1] ?? 0;
    const redis = await redisPid(cells);
    process.kill(killed, "SIGKILL");
    process.kill(redis, "SIGKILL");
    // Connections in its queue are reset when it dies; those of this load come later.
    await until("it is dead", () => !isKnown(killed));
    const calls = load(`${cells.where.url}/healthz`);
    await until("it is back", async () => {
      const known = (await cells.status())?.cells ?? [];
      return known[1]?.state === "ready" && known[1].pid !== killed;
    });
    meanwhile = calls.good;
    await calls.end();
    expect(calls.bad).toEqual([]);
    after = await cells.pids();
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
    const said = cells.output();
    expect(said).toMatch(/"cell":2,.*"msg":"a cell ended; it is started again"/);
    await until("Redis is back", () => cells.output().split('"Redis is ready"').length === kills + 2);
    expect([0, redis]).not.toContain(await redisPid(cells));
  }
  const other = startAt({ ...cells.where, env: { ...cells.where.env, PORT: "0" } }, 2);
  expect((await other.ended).code).toBe(1);
  expect(other.output()).toContain("another supervisor runs on DATA_DIR");
  const listed = spawnSync(process.execPath, [MAIN, "cells"], { env: cells.where.env, encoding: "utf8" });
  expect(listed.stdout).toMatch(new RegExp(`^2 +${after[1]} +ready +${kills}$`, "m"));
  await leavesNothing(cells);
});

/** Also while threads of it still end, which keeps its sockets open. */
function isKnown(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What a gateway that ran alone has left, for the first cell. @returns the key */
async function usedAlone(dataDir: string): Promise<string> {
  const seeded = await seededFolder(() => {});
  onTestFinished(() => removeFolder(seeded));
  cpSync(join(seeded, "data"), dataDir, { recursive: true });
  return readFileSync(join(dataDir, "first-key"), "utf8").trim();
}

async function leavesNothing(cells: Awaited<ReturnType<typeof startCells>>): Promise<void> {
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  expect(processesOf(cells.where.dataDir)).toEqual([]);
}

it(`a rolling restart under steady load costs no connection and no call${why}`, async () => {
  const where = await place();
  const key = await usedAlone(where.dataDir);
  const cells = startAt(where, 2);
  await cells.allReady();
  const before = await cells.pids();
  const fresh = load(`${where.url}/healthz`, { everyMs: 0, atOnce: 8 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const call = { url: `${where.url}/v1/chat/completions`, headers, body: HELLO };
  const calls = [
    load(call.url, { ...call, everyMs: 10, atOnce: 2 }),
    load(call.url, { ...call, everyMs: 1, atOnce: 8, keepAlive: true }),
  ];
  await until("calls are answered", () => calls.every(({ good }) => good > 5));
  for (let asked = 1; asked <= amount(6, 1); asked++) {
    cells.child.kill("SIGHUP");
    const done = () => cells.output().split("rolling restart is done").length > asked;
    await until("it is done", done);
  }
  const all = [fresh, ...calls];
  await Promise.all(all.map((each) => each.end()));
  expect(all.map(faultsOf)).toEqual([[], [], []]);
  // A cell that leaves empties its queue first: what comes in the moment between that and the end of the queue is not many.
  const resets = all.flatMap(({ bad }) => bad).length;
  expect(resets).toBeLessThanOrEqual(4 * amount(6, 1));
  const after = await cells.pids();
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  expect((await cells.status())?.cells.map(({ restarts }) => restarts)).toEqual([0, 0]);
  await leavesNothing(cells);
});

it(`one of two cells is drained and started again: no call fails, and it stays stopped in between${why}`, async () => {
  const where = await place();
  const key = await usedAlone(where.dataDir);
  const cells = startAt(where, 2);
  await cells.allReady();
  const [first = 0, second = 0] = await cells.pids();
  const weir = (...words: string[]) => {
    const child = run(process.execPath, [MAIN, ...words], {
      env: where.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return child.ended.then(({ code }) => ({ code, said: child.output() }));
  };
  expect(await weir("cells", "start", "2")).toEqual({
    code: 1,
    said: "cell 2 was not drained: it is ready\n",
  });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const call = { headers, body: HELLO };
  const url = `${where.url}/v1/chat/completions`;
  const calls = [
    load(url, { ...call, everyMs: 10, atOnce: 2 }),
    load(url, { ...call, everyMs: 1, atOnce: 8, keepAlive: true }),
  ];
  await until("calls are answered", () => calls.every(({ good }) => good > 5));
  expect((await weir("cells", "drain", "local-2")).code).toBe(0);
  expect([lives(first), lives(second)]).toEqual([true, false]);
  expect((await cells.status())?.cells.map(({ state }) => state)).toEqual(["ready", "stopped"]);
  const refused = await weir("cells", "drain", "1");
  expect(refused).toEqual({ code: 1, said: expect.stringContaining("no cell but 1 serves") });
  expect(await weir("cells", "drain", "7")).toMatchObject({
    code: 1,
    said: expect.stringContaining("there is no cell 7 here"),
  });
  expect((await weir("cells", "start", "2")).code).toBe(0);
  await cells.allReady();
  const before = calls.map(({ good }) => good);
  await until("calls go on", () => calls.every(({ good }, at) => good > (before[at] ?? 0) + 5));
  await Promise.all(calls.map((each) => each.end()));
  expect(calls.map(faultsOf)).toEqual([[], []]);
  expect((await cells.status())?.cells.map(({ restarts }) => restarts)).toEqual([0, 0]);
  await leavesNothing(cells);
});

it(`a crash loop is said once, stops a rolling restart, and ends when its cause does${why}`, async () => {
  const cells = await startCells(2);
  await cells.allReady();
  const settings = join(cells.where.env.CONFIG_DIR ?? "", "weir.yaml");
  writeFileSync(settings, "limits: { max_drains: -1 }\n");
  const [first = 0, second = 0] = await cells.pids();
  cells.child.kill("SIGHUP");
  await until("it is given up", () => cells.output().includes("the rolling restart ends here"));
  expect(cells.output().match(/"a cell ended; it is started again"/g)).toHaveLength(1);
  expect([lives(first), lives(second)]).toEqual([false, true]);
  expect((await fetch(`${cells.where.url}/healthz`)).status).toBe(200);
  rmSync(settings);
  await cells.allReady();
  expect((await cells.pids())[1]).toBe(second);
  await leavesNothing(cells);
});

it(`wrong settings at the start: no loop, and nothing is left${why}`, async () => {
  const where = await place();
  writeFileSync(join(where.env.CONFIG_DIR ?? "", "providers.yaml"), "providers: 5\n");
  const cells = startAt(where, 2);
  expect((await cells.ended).code).toBe(1);
  expect(cells.output()).toMatch(/cell \d ended with code 1 before it had served/);
  expect(processesOf(where.dataDir)).toEqual([]);
});

it(`a cell that cannot start fails the start, also where another one serves by then${why}`, async () => {
  const where = await place();
  const cells = startAt(where, 2);
  const known = async () => (await cells.status())?.cells ?? [];
  const late = await until("the second cell is started", async () => (await known())[1]?.pid ?? 0);
  process.kill(late, "SIGSTOP");
  await until("the first one serves", async () => (await known())[0]?.state === "ready");
  writeFileSync(join(where.env.CONFIG_DIR ?? "", "weir.yaml"), "limits: { max_drains: -1 }\n");
  process.kill(late, "SIGCONT");
  await until("the supervisor has ended", () => cells.child.exitCode !== null);
  expect((await cells.ended).code).toBe(1);
  expect(cells.output()).toContain("cell 2 ended with code 1 before it had served");
  expect(processesOf(where.dataDir)).toEqual([]);
});

it(`cells share one engine: what any was asked is in one table, analysts get in, and a second signal ends all${why}`, async () => {
  const where = await place({ CLICKHOUSE_URL: "" });
  const key = await usedAlone(where.dataDir);
  const cells = startAt(where, 2);
  await cells.allReady();
  const send = (path: string, body: unknown, bearer = key) =>
    fetch(`${where.url}${path}`, {
      method: "POST",
      // Each on a connection of its own, so that both cells get some.
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json", connection: "close" },
      body: JSON.stringify(body),
    });
  for (let i = 0; i < 16; i++)
    expect((await send("/v1/chat/completions", JSON.parse(HELLO))).status).toBe(200);
  const sql = "SELECT cell, count() FROM weir.requests GROUP BY cell ORDER BY cell FORMAT TSV";
  const rows = async () => {
    // The engine may still start: cells are ready without it.
    const engine = JSON.parse(readFileSync(join(where.dataDir, "clickhouse.json"), "utf8"));
    const login = Buffer.from(`${engine.username}:${engine.password}`).toString("base64");
    const answer = await fetch(engine.url, {
      method: "POST",
      body: sql,
      headers: { authorization: `Basic ${login}` },
    });
    return answer.ok ? [...(await answer.text()).matchAll(/^(local-\d)\t(\d+)$/gm)] : [];
  };
  let found: Awaited<ReturnType<typeof rows>> = [];
  await until("all rows are there", async () => {
    found = await rows();
    return found.reduce((sum, [, , count]) => sum + Number(count), 0) === 16;
  });
  // One connection each: with 16 the chance that one cell got all is 1 in 32,768.
  expect(found.map(([, cell]) => cell)).toEqual(["local-1", "local-2"]);
  expect((await cells.status())?.engine?.pid).toBeGreaterThan(0);
  // The secret of one cell is that of all.
  const operatorKey = readFileSync(join(where.dataDir, "cells/2/operator-key"), "utf8").trim();
  const answer = await send("/v1/operator/analytics/users", { name: "bi" }, operatorKey);
  expect(answer.status).toBe(201);
  const made = (await answer.json()) as { username: string; password: string; url: string };
  await until("the analyst is let in", async () => {
    const login = Buffer.from(`${made.username}:${made.password}`).toString("base64");
    const asked = {
      method: "POST",
      body: "SELECT count() FROM requests",
      headers: { authorization: `Basic ${login}` },
    };
    const answer = await fetch(made.url, asked);
    return answer.ok && (await answer.text()).trim() === "16";
  });
  const long = { model: "weir/sim-small", stream: true };
  const messages = [{ role: "user", content: "[[sim tokens=900 gap_ms=100]]" }];
  const stream = await send("/v1/chat/completions", { ...long, messages });
  expect(stream.status).toBe(200);
  void stream.text().catch(() => {});
  cells.child.kill("SIGTERM");
  await until("it drains", () => cells.output().includes("all cells drain"));
  // Signals that follow each other soon are taken for one.
  const endSignals = again(() => cells.child.kill("SIGTERM"), 100);
  expect((await cells.ended).code).toBe(130);
  endSignals();
  expect(processesOf(where.dataDir)).toEqual([]);
});

it(`a killed supervisor: its cells end, and the next one takes over its Redis${why}`, async () => {
  const first = await startCells(2);
  await first.allReady();
  const [pids, redis] = [await first.pids(), await redisPid(first)];
  first.child.kill("SIGKILL");
  // Its cells may still drain, on the port and the folders.
  const second = startAt(first.where, 2);
  await second.allReady();
  expect(pids.filter(lives)).toEqual([]);
  expect((await second.status())?.redis).toMatchObject({ pid: redis, adopted: true });
  await leavesNothing(second);
});

it(`a port that a stranger has is refused at the start, also one that shares it${why}`, async () => {
  for (const reusePort of [false, true]) {
    const where = await place();
    const stranger = createServer();
    const port = Number(where.env.PORT);
    await new Promise<void>((resolve) => stranger.listen({ host: "127.0.0.1", port, reusePort }, resolve));
    onTestFinished(() => void stranger.close());
    const cells = startAt(where, 2);
    expect((await cells.ended).code).toBe(1);
    expect(cells.output()).toContain(`port ${port} is in use on 127.0.0.1`);
    expect(processesOf(where.dataDir)).toEqual([]);
  }
});

it(`a signal that comes before anything serves is obeyed, and leaves no process behind${why}`, async () => {
  const where = await place();
  const cells = startAt(where, 2);
  await until("Redis runs", () => existsSync(join(where.dataDir, "redis/appendonlydir")));
  cells.child.kill("SIGHUP");
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  expect(processesOf(where.dataDir)).toEqual([]);
});
