/**
 * What an event of an answer's stream says, in whichever of the five formats it is told: chat completions, completions, responses,
 * messages, or the native one. No two formats name an event alike, so the event itself says which it is of. Pure. What is not known is
 * nothing.
 */
import type { SentEvent } from "../../api/event-reader.ts";

export type Said =
  /** A part begins, or has more text. */
  | {
      readonly is: "part";
      /** Which of several answers. */
      readonly choice: number;
      /** The part among those of its answer. */
      readonly place: string;
      /** `text`, `reasoning`, `refusal`, `tool call`, or the name that the format has for it. */
      readonly kind: string;
      /** Name of the tool; told once. */
      readonly name?: string;
      readonly text: string;
    }
  /** An answer ends, and why. */
  | { readonly is: "stop"; readonly choice: number; readonly reason: string }
  /** No event of the call follows. @param failure what went wrong; absent where the call went well */
  | { readonly is: "over"; readonly failure?: string };

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** @param event its data is JSON, but for the last word of OpenAI's older formats */
export function saidBy({ name, data }: SentEvent): readonly Said[] {
  if (data === "[DONE]") return [{ is: "over" }];
  let read: unknown;
  try {
    read = JSON.parse(data);
  } catch {
    return [];
  }
  if (!isFields(read)) return [];
  const failure = failureOf(read);
  if (failure !== undefined) return [{ is: "over", failure }];
  if (Array.isArray(read.choices)) return listOf(read.choices).flatMap(ofChoice);
  const type = textOf(read.type) || name;
  return Object.hasOwn(BY_TYPE, type) ? (BY_TYPE[type]?.(read) ?? []) : [];
}

/** What a failure says, whichever format tells it; undefined where it is none. */
function failureOf(data: Fields): string | undefined {
  if (data.type === "response.failed") return messageOf(fieldsOf(data.response).error);
  if (isFields(data.error)) return messageOf(data.error);
  return data.type === "error" ? messageOf(data) : undefined;
}

const messageOf = (error: unknown): string => textOf(fieldsOf(error).message) || "It failed.";

// -- chat completions and completions --

function ofChoice({ index, delta, text, finish_reason: reason }: Fields): readonly Said[] {
  const choice = numberOf(index);
  // Some servers say the text of a chat in both places.
  const said = isFields(delta) ? ofDelta(choice, delta) : grown(choice, "content", "text", text);
  return textOf(reason) === "" ? said : [...said, { is: "stop", choice, reason: textOf(reason) }];
}

function ofDelta(choice: number, delta: Fields): readonly Said[] {
  const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning);
  return [
    ...grown(choice, "reasoning", "reasoning", thought),
    ...grown(choice, "content", "text", delta.content),
    ...listOf(delta.content).flatMap((each) => ofListed(choice, each)),
    ...grown(choice, "refusal", "refusal", delta.refusal),
    ...listOf(delta.tool_calls).flatMap((call) => ofChatCall(choice, call)),
    ...listOf(delta.images).map(() => part(choice, "images", "image")),
  ];
}

/** A part where the content is a list, as Mistral's is while it thinks. */
function ofListed(choice: number, { text, thinking }: Fields): readonly Said[] {
  const thoughts = listOf(thinking).flatMap((each) => grown(choice, "reasoning", "reasoning", each.text));
  return [...thoughts, ...grown(choice, "content", "text", text)];
}

function ofChatCall(choice: number, { index, function: called, custom }: Fields): readonly Said[] {
  const { name, arguments: given, input } = fieldsOf(isFields(custom) ? custom : called);
  const text = textOf(given) || textOf(input);
  if (textOf(name) === "" && text === "") return [];
  return [part(choice, `call ${numberOf(index)}`, "tool call", text, textOf(name))];
}

// -- messages --

const KIND_OF_BLOCK: ReadonlyMap<string, string> = new Map([
  ["text", "text"],
  ["thinking", "reasoning"],
  ["redacted_thinking", "reasoning"],
  ["tool_use", "tool call"],
]);

function ofBlock({ index, content_block: block }: Fields): readonly Said[] {
  const { type, name, text, thinking, input } = fieldsOf(block);
  const kind = KIND_OF_BLOCK.get(textOf(type)) ?? textOf(type).replaceAll("_", " ");
  // Some servers tell the arguments of a call whole, where it begins.
  const given = Object.keys(fieldsOf(input)).length > 0 ? JSON.stringify(input) : "";
  return [part(0, String(index), kind, textOf(text) || textOf(thinking) || given, textOf(name))];
}

function ofBlockDelta({ index, delta }: Fields): readonly Said[] {
  const { text, thinking, partial_json: json } = fieldsOf(delta);
  return [
    ...grown(0, String(index), "text", text),
    ...grown(0, String(index), "reasoning", thinking),
    ...grown(0, String(index), "tool call", json),
  ];
}

// -- responses --

const KIND_OF_ITEM: ReadonlyMap<string, string> = new Map([
  ["function_call", "tool call"],
  ["custom_tool_call", "tool call"],
]);

/** Messages and reasoning are made of parts of their own. */
function ofItem({ output_index: index, item }: Fields): readonly Said[] {
  const { type, name } = fieldsOf(item);
  if (type === "message" || type === "reasoning") return [];
  const kind = KIND_OF_ITEM.get(textOf(type)) ?? textOf(type).replaceAll("_", " ");
  return [part(0, String(index), kind, "", textOf(name))];
}

const ofItemDelta =
  (kind: string, within?: string) =>
  (data: Fields): readonly Said[] => {
    const inItem = within === undefined ? "" : ` ${within} ${numberOf(data[within])}`;
    return grown(0, `${numberOf(data.output_index)}${inItem}`, kind, data.delta);
  };

function ofResponse({ response }: Fields): readonly Said[] {
  const { status, incomplete_details: why } = fieldsOf(response);
  return [{ is: "stop", choice: 0, reason: textOf(fieldsOf(why).reason) || textOf(status) }, { is: "over" }];
}

// -- the native format --

const ofNative =
  (kind: string) =>
  (data: Fields): readonly Said[] => {
    const { index, part: place, name, refusal, text, arguments: given } = data;
    const shown = refusal === true ? "refusal" : kind;
    const said = textOf(text) || textOf(given);
    if (said === "" && textOf(name) === "") return [];
    return [part(numberOf(index), String(place), shown, said, textOf(name))];
  };

const ofNativeMedia = ({ index, part: place, media }: Fields): readonly Said[] => [
  part(numberOf(index), String(place), textOf(fieldsOf(media).type) || "media"),
];

const BY_TYPE: Readonly<Record<string, (data: Fields) => readonly Said[]>> = {
  content_block_start: ofBlock,
  content_block_delta: ofBlockDelta,
  message_delta: ({ delta }) => {
    const reason = textOf(fieldsOf(delta).stop_reason);
    return reason === "" ? [] : [{ is: "stop", choice: 0, reason }];
  },
  message_stop: () => [{ is: "over" }],

  "response.output_item.added": ofItem,
  "response.output_text.delta": ofItemDelta("text", "content_index"),
  "response.refusal.delta": ofItemDelta("refusal", "content_index"),
  "response.reasoning_text.delta": ofItemDelta("reasoning", "content_index"),
  "response.reasoning_summary_text.delta": ofItemDelta("reasoning", "summary_index"),
  "response.function_call_arguments.delta": ofItemDelta("tool call"),
  "response.custom_tool_call_input.delta": ofItemDelta("tool call"),
  "response.completed": ofResponse,
  "response.incomplete": ofResponse,

  "content.delta": ofNative("text"),
  "reasoning.delta": ofNative("reasoning"),
  "tool_call.delta": ofNative("tool call"),
  "content.media": ofNativeMedia,
  "candidate.stopped": ({ index, stop }) => [
    { is: "stop", choice: numberOf(index), reason: textOf(fieldsOf(stop).reason) },
  ],
  "generation.completed": () => [{ is: "over" }],
};

const part = (choice: number, place: string, kind: string, text = "", name = ""): Said => ({
  is: "part",
  choice,
  place,
  kind,
  text,
  ...(name !== "" && { name }),
});

/** Nothing where there is no text. */
const grown = (choice: number, place: string, kind: string, text: unknown): readonly Said[] =>
  textOf(text) === "" ? [] : [part(choice, place, kind, textOf(text))];
