/** The supervisor's parts that decide something by themselves. */
import { expect, test } from "vitest";
import { Backoff } from "../../../../src/cluster/supervisor/backoff.ts";
import { cellNumber, cellSide } from "../../../../src/cluster/supervisor/cell-side.ts";
import { EngineSharing } from "../../../../src/cluster/supervisor/engine-sharing.ts";
import type { EngineUserRow, FromCell, ToCell } from "../../../../src/cluster/supervisor/messages.ts";
import { type Restartable, RollingRestart } from "../../../../src/cluster/supervisor/rolling-restart.ts";
import { until } from "../../../support/wait.ts";

test("a crash loop pauses longer and longer, and is told at once and then once a minute", () => {
  let nowMs = 0;
  const backoff = new Backoff({ now: () => nowMs, monotonic: () => nowMs });
  const told: number[][] = [];
  const pauses: number[] = [];
  while (nowMs < 130_000) {
    const { pauseMs, tell } = backoff.ended(0);
    pauses.push(pauseMs);
    if (tell > 0) told.push([Math.round(nowMs / 1000), tell]);
    nowMs += pauseMs;
  }
  expect(pauses.slice(0, 8)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  expect(told.map(([second]) => second)).toEqual([0, 61, 121]);
  expect(told.reduce((sum, [, tell = 0]) => sum + tell, 0)).toBeGreaterThan(pauses.length - 12);
  // One that served for a while begins anew, and its end is told at once.
  expect(backoff.ended(60_000)).toMatchObject({ pauseMs: 100 });
  expect(backoff.ended(60_000).tell).toBe(1);
});

function engine() {
  let pid: number | undefined;
  let url = "";
  const users: string[][] = [];
  return {
    users,
    runs(newPid: number, newUrl: string) {
      pid = newPid;
      url = newUrl;
    },
    address: () => Promise.resolve({ url, username: "u", password: "p" }),
    pid: () => pid,
    setAnalysts: (rows: readonly EngineUserRow[]) => void users.push(rows.map(({ username }) => username)),
    stop: () => Promise.resolve(),
  };
}

test("one cell at a time migrates the database; the others are told the address when it has", async () => {
  const own = engine();
  const told: string[] = [];
  const sharing = new EngineSharing(own, (cell, { url }) => void told.push(`${cell} ${url}`));
  for (const cell of [1, 2, 3]) sharing.started(cell);
  own.runs(7, "a");
  await until("the engine is found", () => told.length > 0);
  expect(told).toEqual(["1 a"]);
  sharing.ended(1);
  expect(told).toEqual(["1 a", "2 a"]);
  sharing.started(1);
  sharing.migrated(2);
  sharing.migrated(3);
  sharing.migrated(1);
  expect(told).toEqual(["1 a", "2 a", "3 a", "1 a"]);
  own.runs(8, "b");
  await until("all hear of the new address", () => told.length === 7);
  expect(told.slice(4).sort()).toEqual(["1 b", "2 b", "3 b"]);
  await sharing.stop();
});

test("the engine lets in the analysts of all cells, each once", async () => {
  const own = engine();
  const sharing = new EngineSharing(own, () => {});
  sharing.setAnalysts(1, [{ username: "a" }, { username: "b" }]);
  sharing.setAnalysts(2, [{ username: "b" }, { username: "c" }]);
  sharing.setAnalysts(1, [{ username: "b" }]);
  expect(own.users.at(-1)).toEqual(["b", "c"]);
  await sharing.stop();
});

function channel(connected = true) {
  const heard: { message?: (message: ToCell) => void; disconnect?: () => void } = {};
  const said: FromCell[] = [];
  const on = (event: "message" | "disconnect", act: (message: ToCell) => void) => {
    Object.assign(heard, { [event]: act });
  };
  return { connected, heard, said, on, send: (message: FromCell) => said.push(message) };
}

test("a cell stops when its supervisor dies, also where that happened before it looked", async () => {
  const dying = channel();
  const side = cellSide(dying);
  const orders: string[] = [];
  side.onOrder((order) => orders.push(order));
  dying.heard.disconnect?.();
  expect([await side.ordered, orders]).toEqual(["stop", ["stop"]]);
  const dead = cellSide(channel(false));
  dead.onOrder((order) => orders.push(order));
  expect(orders).toEqual(["stop", "stop"]);
});

test("a cell waits for the engine's address, and hears of a new one", async () => {
  const heard = channel();
  const { engine: shared } = cellSide(heard);
  await expect(shared.address(1)).rejects.toThrow("is not up");
  const first = shared.address(5000);
  heard.heard.message?.({ engine: { url: "a", username: "u", password: "p" } });
  expect((await first).url).toBe("a");
  heard.heard.message?.({ engine: { url: "b", username: "u", password: "p" } });
  expect((await shared.address(1)).url).toBe("b");
});

test("a cell's calls of services are answered by their numbers, and fail when the supervisor dies", async () => {
  const supervisor = channel();
  const { services } = cellSide(supervisor);
  let changes = 0;
  services.onChange(() => changes++);
  const [portal, forgotten, payments] = [
    services.portal(),
    services.forgetPerson("a"),
    services.payments().catch((error: Error) => error.message),
  ];
  const taken = services.takeLink("token");
  expect(supervisor.said).toEqual([
    { asked: 1, call: { name: "portal", args: [] } },
    { asked: 2, call: { name: "forgetPerson", args: ["a"] } },
    { asked: 3, call: { name: "payments", args: [] } },
    { asked: 4, call: { name: "takeLink", args: ["token"] } },
  ]);
  supervisor.heard.message?.({ answered: 4, value: true });
  supervisor.heard.message?.({ answered: 3, error: "no port is free" });
  supervisor.heard.message?.({ answered: 1, value: "http://127.0.0.1:1" });
  supervisor.heard.message?.({ answered: 2, value: undefined });
  expect([await portal, await forgotten, await payments]).toEqual([
    "http://127.0.0.1:1",
    undefined,
    "no port is free",
  ]);
  expect(await taken).toBe(true);
  supervisor.heard.message?.({ services: { ports: [5], payments: undefined } });
  expect([services.state().ports, changes]).toEqual([[5], 1]);
  const waiting = services.identity();
  supervisor.heard.disconnect?.();
  await expect(waiting).rejects.toThrow("the supervisor has ended");
});

test("only a child of a supervisor is a cell", () => {
  expect([cellNumber({ WEIR_CELL: "3" }, true), cellNumber({ WEIR_CELL: "3" }, false)]).toEqual([
    3,
    undefined,
  ]);
  expect([cellNumber({}, true), cellNumber({ WEIR_CELL: "0" }, true)]).toEqual([undefined, undefined]);
});

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

function restartable(number: number, acts: string[], comesUp: () => boolean) {
  const cell = {
    number,
    restarts: 0,
    isDrained: false,
    leave: async () => void acts.push(`${number} left`),
    start: () => void acts.push(`${number} started`),
    isUp: async () => {
      if (comesUp()) return true;
      cell.restarts += 3;
      return await new Promise<never>(() => {});
    },
  };
  return cell;
}

const ROUND = ["1 left", "1 started", "2 left", "2 started"];

test("a rolling restart that is asked for again during one is followed by one more", async () => {
  const acts: string[] = [];
  const cells = [1, 2].map((number) => restartable(number, acts, () => true));
  const rolling = new RollingRestart(cells, QUIET);
  const over = rolling.begin();
  void rolling.begin();
  void rolling.begin();
  await over;
  expect(acts).toEqual([...ROUND, ...ROUND]);
});

test("a rolling restart goes no further than a cell that does not come up, and ends with the installation", async () => {
  const acts: string[] = [];
  const broken = new RollingRestart(
    [1, 2].map((number) => restartable(number, acts, () => false)),
    QUIET,
  );
  await broken.begin();
  expect(acts).toEqual(ROUND.slice(0, 2));
  const ended: string[] = [];
  const stopped = new RollingRestart(
    [1, 2].map((number) => restartable(number, ended, () => true)),
    QUIET,
  );
  const over = stopped.begin();
  stopped.end();
  await over;
  expect(ended).toEqual(["1 left"]);
});

test("a rolling restart leaves a cell that was drained as it is", async () => {
  const acts: string[] = [];
  const [first, second, third] = [1, 2, 3].map((number) => restartable(number, acts, () => true));
  const drained = { ...first, isDrained: true } as Restartable;
  await new RollingRestart([drained, second, third] as Restartable[], QUIET).begin();
  expect(acts).toEqual(["2 left", "2 started", "3 left", "3 started"]);
});

test("a backup's questions are answered by their numbers, refused before the gateway is open, and told what failed", async () => {
  const supervisor = channel();
  const side = cellSide(supervisor);
  const ask = (backup: number, records: boolean) =>
    supervisor.heard.message?.({ backup, call: { name: "begin", records } });
  ask(1, false);
  await until("it is refused", () => supervisor.said.length === 1);
  side.onBackup(async (call) => {
    if (call.name === "begin" && call.records) throw new Error("no records here");
    return { frame: 7 };
  });
  ask(2, true);
  ask(3, false);
  await until("both are answered", () => supervisor.said.length === 3);
  expect(supervisor.said).toEqual([
    { backedUp: 1, error: "the cell is starting" },
    { backedUp: 2, error: "no records here" },
    { backedUp: 3, value: { frame: 7 } },
  ]);
});
