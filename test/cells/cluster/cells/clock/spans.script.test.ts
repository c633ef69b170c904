/** Spans of the clock (`clock.lua`): by how much clocks were ahead of steady time, and since when. */
import { describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { CONTRADICT_MS, DAY, HOUR, judgeOfClocks, T } from "./clock-fixtures.ts";

const missing = missingRedis();
const MOST_SPANS = 80;

describe.skipIf(missing !== undefined)(
  `C1: spans of clocks${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    const { claimed, spans, wallOf } = judgeOfClocks();

    test.each([
      ["within a twentieth of the way", DAY / 20, [0, 0, T + HOUR + CONTRADICT_MS, DAY / 20]],
      ["to its course", 0, [0, 0]],
      ["not so near to it", 4_320_001, [0, 0, T + CONTRADICT_MS, DAY, T + HOUR + CONTRADICT_MS, 4_320_001]],
    ])("a clock that is put right %s", async (_, offMs, left) => {
      await claimed(T, DAY);
      expect(await claimed(T + HOUR, offMs)).toEqual({ goes: true, shift: offMs, changes: 2 });
      expect(await spans()).toEqual(left);
    });

    test.each([
      [5000, [0, 0, T + HOUR + CONTRADICT_MS, 5000]],
      [5001, [0, 0, T + CONTRADICT_MS, 61_000, T + HOUR + CONTRADICT_MS, 5001]],
    ])("a clock that was a minute ahead and is put right within %d ms", async (offMs, left) => {
      await claimed(T, 61_000);
      await claimed(T + HOUR, offMs);
      expect(await spans()).toEqual(left);
    });

    test("what was charged on a day counts on it again once clocks that were set back are put right by another course", async () => {
      await claimed(T, -DAY);
      expect(await wallOf(T - HOUR)).toBeLessThan(T - DAY + HOUR);
      await claimed(T + HOUR, 60_000);
      expect(await wallOf(T - HOUR)).toBe(T - HOUR);
      expect(await wallOf(T + HOUR / 2)).toBe(T + HOUR / 2);
    });

    test("a clock that returns to the first of several courses forgets all between", async () => {
      for (const [at, shift] of [DAY, 13 * DAY, 2 * DAY, 0].entries()) await claimed(T + at * HOUR, shift);
      expect(await spans()).toEqual([0, 0]);
    });

    test.each([3000, -3000, 5000])(
      "20 settings by %d ms move nothing that was charged before",
      async (ms) => {
        // It is 23:59:30.
        const chargedMs = Math.ceil(T / DAY) * DAY - 30_000;
        const beginMs = chargedMs + 1000;
        for (let n = 1; n <= 20; n++)
          expect(await claimed(beginMs + n * 10_000, n * ms)).toMatchObject({ goes: true, shift: n * ms });
        expect(await wallOf(chargedMs)).toBe(chargedMs);
        const nowMs = beginMs + 20 * 10_000 + CONTRADICT_MS;
        expect(await wallOf(nowMs)).toBe(nowMs + 20 * ms);
      },
    );

    test("nor do clocks that are put right not quite, again and again", async () => {
      for (let n = 1; n <= 20; n++) {
        await claimed(T + n * HOUR, DAY);
        await claimed(T + n * HOUR + 60_000, n * 1000);
      }
      expect(await wallOf(T)).toBe(T);
      // By a clock that was wrong then.
      const wrongMs = T + 20 * HOUR + 30_000;
      expect(await wallOf(wrongMs)).toBe(wrongMs + 19_000);
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
  },
);
