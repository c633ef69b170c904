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
