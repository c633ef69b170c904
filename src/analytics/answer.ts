/**
 * What a stored payload shows in a request's detail: the request as the object it was, the answer as candidates,
 * whichever way it was delivered. Reads what the gateway itself wrote, and gives up softly on anything else.
 */

export type AnswerPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_call"; id: string; name: string; arguments: string };

export interface Candidate {
  index: number;
  content: AnswerPart[];
  stop: { reason: string };
}

/** The client's JSON body, or undefined where it is none. */
export function requestObject(text: string): Record<string, unknown> | undefined {
  const value = parsed(text);
  return isObject(value) && !Array.isArray(value) ? value : undefined;
}

/** The candidates of a chat completion, whole or as the SSE text of its chunks. */
export function candidatesOf(text: string): Candidate[] {
  const whole = parsed(text);
  const building = new Map<number, Building>();
  if (isObject(whole)) {
    for (const choice of choicesOf(whole)) take(building, choice, choice.message);
  } else {
    for (const line of text.split(/\r\n|\r|\n/)) {
      if (!line.startsWith("data:")) continue;
      const chunk = parsed(line.slice(5));
      if (isObject(chunk)) for (const choice of choicesOf(chunk)) take(building, choice, choice.delta);
    }
  }
  return [...building.values()].sort((a, b) => a.index - b.index).map(candidate);
}

interface Building {
  readonly index: number;
  text: string[];
  reasoning: string[];
  readonly tools: Map<number, { id: string; name: string; arguments: string[] }>;
  reason: string;
}

type Fields = Record<string, unknown>;

function take(building: Map<number, Building>, choice: Fields, message: unknown): void {
  const index = typeof choice.index === "number" ? choice.index : 0;
  let found = building.get(index);
  if (found === undefined) {
    found = { index, text: [], reasoning: [], tools: new Map(), reason: "" };
    building.set(index, found);
  }
  if (typeof choice.finish_reason === "string") found.reason = choice.finish_reason;
  if (!isObject(message)) return;
  for (const part of [message.content, message.refusal]) if (typeof part === "string") found.text.push(part);
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (typeof reasoning === "string") found.reasoning.push(reasoning);
  if (!Array.isArray(message.tool_calls)) return;
  for (const [at, call] of message.tool_calls.entries()) {
    if (isObject(call)) takeToolCall(found, typeof call.index === "number" ? call.index : at, call);
  }
}

function takeToolCall(building: Building, index: number, call: Fields): void {
  const known = building.tools.get(index) ?? { id: "", name: "", arguments: [] };
  building.tools.set(index, known);
  if (typeof call.id === "string" && call.id !== "") known.id = call.id;
  const fn = isObject(call.function) ? call.function : {};
  if (typeof fn.name === "string" && fn.name !== "") known.name = fn.name;
  if (typeof fn.arguments === "string") known.arguments.push(fn.arguments);
}

function candidate({ index, text, reasoning, tools, reason }: Building): Candidate {
  const content: AnswerPart[] = [];
  if (reasoning.length > 0) content.push({ type: "reasoning", text: reasoning.join("") });
  const whole = text.join("");
  if (whole !== "" || tools.size === 0) content.push({ type: "text", text: whole });
  for (const [, call] of [...tools].sort(([a], [b]) => a - b)) {
    content.push({ type: "tool_call", id: call.id, name: call.name, arguments: call.arguments.join("") });
  }
  return { index, content, stop: { reason } };
}

const choicesOf = (completion: Fields): Fields[] =>
  Array.isArray(completion.choices) ? completion.choices.filter(isObject) : [];

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
