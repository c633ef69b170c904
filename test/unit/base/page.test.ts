/** A page that is read in turns is the page that is read at once, and others run between. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cursors as openCursors } from "../../../src/base/operation/cursor.ts";
import { readPage, readPageInTurns } from "../../../src/base/operation/page.ts";

const cursors = openCursors(Buffer.alloc(32, 1));

/** Newest first: `count`, `count` - 1, … 1. */
function pages(count: number, limit: number, cursor: string | undefined, keep = 1) {
  let read = 0;
  return {
    read: () => read,
    options: {
      cursors,
      list: "numbers",
      limit,
      cursor,
      *rows(after?: (string | number)[]): Generator<number> {
        for (let n = Number(after?.[0] ?? count + 1) - 1; n > 0; n--) {
          read++;
          yield n;
        }
      },
      positionOf: (n: number) => [n],
      matches: (n: number) => n % keep === 0,
    },
  };
}

test("pages in turns are the same as pages at once, to the last one", async () => {
  const property = fc.asyncProperty(
    fc.nat(300),
    fc.integer({ min: 1, max: 200 }),
    fc.integer({ min: 1, max: 3 }),
    async (count, limit, keep) => {
      let cursor: string | undefined;
      for (let page = 0; page === 0 || cursor !== ""; page++) {
        const atOnce = readPage(pages(count, limit, cursor, keep).options);
        const inTurns = await readPageInTurns(pages(count, limit, cursor, keep).options, (n) => -n);
        expect(inTurns.data.map((n) => -n)).toEqual(atOnce.data);
        expect(inTurns.next_cursor).toBe(atOnce.next_cursor);
        cursor = inTurns.next_cursor;
      }
    },
  );
  await fc.assert(property, { numRuns: 60, seed: 4 });
});

test("other work runs between slices of a page of two hundred rows", async () => {
  const { options, read } = pages(500, 200, undefined);
  let before = 0;
  let most = 0;
  let isOver = false;
  const watch = (): void => {
    most = Math.max(most, read() - before);
    before = read();
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  const { data } = await readPageInTurns(options, (n) => n);
  isOver = true;
  most = Math.max(most, read() - before);
  expect([data.length, data.at(-1)]).toEqual([200, 301]);
  // Slices of forty, each with a row more to know whether it is the last; two may come between two looks.
  expect(most).toBeLessThanOrEqual(82);
  expect(most).toBeGreaterThan(0);
});
