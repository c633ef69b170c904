/** Ids of items say which conversation has them, and nothing else does. */
import { expect, test } from "vitest";
import { newId, requestId } from "../../../../../src/base/ids.ts";
import {
  conversationOfItem,
  itemNamer,
} from "../../../../../src/inference/exchange/kept/conversations/item-ids.ts";

const CONVERSATION = newId("conv", 1_800_000_000_000);
const REQUEST = requestId(1_800_000_000_000);

test.each(["h", "i", "o"] as const)("of source %s: none twice, each leads to its conversation", (source) => {
  const name = itemNamer(CONVERSATION, REQUEST, source);
  const ids = Array.from({ length: 10_000 }, () => name("ctco"));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of [ids[0], ids.at(-1)]) {
    expect(conversationOfItem(id as string)).toBe(CONVERSATION);
    expect(id?.length).toBeLessThanOrEqual(64);
  }
});

test.each([
  "msg_1",
  "",
  `msg_${REQUEST}`,
  `msg_${REQUEST}_in0`,
  CONVERSATION,
  `${itemNamer(CONVERSATION, REQUEST, "h")("msg")}x`,
  ` ${itemNamer(CONVERSATION, REQUEST, "h")("msg")}`,
])("%j was not made here", (id) => {
  expect(conversationOfItem(id)).toBeUndefined();
});
