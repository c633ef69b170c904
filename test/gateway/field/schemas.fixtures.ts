/** Schemas as the requests of every format have them, and as they arrive in every dialect. */
import type { Json } from "../../support/conformance/ask.ts";
import type { ChatUpstreamName } from "../../support/conformance/ends.ts";

const SAY = '"messages":[{"role":"user","content":"x"}]';

/** An answer's format that the model is held to, with this schema. */
export const format = (schema: string) => ({
  chat: `{${SAY},"response_format":{"type":"json_schema","json_schema":{"name":"r","strict":true,"schema":${schema}}}}`,
  responses: `{"input":"x","text":{"format":{"type":"json_schema","name":"r","strict":true,"schema":${schema}}}}`,
  messages: `{"max_tokens":9,${SAY},"output_config":{"format":{"type":"json_schema","schema":${schema}}}}`,
  generate: `{${SAY},"format":{"type":"json_schema","strict":true,"schema":${schema}}}`,
});

/** A tool with these parameters. */
export const tool = (parameters: string, strict: boolean) => ({
  chat: `{${SAY},"tools":[{"type":"function","function":{"name":"f","strict":${strict},"parameters":${parameters}}}]}`,
  responses: `{"input":"x","tools":[{"type":"function","name":"f","strict":${strict},"parameters":${parameters}}]}`,
  messages: `{"max_tokens":9,${SAY},"tools":[{"name":"f","strict":${strict},"input_schema":${parameters}}]}`,
  generate: `{${SAY},"tools":[{"name":"f","strict":${strict},"parameters":${parameters}}]}`,
});

export interface Sent {
  readonly schema: Json;
  readonly strict: Json;
}

export const FORMATS: Readonly<Record<ChatUpstreamName, (body: Json) => Sent>> = {
  chat: ({ response_format: { json_schema: sent } }) => sent,
  responses: ({ text: { format: sent } }) => sent,
  messages: ({ output_config: { format: sent } }) => ({ schema: sent.schema, strict: true }),
  gemini: ({ generationConfig: sent }) => ({ schema: sent.responseJsonSchema, strict: undefined }),
  converse: ({ outputConfig: { textFormat: sent } }) => ({
    schema: JSON.parse(sent.structure.jsonSchema.schema),
    strict: true,
  }),
};

export const TOOLS: Readonly<Record<ChatUpstreamName, (body: Json) => Sent>> = {
  chat: ({ tools: [{ function: sent }] }) => ({ schema: sent.parameters, strict: sent.strict }),
  responses: ({ tools: [sent] }) => ({ schema: sent.parameters, strict: sent.strict }),
  messages: ({ tools: [sent] }) => ({ schema: sent.input_schema, strict: sent.strict }),
  gemini: ({ tools: [{ functionDeclarations: sent }] }) => ({
    schema: sent[0].parametersJsonSchema,
    strict: undefined,
  }),
  converse: ({ toolConfig: { tools: sent } }) => ({
    schema: sent[0].toolSpec.inputSchema.json,
    strict: sent[0].toolSpec.strict,
  }),
};

export const object = (properties: string, more = "") =>
  `{"type":"object","properties":{${properties}}${more}}`;
export const CLOSED = ',"additionalProperties":false';
