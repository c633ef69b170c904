/** Several gateways on one port: whatever dies, the others serve, and nothing is left behind. */
import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../fixtures.ts";
import { MAIN, place, run } from "../process/fixtures.ts";
import { hasRedis, lives, load, processesOf, redisPid, startAt, startCells, why } from "./fixtures.ts";

const it = test.skipIf(!hasRedis);

it(`a killed cell is started again on its folder while the others serve${why}`, async () => {
  const cells = await startCells(3);
  await cells.allReady();
  const before = await cells.pids();
  expect(new Set(before).size).toBe(3);
  const killed = before[1] ?? 0;
  process.kill(killed, "SIGKILL");
  const calls = load(`${cells.where.url}/healthz`);
  await until("it is back", async () => {
    const known = (await cells.status())?.cells ?? [];
    return known[1]?.state === "ready" && known[1].pid !== killed;
  });
  await calls.end();
  // Connections that the dead process had in its queue are reset; none of these was.
  expect(calls.bad).toEqual([]);
  expect(calls.good).toBeGreaterThan(10);
  const after = await cells.pids();
  expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  const said = cells.output();
  expect(said).toMatch(/"cell":2,.*"msg":"a cell ended; it is started again"/);
  const listed = spawnSync(process.execPath, [MAIN, "cells"], { env: cells.where.env, encoding: "utf8" });
  expect(listed.stdout).toMatch(new RegExp(`^2 +${after[1]} +ready +1$`, "m"));
  await leavesNothing(cells);
});

async function leavesNothing(cells: Awaited<ReturnType<typeof startCells>>): Promise<void> {
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  expect(processesOf(cells.where.dataDir)).toEqual([]);
}

it(`a rolling restart under new connections costs no connection and no call${why}`, async () => {
  const cells = await startCells(2);
  await cells.allReady();
  const before = await cells.pids();
  const fresh = load(`${cells.where.url}/healthz`, { everyMs: 0, atOnce: 8 });
  const kept = load(`${cells.where.url}/readyz`, { keepAlive: true, everyMs: 5 });
  cells.child.kill("SIGHUP");
  await until("a restart has begun", () => cells.output().includes("a rolling restart begins"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  cells.child.kill("SIGHUP");
  await until(
    "both restarts are done",
    () => cells.output().split("the rolling restart is done").length === 3,
    120_000,
    50,
  );
  await Promise.all([fresh.end(), kept.end()]);
  expect({ fresh: fresh.bad, kept: kept.bad }).toEqual({ fresh: [], kept: [] });
  const after = await cells.pids();
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  expect((await cells.status())?.cells.map(({ restarts }) => restarts)).toEqual([0, 0]);
  await leavesNothing(cells);
}, 180_000);

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

it(`a second supervisor on the folder is refused, and a killed Redis is started again${why}`, async () => {
  const cells = await startCells(2);
  await cells.allReady();
  const other = startAt({ ...cells.where, env: { ...cells.where.env, PORT: "0" } }, 2);
  expect((await other.ended).code).toBe(1);
  expect(other.output()).toContain("another supervisor runs on DATA_DIR");
  const redis = await redisPid(cells);
  process.kill(redis, "SIGKILL");
  await until("another Redis runs", async () => ![0, redis].includes(await redisPid(cells)));
  await until("it is ready", () => cells.output().split('"Redis is ready"').length === 3);
  await leavesNothing(cells);
});

it(`a port that a stranger has is refused at the start, also one that shares it${why}`, async () => {
  for (const reusePort of [false, true]) {
    const where = await place({ WEIR_UNSHARED_CELLS: "1" });
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

test("several cells are refused in this release", async () => {
  const where = await place();
  for (const [args, env] of [
    [["--cells", "2"], {}],
    [[], { CELLS: "2" }],
  ] as const) {
    const refused = run(process.execPath, [MAIN, ...args], {
      env: { ...where.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect((await refused.ended).code).toBe(1);
    expect(refused.output()).toContain("cannot share credit and limits in this release");
  }
});
