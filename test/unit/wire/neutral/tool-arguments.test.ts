/** Arguments of calls that nest deeper than can be written again: refused by name, on either side. */
import { expect, test } from "vitest";
import { GENERATION_DIALECTS } from "../../../../src/wire/dialects.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { holdsTooMuch } from "../../../../src/wire/json/json.ts";
import { REQUEST_BOUNDS, UNBOUNDED } from "../../../../src/wire/json/json-bounds.ts";
import { argumentsText, objectIn } from "../../../../src/wire/neutral/tool-arguments.ts";
import { passageTo } from "../../../../src/wire/passages.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";

const nested = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
const DEEP = nested(20_000);

const REPLIES = {
  chat: `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":${DEEP}}}]},"finish_reason":"stop"}]}`,
  messages: `{"type":"message","content":[{"type":"tool_use","id":"a","name":"f","input":${DEEP}}],"stop_reason":"tool_use"}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${DEEP}}}]},"finishReason":"STOP"}]}`,
  converse: `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":${DEEP}}}]}},"stopReason":"tool_use"}`,
} as const;

test.each(["chat", "messages", "gemini", "converse"] as const)("T12: in an answer of %s", (name) => {
  const read = () => GENERATION_DIALECTS.get(name)?.readReply(JSON.parse(REPLIES[name]));
  expect(read).toThrow(expect.objectContaining({ kind: "upstream_invalid_response" }));
});

test("T12: in a client's string they are no object", () => {
  expect(objectIn(DEEP)).toBeUndefined();
  expect(objectIn(nested(100))).toBeDefined();
  expect(argumentsText({ a: '[[\\"{{' })).toBe('{"a":"[[\\\\\\"{{"}');
});

test("brackets inside strings do not nest", () => {
  const isTooMuch = (json: string) => holdsTooMuch(json, UNBOUNDED);
  expect(isTooMuch(JSON.stringify({ a: "[".repeat(5000), '"{': "\\" }))).toBe(false);
  expect([isTooMuch(nested(255)), isTooMuch(nested(256))]).toEqual([false, true]);
});

test("S9: arguments have the bounds of a body: a map of millions takes seconds to build", () => {
  const map = (members: number) =>
    `{"a":{${Array.from({ length: members }, (_, i) => `"k${i}":0`).join()}},"b":{"c":0}}`;
  const { members, values } = REQUEST_BOUNDS;
  expect(objectIn(map(members))).toBeDefined();
  expect(objectIn(map(members + 1))).toBeUndefined();
  const list = (length: number) => `{"a":[${"0,".repeat(length)}0],"b":","}`;
  expect(holdsTooMuch(list(20), { ...REQUEST_BOUNDS, values: 23 })).toBe(false);
  expect(holdsTooMuch(list(21), { ...REQUEST_BOUNDS, values: 23 })).toBe(true);
  expect(objectIn(list(values))).toBeUndefined();
});

test.each(["chat", "responses"] as const)(
  "S9: of %s all calls together have the values of a body",
  (name) => {
    const values = `{"a":[${"0,".repeat(240_000)}0]}`;
    const written = (calls: number) => {
      const body = {
        chat: {
          messages: [
            {
              role: "assistant",
              tool_calls: Array(calls).fill({ id: "c", function: { name: "f", arguments: values } }),
            },
          ],
        },
        responses: {
          input: Array(calls).fill({ type: "function_call", call_id: "c", name: "f", arguments: values }),
        },
      }[name];
      const request = FORMATS[name].read(Buffer.from(JSON.stringify({ model: "v/m", ...body })));
      const to = endpoint("e", { dialects: ["messages"] });
      return () => passageTo(FORMATS[name], to)?.passage.write(request, to);
    };
    expect(written(4)).not.toThrow();
    expect(written(5)).toThrow(expect.objectContaining({ kind: "invalid_value" }));
  },
);
