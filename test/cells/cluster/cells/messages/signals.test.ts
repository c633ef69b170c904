/** Messages between cells, and reads that have other cells bring out what they alone know. */
import { setImmediate as turn } from "node:timers/promises";
import { pack } from "msgpackr";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";

const missing = missingRedis();
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

test.skipIf(missing)(
  "what a cell tells all others hear, and what it tells one only that one does",
  async () => {
    const [a, b, c] = await Promise.all([bench.cell("t1"), bench.cell("t2"), bench.cell("t3")]);
    const heard: unknown[][] = [];
    for (const cell of [a, b, c])
      cell.signals.on("news", (content, from) => void heard.push([cell.name, from, content]));
    expect(a.signals.tell("news", { at: 1, bytes: new Uint8Array([0, 255]) })).toBe(true);
    await until(
      "both others hear it",
      () => heard,
      ({ length }) => length === 2,
    );
    expect(heard.map(([name]) => name).sort()).toEqual(["t2", "t3"]);
    expect(heard[0]?.slice(1)).toEqual(["t1", { at: 1, bytes: Buffer.from([0, 255]) }]);
    a.signals.tellOne("t3", "news", "for one");
    b.signals.tell("news", "the last");
    await until(
      "all have heard all",
      () => heard,
      ({ length }) => length === 5,
    );
    expect(heard.filter(([, , content]) => content === "for one")).toEqual([["t3", "t1", "for one"]]);
    await Promise.all([a, b, c].map((cell) => cell.stop()));
  },
);

test.skipIf(missing)("a message of another shape is passed over", async () => {
  const cell = await bench.cell("shape");
  const answered: unknown[] = [];
  cell.signals.answers("odd", async (content) => answered.push((content as { at: number }).at) > 0);
  const contents = [
    null,
    7,
    "odd",
    [],
    ["odd"],
    ["odd", "x"],
    ["odd", "x", 5],
    ["odd", "x", [1, null]],
    ["flush", "x", "z"],
  ];
  const bytes = [...contents.map((content) => pack(content)), Buffer.from([0xc1]), Buffer.from([0xdd, 1])];
  for (const channel of ["signals:", "signals:shape", `peer:${bench.id}:shape`])
    for (const message of bytes) await bench.link.call("PUBLISH", `{weir}:${channel}`, message);
  const heard: unknown[] = [];
  cell.signals.on("last", (content) => heard.push(content));
  await bench.link.call("PUBLISH", "{weir}:signals:shape", pack(["last", "x", 1]));
  await until(
    "the last message is heard",
    () => heard,
    ({ length }) => length === 1,
  );
  expect(answered).toEqual([]);
  await cell.stop();
});

test.skipIf(missing)("a message that is too long, or that Redis cannot take, is refused", async () => {
  const cell = await bench.cell("long");
  expect(cell.signals.tell("news", "x".repeat(1_000_000))).toBe(false);
  const sent = Array.from({ length: 20 }, () => cell.signals.tell("news", "x".repeat(900_000)));
  expect(sent.filter((isSent) => isSent).length).toBe(8);
  await until("Redis takes messages again", () => cell.signals.tell("news", "x".repeat(900_000)));
  await cell.stop();
});

test.skipIf(missing)("C2: a cell that starts has not brought out what its folder has", async () => {
  const [a, b] = await Promise.all([bench.cell("s1"), bench.cell("s2")]);
  expect((await a.flushOthers(20_000)).isDone).toBe(false);
  b.onFlush(async () => {});
  expect((await a.flushOthers(20_000)).isDone).toBe(true);
  await Promise.all([a.stop(), b.stop()]);
});

test.skipIf(missing)("a read waits until all other cells have brought out what they had", async () => {
  const [a, b, c] = await Promise.all([bench.cell("f1"), bench.cell("f2"), bench.cell("f3")]);
  const asked: string[] = [];
  const out: string[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  for (const cell of [a, b, c])
    cell.onFlush(async () => {
      asked.push(cell.name);
      await begun;
      out.push(cell.name);
    });
  const read = a.flushOthers(60_000);
  await until(
    "both others are asked",
    () => asked,
    (names) => names.length === 2,
  );
  expect(await Promise.race([read, turn("waits")])).toBe("waits");
  begin();
  expect((await read).isDone).toBe(true);
  expect(out.sort()).toEqual(["f2", "f3"]);
  // A hundred reads: one question under way, and one behind it that all share.
  out.length = 0;
  const reads = Array.from({ length: 100 }, () => a.flushOthers(20_000));
  expect((await Promise.all(reads)).every(({ isDone }) => isDone)).toBe(true);
  expect(out.length).toBe(4);
  // A hook that fails, and one that says no.
  b.onFlush(() => Promise.reject(new Error("not now")));
  expect((await a.flushOthers(20_000)).isDone).toBe(false);
  c.onFlush(() => Promise.resolve(false));
  expect((await b.flushOthers(20_000)).isDone).toBe(false);
  await Promise.all([a, b, c].map((cell) => cell.stop()));
  await bench.cell("f4").then(async (alone) => {
    expect((await alone.flushOthers(20_000)).isDone).toBe(true);
    await alone.stop();
  });
});

test.skipIf(missing)(
  "a cell that does not answer, or a Redis that is away, costs a read its time and no more",
  async () => {
    const [a, b] = await Promise.all([bench.cell("s1"), bench.cell("s2")]);
    b.onFlush(() => new Promise(() => {}));
    expect((await a.flushOthers(200)).isDone).toBe(false);
    bench.redis.pause();
    expect((await a.flushOthers(200)).isDone).toBe(false);
    bench.redis.resume();
    await b.stop();
    // Where Redis did not take its leave in time, it is silent for a while first.
    await until(
      "all others have brought out what they had",
      () => a.flushOthers(),
      ({ isDone }) => isDone,
    );
    await a.stop();
  },
);

test.skipIf(missing)(
  "a cell that was killed is not waited for, and what it had inserted is known",
  async () => {
    const a = await bench.cell("k1");
    const killed = new Session({ link: bench.link, cell: "killed", datasetId: bench.id, onEnd() {} });
    await killed.start();
    const behindBeat = async () => {
      await killed.lane("beat").send([["beat", 0, 1234]]);
      return await a.flushOthers(20_000);
    };
    // A late machine may ask when it has been silent for too long already.
    await until("it is missed", behindBeat, equals({ isDone: false, missingSinceMs: 1234 }));
    await until(
      "its last sign of life is so old that no answer is expected",
      () => a.flushOthers(20_000),
      equals({ isDone: true, missingSinceMs: 1234 }),
    );
    bench.redis.pause();
    expect(await a.flushOthers(100)).toEqual({ isDone: false, missingSinceMs: 1234 });
    bench.redis.resume();
    await killed.lane("leave").send([["leave", 0, 0]]);
    expect(await a.flushOthers(20_000)).toEqual({ isDone: true, missingSinceMs: 1234 });
    await killed.lane("leave").send([["leave", 0, 1]]);
    expect(await a.flushOthers(20_000)).toEqual({ isDone: true, missingSinceMs: undefined });
    await a.stop();
  },
);

test.skipIf(missing)("a cell whose connection was cut hears the others again", async () => {
  const [a, b] = await Promise.all([bench.cell("c1"), bench.cell("c2")]);
  const heard: unknown[] = [];
  let again = 0;
  b.signals.on("news", (content) => void heard.push(content));
  b.signals.onListening(() => again++);
  b.cut();
  await until("it listens again", () => again, equals(1));
  // A process that stood still has to catch up.
  await until("it is in touch", () => b.standing().isInTouch);
  expect(a.signals.tell("news", "after")).toBe(true);
  await until(
    "the message is heard",
    () => heard,
    ({ length }) => length > 0,
  );
  expect(heard).toEqual(["after"]);
  await Promise.all([a.stop(), b.stop()]);
});
