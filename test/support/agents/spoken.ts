/** What an upstream was offered and told of tools, read from its own body: functions and, where the dialect has them, free-form tools. */
import type { Json } from "../conformance/ask.ts";
import type { ChatUpstreamName } from "../conformance/ends.ts";
import type { SaidCall, SaidText } from "../field/answers.ts";

interface Offered {
  /** As the upstream knows it. */
  readonly name: string;
  /** @param input JSON text of a function's arguments, or a free-form text */
  call(id: string, input: string): SaidCall | SaidText;
}

/** Functions and free-form tools of a request. */
export const offeredTools = (dialect: ChatUpstreamName, body: Json): readonly Tool[] => TOOLS[dialect](body);

/** @throws Error where no tool of that name is offered, under whatever prefix */
export function offeredTool(dialect: ChatUpstreamName, body: Json, tool: string): Offered {
  const tools = offeredTools(dialect, body);
  const found = tools.find(({ name }) => name === tool) ?? tools.find(({ name }) => name.endsWith(tool));
  if (found === undefined) throw new Error(`no ${tool} among ${tools.map(({ name }) => name).join(", ")}`);
  const { name, namespace, parameters } = found;
  const same = { name, ...(namespace && { namespace }) };
  return {
    name,
    call(id, input) {
      if (parameters === undefined) return { id, ...same, input };
      const [only, ...others] = Object.keys(parameters.properties);
      const isText = others.length === 0 && !input.startsWith("{");
      return { id, ...same, arguments: isText ? JSON.stringify({ [only as string]: input }) : input };
    },
  };
}

export interface Tool {
  readonly name: string;
  readonly namespace?: string | undefined;
  /** Undefined for a free-form tool. */
  readonly parameters?: Json;
}

/** In responses also those of `additional_tools`, and those that a search found. */
const TOOLS: Readonly<Record<ChatUpstreamName, (body: Json) => readonly Tool[]>> = {
  chat: ({ tools = [] }) => tools.map((tool: Json) => tool.function ?? { name: tool.custom.name }),
  responses: ({ tools = [], input }) => [
    ...tools.flatMap((tool: Json) => namedTools(tool)),
    ...input.flatMap(({ tools: found = [] }: Json) => found.flatMap((tool: Json) => namedTools(tool))),
  ],
  messages: ({ tools = [] }) =>
    tools.map(({ name, input_schema: parameters }: Json) => ({ name, parameters })),
  gemini: ({ tools = [] }) =>
    tools.flatMap(({ functionDeclarations = [] }: Json) =>
      functionDeclarations.map(({ name, parameters, parametersJsonSchema }: Json) => ({
        name,
        parameters: parametersJsonSchema ?? parameters,
      })),
    ),
  converse: ({ toolConfig }) =>
    (toolConfig?.tools ?? []).flatMap(({ toolSpec: tool }: Json) =>
      tool === undefined ? [] : [{ name: tool.name, parameters: tool.inputSchema.json }],
    ),
};

function namedTools(tool: Json, namespace?: string): Tool[] {
  if (tool.type === "namespace") return tool.tools.flatMap((one: Json) => namedTools(one, tool.name));
  if (tool.name === undefined) return [];
  return [{ name: tool.name, namespace, ...(tool.type === "function" && { parameters: tool.parameters }) }];
}

export interface SpokenCall {
  readonly input: string;
  /** Undefined where no result is of the call's own id. */
  readonly result: string | undefined;
}

/** The calls of the history, in order, each with its result. */
export function spokenCalls(dialect: ChatUpstreamName, body: Json): SpokenCall[] {
  const { calls, results } = SPOKEN[dialect](body);
  return calls.map(([id, input]) => ({
    input: typeof input === "string" ? input : JSON.stringify(input),
    result: JSON.stringify(results.find(([of]) => of === id)?.[1]),
  }));
}

type Pairs = readonly (readonly [id: string, content: Json])[];

const SPOKEN: Readonly<Record<ChatUpstreamName, (body: Json) => { calls: Pairs; results: Pairs }>> = {
  chat: ({ messages }) => ({
    calls: messages
      .flatMap(({ tool_calls: calls = [] }: Json) => calls)
      .map((call: Json) => [call.id, call.function?.arguments ?? call.custom.input]),
    results: messages
      .filter(({ role }: Json) => role === "tool")
      .map(({ tool_call_id: id, content }: Json) => [id, content]),
  }),
  responses: ({ input }) => ({
    calls: input
      .filter(({ type }: Json) => /_call$/.test(type))
      .map((item: Json) => [item.call_id, item.arguments ?? item.input]),
    results: input
      .filter(({ type }: Json) => /_output$/.test(type))
      .map((item: Json) => [item.call_id, item.output ?? item.tools]),
  }),
  messages: ({ messages }) => blocksOf(messages, "tool_use", "tool_result", "tool_use_id"),
  gemini: ({ contents }) => {
    const parts: Json[] = contents.flatMap((content: Json) => content.parts);
    return {
      calls: parts.flatMap(({ functionCall: call }) => (call ? [[call.id, call.args] as const] : [])),
      results: parts.flatMap(({ functionResponse: of }) => (of ? [[of.id, of.response] as const] : [])),
    };
  },
  converse: ({ messages }) => {
    const blocks: Json[] = messages.flatMap(({ content }: Json) => content);
    return {
      calls: blocks.flatMap(({ toolUse: call }) => (call ? [[call.toolUseId, call.input] as const] : [])),
      results: blocks.flatMap(({ toolResult: of }) => (of ? [[of.toolUseId, of.content] as const] : [])),
    };
  },
};

function blocksOf(messages: readonly Json[], call: string, result: string, id: string) {
  const blocks: Json[] = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return {
    calls: blocks.filter(({ type }) => type === call).map((block) => [block.id, block.input] as const),
    results: blocks.filter(({ type }) => type === result).map((block) => [block[id], block.content] as const),
  };
}
