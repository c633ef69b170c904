/** The same conversation with a tool in free form in both formats that have such tools, and answers that call. */
import { sseEvents } from "../../../support/conformance/ask.ts";
import { eventFrame } from "../../../support/wire/converse.fixtures.ts";
import { ANSWERS, type Answer, DIALECTS, type UpDialect } from "../accepts/fixtures.ts";

export const PATCH = '*** Begin Patch\n+ "é"\n*** End Patch';
export const GRAMMAR = { syntax: "lark", definition: "start: /.+/s" };
export const ANY = { type: "object", properties: {} };

/** The same conversation with a tool in free form, in both formats that have such tools. */
export const CUSTOM = {
  chat: {
    tools: [
      {
        type: "custom",
        custom: { name: "patch", description: "Edits.", format: { type: "grammar", grammar: GRAMMAR } },
      },
      { type: "function", function: { name: "run", parameters: ANY } },
    ],
    tool_choice: { type: "custom", custom: { name: "patch" } },
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "custom", custom: { name: "patch", input: PATCH } }],
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ],
  },
  responses: {
    tools: [
      { type: "custom", name: "patch", description: "Edits.", format: { type: "grammar", ...GRAMMAR } },
      { type: "function", name: "run", parameters: ANY },
    ],
    tool_choice: { type: "custom", name: "patch" },
    input: [
      { role: "user", content: "x" },
      { type: "custom_tool_call", call_id: "c1", name: "patch", input: PATCH },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
    ],
  },
} as const;

export type Client = keyof typeof CUSTOM;

export const pairs = (Object.keys(CUSTOM) as Client[]).flatMap((format) =>
  DIALECTS.filter((dialect) => dialect !== format).map((dialect) => [format, dialect] as const),
);

/** An upstream's answer that calls with these arguments, whole and streamed. */
export function calling(dialect: UpDialect, name: string, args: string): Answer {
  const { whole, stream } = ANSWERS[dialect];
  const isText = dialect === "chat" || dialect === "responses";
  const said = (json: string) =>
    json
      .replaceAll(isText ? '"arguments":"{}"' : /"(?:input|args)":\{\}/g, (place) =>
        isText ? `"arguments":${JSON.stringify(args)}` : place.replace("{}", args),
      )
      .replaceAll('"partial_json":"{}"', `"partial_json":${JSON.stringify(args)}`);
  const text = Buffer.from(said(stream(name, "c2"))).toString("latin1");
  return {
    whole: Buffer.from(said(JSON.stringify(whole(name, "c2")))),
    stream: dialect === "converse" ? framesOf(name, args) : text,
  };
}

const framesOf = (name: string, input: string): string =>
  [
    { event: "messageStart", payload: { role: "assistant" } },
    {
      event: "contentBlockStart",
      payload: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "c2", name } } },
    },
    { event: "contentBlockDelta", payload: { contentBlockIndex: 0, delta: { toolUse: { input } } } },
    { event: "contentBlockStop", payload: { contentBlockIndex: 0 } },
    { event: "messageStop", payload: { stopReason: "tool_use" } },
  ]
    .map(eventFrame)
    .join("");

/** The events of a stream with JSON in them. */
export const eventsIn = (stream: string): { data: unknown }[] =>
  sseEvents(stream).flatMap(({ data }) => (data === "[DONE]" ? [] : [{ data: JSON.parse(data) as unknown }]));
