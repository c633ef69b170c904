/** Requests that carry JSON in each of its places, in each client's format, and what a client reads of an answer. */
import { type Json, sseEvents } from "../../../support/conformance/ask.ts";
import type { ClientName } from "../../../support/conformance/ends.ts";

/** JSON text for each place of a request. */
export interface Carried {
  readonly args: string;
  readonly result: string;
  readonly toolSchema: string;
  readonly outputSchema: string;
  readonly options: string;
}

export const PROVIDER = "p";
export const OPTION = "x_option";

/** Documents as schemas that no dialect must change. */
export const toolSchemaOf = (document: string): string =>
  `{"type":"object","properties":{"a":{"type":"string","default":${document}}},"required":["a"]}`;
export const outputSchemaOf = (document: string): string =>
  `{"type":"object","properties":{"b":{"type":"string","default":${document}}},"required":["b"],"additionalProperties":false}`;

/** Writes a text as a JSON string. */
export type Quote = (text: string) => string;

/** What is asked, but for `model`, in each format. A completion has a place for options only. */
export const REQUESTS: Readonly<Record<ClientName, (carried: Carried, quote: Quote) => string>> = {
  chat: ({ args, result, toolSchema, outputSchema, options }, quote) =>
    `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${quote(args)}}}]},{"role":"tool","tool_call_id":"c1","content":${quote(result)}}],` +
    `"tools":[{"type":"function","function":{"name":"f","parameters":${toolSchema}}}],` +
    `"response_format":{"type":"json_schema","json_schema":{"name":"r","schema":${outputSchema}}},"svc":{${optionsOf(options)}}`,
  responses: ({ args, result, toolSchema, outputSchema, options }, quote) =>
    `"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","name":"f","arguments":${quote(args)}},{"type":"function_call_output","call_id":"c1","output":${quote(result)}}],` +
    `"tools":[{"type":"function","name":"f","strict":false,"parameters":${toolSchema}}],"store":false,` +
    `"text":{"format":{"type":"json_schema","name":"r","schema":${outputSchema}}},"svc":{${optionsOf(options)}}`,
  messages: ({ args, result, toolSchema, outputSchema, options }, quote) =>
    `"max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${args}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":${quote(result)}}]}],` +
    `"tools":[{"name":"f","input_schema":${toolSchema}}],` +
    `"output_config":{"format":{"type":"json_schema","schema":${outputSchema}}},"svc":{${optionsOf(options)}}`,
  generate: ({ args, result, toolSchema, outputSchema, options }, quote) =>
    `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_call","id":"c1","name":"f","arguments":${quote(args)}}]},{"role":"user","content":[{"type":"tool_result","id":"c1","content":${quote(result)}}]}],` +
    `"tools":[{"name":"f","parameters":${toolSchema}}],` +
    `"format":{"type":"json_schema","name":"r","schema":${outputSchema}},${optionsOf(options)}`,
  completions: ({ options }) => `"prompt":"x","svc":{${optionsOf(options)}}`,
};

const optionsOf = (document: string): string =>
  `"provider_options":{"${PROVIDER}":{"${OPTION}":${document}}}`;

/** All strings that a text of JSON has as values, decoded. */
export function stringsIn(json: string): Set<string> {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") found.add(value);
    else if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) walk(inner);
  };
  walk(JSON.parse(json));
  return found;
}

/** What of an answer's text is the model's, as the client adds it up. */
export interface Read {
  readonly text: string;
  /** Undefined where the format has an object there: then the answer has its text as it is. */
  readonly args: string | undefined;
}

export const WHOLE: Readonly<Record<ClientName, (body: Json) => Read>> = {
  chat: ({ choices: [{ message }] }) => ({
    text: message.content ?? "",
    args: message.tool_calls?.[0].function.arguments ?? "",
  }),
  responses: ({ output }) => {
    const message = output.find(({ type }: Json) => type === "message");
    const call = output.find(({ type }: Json) => type === "function_call");
    return { text: message?.content[0].text ?? "", args: call?.arguments ?? "" };
  },
  messages: ({ content }) => ({
    text: content.find(({ type }: Json) => type === "text")?.text ?? "",
    args: undefined,
  }),
  generate: ({ candidates: [{ content }] }) => ({
    text: content.find(({ type }: Json) => type === "text")?.text ?? "",
    args: content.find(({ type }: Json) => type === "tool_call")?.arguments ?? "",
  }),
  completions: ({ choices: [{ text }] }) => ({ text, args: "" }),
};

/** The pieces of each event of a stream, and in responses also what repeats them. */
export function streamed(client: ClientName, stream: string): Read {
  const events = sseEvents(stream).flatMap(({ data }): Json[] => (data === "[DONE]" ? [] : JSON.parse(data)));
  const pieces = events.map(PIECES[client]);
  return {
    text: pieces.map(({ text = "" }) => text).join(""),
    args: pieces.map(({ args = "" }) => args).join(""),
  };
}

const PIECES: Readonly<
  Record<ClientName, (event: Json) => { readonly text?: string; readonly args?: string }>
> = {
  chat: ({ choices: [choice] }) => ({
    text: choice?.delta.content ?? "",
    args: choice?.delta.tool_calls?.[0].function.arguments ?? "",
  }),
  responses: ({ type, delta }) => ({
    ...(type === "response.output_text.delta" && { text: delta }),
    ...(type === "response.function_call_arguments.delta" && { args: delta }),
  }),
  messages: ({ delta }) => ({ text: delta?.text ?? "", args: delta?.partial_json ?? "" }),
  generate: ({ type, text, arguments: args }) => ({
    ...(type === "content.delta" && { text }),
    ...(type === "tool_call.delta" && { args }),
  }),
  completions: ({ choices: [choice] }) => ({ text: choice?.text ?? "" }),
};
