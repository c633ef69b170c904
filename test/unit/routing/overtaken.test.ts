/** Calls that were hedged: what the silence of the one that lost says of its endpoint, whoever waits for it. */
import { expect, test } from "vitest";
import { type AttemptResult, Health } from "../../../src/routing/health/health.ts";
import { pooled } from "../../support/routing/fixtures.ts";

const EP = pooled("one", "sk-platform-1");
const LOST = { outcome: "cancelled", errorClass: "" } as const;

/** One call after another, each of so many milliseconds. */
function rig() {
  let nowMs = 1_000_000;
  const health = new Health({ now: () => 0, monotonic: () => nowMs });
  const call = (afterMs: number, result: AttemptResult) => {
    const lane = health.begin(EP, EP.provider.keys);
    if (lane === undefined) throw new Error("no lane was given");
    nowMs += afterMs;
    health.onResult(lane, result);
  };
  const answered = (ttftMs: number) => call(ttftMs, { outcome: "ok", errorClass: "", ttftMs });
  const overtaken = (silentMs: number) => call(silentMs, { ...LOST, ttftMs: silentMs, isOvertaken: true });
  const times = (count: number, act: () => void) => {
    for (let i = 0; i < count; i++) act();
  };
  /** @returns how long it was so, to the half second. */
  const pass = (isSo: () => boolean): number => {
    const sinceMs = nowMs;
    while (isSo()) nowMs += 500;
    return nowMs - sinceMs;
  };
  return { health, answered, overtaken, times, call, pass };
}

test("an endpoint whose calls are overtaken again and again, long after they should have begun, is in trouble", () => {
  const { health, answered, overtaken, times } = rig();
  times(20, () => answered(400));
  times(4, () => overtaken(2400));
  expect(health.of(EP)).toMatchObject({ failing: false, errorRate: expect.closeTo(0.25, 1) });
  overtaken(2400);
  expect(health.of(EP)).toMatchObject({ failing: true, ttftMs: expect.closeTo(400) });
});

test("and each further overtaken call prolongs the trouble", () => {
  const { health, answered, overtaken, times, pass } = rig();
  times(20, () => answered(400));
  times(5, () => overtaken(2400));
  const pauses = Array.from({ length: 6 }, () => {
    const pauseMs = pass(() => health.of(EP)?.failing === true);
    overtaken(2400);
    return pauseMs;
  });
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
});

test("an overtaken call within three times the usual time does not count as a failure", () => {
  const { health, answered, overtaken, times } = rig();
  times(20, () => answered(400));
  times(20, () => overtaken(600));
  expect(health.of(EP)).toMatchObject({ failing: false, errorRate: 0 });
});

test("without a usual time an overtaken call does not count", () => {
  const { health, overtaken } = rig();
  overtaken(5000);
  expect(health.of(EP)).toMatchObject({ failing: false, errorRate: 0, ttftMs: 5000 });
});

test("non-streamed answers are compared with non-streamed answers", () => {
  const { health, call, times } = rig();
  times(20, () => call(800, { outcome: "ok", errorClass: "", wholeMs: 800 }));
  times(5, () => call(900, { ...LOST, wholeMs: 900, isOvertaken: true }));
  expect(health.of(EP)?.failing).toBe(false);
  times(5, () => call(9000, { ...LOST, wholeMs: 9000, isOvertaken: true }));
  expect(health.of(EP)?.failing).toBe(true);
});

test("a client's disconnect does not affect the endpoint, however long it waited", () => {
  const { health, answered, call, times } = rig();
  times(20, () => answered(400));
  times(20, () => call(9000, LOST));
  expect(health.of(EP)).toMatchObject({ failing: false, errorRate: 0 });
});
