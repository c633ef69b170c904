/** What `clock.lua` says of a clock to one cell: whether it goes by it, doubts it, waits, or claims that all were set. */
import { describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import {
  CONTRADICT_MS,
  DAY,
  GOES,
  HOUR,
  judgeOfClocks,
  type Said,
  SET,
  STALE,
  T,
  WAITS,
} from "./clock-fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`C1: clocks${missing === undefined ? "" : `: ${missing}`}`, () => {
  const { judge, claimed, wentBy, doubted, hash, becomeAnother } = judgeOfClocks();

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
    if (others.doubted !== undefined) await doubted("b", others.doubted);
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

  test("a beat from before a doubt does not vouch for a clock that reaches its time once more", async () => {
    for (const cell of ["a", "b"]) await wentBy(cell, T);
    for (const cell of ["a", "b"]) expect(await judge(T - HOUR, { steady: T + 10 }, cell)).toEqual(WAITS);
    for (const cell of ["a", "b"])
      expect(await judge(T + 100, { steady: T + HOUR + 100 }, cell)).toEqual(WAITS);
  });

  test("of another installation is not judged", async () => {
    await becomeAnother();
    await expect(judge(T, { steady: T })).rejects.toThrow("WEIRFOREIGN");
  });
});
