/** A response and its events, one as the other (OpenAI API reference, "Responses: streaming events"). */
import { type Fold, SseFolding } from "../forms/folding.ts";
import { inOrder, newGrown, piecesOf, setMembers } from "../forms/joined.ts";
import { framed, type Restating } from "../forms/restating.ts";
import { ToldEvents } from "../forms/told-events.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { sseEvent } from "../neutral/sse.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { isLast, kindOf, type TextKind } from "./kinds.ts";
import { noResponse } from "./read-reply.ts";
import { ResponsesStreamReader } from "./reader.ts";

export const responsesRestating: Restating = {
  framed,
  events(body) {
    const response = objectOf(parseReply(body));
    if (!Array.isArray(response.output)) throw noResponse();
    return new Telling().all(response, response.output.map(objectOf));
  },
  folding: (maxEventBytes, listen) =>
    new SseFolding(new ResponsesStreamReader(maxEventBytes), new ResponseFold(), maxEventBytes, listen),
};

/** The events that have a text, by its kind. */
const TEXTS: Readonly<Record<TextKind, { readonly name: string; readonly member: "text" | "refusal" }>> = {
  text: { name: "output_text", member: "text" },
  refusal: { name: "refusal", member: "refusal" },
  summary: { name: "reasoning_summary_text", member: "text" },
  reasoning: { name: "reasoning_text", member: "text" },
};

/** The events and the member that have what a call gives its tool. */
const CALLS: Readonly<Record<string, { readonly name: string; readonly member: "arguments" | "input" }>> = {
  function_call: { name: "function_call_arguments", member: "arguments" },
  mcp_call: { name: "mcp_call_arguments", member: "arguments" },
  custom_tool_call: { name: "custom_tool_call_input", member: "input" },
};

/** Tells a response event by event. Items of other types come whole: they begin, and are done. */
class Telling {
  #sequence = 0;
  readonly #told = new ToldEvents();

  all(response: JsonObject, items: readonly JsonObject[]): string {
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    this.#tell("created", { response: begun });
    this.#tell("in_progress", { response: begun });
    for (const [index, item] of items.entries()) this.#item(item, index);
    this.#tell(response.status === "incomplete" ? "incomplete" : "completed", { response });
    return this.#told.text;
  }

  #tell(name: string, members: object): void {
    const type = `response.${name}`;
    this.#told.add(sseEvent(type, latin1OfJson({ type, sequence_number: this.#sequence++, ...members })));
  }

  #item(item: JsonObject, output_index: number): void {
    const call = CALLS[stringOf(item.type)];
    const given = call === undefined ? undefined : item[call.member];
    const added = {
      ...item,
      ...(item.status !== undefined && { status: "in_progress" }),
      ...(Array.isArray(item.content) && { content: [] }),
      ...(Array.isArray(item.summary) && { summary: [] }),
      ...(call !== undefined && typeof given === "string" && { [call.member]: "" }),
    };
    this.#tell("output_item.added", { output_index, item: added });
    const place = { item_id: item.id, output_index };
    for (const [summary_index, part] of listOf(item.summary).entries())
      this.#part("reasoning_summary_part", "summary", objectOf(part), { ...place, summary_index });
    for (const [content_index, value] of listOf(item.content).entries()) {
      const part = objectOf(value);
      this.#part("content_part", kindOf(part.type), part, { ...place, content_index });
    }
    if (call !== undefined && typeof given === "string") {
      for (const delta of piecesOf(given)) this.#tell(`${call.name}.delta`, { ...place, delta });
      this.#tell(`${call.name}.done`, { ...place, [call.member]: given });
    }
    this.#tell("output_item.done", { output_index, item });
  }

  #part(name: string, kind: TextKind | undefined, part: JsonObject, place: object): void {
    if (kind === undefined) return;
    const { name: text, member } = TEXTS[kind];
    const whole = stringOf(part[member]);
    const isText = kind === "text";
    const { logprobs = [] } = part;
    this.#tell(`${name}.added`, {
      ...place,
      part: { ...part, [member]: "", ...(isText && { annotations: [], logprobs: [] }) },
    });
    // The tokens of a text are those of its piece: they stay together.
    const hasTokens = isText && listOf(logprobs).length > 0;
    for (const delta of hasTokens ? [whole] : piecesOf(whole))
      this.#tell(`${text}.delta`, { ...place, delta, ...(isText && { logprobs }) });
    for (const [annotation_index, annotation] of listOf(part.annotations).entries())
      this.#tell("output_text.annotation.added", { ...place, annotation_index, annotation });
    this.#tell(`${text}.done`, { ...place, [member]: whole, ...(isText && { logprobs }) });
    this.#tell(`${name}.done`, { ...place, part });
  }
}

/** More items than any answer has. */
const MAX_ITEMS = 4096;

/** The last event has the whole response. Some servers leave its items out of it (OpenAI's for ChatGPT accounts): each had an event. */
class ResponseFold implements Fold {
  readonly #response = newGrown();
  readonly #items = new Map<number, unknown>();

  take(event: JsonObject, name: string): void {
    const type = stringOf(event.type) || name;
    if (isObject(event.response)) setMembers(this.#response, event.response);
    if (isLast(type)) this.#response.status = type.slice(type.indexOf(".") + 1);
    if (type !== "response.output_item.done" || !isObject(event.item)) return;
    const { output_index: given } = event;
    const index = typeof given === "number" ? given : this.#items.size;
    if (this.#items.size < MAX_ITEMS) this.#items.set(index, event.item);
  }

  whole(): unknown {
    const { output } = this.#response;
    const items = inOrder(this.#items).map(([, item]) => item);
    const isLeftOut = listOf(output).length === 0;
    return { ...this.#response, object: "response", output: isLeftOut ? items : output };
  }
}
