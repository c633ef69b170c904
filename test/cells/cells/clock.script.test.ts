/** The script that judges clocks (`clock.lua`), alone: Redis's time is what the test says, and so is what cells say of theirs. */
import { Unpackr } from "msgpackr";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDataset, datasetId } from "../../../src/cells/dataset.ts";
import { DATASET_KEY, KEY_PREFIX } from "../../../src/cells/keys.ts";
import { connectRedis, type RedisLink, type RedisValue, Script } from "../../../src/cells/redis.ts";
import { SCRIPTS } from "../../../src/cells/scripts.ts";
import { missingRedis, startRedis, type TestRedis } from "../../support/redis-server.ts";

const missing = missingRedis();
const CLOCK = `${KEY_PREFIX}test-clock`;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Steady time at the beginning of each test. */
const T = 1_800_000_000_000;
const unpackr = new Unpackr({ int64AsType: "number" });

/** The script with Redis's time taken from a key. */
const JUDGE = (() => {
  const real = 'redis.call("TIME")';
  const { text } = SCRIPTS.clock;
  if (text.split(real).length !== 2) throw new Error("the time is read in another way: the test must follow");
  const virtual = `(function() local ms = redis.call("GET", "${CLOCK}")
    return { string.sub(ms, 1, -4), string.sub(ms, -3) .. "000" } end)()`;
  return new Script(text.replace(real, virtual));
})();

/** What a cell says, milliseconds: what it takes steady time to be, and the same by its machine's course; and its machine's clock. */
interface Said {
  readonly steady?: number;
  readonly slept?: number;
  /** Undefined: it was wrong before. */
  readonly machine?: number | undefined;
}

interface Judged {
  readonly goes: boolean;
  readonly shift: number;
  readonly changes: number;
}

describe.skipIf(missing !== undefined)(`C1: clocks${missing === undefined ? "" : `: ${missing}`}`, () => {
  let redis: TestRedis;
  let link: RedisLink;
  let id: string;
  beforeAll(async () => {
    redis = await startRedis(["--appendonly", "no"]);
    link = connectRedis({ url: redis.url, log: { warn() {} } });
    await link.ready(5000);
  });
  afterAll(async () => {
    link.close();
    await redis.stop();
  });
  beforeEach(async () => {
    await link.call("FLUSHALL");
    id = datasetId();
    await createDataset(link, id, []);
  });

  const hash = async (name: string) => {
    const found = (await link.call("HGETALL", `${KEY_PREFIX}${name}`)) as Buffer[];
    return new Map(
      found.flatMap((field, at) => (at % 2 === 0 ? [[String(field), found[at + 1] as Buffer]] : [])),
    );
  };
  const spans = async () => unpackr.unpack((await hash("clock")).get("spans") as Buffer);
  /** A cell went by Redis's clock at this steady time. */
  const wentBy = async (cell: string, steady: number) => {
    await link.call("HSET", `${KEY_PREFIX}applied`, cell, `0 ${steady}`);
    await link.call("HSET", `${KEY_PREFIX}vouched`, cell, steady);
    await link.call("HSET", DATASET_KEY, "steady", steady);
  };

  /** A cell asks while Redis's clock says `redisMs`. */
  async function judge(redisMs: number, said: Said, cell = "a"): Promise<Judged> {
    await link.call("SET", CLOCK, redisMs);
    const { steady, slept = steady } = said;
    const machine = "machine" in said ? (said.machine ?? "") : T - 100 * DAY;
    const expected = steady === undefined ? ["", ""] : [steady - 2000, steady + 2000];
    const evidence = [...expected, steady ?? "", slept ?? "", machine];
    const answer = (await link.run(JUDGE, DATASET_KEY, id, cell, ...evidence)) as RedisValue[];
    const [goes, wall, shift = 0, changes = 0] = answer.map(Number);
    expect(wall).toBe(redisMs);
    return { goes: goes === 1, shift, changes };
  }

  /** It asks, and half a second later once more. */
  async function judgeTwice(redisMs: number, said: Said): Promise<Judged> {
    await judge(redisMs, said);
    const { steady, slept, machine } = said;
    return await judge(redisMs + 500, {
      ...(steady !== undefined && { steady: steady + 500 }),
      ...(slept !== undefined && { slept: slept + 500 }),
      ...(machine !== undefined && { machine: machine + 500 }),
    });
  }

  const GOES: Judged = { goes: true, shift: 0, changes: 0 };
  const WAITS: Judged = { ...GOES, goes: false };
  const SET = (shift: number): Judged => ({ goes: true, shift, changes: 1 });
  /** Others that had said something, and when; and others that doubted, and when by Redis's clock. */
  interface Others {
    readonly wentBy?: number;
    readonly doubted?: number;
  }
  const CASES: readonly (readonly [what: string, redisMs: number, Said, Others, Judged])[] = [
    ["is what the cell expects", T + 2000, { steady: T }, { wentBy: T }, GOES],
    ["is more than the cell expects", T + 2001, { steady: T }, { wentBy: T - 5000 }, WAITS],
    ["is less than the cell expects", T - 2001, { steady: T }, { wentBy: T - 5000 }, WAITS],
    ["is a day ahead, and no cell has said anything", T + DAY, { steady: T }, {}, WAITS],
    ["is a day back, and no cell has said anything", T - DAY, { steady: T }, {}, WAITS],
    ["is what another cell goes by", T + DAY, { steady: T }, { wentBy: T + DAY - 1999 }, GOES],
    [
      "is what another cell went by two seconds ago",
      T + DAY,
      { steady: T },
      { wentBy: T + DAY - 2000 },
      WAITS,
    ],
    ["is before what another cell went by", T - DAY, { steady: T }, { wentBy: T }, WAITS],
    ["is that of the machine", T + DAY, { steady: T, machine: T + DAY + 60_000 }, {}, SET(DAY)],
    ["is a minute beside that of the machine", T + DAY, { steady: T, machine: T + DAY + 60_001 }, {}, WAITS],
    [
      "went on as the machine's did, which slept",
      T + DAY,
      { steady: T, slept: T + DAY - 2000 },
      {},
      SET(DAY),
    ],
    ["went back as the machine's did", T - DAY, { steady: T, slept: T - DAY + 2000 }, {}, SET(-DAY)],
    ["went on not quite as the machine's did", T + DAY, { steady: T, slept: T + DAY - 2001 }, {}, WAITS],
    [
      "is the machine's, and another cell doubts it",
      T + DAY,
      { steady: T, slept: T + DAY },
      { doubted: T + DAY - 1999 },
      WAITS,
    ],
    [
      "is the machine's, and another cell doubted it",
      T + DAY,
      { steady: T, slept: T + DAY },
      { doubted: T + DAY - 2000 },
      SET(DAY),
    ],
    [
      "is the machine's, and was doubted when it was later",
      T,
      { steady: T - DAY, slept: T },
      { doubted: T + DAY },
      SET(DAY),
    ],
    ["is the machine's, for a new process", T + 9 * DAY, { machine: T + 9 * DAY - 60_000 }, {}, GOES],
    ["is not the machine's, for a new process", T + 9 * DAY, { machine: T + 9 * DAY - 60_001 }, {}, WAITS],
    [
      "is that of another cell, for a new process whose machine is wrong",
      T,
      { machine: T - 9 * DAY },
      { wentBy: T - 1 },
      GOES,
    ],
  ];
  test.each(CASES)("where Redis's %s", async (_, redisMs, said, others, judged) => {
    if (others.wentBy !== undefined) await wentBy("b", others.wentBy);
    if (others.doubted !== undefined) await link.call("HSET", `${KEY_PREFIX}clock`, "d:b", others.doubted);
    if (judged.shift === 0) expect(await judge(redisMs, said)).toEqual(judged);
    else expect(await judgeTwice(redisMs, said)).toEqual(judged);
    const doubts = (await hash("clock")).has("d:a");
    // Who waits for another cell's doubt has none of its own.
    expect(doubts).toBe(!judged.goes && others.doubted === undefined);
  });

  test("a claim that all clocks were set holds once no cell has contradicted for half a second", async () => {
    for (const cell of ["a", "b"]) await wentBy(cell, T - 5000);
    const claims = (afterMs: number, cell?: string) =>
      judge(T + DAY + afterMs, { steady: T + afterMs, slept: T + DAY + afterMs }, cell);
    expect(await claims(0)).toEqual(WAITS);
    expect(await claims(499)).toEqual(WAITS);
    // Another cell claims the same: it is one claim.
    expect(await claims(499, "b")).toEqual(WAITS);
    expect(await claims(500)).toEqual(SET(DAY));
    expect(await spans()).toEqual([0, 0, T + 500, DAY]);
    // The other one learns it, and changes nothing: by its steady time all is well.
    expect(await judge(T + DAY + 510, { steady: T + 510 }, "b")).toEqual(SET(DAY));
    expect((await hash("clock")).has("claim")).toBe(false);
  });

  test("a cell that doubts ends a claim, which begins anew when it doubts no longer", async () => {
    await wentBy("b", T - 5000);
    const claims = (afterMs: number) =>
      judge(T + DAY + afterMs, { steady: T + afterMs, slept: T + DAY + afterMs });
    expect(await claims(0)).toEqual(WAITS);
    expect(await judge(T + DAY + 300, { steady: T + 300 }, "b")).toEqual(WAITS);
    for (const afterMs of [500, 2299]) expect(await claims(afterMs)).toEqual(WAITS);
    expect(await claims(2300)).toEqual(WAITS);
    expect(await claims(2799)).toEqual(WAITS);
    expect(await claims(2800)).toEqual(SET(DAY));
  });

  test.each([
    ["before", ["c", "a", "c"]],
    ["behind", ["a", "c", "c"]],
  ])(
    "a new process that asks %s a cell that knows steady time does not decide what that becomes",
    async (_, order) => {
      for (const cell of ["a", "b"]) await wentBy(cell, T - 5000);
      const answers: Judged[] = [];
      for (const [at, cell] of order.entries()) {
        const steady = T + at * 250;
        const said = { slept: steady + DAY, machine: steady + DAY, ...(cell === "a" && { steady }) };
        answers.push(await judge(steady + DAY, said, cell));
      }
      expect(answers).toEqual([WAITS, WAITS, SET(DAY)]);
    },
  );

  test("a claim that is five seconds old, or later than now, is over", async () => {
    await wentBy("b", T - 5000);
    const claims = (afterMs: number) =>
      judge(T + DAY + afterMs, { steady: T + afterMs, slept: T + DAY + afterMs });
    expect(await claims(0)).toEqual(WAITS);
    expect(await claims(5001)).toEqual(WAITS);
    expect(await claims(5500)).toEqual(WAITS);
    expect(await claims(4000)).toEqual(WAITS);
    expect(await claims(4500)).toEqual(SET(DAY));
  });

  test.each([
    ["a day back while none ran", -DAY, SET(-DAY)],
    ["two seconds back while none ran", -2000, GOES],
    ["a day on while none ran: time has passed", DAY, GOES],
  ])("a new process finds Redis's clock %s", async (_, ms, judged) => {
    await wentBy("a", T);
    expect(await judge(T + ms, { machine: T + ms })).toEqual(judged);
  });

  test("steady time goes on from where it was, for whoever hears of it later", async () => {
    expect(await judgeTwice(T + DAY + 7, { steady: T + 7, slept: T + DAY + 7 })).toEqual(SET(DAY));
    // By the shift that it knows of.
    expect(await judge(T + DAY + 509, { steady: T + 509 }, "b")).toEqual(SET(DAY));
    expect(await judge(T + DAY + 2510, { steady: T + 509 }, "b")).toMatchObject({ goes: false });
  });

  test.each([
    ["within five seconds of its course", 5000, [0, 5000]],
    ["not so near to it", 5001, [0, 0, T + 500, DAY, T + HOUR + 500, 5001]],
  ])("a clock that is put right %s", async (_, offMs, left) => {
    await judgeTwice(T + DAY, { steady: T, slept: T + DAY });
    const back = T + HOUR + offMs;
    expect(await judgeTwice(back, { steady: T + HOUR, slept: back })).toEqual({
      goes: true,
      shift: offMs,
      changes: 2,
    });
    expect(await spans()).toEqual(left);
  });

  test("a clock that returns to the first of several courses forgets all between", async () => {
    let steady = T;
    for (const shift of [DAY, 13 * DAY, 2 * DAY, 0]) {
      steady += HOUR;
      await judgeTwice(steady + shift, { steady, slept: steady + shift });
    }
    expect(await spans()).toEqual([0, 0]);
  });

  test("eighty spans are kept, the newest, and those of the last forty days", async () => {
    const set = (n: number) =>
      judgeTwice(T + n * (HOUR + DAY), { steady: T + n * HOUR, slept: T + n * (HOUR + DAY) });
    for (let n = 1; n <= 90; n++) expect(await set(n)).toEqual({ goes: true, shift: n * DAY, changes: n });
    const kept = Array.from({ length: 80 }, (_, at) => at + 11);
    expect(await spans()).toEqual(kept.flatMap((n) => [T + n * HOUR + 500, n * DAY]));
    await set(41 * 24);
    // The last that had begun forty days before, and those behind it.
    expect((await spans())[0]).toBe(T + 23 * HOUR + 500);
  });

  test("a beat from before a doubt does not vouch for a clock that reaches its time once more", async () => {
    for (const cell of ["a", "b"]) await wentBy(cell, T);
    for (const cell of ["a", "b"]) expect(await judge(T - HOUR, { steady: T + 10 }, cell)).toEqual(WAITS);
    for (const cell of ["a", "b"])
      expect(await judge(T + 100, { steady: T + HOUR + 100 }, cell)).toEqual(WAITS);
  });

  test("a cell whose machine's clock was wrong before does not keep others from a clock that is put right", async () => {
    for (const cell of ["a", "b"]) await wentBy(cell, T - 5000);
    const right = (afterMs: number) =>
      judge(T + 3 * 60_000 + afterMs, { steady: T + afterMs, machine: T + 3 * 60_000 + afterMs });
    const wrong = (afterMs: number) =>
      judge(T + 3 * 60_000 + afterMs, { steady: T + afterMs, machine: undefined }, "b");
    expect(await right(0)).toEqual(WAITS);
    expect(await wrong(200)).toEqual(WAITS);
    expect(await right(500)).toEqual(SET(3 * 60_000));
    expect(await wrong(700)).toEqual(SET(3 * 60_000));
  });

  test("of another installation is not judged", async () => {
    await link.call("HSET", DATASET_KEY, "id", "another");
    await expect(judge(T, { steady: T })).rejects.toThrow("WEIRFOREIGN");
  });
});
