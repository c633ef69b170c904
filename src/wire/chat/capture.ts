/**
 * Puts a streamed answer together again: for the record (one completion instead of thousands of events), for the stop
 * reason, and for the byte count that bills what a client left unread. Strings stay JSON-escaped latin1 fragments:
 * concatenated escapes are the escape of the concatenation. Bounded: beyond the bound it counts but no longer keeps.
 * An upstream may send anything: what is not of the expected type is passed over.
 */

import { Growing } from "../growing.ts";

/** Choices, tool calls and kinds of text beyond these go uncaptured: no answer has so many. */
export const MAX_CHOICES = 128;
const MAX_TOOL_CALLS = 256;
const MAX_KINDS = 32;

interface ToolCall {
  id: string;
  name: string;
  arguments: Growing;
}

interface ChoiceCapture {
  role: string;
  readonly strings: Map<string, Growing>;
  readonly tools: ToolCall[];
  /** The one call of the format's first days. */
  functionCall: ToolCall | undefined;
  finish: string;
}

interface ToolDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

export class ChatCapture {
  /** Bytes of generated text, JSON escapes included. */
  textBytes = 0;
  /** True when the text outgrew the bound: none of it is kept then. */
  truncated = false;
  readonly #choices: ChoiceCapture[] = [];
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The choices of an event, parsed from its UTF-8 text. */
  take(choices: readonly unknown[]): void {
    for (const value of choices) {
      const { index, delta, finish_reason } = record(value);
      const choice = this.#choice(index);
      if (typeof finish_reason === "string" && finish_reason !== "") choice.finish = finish_reason;
      this.#take(choice, record(delta));
    }
  }

  /** The text that a learned frame's fragments lengthen. `tool` is the call whose arguments they are, or -1. */
  growing(index: number, kind: string, tool: number): Growing {
    const choice = this.#choice(index);
    return choice.tools[tool]?.arguments ?? stringOf(choice, kind);
  }

  /** @param fragment as it stands in the JSON, latin1. */
  grow(into: Growing, fragment: string): void {
    this.textBytes += fragment.length;
    if (this.textBytes <= this.#maxBytes) into.add(fragment);
    else if (!this.truncated) this.#forget();
  }

  /** Half an answer would serve nobody, and a stream may stay open for long. */
  #forget(): void {
    this.truncated = true;
    for (const { strings, tools, functionCall } of this.#choices) {
      for (const text of strings.values()) text.clear();
      for (const call of tools) call.arguments.clear();
      functionCall?.arguments.clear();
    }
  }

  get finished(): boolean {
    return this.#choices.length > 0 && this.#choices.every((c) => c.finish !== "");
  }

  get stopReason(): string {
    return this.#choices[0]?.finish ?? "";
  }

  get toolCalls(): number {
    let count = 0;
    for (const choice of this.#choices) count += choice.tools.length;
    return count;
  }

  /** The answer as one `choices` array, JSON bytes; without its text where that outgrew the bound. */
  json(): Buffer {
    const parts: string[] = [];
    for (const [index, choice] of this.#choices.entries()) {
      const fields = [`"role":"${escaped(choice.role || "assistant")}"`];
      for (const [key, value] of choice.strings) fields.push(`"${escaped(key)}":"${value.text()}"`);
      if (choice.tools.length > 0) {
        const calls = choice.tools.map(
          (t) => `{"id":"${escaped(t.id)}","type":"function","function":${functionJson(t)}}`,
        );
        fields.push(`"tool_calls":[${calls.join(",")}]`);
      }
      if (choice.functionCall !== undefined)
        fields.push(`"function_call":${functionJson(choice.functionCall)}`);
      const finish = choice.finish === "" ? "null" : `"${escaped(choice.finish)}"`;
      parts.push(`{"index":${index},"message":{${fields.join(",")}},"finish_reason":${finish}}`);
    }
    return Buffer.from(`{"choices":[${parts.join(",")}]}`, "latin1");
  }

  #choice(index: unknown): ChoiceCapture {
    const at = placeOf(index, MAX_CHOICES) ?? 0;
    while (this.#choices.length <= at) {
      this.#choices.push({ role: "", strings: new Map(), tools: [], functionCall: undefined, finish: "" });
    }
    return this.#choices[at] as ChoiceCapture;
  }

  #take(choice: ChoiceCapture, delta: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(delta)) {
      if (typeof value === "string") {
        if (key === "role") choice.role = value;
        else if (value !== "") this.grow(stringOf(choice, key), escaped(value));
      } else if (key === "tool_calls") {
        if (Array.isArray(value)) for (const call of value) this.#tool(choice, record(call));
      } else if (key === "function_call") {
        choice.functionCall ??= newCall();
        this.#call(choice.functionCall, { function: record(value) });
      } else if (key === "content" && Array.isArray(value)) {
        for (const part of value) this.#part(choice, record(part));
      }
    }
  }

  /** Mistral's reasoning models send content as parts: `text`, and `thinking` made of such parts. */
  #part(choice: ChoiceCapture, { text, thinking }: Readonly<Record<string, unknown>>): void {
    if (typeof text === "string") this.grow(stringOf(choice, "content"), escaped(text));
    if (!Array.isArray(thinking)) return;
    for (const part of thinking) {
      const thought = record(part).text;
      if (typeof thought === "string") this.grow(stringOf(choice, "thinking"), escaped(thought));
    }
  }

  #tool(choice: ChoiceCapture, delta: ToolDelta): void {
    const { tools } = choice;
    // Without an index (Gemini) an id begins a call, and what has none belongs to the last.
    const next =
      (typeof delta.id === "string" && delta.id !== "") || tools.length === 0
        ? tools.length
        : tools.length - 1;
    const at = Math.min(placeOf(delta.index, MAX_TOOL_CALLS) ?? next, MAX_TOOL_CALLS - 1);
    while (tools.length <= at) tools.push(newCall());
    this.#call(tools[at] as ToolCall, delta);
  }

  #call(call: ToolCall, { id, function: fn }: ToolDelta): void {
    if (typeof id === "string" && id !== "") call.id = id;
    if (typeof fn?.name === "string" && fn.name !== "") call.name = fn.name;
    if (typeof fn?.arguments === "string") this.grow(call.arguments, escaped(fn.arguments));
  }
}

const newCall = (): ToolCall => ({ id: "", name: "", arguments: new Growing() });

/** Where a choice or call stands by its `index`; undefined where that is no place. */
export const placeOf = (index: unknown, bound: number): number | undefined =>
  typeof index === "number" && Number.isInteger(index) && index >= 0 ? Math.min(index, bound - 1) : undefined;

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

function stringOf(choice: ChoiceCapture, key: string): Growing {
  let found = choice.strings.get(key);
  if (found === undefined) {
    found = new Growing();
    if (choice.strings.size < MAX_KINDS) choice.strings.set(key, found);
  }
  return found;
}

const functionJson = (call: ToolCall): string =>
  `{"name":"${escaped(call.name)}","arguments":"${call.arguments.text()}"}`;

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** As a JSON string's inside, its UTF-8 bytes as latin1: what a learned frame passes on, so that both count alike. */
function escaped(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1);
  return BEYOND_ASCII.test(inside) ? Buffer.from(inside).toString("latin1") : inside;
}
