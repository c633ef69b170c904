/**
 * A native stream as an answer that grows. Texts are appended as they come and never copied; whoever draws takes a snapshot, as often as
 * it likes. Pure.
 */

import type { ReadEvent } from "../../api/event-reader.ts";
import type { CostLine } from "../../text/cost-line.ts";
import { type Fields, isFields, type Part, textOf } from "./message.ts";

export interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/** What `generation.completed` tells. */
export interface Completed {
  readonly usage: Tokens;
  readonly cost: { readonly total_micro_usd: number; readonly lines: readonly CostLine[] };
  readonly provider_meta: { readonly provider: string; readonly endpoint_id: string };
  readonly warnings: readonly string[];
}

export interface Answer {
  /** As they can be sent back. */
  readonly parts: readonly Part[];
  /** Why it stopped; empty while it runs, and where nothing says so. */
  readonly stop: string;
  /** Undefined until it is whole. */
  readonly completed: Completed | undefined;
  /** Characters that were left out: there were more than a page can hold. */
  readonly cut: number;
}

/** Characters of one answer, all parts together. */
export const MOST_CHARACTERS = 2_000_000;

/** Which member of a part grows, by the event's name. */
const GROWS: Readonly<Record<string, readonly [type: string, member: "text" | "arguments"]>> = {
  "content.delta": ["text", "text"],
  "reasoning.delta": ["reasoning", "text"],
  "tool_call.delta": ["tool_call", "arguments"],
};

interface Growing {
  readonly fields: Record<string, unknown>;
  readonly member: "text" | "arguments" | undefined;
  text: string;
}

export class GrowingAnswer {
  readonly #parts = new Map<unknown, Growing>();
  #stop = "";
  #completed: Completed | undefined;
  #characters = 0;
  #cut = 0;

  /** @returns whether something of the answer itself came */
  take(events: readonly ReadEvent[]): boolean {
    let hasContent = false;
    for (const { name, data } of events) {
      // The playground asks for one answer: what else a model sends is in the request's detail.
      if (typeof data.index === "number" && data.index !== 0) continue;
      if (name === "generation.completed") this.#completed = data as unknown as Completed;
      else if (name === "candidate.stopped") this.#stop = isFields(data.stop) ? textOf(data.stop.reason) : "";
      else hasContent = this.#grow(name, data) || hasContent;
    }
    return hasContent;
  }

  /** How it is now. */
  get answer(): Answer {
    const parts = [...this.#parts.values()].map(
      ({ fields, member, text }) =>
        (member === undefined ? { ...fields } : { ...fields, [member]: text }) as Part,
    );
    return { parts, stop: this.#stop, completed: this.#completed, cut: this.#cut };
  }

  #grow(name: string, data: Fields): boolean {
    if (name === "content.media" && isFields(data.media)) {
      this.#parts.set(data.part, { fields: { ...data.media }, member: undefined, text: "" });
      return true;
    }
    const grows = GROWS[name];
    if (grows === undefined) return false;
    const [type, member] = grows;
    const part = this.#part(data.part, data.refusal === true ? "refusal" : type, member);
    for (const beside of ["id", "name", "seal", "summary", "redacted"])
      if (data[beside] !== undefined) part.fields[beside] = data[beside];
    if (isFields(data.citation))
      part.fields.citations = [...((part.fields.citations as Fields[] | undefined) ?? []), data.citation];
    const piece = textOf(data[member]);
    const taken = piece.slice(0, MOST_CHARACTERS - this.#characters);
    this.#characters += taken.length;
    this.#cut += piece.length - taken.length;
    part.text += taken;
    return piece !== "" || type === "tool_call";
  }

  #part(place: unknown, type: string, member: "text" | "arguments"): Growing {
    const known = this.#parts.get(place);
    if (known !== undefined) return known;
    const made: Growing = { fields: { type }, member, text: "" };
    this.#parts.set(place, made);
    return made;
  }
}

/** Parts as they can be sent back: empty texts are refused by several providers, and arguments must be JSON. */
export const sendable = (parts: readonly Part[]): readonly Part[] =>
  parts
    .filter((part) => !(part.type === "text" && part.text === ""))
    .map((part) =>
      part.type === "tool_call" && part.arguments === "" ? { ...part, arguments: "{}" } : part,
    );
