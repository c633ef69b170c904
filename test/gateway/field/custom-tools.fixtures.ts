/** Which formats and dialects have free-form tools, and how a client hears and answers calls of tools that are no functions. */
import { expect } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { Exchange, Kind } from "../../support/field/kinds.ts";

/** The formats that have free-form tools. */
export type FreeFormat = "chat" | "responses";

/** Ways on which the dialect has such a tool, or the bytes pass: what the client says is what the upstream is told. */
const NATIVE = [
  { clients: ["chat"], targets: ["chat", "responses"] },
  { clients: ["responses"], targets: ["responses"] },
] as const;

/** Ways on which a function stands for it. Of OpenAI's chat servers only OpenAI's own have such tools. */
const AS_FUNCTION = [
  { clients: ["chat"], targets: ["messages", "gemini", "converse"] },
  {
    clients: ["responses"],
    targets: ["chat", "messages", "gemini", "converse"],
  },
] as const;

type Case = Omit<Kind, "clients" | "targets">;

export const natively = (kind: Case): Kind[] => NATIVE.map((way) => ({ ...kind, ...way }));

export const asFunction = (kind: Case): Kind[] => AS_FUNCTION.map((way) => ({ ...kind, ...way }));

interface FreeCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** A free-form call as an answer has it, and as the client sends it back. */
export const freeCall: Readonly<Record<FreeFormat, (call: FreeCall) => Json>> = {
  chat: ({ id, name, input }) => ({ id, type: "custom", custom: { name, input } }),
  responses: ({ id: call_id, name, input }) => ({ type: "custom_tool_call", call_id, name, input }),
};

/** The next turn: the calls as they were heard, and the result of each. */
export const nextTurn: Readonly<Record<FreeFormat, (calls: readonly Json[], result: string) => Json[]>> = {
  chat: (calls, content) => [
    { role: "assistant", content: null, tool_calls: calls },
    ...calls.map(({ id: tool_call_id }) => ({ role: "tool", tool_call_id, content })),
  ],
  // Codex gives results of free-form tools as lists of parts (test/fixtures/agents).
  responses: (calls, text) => [
    ...calls,
    ...calls.map(({ type, call_id }) => ({
      type: `${type}_output`,
      call_id,
      output: [{ type: "input_text", text }],
    })),
  ],
};

/** The calls of an answer in the words of a chat or responses client, as it sends them back; a stream says from their beginning what they are. */
export function callsIn({ client, stream, heard, got }: Exchange): Json[] {
  if (client === "chat") return heard.echo[0].tool_calls ?? [];
  const calls = heard.echo.filter(({ type }) => type.endsWith("_call"));
  const named = (items: readonly Json[]) =>
    items.map(({ type, call_id, name, namespace }) => [type, call_id, name, namespace]);
  const items = got.events
    .filter(({ type }) => type === "response.output_item.added")
    .map(({ item }): Json => item);
  if (stream) expect(named(items.filter(({ type }) => type.endsWith("_call")))).toEqual(named(calls));
  return calls;
}

export const USER = { role: "user", content: "x" };
export const ANY = { type: "object", properties: {} };
export const FUNCTIONS = ["chat", "messages", "gemini", "converse"] as const;

export const fn = (name: string) => ({ type: "function", name, description: "Does.", parameters: ANY });

/** A conversation of a responses client. */
export const asking = (input: readonly Json[], tools?: readonly object[], more: object = {}) => ({
  responses: { input: [USER, ...input], ...(tools && { tools }), store: false, ...more },
});

export const names = ({ seen }: Exchange): string[] => seen.tools.map(({ name }) => name);

/** A tool of a responses client that is no plain function. */
export interface OfferedTool {
  readonly title: string;
  /** How the client says that it has the tool: in `tools`, or by items. */
  readonly items?: readonly Json[];
  readonly tools?: readonly object[];
  /** The items of a call and of its result. */
  readonly history: readonly [call: Json, result: Json];
  /** Names of the functions that are offered for them. */
  readonly offered: readonly string[];
  /** The same call as one of a function, and the result's text. */
  readonly told: { readonly name: string; readonly arguments: Json; readonly result: string };
  /** Calls of the model's, as the JSON of a function's arguments, and what the client gets. */
  readonly answers: readonly (readonly [name: string, json: string, item: Json])[];
}

/** A responses upstream is told what the client said. */
export const asItIs = ({ title, items = [], tools, history }: OfferedTool): Kind => ({
  name: `${title}: as it is`,
  ask: asking([...items, ...history], tools),
  targets: ["responses"],
  check({ up }) {
    expect(up.json.input).toEqual([USER, ...items, ...history]);
    expect(up.json.tools).toEqual(tools);
  },
});

/** Any other upstream is told functions, and calls of them in the history. */
export const asFunctions = ({ title, items = [], tools, history, offered, told }: OfferedTool): Kind => ({
  name: `${title}: functions, and calls of them in the history`,
  ask: asking([...items, ...history], tools),
  targets: FUNCTIONS,
  check(exchange) {
    const { seen, heard } = exchange;
    expect(names(exchange)).toEqual(offered);
    expect(seen.calls).toEqual([{ id: "call_0", name: told.name, arguments: told.arguments }]);
    expect(seen.results).toMatchObject([{ id: "call_0", text: told.result }]);
    expect(heard.svc.warnings).toEqual([]);
  },
});

/** The model's call comes back as the client's own, and is the same call at the next turn. */
export const called = ({ title, items = [], tools, history, answers }: OfferedTool): Kind[] =>
  answers.map(([name, json, item]) => ({
    name: `${title}: a call of ${name} comes back as the client's own`,
    ask: asking([...items, ...history], tools),
    targets: FUNCTIONS,
    answer: { calls: [{ id: "call_1", name, arguments: json }], piece: 3 },
    async check(exchange) {
      const calls = callsIn(exchange);
      expect(calls).toMatchObject([{ call_id: "call_1", ...item }]);
      if (item.namespace === undefined) expect(calls[0]).not.toHaveProperty("namespace");
      if (item.type === "tool_search_call") return;
      const next = await exchange.ask(
        asking([...items, ...history, ...nextTurn.responses(calls, "done")], tools),
      );
      const args = item.action ?? item.operation ?? JSON.parse(json);
      expect(next.seen.calls.at(-1)).toEqual({ id: "call_1", name, arguments: args });
      expect(next.seen.results.at(-1)).toMatchObject({ id: "call_1", text: "done" });
    },
  }));
