/**
 * A call that the limit of an answer cut off is an incomplete item of an incomplete response (OpenAI API reference, `status` of "Function tool
 * call"; https://www.openresponses.org/specification: an item ends as incomplete where the tokens end within it, and is the last one).
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";

const PARAMETERS = { type: "object", properties: {} };
const ASK = {
  input: "x",
  store: false,
  tools: [
    { type: "function", name: "f", parameters: PARAMETERS },
    { type: "custom", name: "c" },
    { type: "shell", environment: { type: "local" } },
    { type: "apply_patch" },
  ],
};

const CUT = '{"a":1,"t":"hel';

interface Case {
  readonly name: string;
  readonly calls: readonly (readonly [name: string, json: string])[];
  readonly finish?: string;
  /** Status of the response and of its items. */
  readonly wanted: readonly [string, ...string[]];
}

const CASES: readonly Case[] = [
  { name: "a call of a function", calls: [["f", CUT]], wanted: ["incomplete", "incomplete"] },
  { name: "a call that has nothing yet", calls: [["f", ""]], wanted: ["incomplete", "incomplete"] },
  {
    name: "the last one of several calls",
    calls: [
      ["f", '{"a":1}'],
      ["f", CUT],
    ],
    wanted: ["incomplete", "completed", "incomplete"],
  },
  { name: "a call of a free-form tool", calls: [["c", '{"input":"a']], wanted: ["incomplete", "incomplete"] },
  {
    name: "a call of the shell",
    calls: [["shell", '{"commands":["r']],
    wanted: ["incomplete", "incomplete"],
  },
  // A patch has no such word.
  { name: "a patch", calls: [["apply_patch", '{"type":"del']], wanted: ["incomplete", "in_progress"] },
  { name: "behind a whole call", calls: [["f", '{"a":1}']], wanted: ["incomplete", "completed"] },
  { name: "nothing", calls: [["f", '{"a":1}']], finish: "tool_calls", wanted: ["completed", "completed"] },
  {
    name: "by a filter",
    calls: [["f", CUT]],
    finish: "content_filter",
    wanted: ["incomplete", "incomplete"],
  },
];

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };

const toolCalls = (calls: Case["calls"]) =>
  calls.map(([name, json], index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: json },
  }));

function said({ calls, finish = "length" }: Case, stream: boolean): Scripted {
  const head = { id: "x", created: 1, model: "m", usage: USAGE };
  if (!stream) {
    const message = { role: "assistant", content: null, tool_calls: toolCalls(calls) };
    const choices = [{ index: 0, message, finish_reason: finish }];
    return { body: JSON.stringify({ ...head, object: "chat.completion", choices }) };
  }
  const chunk = (delta: object, reason: string | null) =>
    `data: ${JSON.stringify({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: reason }],
    })}\n\n`;
  const parts = toolCalls(calls).map((call) => chunk({ tool_calls: [call] }, null));
  return {
    headers: { "content-type": "text/event-stream" },
    parts: [...parts, chunk({}, finish), "data: [DONE]\n\n"],
  };
}

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

describe("the limit cuts", () => {
  test.each(CASES.flatMap((one) => [false, true].map((stream) => ({ ...one, stream }))))(
    "$name, streamed: $stream",
    async ({ stream, ...one }) => {
      field.up.script(said(one, stream));
      const { status, text, json, events } = await field.send("responses", "chat", ASK, { stream });
      expect(status, text).toBe(200);
      const response: Json = stream ? events.at(-1)?.response : json;
      const [wanted, ...items] = one.wanted;
      expect([response.status, ...response.output.map((item: Json) => item.status)]).toEqual([
        wanted,
        ...items,
      ]);
      if (!stream) return;
      const done = events.filter(({ type }) => type === "response.output_item.done");
      expect(done.map(({ item }): Json => item)).toEqual(response.output);
    },
  );
});
