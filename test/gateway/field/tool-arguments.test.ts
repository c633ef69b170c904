/**
 * Arguments as models, servers and clients write them beside valid JSON of an object: none, cut at the output limit, encoded twice,
 * behind an empty object, with halves of pairs.
 */
import { expect } from "vitest";
import type { ClientName } from "../../support/conformance/ends.ts";
import type { Said } from "../../support/field/answers.ts";
import { type Asking, type Kind, kinds } from "../../support/field/kinds.ts";

const TEXT_DIALECTS: readonly string[] = ["chat", "responses"];

/** A conversation in which a tool was called with these arguments. */
const history = (args: string): Asking => ({
  chat: {
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: args } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "r" },
    ],
  },
  responses: {
    input: [
      { role: "user", content: "x" },
      { type: "function_call", call_id: "call_1", name: "f", arguments: args },
      { type: "function_call_output", call_id: "call_1", output: "r" },
    ],
  },
  messages: {
    max_tokens: 9,
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "f", input: args }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "r" }] },
    ],
  },
  generate: {
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", content: [{ type: "tool_call", id: "call_1", name: "f", arguments: args }] },
      { role: "user", content: [{ type: "tool_result", id: "call_1", content: "r" }] },
    ],
  },
});

/** Between equal ends the bytes pass as they came. */
const isSpliced = (client: ClientName, dialect: string): boolean => client === dialect;

/** @param object the text of the object that dialects with objects get; `text` that of the others */
const inHistory = (args: string, object: string, text = args): Kind => ({
  name: `${JSON.stringify(args)} in the history`,
  ask: history(args),
  check({ client, dialect, up }) {
    if (isSpliced(client, dialect)) expect(up.raw).toContain(JSON.stringify(args));
    else if (TEXT_DIALECTS.includes(dialect)) expect(up.raw).toContain(`"arguments":${JSON.stringify(text)}`);
    else expect(up.raw).toContain(`"${dialect === "gemini" ? "args" : "input"}":${object}`);
  },
});

const TOOL = { name: "f", description: "Does.", parameters: { type: "object" } };

const CUT = '{"path":"a","n":1.0,"content":"abc';

/** @param args what the client's arguments are, parsed. */
const inAnswer = (name: string, said: string, args: unknown, clients?: readonly ClientName[]): Kind => ({
  name: `${name} in an answer`,
  ask: { turns: [{ user: [{ text: "x" }] }], tools: [TOOL] },
  answer: { calls: [{ id: "call_1", name: "f", arguments: said }] } satisfies Said,
  targets: ["chat", "responses"],
  clients: clients ?? ["chat", "responses", "messages", "generate"],
  check(exchange) {
    if (isSpliced(exchange.client, exchange.dialect)) return;
    expect(exchange.heard.choices[0]?.calls).toMatchObject([{ name: "f", arguments: args }]);
  },
});

kinds("arguments", [
  inHistory("null", "{}", "{}"),
  inHistory("", "{}", "{}"),
  inHistory(" \n", "{}", "{}"),
  inHistory(CUT, '{"path":"a","n":1.0}'),
  inHistory('{"a":1.0}}', '{"a":1.0}'),
  inHistory('{}{"a":1.0}', '{"a":1.0}'),
  inHistory('"{\\"a\\":1.0}"', '{"a":1.0}', '{"a":1.0}'),
  inHistory('{"a":"\\ud800"}', '{"a":"\\ufffd"}', '{"a":"\\ufffd"}'),
  inHistory('{"a":"1\n2",\n"b":1.0}', '{"a":"1\\n2",\n"b":1.0}', '{"a":"1\\n2",\n"b":1.0}'),
  inHistory('{"a":"\t\u0001","b":"cu\nt', '{"a":"\\t\\u0001"}', '{"a":"\\t\\u0001","b":"cu\\nt'),
  ...["{oops", "{'a': 1}", "undefined", "[1,2]", "```json\n{}\n```", 'ls "-la"\n'].map((broken) =>
    inHistory(broken, JSON.stringify({ INVALID_JSON: broken })),
  ),
  inAnswer("nothing", "", {}),
  inAnswer("null", "null", {}),
  inAnswer("white space", " ", {}),
  inAnswer("an empty object first", '{}{"a":1}', { a: 1 }),
  inAnswer("empty objects first", '{} {}\n{}{"a":1}', { a: 1 }),
  inAnswer("empty objects alone", "{}{}", {}),
  inAnswer("half of a pair as an escape", '{"a":"\\ud83d"}', { a: "\ufffd" }),
  inAnswer("an object encoded twice", '"{\\"a\\":1}"', { a: 1 }),
  inAnswer(
    "an object of many pieces encoded twice",
    JSON.stringify(JSON.stringify({ a: '\u00e9\n"'.repeat(99) })),
    {
      a: '\u00e9\n"'.repeat(99),
    },
  ),
  inAnswer("nothing encoded twice", '"null"', {}),
  inAnswer("a list", "[1]", { INVALID_JSON: "[1]" }, ["messages"]),
  inAnswer("line breaks in strings", '{"a":"1\n\\"2",\n"b\t":"\\\\","c":"\u0001\\n"}', {
    a: '1\n"2',
    "b\t": "\\",
    c: "\u0001\n",
  }),
  inAnswer("plain text", "ls -la", { INVALID_JSON: "ls -la" }, ["messages"]),
  {
    name: "text with a half of a pair",
    ask: { turns: [{ user: [{ text: "a\ud800b" }] }] },
    answer: { text: "c\udc00d" },
    clients: ["chat", "responses", "messages", "generate"],
    check({ client, dialect, seen, heard }) {
      if (isSpliced(client, dialect)) return;
      expect(seen.texts).toEqual(["a\ufffdb"]);
      expect(heard.choices[0]?.text).toBe("c\ufffdd");
    },
  },
  {
    name: "arguments cut in a whole answer are an object for messages",
    ask: { turns: [{ user: [{ text: "x" }] }], tools: [TOOL] },
    answer: { calls: [{ id: "call_1", name: "f", arguments: CUT }] },
    targets: ["chat", "responses"],
    clients: ["messages"],
    check({ stream, got }) {
      if (stream) return;
      expect(got.text).toContain('"input":{"path":"a","n":1.0}');
    },
  },
]);
