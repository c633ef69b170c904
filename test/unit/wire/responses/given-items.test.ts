/** The items that a response was made from, as they are listed. */
import { describe, expect, test } from "vitest";
import type { Sliced } from "../../../../src/base/turns/shared-turns.ts";
import { givenItems, listedItems } from "../../../../src/wire/responses/given-items.ts";

function now<T>(work: Sliced<T>): { readonly value: T; readonly slices: number } {
  for (let slices = 1; ; slices++) {
    const { done, value } = work.next();
    if (done === true) return { value, slices };
  }
}

const NONE = '{"id":"resp_1","output":[]}';
const all = (items: string, response = NONE) => {
  const given = now(givenItems(items, response)).value;
  const texts = now(listedItems(items, given, [...given.ids.keys()])).value;
  return { ids: given.ids, items: texts.map((text) => JSON.parse(text)) };
};

const HASHED = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-f]{32}$`));
const SAID = (id: unknown, text: string) => ({
  id,
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }],
});

describe("an item gets what the list promises", () => {
  test.each<[string, string, object]>([
    ["a message without an id", '{"role":"user","content":"a"}', SAID(HASHED("msg"), "a")],
    ["a type of null", '{"type":null,"role":"user","content":"a"}', SAID(HASHED("msg"), "a")],
    ["an id of null", '{"id":null,"role":"user","content":"a"}', SAID(HASHED("msg"), "a")],
    ["an id that is a number", '{"id":1,"role":"user","content":"a"}', SAID(HASHED("msg"), "a")],
    ["an id with a space", '{"id":"a b","role":"user","content":"a"}', SAID(HASHED("msg"), "a")],
    [
      "an id of 300 characters",
      `{"id":"${"a".repeat(300)}","role":"user","content":"a"}`,
      SAID(HASHED("msg"), "a"),
    ],
    ["its own id", '{"id":"msg_a","role":"user","content":"a"}', SAID("msg_a", "a")],
    [
      "members twice",
      '{"role":"system","role":"user","content":"b","content":"a"}',
      SAID(HASHED("msg"), "a"),
    ],
    ["members with escapes", '{"\\u0072ole":"user","con\\u0074ent":"a"}', SAID(HASHED("msg"), "a")],
    ["white space", ' \n{ "role" : "user" ,\n"content":\t"a" } ', SAID(HASHED("msg"), "a")],
    ["nothing in it", "{ }", { id: HASHED("item") }],
    ["an unknown type", '{"type":"x","content":"a"}', { id: HASHED("item"), type: "x", content: "a" }],
    ["a call", '{"type":"function_call","id":null}', { id: HASHED("fc"), type: "function_call" }],
  ])("%s", (_, item, listed) => {
    expect(all(item).items).toEqual([listed]);
  });
});

describe("ids", () => {
  test("are of one item each, also where a caller says one that another would get", () => {
    const plain = '{"role":"user","content":"a"},{"role":"user","content":"b"}';
    const [, second] = all(plain).ids;
    const taken = `{"id":"${second}","role":"user","content":"a"},{"role":"user","content":"b"},{"id":"${second}","role":"user","content":"c"}`;
    const { ids, items } = all(taken);
    expect(ids[0]).toBe(second);
    expect(new Set(ids).size).toBe(3);
    expect(items.map(({ content }) => content[0].text)).toEqual(["a", "b", "c"]);
  });

  test("are alike in the response that goes on", () => {
    const first = '{"role":"user","content":"a"},{"role":"user","content":"a"}';
    const output = '{"id":"msg_1","type":"message","role":"assistant","content":[]}';
    const { ids } = all(`${first},${output}`, `{"object":"response","output": [ ${output} ] ,"x":"]"}`);
    expect(ids).toHaveLength(2);
    expect(all(`${first},${output},{"role":"user","content":"c"}`).ids.slice(0, 3)).toEqual([
      ...ids,
      "msg_1",
    ]);
  });
});

test("no output, and an output that the conversation does not end with, leave all items", () => {
  const items = '{"role":"user","content":"a"}';
  for (const response of ['{"id":"x"}', '{"output":null}', '{"output":[{"id":"other"}]}', ' {"output":[]} '])
    expect(all(items, response).ids).toHaveLength(1);
  expect(all("").ids).toEqual([]);
});

test("much text, and many items, are looked through in slices", () => {
  const dense = JSON.stringify({ role: "user", content: [Array.from({ length: 1_000_000 }, () => 1)] });
  const found = now(givenItems(dense, NONE));
  expect(found.slices).toBeGreaterThan(20);
  expect(now(listedItems(dense, found.value, [0])).slices).toBeGreaterThan(10);
  const many = Array.from({ length: 10_000 }, (_, at) => `{"role":"user","content":"${at}"}`).join(",");
  expect(now(givenItems(many, NONE)).slices).toBeGreaterThan(50);
});
