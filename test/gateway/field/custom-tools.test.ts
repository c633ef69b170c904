/**
 * Tools whose input is a text in free form (antirez/ds4#745: Codex could not edit files): offered, chosen and called in the history,
 * natively where the dialect has the type and as a function with one string elsewhere; the call comes back in the client's own type.
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";
import {
  asFunction,
  callsIn,
  type FreeFormat,
  freeCall,
  natively,
  nextTurn,
} from "./custom-tools.fixtures.ts";

/** What JSON escapes, what models escape twice, and characters of two units. */
const PATCH = '*** Begin Patch\n+const s = "\\n\\u0041";\t// Zürich 🎉\r\n+}{",\\\\\n*** End Patch';
const GRAMMAR = { syntax: "lark", definition: 'start: "*** Begin Patch" LF /.+/s' };
const ANY = { type: "object", properties: {} };
const RUN = { name: "run", description: "Runs.", parameters: ANY };
const CALL = { id: "call_1", name: "apply_patch", input: PATCH };
const CHAT_TOOL = { name: "apply_patch", description: "Edits files." };

const TOOLS = {
  chat: [
    { type: "custom", custom: { ...CHAT_TOOL, format: { type: "grammar", grammar: GRAMMAR } } },
    { type: "function", function: RUN },
  ],
  responses: [
    { type: "custom", ...CHAT_TOOL, format: { type: "grammar", ...GRAMMAR } },
    { type: "function", ...RUN, strict: false },
  ],
};

const USER = { role: "user", content: "x" };

const conversation = (turns: (format: FreeFormat) => readonly Json[], more: object = {}) => ({
  chat: { messages: [USER, ...turns("chat")], tools: TOOLS.chat, ...more },
  responses: { input: [USER, ...turns("responses")], tools: TOOLS.responses, store: false, ...more },
});

const OFFERED = conversation(() => []);
const HISTORY = conversation((format) => nextTurn[format]([freeCall[format](CALL)], "done"));

const withChoice = (asked: typeof HISTORY) => ({
  chat: { ...asked.chat, tool_choice: { type: "custom", custom: { name: "apply_patch" } } },
  responses: { ...asked.responses, tool_choice: { type: "custom", name: "apply_patch" } },
});

/** No warning: nothing of the tool was lost. */
const warnings = ({ heard }: Exchange): readonly string[] => heard.svc.warnings;

const told: readonly Kind[] = [
  ...natively({
    name: "offered, chosen and called in the history, as it is",
    ask: withChoice(HISTORY),
    check(exchange) {
      const { dialect, up } = exchange;
      const { messages, input, tools, tool_choice: choice } = up.json;
      const asked: Json = withChoice(HISTORY)[dialect as FreeFormat];
      expect(tools).toMatchObject(asked.tools);
      expect(choice).toEqual(asked.tool_choice);
      const [, call, result] = messages ?? input;
      if (dialect === "chat") expect(call.tool_calls).toEqual([freeCall.chat(CALL)]);
      else expect(call).toMatchObject(freeCall.responses(CALL));
      expect([result.tool_call_id ?? result.call_id, JSON.stringify(result)]).toEqual([
        "call_1",
        expect.stringContaining('"done"'),
      ]);
      expect(warnings(exchange)).toEqual([]);
    },
  }),
  ...asFunction({
    name: "offered, chosen and called in the history, as a function",
    ask: withChoice(HISTORY),
    check(exchange) {
      const { seen } = exchange;
      const [tool, other] = seen.tools;
      expect(tool).toMatchObject({ name: "apply_patch", description: "Edits files." });
      expect(tool?.parameters).toMatchObject({
        type: "object",
        properties: { input: { type: "string", description: expect.stringContaining(GRAMMAR.definition) } },
        required: ["input"],
      });
      expect(Object.keys(tool?.parameters.properties as object)).toEqual(["input"]);
      expect(other?.name).toBe("run");
      expect(seen.choosing).toEqual({ name: "apply_patch" });
      expect(seen.calls).toEqual([{ id: "call_1", name: "apply_patch", arguments: { input: PATCH } }]);
      expect(seen.results).toMatchObject([{ id: "call_1", text: "done" }]);
      expect(warnings(exchange)).toEqual([]);
    },
  }),
];

/** The client hears its own type, and what it sends back at the next turn is the call that was made. */
async function isHeard(exchange: Exchange): Promise<Exchange> {
  const format = exchange.client as FreeFormat;
  const calls = callsIn(exchange);
  expect(calls).toMatchObject([freeCall[format](CALL)]);
  const { choices } = exchange.heard;
  expect(choices[0]?.stop).toBe(format === "chat" ? "tool_calls" : "completed");
  return exchange.ask(conversation((of) => nextTurn[of](calls, "done")));
}

/** Each unit of the text as an escape, as some servers write what is not ASCII. */
const escaped = (text: string): string =>
  [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");

/** Arguments of the function as models write them. */
const WRITTEN: Readonly<Record<string, string>> = {
  "as JSON has it": JSON.stringify({ input: PATCH }),
  "in escapes alone": `{"input":"${escaped(PATCH)}"}`,
  "among other members": `{ "why" : {"input":"no"},"n":[1.0,"}"], "input" :${JSON.stringify(PATCH)} , "x":null}`,
};

const PIECES = [1, 5];

const answered: readonly Kind[] = [
  ...Object.entries(WRITTEN).flatMap(([how, json]) =>
    PIECES.flatMap((piece) =>
      asFunction({
        name: `called by a function's call, written ${how}, ${piece} characters a piece`,
        ask: OFFERED,
        answer: { calls: [{ id: "call_1", name: "apply_patch", arguments: json }], piece },
        async check(exchange) {
          const { seen } = await isHeard(exchange);
          expect(seen.calls).toEqual([{ id: "call_1", name: "apply_patch", arguments: { input: PATCH } }]);
          expect(seen.results).toMatchObject([{ id: "call_1", text: "done" }]);
        },
      }),
    ),
  ),
  ...PIECES.flatMap((piece) =>
    natively({
      name: `called by its own call, ${piece} characters a piece`,
      ask: OFFERED,
      answer: { calls: [CALL], piece },
      async check(exchange) {
        const { dialect, up } = await isHeard(exchange);
        if (dialect === "chat") expect(up.json.messages[1].tool_calls).toEqual([freeCall.chat(CALL)]);
        else expect(up.json.input[1]).toMatchObject(freeCall.responses(CALL));
      },
    }),
  ),
  ...PIECES.map(
    (piece): Kind => ({
      name: `called by plain text in place of arguments, ${piece} characters a piece`,
      ask: { responses: OFFERED.responses },
      targets: ["chat"],
      answer: { calls: [{ id: "call_1", name: "apply_patch", arguments: PATCH }], piece },
      check: async (exchange) => {
        await isHeard(exchange);
      },
    }),
  ),
  ...asFunction({
    name: "called beside a text and functions",
    ask: OFFERED,
    answer: {
      text: "I edit.",
      calls: [
        { id: "call_0", name: "run", arguments: '{"input":"a function\'s own"}' },
        { id: "call_1", name: "apply_patch", arguments: JSON.stringify({ input: PATCH }) },
        { id: "call_2", name: "apply_patch", arguments: '{"input":""}' },
      ],
      piece: 3,
    },
    check(exchange) {
      const format = exchange.client as FreeFormat;
      const [run, ...calls] = callsIn(exchange);
      const { id, call_id = id, name, arguments: args } = { ...run, ...run.function };
      expect([call_id, name, JSON.parse(args)]).toEqual(["call_0", "run", { input: "a function's own" }]);
      expect(calls).toMatchObject([
        freeCall[format](CALL),
        freeCall[format]({ ...CALL, id: "call_2", input: "" }),
      ]);
      expect(exchange.got.text).toContain(exchange.stream ? "I " : "I edit.");
    },
  }),
];

/** An upstream may call so whatever it was offered; a client without the type gets the text in an object. */
const unasked: readonly Kind[] = PIECES.map((piece) => ({
  name: `a free-form call to a client that offered a function, ${piece} characters a piece`,
  ask: {
    turns: [{ user: [{ text: "x" }] }],
    tools: [{ name: "apply_patch", description: "Edits files.", parameters: ANY }],
  },
  clients: ["messages", "generate", "responses", "chat"],
  targets: ["chat", "responses"],
  answer: { calls: [CALL], piece },
  check({ client, dialect, heard }) {
    // Bytes pass.
    if (client === dialect) return;
    expect(heard.choices[0]?.calls).toEqual([
      { id: "call_1", name: "apply_patch", arguments: { input: PATCH } },
    ]);
  },
}));

/** Anthropic's `custom` is another word for a function. */
const ofMessages: Kind = {
  name: "a tool of the type custom that has a schema is a function",
  ask: {
    messages: {
      max_tokens: 9,
      messages: [USER],
      tools: [{ type: "custom", name: "run", description: "Runs.", input_schema: ANY }],
    },
  },
  answer: { calls: [{ id: "call_1", name: "run", arguments: '{"input":"x"}' }] },
  check({ seen, heard }) {
    expect(seen.tools).toMatchObject([RUN]);
    expect(heard.choices[0]?.calls).toEqual([{ id: "call_1", name: "run", arguments: { input: "x" } }]);
  },
};

kinds("custom tools", [...told, ...answered, ...unasked, ofMessages]);
