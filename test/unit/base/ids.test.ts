/** Ids of one millisecond count up, also where their last two characters are used up. */
import { expect, it } from "vitest";
import { lastBits, madeAtMs, REQUEST_ID, requestId } from "../../../src/base/ids.ts";

const FUTURE_MS = 4_000_000_000_000;

it("are in order within a millisecond, and count up by one", () => {
  const ids = Array.from({ length: 3_000 }, () => requestId(FUTURE_MS));
  expect(ids.every((id) => REQUEST_ID.test(id))).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  const bits = ids.map(lastBits);
  expect(bits.slice(1).every((bit, i) => bit === ((bits[i] as number) + 1) % 1_024)).toBe(true);
});

it("go on behind those of a clock that is corrected by little, and follow one that is set back", () => {
  const last = requestId(FUTURE_MS + 500);
  expect(requestId(FUTURE_MS) > last).toBe(true);
  expect(requestId(FUTURE_MS - 10_000) < last).toBe(true);
});

it.each([0, 1])("of a clock at %i are of 1970, and none is given again once the clock is right", (ms) => {
  const instants = [ms, ms, ms, ...Array.from({ length: 3 }, () => FUTURE_MS - 20_000)];
  const made = instants.map(requestId);
  expect(new Set(made).size).toBe(made.length);
  expect(made.map(madeAtMs)).toEqual(instants.map((instant) => Math.max(1, instant)));
});
