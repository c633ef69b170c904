/**
 * What Gemini refuses beside tools and without them. A choice of tools where there are none (maximhq/bifrost#4959: "Function calling config is set without function_declarations"): it is
 * not told, and named in a warning if a call was required. Beside it what Bedrock wants of a history of calls (vercel/ai#7528).
 */
import { expect } from "vitest";
import type { ClientName } from "../../support/conformance/ends.ts";
import { ALL_TARGETS } from "../../support/field/field.ts";
import { type Asking, type Exchange, type Kind, kinds } from "../../support/field/kinds.ts";

const USER = { role: "user", content: "x" };

type Choice = "auto" | "none" | "required" | "named";

const CHOICES: Readonly<
  Record<Choice, Readonly<Record<"chat" | "messages" | "responses" | "generate", unknown>>>
> = {
  auto: { chat: "auto", messages: { type: "auto" }, responses: "auto", generate: "auto" },
  none: { chat: "none", messages: { type: "none" }, responses: "none", generate: "none" },
  required: { chat: "required", messages: { type: "any" }, responses: "required", generate: "required" },
  named: {
    chat: { type: "function", function: { name: "f" } },
    messages: { type: "tool", name: "f" },
    responses: { type: "function", name: "f" },
    generate: { name: "f" },
  },
};

/** @param tools left out, or none */
function asking(choice: Choice, tools: { readonly tools?: readonly [] }): Asking {
  const { chat, messages, responses, generate } = CHOICES[choice];
  return {
    chat: { messages: [USER], tool_choice: chat, parallel_tool_calls: true, ...tools },
    messages: { max_tokens: 9, messages: [USER], tool_choice: messages, ...tools },
    responses: { input: [USER], tool_choice: responses, parallel_tool_calls: true, ...tools },
    generate: { messages: [USER], tool_choice: generate, parallel_tools: true, ...tools },
  };
}

/** Bytes pass. */
const isSplice = ({ client, dialect }: Exchange): boolean => client === (dialect as ClientName);

const hasNone =
  (choice: Choice) =>
  (exchange: Exchange): void => {
    const { up, heard } = exchange;
    if (isSplice(exchange)) return;
    expect(up.json.tools ?? []).toEqual([]);
    for (const member of ["tool_choice", "toolConfig", "parallel_tool_calls"])
      expect(up.json).not.toHaveProperty(member);
    const isLost = choice === "required" || choice === "named";
    expect(heard.svc.warnings).toEqual(isLost ? ["dropped: /tool_choice"] : []);
  };

const none = (Object.keys(CHOICES) as Choice[]).flatMap((choice): Kind[] => [
  { name: `${choice}, without tools`, ask: asking(choice, {}), targets: ALL_TARGETS, check: hasNone(choice) },
  { name: `${choice}, of no tools`, ask: asking(choice, { tools: [] }), check: hasNone(choice) },
]);

const TOOL = { name: "f", description: "Does.", parameters: { type: "object", properties: {} } };
const ASK = { turns: [{ user: [{ text: "x" }] }], tools: [TOOL] };

const told: readonly Kind[] = (["auto", "none", "required", { name: "f" }] as const).map((choosing) => ({
  name: `${JSON.stringify(choosing)}, of tools`,
  ask: { ...ASK, choosing },
  targets: ["gemini", "gemini-3"],
  check({ up }) {
    const { toolConfig, tools } = up.json;
    expect(tools[0].functionDeclarations).toMatchObject([{ name: "f" }]);
    const { mode = "AUTO", allowedFunctionNames } = toolConfig?.functionCallingConfig ?? {};
    const named = typeof choosing === "object";
    expect(mode).toBe(named || choosing === "required" ? "ANY" : choosing.toUpperCase());
    expect(allowedFunctionNames).toEqual(named ? ["f"] : undefined);
  },
}));

const history: Kind = {
  name: "a history of calls without tools",
  ask: {
    turns: [
      { user: [{ text: "x" }] },
      { assistant: "", calls: [{ id: "c1", name: "f", arguments: { a: 1 } }] },
      { results: [{ id: "c1", text: "r" }] },
    ],
  },
  targets: ALL_TARGETS,
  check({ seen, dialect, up }) {
    expect(seen.calls).toEqual([{ id: "c1", name: "f", arguments: { a: 1 } }]);
    expect(seen.results).toMatchObject([{ id: "c1", text: "r" }]);
    // Bedrock: "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    if (dialect === "converse") expect(seen.tools).toMatchObject([{ name: "f" }]);
    else expect(seen.tools).toEqual([]);
    expect(up.json).not.toHaveProperty("tool_choice");
    if (dialect === "gemini") expect(up.json).not.toHaveProperty("toolConfig");
  },
};

const SCHEMA = { type: "object", properties: { a: { type: "string" } } };

/**
 * Before Gemini 3: "Function calling with a response mime type: 'application/json' is unsupported" (googleapis/python-genai#867,
 * openai/openai-agents-python#656). The call is answered without the format; if no function may be called, without the functions.
 */
const formats: readonly Kind[] = [{ schema: SCHEMA }, { json: true }].flatMap((format): Kind[] =>
  ([undefined, "none", "required"] as const).map((choosing) => ({
    name: `a format of ${Object.keys(format)[0]}, ${choosing ?? "no choice"}`,
    ask: { ...ASK, ...format, ...(choosing !== undefined && { choosing }) },
    clients:
      "json" in format ? ["chat", "responses", "generate"] : ["chat", "responses", "messages", "generate"],
    targets: ["gemini", "gemini-3"],
    check({ target, up, heard }) {
      const { generationConfig = {}, tools = [] } = up.json;
      const takesBoth = target === "gemini-3";
      const hasFormat = takesBoth || choosing === "none";
      expect(generationConfig.responseMimeType).toBe(hasFormat ? "application/json" : undefined);
      expect(generationConfig.responseJsonSchema).toEqual(
        hasFormat && "schema" in format ? SCHEMA : undefined,
      );
      expect(tools).toHaveLength(takesBoth || !hasFormat ? 1 : 0);
      expect(up.json.toolConfig === undefined).toBe(choosing === undefined || tools.length === 0);
      expect(heard.svc.warnings).toEqual(hasFormat ? [] : [expect.stringMatching(/^dropped: \/.*format/)]);
    },
  })),
);

const strict: Kind = {
  name: "a format beside tools, where nothing may be dropped",
  ask: { ...ASK, schema: SCHEMA, strict: true },
  targets: ["gemini"],
  status: 400,
  check(exchange) {
    expect(exchange.got.json.error.message).toContain("format");
    expect(() => exchange.up).toThrow();
  },
};

kinds("a choice of tools", [...none, ...told, history]);
kinds("a format beside tools", [...formats, strict]);
