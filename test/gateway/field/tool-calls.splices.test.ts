/**
 * Calls in spliced streams of chat, put together as OpenAI's SDKs do it: Python's joins ids and names, that of JavaScript takes the last
 * id that is not empty. Both must have one call for each, with one id.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Field, startField } from "../../support/field/field.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

type Piece = Readonly<Record<string, unknown>>;

interface Joined {
  readonly id: string;
  readonly lastId: string;
  readonly name: string;
  readonly args: string;
}

const MADE = /^call_[0-9A-Z]{26}_0_\d+$/;

const chunk = (choice: object): string =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`;

const piece = (
  id: string | undefined,
  name: string | undefined,
  args: string | undefined,
  index?: number,
) => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: "function",
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
});

async function joined(chunks: readonly (readonly Piece[])[]): Promise<Joined[]> {
  field.up.script({
    headers: { "content-type": "text/event-stream" },
    parts: [
      ...chunks.map((tool_calls) => chunk({ delta: { role: "assistant", tool_calls } })),
      chunk({ delta: {}, finish_reason: "tool_calls" }),
      "data: [DONE]\n\n",
    ],
  });
  const asked = { messages: [{ role: "user", content: "x" }] };
  const { status, text, events } = await field.send("chat", "chat", asked, { stream: true });
  expect(status, text).toBe(200);
  const calls = new Map<number, Joined>();
  for (const { index, id, function: fn } of events.flatMap(
    (event) => event.choices[0]?.delta.tool_calls ?? [],
  )) {
    expect(index).toBeTypeOf("number");
    const before = calls.get(index) ?? { id: "", lastId: "", name: "", args: "" };
    calls.set(index, {
      id: before.id + (id ?? ""),
      lastId: id || before.lastId,
      name: before.name + (fn?.name ?? ""),
      args: before.args + (fn?.arguments ?? ""),
    });
  }
  return [...calls.values()];
}

test.each([
  [
    "an id that comes after an empty one",
    [[piece("", "f", "", 0)], [piece("real1", undefined, '{"a":1}', 0)]],
  ],
  ["an id in no piece", [[piece(undefined, "f", "", 0)], [piece(undefined, undefined, '{"a":1}', 0)]]],
])("%s", async (_, chunks) => {
  const [call, ...others] = await joined(chunks);
  expect(others).toEqual([]);
  expect(call).toEqual({ id: expect.stringMatching(MADE), lastId: call?.id, name: "f", args: '{"a":1}' });
});

test("an id that two calls repeat in each piece", async () => {
  const [first, second, ...others] = await joined([
    [piece("a", "f", '{"a"', 0)],
    [piece(undefined, undefined, ":1}", 0)],
    [piece("a", "f", '{"b"', 1)],
    [piece("a", undefined, ":2}", 1)],
  ]);
  expect(others).toEqual([]);
  expect(first).toEqual({ id: "a", lastId: "a", name: "f", args: '{"a":1}' });
  expect(second).toEqual({ id: expect.stringMatching(MADE), lastId: second?.id, name: "f", args: '{"b":2}' });
});

test.each([undefined, 0])("a call that is sent again at its end, with the index %s", async (index) => {
  const call = piece("c", "f", '{"a":1}', index);
  const [got, ...others] = await joined([[call], [call]]);
  expect(others).toEqual([]);
  expect(got).toMatchObject({ lastId: "c", args: '{"a":1}' });
});

test("two calls that are alike, in one chunk", async () => {
  const call = piece("c", "f", '{"a":1}');
  const [first, second] = await joined([[call, call]]);
  expect([first?.args, second?.args]).toEqual(['{"a":1}', '{"a":1}']);
  expect(second?.id).toMatch(MADE);
});
