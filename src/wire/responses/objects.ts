/**
 * Items, contents and events of the responses format as this gateway writes them. Each is made as a typed value with its
 * growing string empty, written as JSON once, and filled in as text: the string's pieces are never decoded (`fragment.ts`).
 */
import { latin1OfJson } from "../neutral/fragment.ts";
import type { Logprob } from "../neutral/neutral.ts";
import type { CallItem, CustomCallItem } from "./calls.ts";
import type { UrlCitation } from "./citations.ts";
import type { ImageItem } from "./image-item.ts";
import type { ItemStatus } from "./kinds.ts";

export type TokenLogprob = ReturnType<typeof tokenLogprob>;
export type OutputText = ReturnType<typeof outputText>;
export type Refusal = ReturnType<typeof refusal>;

export interface MessageItem {
  id: string;
  type: "message";
  status: ItemStatus;
  role: "assistant";
  content: (OutputText | Refusal)[];
}

export type ReasoningItem = ReturnType<typeof reasoningItem>;

interface OfItem {
  item_id: string;
  output_index: number;
}

export interface OfContent extends OfItem {
  content_index: number;
}

interface OfSummary extends OfItem {
  summary_index: number;
}

/** Members of events by type, without `type` and `sequence_number`. */
export interface EventFields {
  "response.output_item.added": {
    output_index: number;
    item: MessageItem | CallItem | CustomCallItem | ReasoningItem | ImageItem;
  };
  "response.content_part.added": OfContent & { part: OutputText | Refusal | ReasoningText };
  "response.content_part.done": OfContent & { part: OutputText | Refusal | ReasoningText };
  "response.output_text.delta": OfContent & { delta: string; logprobs: TokenLogprob[] };
  "response.output_text.done": OfContent & { text: string; logprobs: TokenLogprob[] };
  "response.output_text.annotation.added": OfContent & { annotation_index: number; annotation: UrlCitation };
  "response.refusal.delta": OfContent & { delta: string };
  "response.refusal.done": OfContent & { refusal: string };
  "response.reasoning_text.delta": OfContent & { delta: string };
  "response.reasoning_text.done": OfContent & { text: string };
  "response.reasoning_summary_part.added": OfSummary & { part: SummaryText };
  "response.reasoning_summary_part.done": OfSummary & { part: SummaryText };
  "response.reasoning_summary_text.delta": OfSummary & { delta: string };
  "response.reasoning_summary_text.done": OfSummary & { text: string };
  "response.function_call_arguments.delta": OfItem & { delta: string };
  "response.function_call_arguments.done": OfItem & { arguments: string };
  "response.custom_tool_call_input.delta": OfItem & { delta: string };
  "response.custom_tool_call_input.done": OfItem & { input: string };
}

interface ReasoningText {
  type: "reasoning_text";
  text: string;
}

interface SummaryText {
  type: "summary_text";
  text: string;
}

export type EventType = keyof EventFields;

/** An event's JSON after its sequence number: `"item_id":…}`. */
export const eventRest = <T extends EventType>(_: T, fields: EventFields[T]): string =>
  latin1OfJson(fields).slice(1);

/** The JSON before and after the first empty string of this name. */
export function around(json: string, name: string): readonly [head: string, tail: string] {
  const hole = `"${name}":""`;
  const at = json.indexOf(hole) + hole.length - 1;
  return [json.slice(0, at), json.slice(at)];
}

/** The message item as JSON. @param contents JSON of its contents. */
export function messageJson(id: string, status: ItemStatus, contents: readonly string[]): string {
  const item: MessageItem = { id, type: "message", status, role: "assistant", content: [] };
  const json = latin1OfJson(item);
  return `${json.slice(0, -"]}".length)}${contents.join(",")}]}`;
}

export const outputText = (annotations: UrlCitation[], logprobs: TokenLogprob[]) => ({
  type: "output_text" as const,
  text: "",
  annotations,
  logprobs,
});

export const refusal = () => ({ type: "refusal" as const, refusal: "" });

/** @param text the member that has the text; undefined if there is only a seal */
export const reasoningItem = (
  id: string,
  text: "summary" | "content" | undefined,
  sealed: string | undefined,
) => ({
  id,
  type: "reasoning" as const,
  summary: text === "summary" ? [{ type: "summary_text" as const, text: "" }] : [],
  ...(text === "content" && { content: [{ type: "reasoning_text" as const, text: "" }] }),
  ...(sealed !== undefined && { encrypted_content: sealed }),
});

/** The API has bytes for every token; if an upstream sent none, the list is empty. */
export const tokenLogprob = ({ token, logprob, bytes, top_logprobs: top }: Logprob) => ({
  token,
  logprob,
  bytes: [...(bytes ?? [])],
  top_logprobs: top.map((other) => ({
    token: other.token,
    logprob: other.logprob,
    bytes: [...(other.bytes ?? [])],
  })),
});

/** Prefixes of items' ids by type: clients and the API distinguish items by them. */
const PREFIXES = {
  message: "msg",
  function_call: "fc",
  custom: "ctc",
  local_shell: "lsh",
  shell: "sh",
  apply_patch: "apc",
  tool_search: "tsc",
  reasoning: "rs",
  image_generation_call: "ig",
} as const;

/** Such as `rs_<request id>_<index in the output>`. */
export const itemId = (type: keyof typeof PREFIXES, requestId: string, index: number): string =>
  `${PREFIXES[type]}_${requestId}_${index}`;
