/** Questions between cells: whoever has an answer gives it, and "no cell has one" is not said while one may. */
import { randomBytes } from "node:crypto";
import { pack } from "msgpackr";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Session } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import type { Answered } from "../../../../../src/cluster/cells/messages/questions.ts";
import { KEY_PREFIX } from "../../../../../src/cluster/cells/redis/keys.ts";
import { SOCKETS } from "../../../../../src/cluster/cells/redis/redis.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

/** Only a hang waits for so long. */
const LONG_MS = 100_000;
const UNKNOWN = { kind: "unknown" };
const NOWHERE = { kind: "nowhere" };
const hold = () => new Promise<unknown>(() => {});

const open: TestCell[] = [];
async function cells(...names: string[]): Promise<TestCell[]> {
  const made = await Promise.all(names.map((name) => bench.cell(name)));
  open.push(...made);
  return made;
}
/** Cells that are gone for good are not waited for by the next test. */
async function gone(name: string): Promise<void> {
  expect(await retire(bench.link, bench.id, name, 0)).toBe(true);
}
afterEach(async () => {
  for (const cell of open.splice(0)) {
    await cell.stop();
    await gone(cell.name);
  }
});

const contentOf = (answered: Answered): unknown =>
  answered.kind === "answered" ? answered.content : answered.kind;

test.skipIf(missing)("a cell that is asked answers with bytes, and Redis keeps none of them", async () => {
  const [a, b] = (await cells("n1", "n2")) as [TestCell, TestCell];
  const bytes = randomBytes(900_000);
  b.questions.answers("part", async (content, from) => (content === "all of it" ? [from, bytes] : undefined));
  const sizes = async () =>
    Number(/aof_current_size:(\d+)/.exec(String(await bench.link.call("INFO", "persistence")))?.[1]);
  const before = await sizes();
  for (let turn = 0; turn < 10; turn++)
    expect(await a.questions.ask("part", "all of it", { to: "n2", withinMs: LONG_MS })).toEqual({
      kind: "answered",
      content: ["n1", bytes],
      from: "n2",
    });
  expect((await sizes()) - before).toBeLessThan(1_000_000);
  expect(await a.questions.ask("part", "another", { to: "n2", withinMs: LONG_MS })).toEqual(NOWHERE);
  expect(await a.questions.ask("part", "all of it", { to: "nobody", withinMs: LONG_MS })).toEqual(UNKNOWN);
  expect(await a.questions.ask("other topic", "", { to: "n2", withinMs: LONG_MS })).toEqual(UNKNOWN);
});

test.skipIf(missing)(
  "of all cells the first that has something answers, whatever the others do",
  async () => {
    const [a, b, c] = (await cells("f1", "f2", "f3")) as [TestCell, TestCell, TestCell];
    b.questions.answers("where", async () => "here");
    c.questions.answers("where", hold);
    a.questions.answers("where", async () => "whoever asks is not asked");
    expect(await a.questions.ask("where", 1, { withinMs: LONG_MS })).toEqual({
      kind: "answered",
      content: "here",
      from: "f2",
    });
  },
);

test.skipIf(missing)("that no cell has it is known once all said so, and not before", async () => {
  const [a, b, c] = (await cells("o1", "o2", "o3")) as [TestCell, TestCell, TestCell];
  b.questions.answers("where", async () => undefined);
  // One that starts cannot say yet what it has.
  expect(await a.questions.ask("where", 1, { withinMs: LONG_MS })).toEqual(UNKNOWN);
  const late = Promise.withResolvers<unknown>();
  c.questions.answers("where", () => late.promise);
  const asked = a.questions.ask("where", 1, { withinMs: LONG_MS });
  await until("the other cell answers", () => c.questions.load().answering, equals(1));
  await b.questions.ask("nothing", 1, { to: "o1", withinMs: LONG_MS });
  expect(await Promise.race([asked, "it waits"])).toBe("it waits");
  late.resolve(undefined);
  expect(await asked).toEqual(NOWHERE);
});

test.skipIf(missing)("a cell alone need not ask", async () => {
  const [a] = (await cells("alone")) as [TestCell];
  expect(await a.questions.ask("where", 1, { withinMs: LONG_MS })).toEqual(NOWHERE);
});

test.skipIf(missing)("a cell that fails, or does not answer in time, leaves it unknown", async () => {
  const [a, b, c] = (await cells("b1", "b2", "b3")) as [TestCell, TestCell, TestCell];
  b.questions.answers("fails", () => Promise.reject(new Error("not now")));
  b.questions.answers("large", async () => randomBytes(1_000_001));
  b.questions.answers("hangs", hold);
  for (const topic of ["fails", "large", "hangs"]) c.questions.answers(topic, async () => undefined);
  for (const topic of ["fails", "large"]) {
    expect(await a.questions.ask(topic, 1, { withinMs: LONG_MS })).toEqual(UNKNOWN);
    expect(await a.questions.ask(topic, 1, { to: "b2", withinMs: LONG_MS })).toEqual(UNKNOWN);
  }
  expect(await a.questions.ask("hangs", 1, { withinMs: 50 })).toEqual(UNKNOWN);
  expect(await a.questions.ask("fails", randomBytes(1_000_001), { withinMs: LONG_MS })).toEqual(UNKNOWN);
  expect(a.questions.load().waiting).toBe(0);
});

test.skipIf(missing)(
  "a cell that was killed or has just left may have it, one that was retired has not",
  async () => {
    const [a, b] = (await cells("k1", "k2")) as [TestCell, TestCell];
    b.questions.answers("where", async () => undefined);
    const ask = () => a.questions.ask("where", 1, { withinMs: LONG_MS });
    const killed = new Session({ link: bench.link, cell: "killed", datasetId: bench.id, onEnd() {} });
    await killed.start();
    await killed.lane("beat").send([["beat", 0, 1234]]);
    await until("its start is heard of", ask, equals(UNKNOWN));
    await until(
      "it is silent",
      () => a.standings.of("killed"),
      (cell) => cell?.status === "silent",
    );
    expect(await ask()).toEqual(UNKNOWN);
    await killed.lane("leave").send([["leave", 0, 1]]);
    await until(
      "it left",
      () => a.standings.of("killed"),
      (cell) => cell?.status === "left",
    );
    expect(await ask()).toEqual(UNKNOWN);
    await gone("killed");
    await until("it is known to be retired", ask, equals(NOWHERE));
    expect(await a.standings.of("killed")).toMatchObject({ status: "retired", name: "killed" });
    expect(await a.standings.of("k2")).toMatchObject({ status: "alive" });
    expect(await a.standings.of("never")).toBeUndefined();
  },
);

test.skipIf(missing)(
  "one whose machine is gone, and whom Redis still counts among those that hear, is not waited for",
  async () => {
    const [a, b] = (await cells("l1", "l2")) as [TestCell, TestCell];
    b.questions.answers("where", async () => undefined);
    const listening = Promise.withResolvers<void>();
    const lost = SOCKETS.listen({
      url: bench.redis.url,
      channels: [`${KEY_PREFIX}question:${bench.id}:`],
      heard() {},
      onListening: () => listening.resolve(),
    });
    await listening.promise;
    expect(await a.questions.ask("where", 1, { withinMs: 300 })).toEqual(NOWHERE);
    b.questions.answers("hangs", hold);
    expect(await a.questions.ask("hangs", 1, { withinMs: 300 })).toEqual(UNKNOWN);
    lost.close();
  },
);

test.skipIf(missing)("one that left long ago has nothing any more", async () => {
  const [a, b] = (await cells("l1", "l2")) as [TestCell, TestCell];
  await b.stop();
  open.splice(open.indexOf(b), 1);
  const ask = () => a.questions.ask("where", 1, { withinMs: LONG_MS });
  await until(
    "it is known to have left",
    () => a.standings.of("l2"),
    (cell) => cell?.status === "left",
  );
  expect(await ask()).toEqual(UNKNOWN);
  const at = Number(String(await bench.link.call("HGET", "{weir}:left_at", "l2")));
  await bench.link.call("HSET", "{weir}:left_at", "l2", String(at - 660_000));
  await until("that is long ago", ask, equals(NOWHERE));
  await gone("l2");
});

test.skipIf(missing)("one that left and had told of all its calls is not asked for them", async () => {
  const [a, b] = (await cells("t1", "t2")) as [TestCell, TestCell];
  await b.lane("calls").send([["calls_left", b.term()]]);
  const ask = () => a.questions.ask("where", 1, { withinMs: LONG_MS });
  expect(await ask()).toEqual(UNKNOWN);
  await b.stop();
  open.splice(open.indexOf(b), 1);
  await until("it is known to have left", ask, equals(NOWHERE));
  // A further life, which told of them in a term that is over.
  const again = await bench.cell("t2");
  await again.lane("calls").send([["calls_left", "another term"]]);
  await again.stop();
  await until("its further life is known to have left", ask, equals(UNKNOWN));
  await gone("t2");
});

test.skipIf(missing)("an answer to an earlier process of a cell does not pass for one of this", async () => {
  const [a, b] = (await cells("p1", "p2")) as [TestCell, TestCell];
  const answers: ((content: string) => void)[] = [];
  b.questions.answers("part", () => new Promise((resolve) => void answers.push(resolve)));
  const ask = (cell: TestCell) => cell.questions.ask("part", 1, { to: "p2", withinMs: LONG_MS });
  const first = ask(a);
  await until("the first process has asked", () => answers.length, equals(1));
  await a.stop();
  expect(await first).toEqual(UNKNOWN);
  const again = await bench.cell("p1");
  open.splice(open.indexOf(a), 1, again);
  const second = ask(again);
  await until("the second process has asked", () => answers.length, equals(2));
  answers[0]?.("of the first");
  answers[1]?.("of the second");
  expect(contentOf(await second)).toBe("of the second");
});

test.skipIf(missing)("questions and bytes under way are bounded at both ends", async () => {
  const [a, b] = (await cells("m1", "m2")) as [TestCell, TestCell];
  b.questions.answers("hangs", hold);
  b.questions.answers("fits", async () => "yes");
  // Bytes of questions that are being answered.
  const large = randomBytes(900_000);
  const asked = Array.from({ length: 8 }, () =>
    a.questions.ask("hangs", large, { to: "m2", withinMs: LONG_MS }),
  );
  await until("it answers eight", () => b.questions.load().answering, equals(8));
  expect(await a.questions.ask("fits", large, { to: "m2", withinMs: LONG_MS })).toEqual(UNKNOWN);
  expect(contentOf(await a.questions.ask("fits", 1, { to: "m2", withinMs: LONG_MS }))).toBe("yes");
  // Bytes that Redis has not taken: what is more is not sent.
  const more = Array.from({ length: 20 }, () =>
    a.questions.ask("hangs", large, { to: "m2", withinMs: LONG_MS }),
  );
  expect(a.questions.load().underWayBytes).toBeLessThanOrEqual(8_000_000);
  expect(await Promise.all(more)).toEqual(more.map(() => UNKNOWN));
  // Questions of this cell.
  const left = 16_384 - asked.length;
  const many = Array.from({ length: left + 1 }, () =>
    a.questions.ask("hangs", 1, { to: "m2", withinMs: LONG_MS }),
  );
  expect(await many.at(-1)).toEqual(UNKNOWN);
  a.questions.cut();
  expect(await Promise.all([...asked, ...many])).toEqual([...asked, ...many].map(() => UNKNOWN));
  await until(
    "Redis has taken all",
    () => a.questions.load(),
    equals({ waiting: 0, answering: 0, underWayBytes: 0 }),
  );
});

test.skipIf(missing)("whose connection was cut asks again, and is not kept waiting", async () => {
  const [a, b] = (await cells("c1", "c2")) as [TestCell, TestCell];
  b.questions.answers("hangs", hold);
  b.questions.answers("part", async () => "yes");
  const asked = a.questions.ask("hangs", 1, { to: "c2", withinMs: LONG_MS });
  await until("it is asked", () => b.questions.load().answering, equals(1));
  a.questions.cut();
  expect(await asked).toEqual(UNKNOWN);
  const again = () => a.questions.ask("part", 1, { to: "c2", withinMs: LONG_MS });
  await until("it is answered", async () => contentOf(await again()), equals("yes"));
  b.questions.cut();
  await until("it is answered again", async () => contentOf(await again()), equals("yes"));
});

test.skipIf(missing)("a Redis that is away costs no memory, and no more than the time", async () => {
  const proxy = await startFaultProxy(bench.redis.url);
  const a = await bench.cell("r1", { url: proxy.url });
  const [b] = (await cells("r2")) as [TestCell];
  b.questions.answers("part", async () => "yes");
  const ask = (withinMs: number) => a.questions.ask("part", randomBytes(500_000), { to: "r2", withinMs });
  proxy.pause();
  expect(await Promise.all(Array.from({ length: 100 }, () => ask(100)))).toEqual(Array(100).fill(UNKNOWN));
  expect(a.questions.load().underWayBytes).toBeLessThanOrEqual(8_000_000);
  proxy.resume();
  proxy.refuse(true);
  await until("it is known", () => ask(LONG_MS), equals(UNKNOWN));
  await until(
    "nothing is under way",
    () => a.questions.load(),
    equals({ waiting: 0, answering: 0, underWayBytes: 0 }),
  );
  proxy.refuse(false);
  await until("it is answered", async () => contentOf(await ask(1000)), equals("yes"));
  await a.stop();
  await gone("r1");
  await proxy.close();
});

test.skipIf(missing)("a message of another shape is passed over", async () => {
  const [a, b] = (await cells("s1", "s2")) as [TestCell, TestCell];
  b.questions.answers("part", async () => "yes");
  const contents = [
    null,
    7,
    [],
    ["ask"],
    ["ask", 1],
    ["reply", "1", "x"],
    ["ask", 1, "x", {}],
    ["reply", 1, "s2", 1],
    ["no", 1, "x"],
  ];
  const messages = [...contents.map((content) => pack(content)), Buffer.from([0xc1]), Buffer.from([0xdd, 1])];
  for (const to of ["", "s1"])
    for (const message of messages)
      await bench.link.call("PUBLISH", `{weir}:question:${bench.id}:${to}`, message);
  expect(contentOf(await a.questions.ask("part", 1, { withinMs: LONG_MS }))).toBe("yes");
});
