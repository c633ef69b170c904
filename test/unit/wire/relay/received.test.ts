/** Data that are not read yet, in the pieces in which they came. */
import { expect, test } from "vitest";
import { ReceivedPieces } from "../../../../src/wire/relay/received.ts";

const said = (received: ReceivedPieces): string[] =>
  [received, ...received.others]
    .slice(0, received.count)
    .map(({ memory, start, end }) => memory.toString("latin1", start, end));

test("each piece is told in its order, until all was read", () => {
  const received = new ReceivedPieces();
  const memory = Buffer.from("0123456789");
  received.add(memory, 5, 8);
  received.add(memory, 1, 3);
  received.addCopy(memory, 2, 4);
  received.addText("x");
  received.addText("");
  memory.fill("?", 2, 4);
  expect([said(received), received.bytes]).toEqual([["567", "1?", "23", "x"], 8]);
  received.clear();
  expect([said(received), received.bytes]).toEqual([[], 0]);
});
