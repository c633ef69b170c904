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
/** As those of the script. */
const CONTRADICT_MS = 500;
const HEARD_MS = 2000;
const MOST_SPANS = 80;
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
  readonly machine?: number;
  /** Whether the machine's clock was off Redis's before. */
  readonly wasOff?: boolean;
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
  async function wentBy(cell: string, steady: number): Promise<void> {
    await link.call("HSET", `${KEY_PREFIX}applied`, cell, `0 ${steady}`);
    await link.call("HSET", `${KEY_PREFIX}vouched`, cell, steady);
    await link.call("HSET", DATASET_KEY, "steady", steady);
  }

  /** A cell asks while Redis's clock says `redisMs`. */
  async function judge(redisMs: number, said: Said, cell = "a"): Promise<Judged> {
    await link.call("SET", CLOCK, redisMs);
    const { steady, slept = steady, machine = T - 100 * DAY, wasOff = false } = said;
    const expected = steady === undefined ? ["", ""] : [steady - 2000, steady + 2000];
    const evidence = [...expected, steady ?? "", slept ?? "", machine, wasOff ? 1 : ""];
    const answer = (await link.run(JUDGE, DATASET_KEY, id, cell, ...evidence)) as RedisValue[];
    const [goes, wall, shift = 0, changes = 0] = answer.slice(0, 4).map(Number);
    expect(wall).toBe(redisMs);
    return { goes: goes === 1, shift, changes };
  }

  const GOES: Judged = { goes: true, shift: 0, changes: 0 };
  const WAITS: Judged = { ...GOES, goes: false };
  const SET = (shift: number): Judged => ({ goes: true, shift, changes: 1 });
  /** Asks until a claim holds that no cell contradicts. @returns the second answer */
  async function claimed(steady: number, shift: number): Promise<Judged> {
    for (const ms of [steady, steady + CONTRADICT_MS - 1])
      expect(await judge(ms + shift, { steady: ms, slept: ms + shift })).toMatchObject({ goes: false });
    const ms = steady + CONTRADICT_MS;
    return await judge(ms + shift, { steady: ms, slept: ms + shift });
  }

  /** What another cell said: when it went by Redis's clock, by steady time; when it doubted that, by that; that it is there. */
  interface Others {
    readonly wentBy?: number;
    readonly doubted?: number;
  }
  /**
   * `goes`: the cell goes by Redis's clock. `doubts`: it says that it is wrong. `waits`: it has no say, or another one doubts. `claims`: it
   * says that all clocks were set, which holds if no cell contradicts.
   */
  type Outcome = "goes" | "doubts" | "waits" | "claims";
  const STALE = T - 5000;
  const CASES: readonly (readonly [what: string, redisMs: number, Said, Others, Outcome])[] = [
    ["is what the cell expects", T + 2000, { steady: T }, { wentBy: T }, "goes"],
    ["is more than the cell expects", T + 2001, { steady: T }, { wentBy: STALE }, "doubts"],
    ["is less than the cell expects", T - 2001, { steady: T }, { wentBy: STALE }, "doubts"],
    ["is a day ahead, and there is no other cell", T + DAY, { steady: T }, {}, "doubts"],
    ["is a day back, and there is no other cell", T - DAY, { steady: T }, {}, "doubts"],
    ["is what another cell goes by", T + DAY, { steady: T }, { wentBy: T + DAY - 1999 }, "goes"],
    ["is what another went by 2 s ago", T + DAY, { steady: T }, { wentBy: T + DAY - 2000 }, "doubts"],
    ["is before what another cell went by", T - DAY, { steady: T }, { wentBy: T }, "doubts"],
    ["is that of the machine", T + DAY, { steady: T, machine: T + DAY + 60_000 }, {}, "claims"],
    ["is a minute off the machine's", T + DAY, { steady: T, machine: T + DAY + 60_001 }, {}, "doubts"],
    ["is off, and the machine's was off before", T + DAY, { steady: T, wasOff: true }, {}, "waits"],
    [
      "went on as the machine's, which was off before",
      T + DAY,
      { steady: T, slept: T + DAY, wasOff: true },
      {},
      "claims",
    ],
    ["went on as the machine's, which slept", T + DAY, { steady: T, slept: T + DAY - 2000 }, {}, "claims"],
    ["went back as the machine's did", T - DAY, { steady: T, slept: T - DAY + 2000 }, {}, "claims"],
    ["went on not quite as the machine's", T + DAY, { steady: T, slept: T + DAY - 2001 }, {}, "doubts"],
    [
      "went on as the machine's, and another cell is there",
      T + DAY,
      { steady: T, slept: T + DAY },
      { wentBy: STALE },
      "claims",
    ],
    [
      "went on as the machine's, and another cell doubts it",
      T + DAY,
      { steady: T, slept: T + DAY },
      { doubted: T + DAY - 1999 },
      "waits",
    ],
    [
      "went on as the machine's, and another cell doubted it 2 s ago",
      T + DAY,
      { steady: T, slept: T + DAY },
      { doubted: T + DAY - 2000 },
      "claims",
    ],
    [
      "went back as the machine's, and was doubted when it was later",
      T,
      { steady: T + DAY, slept: T },
      { doubted: T + DAY },
      "claims",
    ],
    ["is near the machine's, for a new process", T + DAY, { machine: T + DAY - 60_000 }, {}, "goes"],
    ["is off the machine's, for a new process", T + DAY, { machine: T + DAY - 60_001 }, {}, "doubts"],
    [
      "is off the machine's, for a new process beside others",
      T + DAY,
      { machine: T },
      { wentBy: T },
      "waits",
    ],
    [
      "is that of another cell, for a new process whose machine's is wrong",
      T,
      { machine: T - DAY },
      { wentBy: T - 1 },
      "goes",
    ],
  ];
  test.each(CASES)("where Redis's clock %s", async (_, redisMs, said, others, outcome) => {
    if (others.wentBy !== undefined) await wentBy("b", others.wentBy);
    if (others.doubted !== undefined) await link.call("HSET", `${KEY_PREFIX}clock`, "d:b", others.doubted);
    expect(await judge(redisMs, said)).toEqual(outcome === "goes" ? GOES : WAITS);
    const clock = await hash("clock");
    expect([clock.has("d:a"), clock.has("claim")]).toEqual([outcome === "doubts", outcome === "claims"]);
    // Words from before a doubt vouch for nothing.
    expect((await hash("vouched")).size).toBe(others.wentBy !== undefined && outcome !== "doubts" ? 1 : 0);
    if (outcome !== "claims" || said.steady === undefined) return;
    const { steady, slept = steady, machine } = said;
    const later = { steady: steady + CONTRADICT_MS, slept: slept + CONTRADICT_MS };
    const shift = redisMs - steady;
    expect(
      await judge(redisMs + CONTRADICT_MS, { ...later, ...(machine !== undefined && { machine }) }),
    ).toEqual(SET(shift));
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

  test("a claim is over once a cell finds Redis's clock as it expects it", async () => {
    await wentBy("b", STALE);
    expect(await judge(T + DAY, { steady: T, slept: T + DAY })).toEqual(WAITS);
    expect(await judge(T + DAY + 100, { steady: T + DAY + 100 }, "b")).toEqual(GOES);
    expect(await judge(T + DAY + CONTRADICT_MS, { steady: T, slept: T + DAY + CONTRADICT_MS })).toEqual(
      WAITS,
    );
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
    expect(await claimed(T, DAY)).toEqual(SET(DAY));
    expect(await judge(T + DAY + 2500, { steady: T + 500 }, "b")).toEqual(SET(DAY));
    expect(await judge(T + DAY + 2501, { steady: T + 500 }, "b")).toMatchObject({ goes: false });
  });

  test.each([
    ["within five seconds of its course", 5000, [0, 5000]],
    ["not so near to it", 5001, [0, 0, T + CONTRADICT_MS, DAY, T + HOUR + CONTRADICT_MS, 5001]],
  ])("a clock that is put right %s", async (_, offMs, left) => {
    await claimed(T, DAY);
    expect(await claimed(T + HOUR, offMs)).toEqual({ goes: true, shift: offMs, changes: 2 });
    expect(await spans()).toEqual(left);
  });

  test("a clock that returns to the first of several courses forgets all between", async () => {
    for (const [at, shift] of [DAY, 13 * DAY, 2 * DAY, 0].entries()) await claimed(T + at * HOUR, shift);
    expect(await spans()).toEqual([0, 0]);
  });

  test("eighty spans are kept, the newest", async () => {
    for (let n = 1; n <= MOST_SPANS + 2; n++)
      expect(await claimed(T + n * HOUR, n * DAY)).toEqual({ goes: true, shift: n * DAY, changes: n });
    const kept = Array.from({ length: MOST_SPANS }, (_, at) => at + 3);
    expect(await spans()).toEqual(kept.flatMap((n) => [T + n * HOUR + CONTRADICT_MS, n * DAY]));
  });

  test("spans that ended more than 40 days ago are forgotten", async () => {
    await claimed(T, DAY);
    await claimed(T + HOUR, 2 * DAY);
    await claimed(T + HOUR + 40 * DAY, 3 * DAY);
    const newest = [T + HOUR + CONTRADICT_MS, 2 * DAY, T + HOUR + 40 * DAY + CONTRADICT_MS, 3 * DAY];
    expect(await spans()).toEqual([T + CONTRADICT_MS, DAY, ...newest]);
    await claimed(T + HOUR + 40 * DAY + 1, 4 * DAY);
    expect((await spans()).slice(0, 2)).toEqual(newest.slice(0, 2));
  });

  test("a beat from before a doubt does not vouch for a clock that reaches its time once more", async () => {
    for (const cell of ["a", "b"]) await wentBy(cell, T);
    for (const cell of ["a", "b"]) expect(await judge(T - HOUR, { steady: T + 10 }, cell)).toEqual(WAITS);
    for (const cell of ["a", "b"])
      expect(await judge(T + 100, { steady: T + HOUR + 100 }, cell)).toEqual(WAITS);
  });

  describe("F2: where machines' clocks were off before", () => {
    const redisMs = (afterMs: number) => T + 180_000 + afterMs;
    beforeEach(async () => {
      for (const cell of ["a", "b"]) await wentBy(cell, STALE);
    });
    /** What a cell says whose machine's clock says what Redis's does now. */
    const agrees = (afterMs: number, cell: string, wasOff = true) =>
      judge(redisMs(afterMs), { steady: T + afterMs, machine: redisMs(afterMs), wasOff }, cell);
    const off = (afterMs: number, cell: string) =>
      judge(redisMs(afterMs), { steady: T + afterMs, wasOff: true }, cell);

    test("Redis's, once they agree with it, was put right, if no cell has doubted it for two seconds", async () => {
      expect(await agrees(0, "a")).toEqual(WAITS);
      expect(await agrees(CONTRADICT_MS, "b")).toEqual(WAITS);
      expect(await agrees(HEARD_MS - 1, "a")).toEqual(WAITS);
      expect(await agrees(HEARD_MS, "a")).toEqual(SET(180_000));
      expect(await spans()).toEqual([0, 0, T + HEARD_MS, 180_000]);
      expect(await judge(redisMs(HEARD_MS), { steady: T + HEARD_MS, wasOff: true }, "b")).toEqual(
        SET(180_000),
      );
    });

    test("and a cell doubts whose machine's was right, Redis's was not put right", async () => {
      for (let afterMs = 0; afterMs <= 3 * HEARD_MS; afterMs += HEARD_MS - 1) {
        expect(await agrees(afterMs, "a")).toEqual(WAITS);
        expect(await judge(redisMs(afterMs), { steady: T + afterMs }, "c")).toEqual(WAITS);
        expect(await agrees(afterMs, "b")).toEqual(WAITS);
      }
      expect((await hash("clock")).has("claim")).toBe(false);
    });

    test("and still are, their cells keep no other from a clock that is put right", async () => {
      expect(await agrees(0, "a", false)).toEqual(WAITS);
      expect(await off(200, "b")).toEqual(WAITS);
      expect(await agrees(CONTRADICT_MS, "a", false)).toEqual(SET(180_000));
      expect(await off(CONTRADICT_MS + 200, "b")).toEqual(SET(180_000));
    });
  });

  test("of another installation is not judged", async () => {
    await link.call("HSET", DATASET_KEY, "id", "another");
    await expect(judge(T, { steady: T })).rejects.toThrow("WEIRFOREIGN");
  });
});
