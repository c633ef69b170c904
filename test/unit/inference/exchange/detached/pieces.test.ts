/** Parts of a log in messages of any length: the pieces are the part, and each begins where an event does, unless that is too long. */
import { expect, test } from "vitest";
import { pieceOf } from "../../../../../src/inference/exchange/detached/elsewhere/pieces.ts";
import type { Part } from "../../../../../src/inference/exchange/detached/event-log.ts";
import { EventNumbers, startOf } from "../../../../../src/wire/neutral/event-numbers.ts";

const LENGTHS = [1, 40, 2, 300, 7, 1, 90];

/** Events of these lengths, of which one looks as if others began in it. */
function partFrom(first: number): Part {
  const numbers = new EventNumbers(first);
  const events = LENGTHS.map((length) => `data: ${"id: 7 ".repeat(length).slice(0, length)}\n\n`);
  const bytes = numbers.numbered(Buffer.from(events.join("")));
  return { first, end: numbers.next, bytes };
}

/** What a log gives from an event on. */
const partAt = ({ end, bytes }: Part, number: number): Part => ({
  first: number,
  end,
  bytes: bytes.subarray(startOf(bytes, number)),
});

test.each([0, 9, 99_998])("a part from event %d on is put together of pieces of any length", (first) => {
  const part = partFrom(first);
  for (let most = 24; most <= part.bytes.length; most++) {
    const got: Buffer[] = [];
    let [next, skip] = [first, 0];
    while (next < part.end) {
      const rest = partAt(part, next);
      const piece = pieceOf(rest, skip, most);
      expect(piece.bytes.length).toBeLessThanOrEqual(most);
      expect(piece.bytes.length).toBeGreaterThan(0);
      got.push(piece.bytes);
      // An event is cut only where it does not fit.
      if (piece.skip > 0) expect(rest.bytes.indexOf("\n\n") + 2).toBeGreaterThan(piece.skip);
      [next, skip] = [piece.next, piece.skip];
    }
    expect(Buffer.concat(got).equals(part.bytes)).toBe(true);
    expect([next, skip]).toEqual([part.end, 0]);
  }
});
