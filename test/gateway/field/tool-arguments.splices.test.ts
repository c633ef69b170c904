/**
 * Arguments of whole answers in another form than clients of the format read, where bytes pass: an object for a text, nothing, a text
 * for an object. All else of the call stays as it was written.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Field, startField } from "../../support/field/field.ts";

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

const CHAT_USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
const chat = (call: string): string =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[${call}]}}],${CHAT_USAGE}}`;
const chatCall = (fn: string): string => `{"id":"call_1","type":"function","function":${fn},"x":1.0}`;

const messages = (input: string): string =>
  `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"call_1","name":"f","input":${input}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`;

const responses = (args: string): string =>
  `{"id":"r","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[]},{"type":"function_call","id":"fc","call_id":"call_1","name":"f","status":"completed","arguments":${args}}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`;

const ASKS = {
  chat: { messages: [{ role: "user", content: "x" }] },
  responses: { input: "x", store: false },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "x" }] },
};

const SPACED = '{ "n":1.0,"s":"\u00e9\\n" }';
const AS_TEXT = JSON.stringify(SPACED);
const LONG = JSON.stringify(JSON.stringify({ text: "x".repeat(5000) }));

test.each([
  [
    "chat",
    "an object",
    chat(chatCall(`{"name":"f","arguments":${SPACED}}`)),
    `"arguments":${AS_TEXT}},"x":1.0}`,
  ],
  ["chat", "null", chat(chatCall('{"name":"f","arguments":null}')), '"arguments":"{}"},"x":1.0}'],
  ["chat", "white space", chat(chatCall('{"name":"f","arguments":" "}')), '"arguments":"{}"},"x":1.0}'],
  ["chat", "none", chat(chatCall('{"name":"f"}')), '{"name":"f","arguments":"{}"},"x":1.0}'],
  ["chat", "a long text", chat(chatCall(`{"name":"f","arguments":${LONG}}`)), `"arguments":${LONG}`],
  [
    "chat",
    "a custom call",
    chat('{"id":"c1","type":"custom","custom":{"name":"f","input":""}}'),
    '{"name":"f","input":""}',
  ],
  ["responses", "an object", responses(SPACED), `"arguments":${AS_TEXT}}`],
  [
    "chat",
    "line breaks",
    chat(chatCall('{"name":"f","arguments":"{\\"s\\":\\"1\\n2é\\u00e9\\"}"}')),
    '"arguments":"{\\"s\\":\\"1\\\\n2éé\\"}"},"x":1.0}',
  ],
  ["messages", "a text beyond ASCII", messages('"{\\"s\\":\\"é\\u00e9\\"}"'), '"input":{"s":"éé"}}'],
  ["responses", "an empty text", responses('""'), '"arguments":"{}"}'],
  ["messages", "a text", messages(AS_TEXT), `"input":${SPACED}}`],
  ["messages", "no JSON", messages('"ls"'), '"input":{"INVALID_JSON":"ls"}}'],
  ["messages", "null", messages("null"), '"input":{}}'],
  ["messages", "an object", messages(SPACED), `"input":${SPACED}}`],
] as const)("%s: %s", async (format, _, said, told) => {
  field.up.script({ headers: { "content-type": "application/json" }, parts: [said] });
  const { status, text } = await field.send(format, format, ASKS[format]);
  expect(status, text).toBe(200);
  expect(text).toContain(told);
  expect(() => JSON.parse(text)).not.toThrow();
});
