/**
 * Converts a stored payload for a request's detail: the client's body unchanged, and the answer as candidates, whatever
 * its format. Reads what the gateway wrote; of any other text it returns no candidates and throws nothing.
 */
import { jsonIn } from "../../base/json.ts";

type AnswerPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_call"; id: string; name: string; arguments: string };

export interface Candidate {
  index: number;
  content: AnswerPart[];
  stop: { reason: string };
}

/** The client's body as an object; as text if it is not a JSON object. */
export function bodyOf(text: string): Record<string, unknown> | string {
  const value = jsonIn(text);
  return isObject(value) && !Array.isArray(value) ? value : text;
}

/**
 * The candidates of a stored answer: a whole body in the client's format, a stream stored as `{"candidates": …}`, or the
 * SSE text of chat chunks. Empty for calls that generate nothing, such as embeddings.
 */
export function candidatesOf(text: string): Candidate[] {
  const answer = jsonIn(text);
  const builders = new Map<number, CandidateBuilder>();
  if (!isObject(answer)) {
    for (const line of text.split(/\r\n|\r|\n/)) {
      if (!line.startsWith("data:")) continue;
      const chunk = jsonIn(line.slice(5));
      if (isObject(chunk)) for (const choice of choicesOf(chunk)) addMessage(builders, choice, choice.delta);
    }
    return inOrder(builders);
  }
  if (Array.isArray(answer.candidates)) return answer.candidates.filter(isObject).map(nativeCandidate);
  if (Array.isArray(answer.output)) return [responseCandidate(answer)];
  if (Array.isArray(answer.content)) return [messageCandidate(answer)];
  for (const choice of choicesOf(answer)) {
    const legacy = typeof choice.text === "string" ? { content: choice.text } : undefined;
    addMessage(builders, choice, choice.message ?? legacy);
  }
  return inOrder(builders);
}

const inOrder = (builders: ReadonlyMap<number, CandidateBuilder>): Candidate[] =>
  [...builders.values()].sort((a, b) => a.index - b.index).map(candidate);

/** A candidate of the native format. */
const nativeCandidate = (value: Fields, at: number): Candidate => ({
  index: typeof value.index === "number" ? value.index : at,
  content: listOf(value.content).flatMap((part) => nativePart(part)),
  stop: { reason: textOf(isObject(value.stop) ? value.stop.reason : "") },
});

function nativePart(part: Fields): AnswerPart[] {
  const text = textOf(part.text);
  if (part.type === "tool_call") return [toolCall(part.id, part.name, textOf(part.arguments))];
  if (part.type === "reasoning") return [{ type: "reasoning", text }];
  return part.type === "text" || part.type === "refusal" ? [{ type: "text", text }] : [];
}

/** An Anthropic message. */
const messageCandidate = (message: Fields): Candidate => ({
  index: 0,
  content: listOf(message.content).flatMap((block): AnswerPart[] => {
    if (block.type === "text") return [{ type: "text", text: textOf(block.text) }];
    if (block.type === "thinking") return [{ type: "reasoning", text: textOf(block.thinking) }];
    return block.type === "tool_use" ? [toolCall(block.id, block.name, JSON.stringify(block.input))] : [];
  }),
  stop: { reason: textOf(message.stop_reason) },
});

/** An OpenAI response. */
const responseCandidate = (response: Fields): Candidate => ({
  index: 0,
  content: listOf(response.output).flatMap((item): AnswerPart[] => {
    if (item.type === "function_call") return [toolCall(item.call_id, item.name, textOf(item.arguments))];
    const parts = [...listOf(item.summary), ...listOf(item.content)];
    const type = item.type === "reasoning" ? "reasoning" : "text";
    return parts.map((part) => ({ type, text: textOf(part.text) || textOf(part.refusal) }));
  }),
  stop: { reason: textOf(response.status) },
});

const toolCall = (id: unknown, name: unknown, args: string | undefined): AnswerPart => ({
  type: "tool_call",
  id: textOf(id),
  name: textOf(name),
  arguments: args ?? "",
});

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);

interface CandidateBuilder {
  readonly index: number;
  text: string[];
  reasoning: string[];
  readonly tools: Map<number, { id: string; name: string; arguments: string[] }>;
  reason: string;
}

type Fields = Record<string, unknown>;

function addMessage(builders: Map<number, CandidateBuilder>, choice: Fields, message: unknown): void {
  const index = typeof choice.index === "number" ? choice.index : 0;
  let found = builders.get(index);
  if (found === undefined) {
    found = { index, text: [], reasoning: [], tools: new Map(), reason: "" };
    builders.set(index, found);
  }
  if (typeof choice.finish_reason === "string") found.reason = choice.finish_reason;
  if (!isObject(message)) return;
  for (const part of [message.content, message.refusal]) if (typeof part === "string") found.text.push(part);
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (typeof reasoning === "string") found.reasoning.push(reasoning);
  if (!Array.isArray(message.tool_calls)) return;
  for (const [at, call] of message.tool_calls.entries()) {
    if (isObject(call)) addToolCall(found, typeof call.index === "number" ? call.index : at, call);
  }
}

function addToolCall(builder: CandidateBuilder, index: number, call: Fields): void {
  const known = builder.tools.get(index) ?? { id: "", name: "", arguments: [] };
  builder.tools.set(index, known);
  if (typeof call.id === "string" && call.id !== "") known.id = call.id;
  const fn = isObject(call.function) ? call.function : {};
  if (typeof fn.name === "string" && fn.name !== "") known.name = fn.name;
  if (typeof fn.arguments === "string") known.arguments.push(fn.arguments);
}

function candidate({ index, text, reasoning, tools, reason }: CandidateBuilder): Candidate {
  const content: AnswerPart[] = [];
  if (reasoning.length > 0) content.push({ type: "reasoning", text: reasoning.join("") });
  const whole = text.join("");
  if (whole !== "" || tools.size === 0) content.push({ type: "text", text: whole });
  for (const [, call] of [...tools].sort(([a], [b]) => a - b)) {
    content.push({ type: "tool_call", id: call.id, name: call.name, arguments: call.arguments.join("") });
  }
  return { index, content, stop: { reason } };
}

const choicesOf = (completion: Fields): Fields[] => listOf(completion.choices);

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
