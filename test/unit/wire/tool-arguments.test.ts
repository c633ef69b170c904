/** Arguments of calls that nest deeper than can be written again: refused by name, on either side. */
import { expect, test } from "vitest";
import { GENERATION_DIALECTS } from "../../../src/wire/dialects.ts";
import { nestsTooDeep } from "../../../src/wire/json.ts";
import { argumentsText, objectIn } from "../../../src/wire/tool-arguments.ts";

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
  expect(nestsTooDeep(JSON.stringify({ a: "[".repeat(5000), '"{': "\\" }))).toBe(false);
  expect([nestsTooDeep(nested(255)), nestsTooDeep(nested(256))]).toEqual([false, true]);
});
