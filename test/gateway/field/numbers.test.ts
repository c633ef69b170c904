/**
 * Numbers of tools are their digits, whole and streamed, both ways (earendil-works/pi#8943, pailat/adk-llm-bridge#67). Documents of every
 * kind are held to their text by test/unit/wire/json/opaque.test.ts; here a whole gateway is between client and upstream.
 */
import { expect } from "vitest";
import { type Exchange, kinds } from "../../support/field/kinds.ts";

/** An id of 60 bits, forms of numbers that a value loses, and names whose order it changes. */
const JSON_TEXT = '{"id":725653563933458432,"10":1.0,"2":1E400,"share":0.1234567890123456789012345}';
const AS_STRING = JSON.stringify(JSON_TEXT).slice(1, -1);

/** In an object, or in a string. */
const has = (text: string): boolean => text.includes(JSON_TEXT) || text.includes(AS_STRING);

const ASK_CHAT = `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"${AS_STRING}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]}`;
const ASK_MESSAGES = `{"max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${JSON_TEXT}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`;
const ASK_RESPONSES = `{"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","name":"f","arguments":"${AS_STRING}"},{"type":"function_call_output","call_id":"c1","output":"r"}],"store":false}`;
const ASK_GENERATE = `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_call","id":"c1","name":"f","arguments":"${AS_STRING}"}]},{"role":"user","content":[{"type":"tool_result","id":"c1","content":"r"}]}]}`;

const hasArguments = ({ up }: Exchange): void => expect(has(up.raw), up.raw).toBe(true);

kinds("numbers", [
  {
    name: "in the arguments of an earlier call",
    ask: { chat: ASK_CHAT, messages: ASK_MESSAGES, responses: ASK_RESPONSES, generate: ASK_GENERATE },
    check: hasArguments,
  },
  {
    name: "in the result of a call",
    ask: {
      turns: [
        { user: [{ text: "x" }] },
        { assistant: "", calls: [{ id: "c1", name: "f", arguments: {} }] },
        { results: [{ id: "c1", text: JSON_TEXT }] },
      ],
    },
    check: hasArguments,
  },
  {
    name: "in the model's call",
    ask: { turns: [{ user: [{ text: "x" }] }], tools: [{ name: "f", description: "F.", parameters: {} }] },
    answer: { calls: [{ id: "c1", name: "f", arguments: JSON_TEXT }] },
    check({ client, got, stream, heard }) {
      // Deltas may cut it anywhere: `heard` adds them up, and as values both are the same.
      if (!stream) expect(has(got.text), got.text).toBe(true);
      if (stream && client === "responses") expect(has(got.text), got.text).toBe(true);
      expect(heard.choices[0]?.calls).toEqual([{ id: "c1", name: "f", arguments: JSON.parse(JSON_TEXT) }]);
    },
  },
]);
