/** The newest rows against a plain map: whatever is given is right, and the newest one that is not too long is always there. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentRows } from "../../../../src/analytics/outbox/recent-rows.ts";
import { rounds } from "../../../support/effort.ts";

const KB = 1024;
const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 5 * KB }) },
  { weight: 2, arbitrary: fc.integer({ min: 100 * KB, max: 256 * KB }) },
  { weight: 1, arbitrary: fc.integer({ min: 256 * KB + 1, max: 300 * KB }) },
);
const step = fc.record({
  size: sizes,
  skip: fc.constantFrom(0, 0, 0, 0, 1, 40, 3000),
  times: fc.constantFrom(1, 1, 5, 400),
});

const rowOf = (number: number, size: number) => Buffer.alloc(size, number % 251);

test("a row is given as it was put, until newer ones have its place", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const recents = new RecentRows();
      const put = new Map<number, number>();
      let number = 7;
      for (const { size, skip, times } of steps) {
        for (let i = 0; i < times; i++) {
          number += i === 0 ? skip + 1 : 1;
          recents.add(number, rowOf(number, size));
          put.set(number, size);
        }
        const kept = size <= 256 * KB;
        expect(recents.get(number)?.length).toBe(kept ? size : undefined);
        for (const [known, length] of put) {
          const row = recents.get(known);
          if (known < recents.oldest) expect(row).toBeUndefined();
          if (row !== undefined) expect(row.equals(rowOf(known, length)), `row ${known}`).toBe(true);
        }
        for (const missing of [number - 2001, recents.oldest - 1, number + 1])
          expect(recents.get(missing)).toBeUndefined();
      }
    }),
    { numRuns: rounds(60) },
  );
});

test("usual rows are there by the hundreds", () => {
  const recents = new RecentRows();
  for (let number = 1; number <= 5000; number++) recents.add(number, rowOf(number, 3 * KB));
  expect(recents.get(4400)?.equals(rowOf(4400, 3 * KB))).toBe(true);
  expect(recents.get(3000)).toBeUndefined();
});
