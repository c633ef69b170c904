/**
 * Tools that a client wrote in the shape of another format (BerriAI/litellm#34029, icebear0828/codex-proxy#707, Wei-Shaw/sub2api#5861):
 * Cursor sends those of OpenAI's responses and of Anthropic's messages to chat completions. They are read as what they are.
 */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { TargetName } from "../../support/field/field.ts";
import { type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";
import { callsIn, type FreeFormat, freeCall } from "./custom-tools.fixtures.ts";

const USER = { role: "user", content: "x" };
const PARAMETERS = { type: "object", properties: { p: { type: "string", minLength: 1 } } };
const READ = { name: "Read", description: "Reads." };
const PATCH = { name: "ApplyPatch", description: "Edits." };
const GRAMMAR = { syntax: "lark", definition: "start: /.+/s" };
const FLAT_FORMAT = { type: "grammar", ...GRAMMAR };

/** Between equal ends the bytes pass. */
const TARGETS: Readonly<Record<FreeFormat, readonly TargetName[]>> = {
  chat: ["responses", "messages", "gemini", "converse"],
  responses: ["chat", "messages", "gemini", "converse"],
};

const conversation: Readonly<Record<FreeFormat, Json>> = {
  chat: { messages: [USER] },
  responses: { input: [USER] },
};

const asked = (client: FreeFormat, tools: readonly Json[], choice?: Json) => ({
  [client]: { ...conversation[client], tools, ...(choice && { tool_choice: choice }) },
});

const warnings = ({ heard }: Exchange): readonly string[] => heard.svc.warnings;

/** Shapes of a function, by what they are called. */
const FUNCTIONS: Readonly<Record<FreeFormat, Readonly<Record<string, Json>>>> = {
  chat: {
    "of the responses format": { type: "function", ...READ, parameters: PARAMETERS, strict: false },
    "of the messages format": { ...READ, input_schema: PARAMETERS },
    "of the messages format, with its type": { type: "custom", ...READ, input_schema: PARAMETERS },
  },
  responses: {
    "of the chat format": { type: "function", function: { ...READ, parameters: PARAMETERS } },
    "of the chat format, without a type": { function: { ...READ, parameters: PARAMETERS } },
    "of the messages format": { ...READ, input_schema: PARAMETERS },
    "of the messages format, with its type": { type: "custom", ...READ, input_schema: PARAMETERS },
  },
};

const FORMATS: readonly FreeFormat[] = ["chat", "responses"];

const functions = FORMATS.flatMap((client) =>
  Object.entries(FUNCTIONS[client]).map(
    ([how, tool]): Kind => ({
      name: `a function in the shape ${how}`,
      ask: asked(client, [tool]),
      targets: TARGETS[client],
      answer: { calls: [{ id: "call_1", name: "Read", arguments: '{"p":"a"}' }] },
      check(exchange) {
        const { seen, heard } = exchange;
        expect(seen.tools).toMatchObject([{ ...READ, parameters: PARAMETERS }]);
        expect(warnings(exchange)).toEqual([]);
        expect(heard.choices[0]?.calls).toEqual([{ id: "call_1", name: "Read", arguments: { p: "a" } }]);
      },
    }),
  ),
);

/** Shapes of a tool with input in free form. */
const CUSTOMS: Readonly<Record<FreeFormat, Readonly<Record<string, Json>>>> = {
  chat: {
    "of the responses format": { type: "custom", ...PATCH, format: FLAT_FORMAT },
    "of its own, with a grammar of the responses format": {
      type: "custom",
      custom: { ...PATCH, format: FLAT_FORMAT },
    },
  },
  responses: {
    "of the chat format": {
      type: "custom",
      custom: { ...PATCH, format: { type: "grammar", grammar: GRAMMAR } },
    },
  },
};

const customs = FORMATS.flatMap((client) =>
  Object.entries(CUSTOMS[client]).map(
    ([how, tool]): Kind => ({
      name: `a custom tool in the shape ${how}`,
      ask: asked(client, [tool, { type: "function", function: READ }], "auto"),
      targets: TARGETS[client],
      answer: { calls: [{ id: "call_1", name: "ApplyPatch", arguments: '{"input":"a\\nb"}' }], piece: 3 },
      check(exchange) {
        const { dialect, up, seen } = exchange;
        if (dialect === "responses")
          expect(up.json.tools[0]).toEqual({ type: "custom", ...PATCH, format: FLAT_FORMAT });
        else expect(JSON.stringify(seen.tools[0]?.parameters)).toContain(GRAMMAR.definition);
        expect(seen.tools).toHaveLength(2);
        expect(warnings(exchange)).toEqual([]);
        expect(callsIn(exchange)).toMatchObject([
          freeCall[client]({ id: "call_1", name: "ApplyPatch", input: "a\nb" }),
        ]);
      },
    }),
  ),
);

const OWN: Readonly<Record<FreeFormat, readonly Json[]>> = {
  chat: [
    { type: "function", function: { ...READ, parameters: PARAMETERS } },
    { type: "custom", custom: PATCH },
  ],
  responses: [
    { type: "function", ...READ, parameters: PARAMETERS },
    { type: "custom", ...PATCH },
  ],
};

/** Choices in another format's shape, and what they mean. */
const CHOICES: Readonly<Record<FreeFormat, readonly (readonly [choice: Json, means: Json])[]>> = {
  chat: [
    [{ type: "function", name: "Read" }, { name: "Read" }],
    [{ type: "custom", name: "ApplyPatch" }, { name: "ApplyPatch" }],
    [{ type: "tool", name: "Read" }, { name: "Read" }],
    [{ type: "auto" }, "auto"],
    [{ type: "any" }, "required"],
    [{ type: "required" }, "required"],
    [{ type: "none" }, "none"],
  ],
  responses: [
    [{ type: "function", function: { name: "Read" } }, { name: "Read" }],
    [{ type: "custom", custom: { name: "ApplyPatch" } }, { name: "ApplyPatch" }],
    [{ type: "tool", name: "Read" }, { name: "Read" }],
    [{ type: "auto" }, "auto"],
    [{ type: "any" }, "required"],
    ["any", "required"],
  ],
};

const choices = FORMATS.flatMap((client) =>
  CHOICES[client].map(
    ([choice, means]): Kind => ({
      name: `the choice ${JSON.stringify(choice)}`,
      ask: asked(client, OWN[client], choice),
      targets: TARGETS[client],
      check(exchange) {
        const { seen, dialect } = exchange;
        // Converse has no word for none.
        if (means === "none" && dialect === "converse") return;
        expect(seen.choosing ?? "auto").toEqual(means);
        expect(warnings(exchange)).toEqual([]);
      },
    }),
  ),
);

const narrowed: Kind = {
  name: "a choice among some tools in the shape of the responses format",
  ask: asked("chat", OWN.chat, {
    type: "allowed_tools",
    mode: "auto",
    tools: [{ type: "function", name: "Read" }],
  }),
  targets: TARGETS.chat,
  check({ seen, dialect }) {
    if (dialect !== "responses") expect(seen.tools.map(({ name }) => name)).toEqual(["Read"]);
  },
};

/** Schemas and patches are only carried, and keep their text. */
const SCHEMA = '{"type":"object","properties":{"n":{"type":"number","default":1.0}}}';

const carried: readonly Kind[] = [
  `{"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":${SCHEMA}}]}`,
  `{"input":"x","tools":[{"name":"f","input_schema":${SCHEMA}}]}`,
  `{"input":"x","tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]}`,
  `{"input":[{"role":"user","content":"x"},{"type":"apply_patch_call","call_id":"c","operation":{"n":1.0}},{"type":"apply_patch_call_output","call_id":"c","output":"x"}],"tools":[{"type":"apply_patch"}]}`,
].map((body) => {
  const client = body.startsWith('{"input"') ? "responses" : "chat";
  return {
    name: `carried text stays: ${body}`,
    ask: { [client]: body },
    targets: TARGETS[client],
    check: ({ up }) => expect(up.raw).toMatch(/\b1\.0\b/),
  };
});

kinds("tools in another format's shape", [...carried, ...functions, ...customs, ...choices, narrowed]);
