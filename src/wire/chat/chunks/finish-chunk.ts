/**
 * A chunk with or after the finish reason is cut in two. Its content (text, reasoning, pieces of tool calls) is sent at once
 * as a chunk of its own, whose finish reason is null. The finish reason, and all other members that the provider put into
 * the chunk, wait for the settlement. Text is latin1.
 */
import {
  applyEdits,
  type Edit,
  memberOf,
  membersOf,
  removeMembers,
  setMember,
  skim,
} from "../../json/json.ts";
import { latin1OfJson } from "../../neutral/fragment.ts";
import { isObject, type JsonObject, objectOf, stringOf } from "../../neutral/reader.ts";

export interface CutChunk {
  /** The part sent at once; "" if the chunk has no content. */
  readonly now: string;
  /** The part that waits; "" if there is none. */
  readonly later: string;
}

/** Members of a chunk that every chunk repeats: a chunk cut from another has no more than these. */
const ENVELOPE: readonly string[] = [
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "system_fingerprint",
  "service_tier",
  "provider",
  "obfuscation",
];

/** The member of a choice that holds its content: `delta` in chat, `text` in completions. */
export type ContentMember = "delta" | "text";

/** Its value without content, JSON. Together repeats the text of a completion in `delta`. */
const EMPTY: Readonly<Record<ContentMember, string>> = { delta: "{}", text: '""' };
const CONTENTS = Object.keys(EMPTY) as readonly ContentMember[];

/** Members of a choice that belong to its content. */
const CONTENT_MEMBERS: readonly string[] = ["index", "delta", "text", "logprobs", "finish_reason"];

/** @param data the chunk as the client gets it, its choices as they came. @param choices the same choices, parsed. */
export function cutChunk(
  data: string,
  choices: readonly unknown[],
  content: ContentMember = "delta",
): CutChunk {
  const cuts = choices.map((choice) => cutOf(objectOf(choice), content));
  if (!cuts.some(({ says }) => says)) return { now: "", later: data };
  if (cuts.every(({ says, ends }) => says && !ends)) return { now: data, later: "" };
  const { members } = skim(data);
  const list = memberOf(members, "choices");
  if (list === undefined) return { now: "", later: data };
  const inside = data.slice(list.valueStart + 1, list.valueEnd - 1).trim();
  const now: string[] = [];
  const later: string[] = [];
  for (const [at, { says, ends }] of cuts.entries()) {
    // The bytes of several choices in one chunk, which no provider sends that was asked for one, need not be kept.
    const text = choices.length === 1 && membersOf(inside) ? inside : latin1OfJson(choices[at]);
    if (says) now.push(ends ? contentOf(text) : text);
    if (!says || ends) later.push(says ? endOf(text, content) : text);
  }
  const others = members.map(({ key }) => key).filter((key) => !ENVELOPE.includes(key));
  const early = applyEdits(data, [setChoices(data, now), ...removeMembers(members, others)]);
  return { now: early, later: later.length === 0 ? "" : applyEdits(data, [setChoices(data, later)]) };
}

interface Cut {
  readonly says: boolean;
  readonly ends: boolean;
}

function cutOf(choice: JsonObject, content: ContentMember): Cut {
  const { logprobs, finish_reason: reason } = choice;
  return { says: hasContent(choice[content]) || hasContent(logprobs), ends: stringOf(reason) !== "" };
}

/** Members of a delta that identify or order its content and are none themselves. */
const LABELS: readonly string[] = ["role", "type", "index"];

function hasContent(value: unknown): boolean {
  if (typeof value === "string") return value !== "";
  if (Array.isArray(value)) return value.some(hasContent);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, member]) => !LABELS.includes(key) && hasContent(member));
}

/** A choice with only its text. */
function contentOf(choice: string): string {
  const { members } = skim(choice);
  const others = members.map(({ key }) => key).filter((key) => !CONTENT_MEMBERS.includes(key));
  return applyEdits(choice, [
    setMember(choice, members, "finish_reason", "null"),
    ...removeMembers(members, others),
  ]);
}

/** A choice without its text. */
function endOf(choice: string, content: ContentMember): string {
  const { members } = skim(choice);
  const held = CONTENTS.filter((name) => name === content || memberOf(members, name) !== undefined);
  const edits = held.map((name) => setMember(choice, members, name, EMPTY[name]));
  if (memberOf(members, "logprobs") !== undefined) edits.push(setMember(choice, members, "logprobs", "null"));
  return applyEdits(choice, edits);
}

function setChoices(data: string, choices: readonly string[]): Edit {
  return setMember(data, skim(data).members, "choices", `[${choices.join(",")}]`);
}
