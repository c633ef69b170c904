/** Claims that all clocks were set, or that Redis's was put right (`clock.lua`): when they hold, and what ends them. */
import { beforeEach, describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import {
  CONTRADICT_MS,
  DAY,
  GOES,
  HEARD_MS,
  type Judged,
  judgeOfClocks,
  SET,
  STALE,
  T,
  WAITS,
} from "./clock-fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(
  `C1: claims about clocks${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    const { judge, wentBy, hash, spans } = judgeOfClocks();

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

    describe("C1: a claim waits for a cell that gave a sign of life just now", () => {
      const LAST = T - 300;
      beforeEach(async () => {
        for (const cell of ["a", "b"]) await wentBy(cell, LAST);
      });
      const claims = (afterMs: number, cell?: string) =>
        judge(T + DAY + afterMs, { steady: T + afterMs, slept: T + DAY + afterMs }, cell);
      const begins = (afterMs: number) => judge(T + DAY + afterMs, { machine: T + DAY + afterMs }, "c");
      const doubts = (afterMs: number) => judge(T + DAY + afterMs, { steady: T + afterMs }, "b");

      test("which may doubt, on a slow link", async () => {
        expect(await claims(0)).toEqual(WAITS);
        expect(await claims(CONTRADICT_MS)).toEqual(WAITS);
        expect(await doubts(700)).toEqual(WAITS);
        for (const afterMs of [800, 1700, 2000, 2699]) expect(await claims(afterMs)).toEqual(WAITS);
      });

      test("until that says the same", async () => {
        expect(await claims(0)).toEqual(WAITS);
        expect(await claims(400, "b")).toEqual(WAITS);
        expect(await claims(CONTRADICT_MS)).toEqual(SET(DAY));
      });

      test("until that was silent for two seconds", async () => {
        expect(await claims(0)).toEqual(WAITS);
        const silentMs = LAST + HEARD_MS - T;
        expect(await claims(silentMs - 1)).toEqual(WAITS);
        expect(await claims(silentMs)).toEqual(SET(DAY));
      });

      test("and what a cell said of an earlier claim is not said of this one", async () => {
        expect(await claims(0, "b")).toEqual(WAITS);
        expect(await judge(T + 100, { steady: T + 100 })).toEqual(GOES);
        expect(await claims(200)).toEqual(WAITS);
        expect(await claims(200 + CONTRADICT_MS)).toEqual(WAITS);
      });

      test("also that of a new process", async () => {
        expect(await begins(0)).toEqual(WAITS);
        expect(await begins(CONTRADICT_MS)).toEqual(WAITS);
        expect(await doubts(700)).toEqual(WAITS);
        expect(await begins(HEARD_MS)).toEqual(WAITS);
      });

      test("not longer than two seconds, although a new process cannot know since when they are silent", async () => {
        expect(await begins(0)).toEqual(WAITS);
        expect(await begins(HEARD_MS - 1)).toEqual(WAITS);
        expect(await begins(HEARD_MS)).toEqual(GOES);
      });
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

    describe("C1: where machines' clocks were off before", () => {
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
  },
);
