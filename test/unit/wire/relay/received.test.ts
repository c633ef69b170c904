/** Data of a read are put together in its memory; others stay where they are. */
import { expect, test } from "vitest";
import { ReceivedPieces } from "../../../../src/wire/relay/received.ts";

const said = ({ pieces, ranges, count }: ReceivedPieces): string[] =>
  Array.from({ length: count }, (_, i) =>
    (pieces[i] as Buffer).toString("latin1", ranges[2 * i], ranges[2 * i + 1]),
  );

test("pieces of one memory become one, in their order", () => {
  const received = new ReceivedPieces();
  const memory = Buffer.from("3\r\nabc\r\n2\r\nde\r\n1\r\nf");
  received.add(memory, 3, 6);
  received.add(memory, 11, 13);
  received.add(memory, 18, 19);
  expect([said(received), received.bytes]).toEqual([["abcdef"], 6]);
  received.clear();
  expect([said(received), received.bytes]).toEqual([[], 0]);
});

test("memory of its own, and a memory that is written anew, are pieces by themselves", () => {
  const received = new ReceivedPieces();
  const memory = Buffer.from("0123456789");
  received.add(memory, 5, 8);
  received.add(memory, 1, 3);
  received.addCopy(memory, 2, 4);
  received.addText("x");
  received.addText("");
  memory.fill("?", 2, 4);
  expect([said(received), received.bytes]).toEqual([["567", "1?", "23", "x"], 8]);
});
