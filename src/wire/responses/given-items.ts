/**
 * The items that a stored response was made from, each with an id, as OpenAI lists them (API reference, "List input items"). They are found
 * by position in the stored text, and stay as they were sent but for what the list promises: an id, a type, and the content of a message
 * as a list of parts. All of it in slices: a conversation has megabytes, or thousands of items.
 */
import { createHash } from "node:crypto";
import type { Sliced } from "../../base/turns/shared-turns.ts";
import { applyEdits, type Edit } from "../json/json.ts";
import type { Span } from "../json/spans.ts";
import { TextWalk } from "../json/text-walk.ts";

/** Characters around a string's own. */
const QUOTES = 2;

/** What of an item the list reads; each where the item has it. The last member of a name counts, as for readers of JSON. */
type Seen = { [Name in "id" | "type" | "role" | "content" | "status"]?: Span };

/** Where the items of a conversation stand in its text, and the ids under which they are listed. */
export interface GivenItems {
  readonly spans: readonly Span[];
  readonly ids: readonly string[];
}

/**
 * The items before the response's own output.
 * @param items of the conversation with the response, without the brackets of the array
 * @param response as delivered, JSON text
 */
export function* givenItems(items: string, response: string): Sliced<GivenItems> {
  const made = yield* outputOf(response);
  const end = made !== "" && items.endsWith(made) ? items.length - made.length : items.length;
  const walk = new TextWalk(items);
  const spans: Span[] = [];
  const ids: (string | undefined)[] = [];
  const taken = new Set<string>();
  for (const span of walk.parts(0, end)) {
    if (span === undefined) {
      yield;
      continue;
    }
    const seen = yield* seenOf(walk, span);
    const own = ownId(items, seen);
    const isFirst = own !== undefined && !taken.has(own);
    if (isFirst) taken.add(own);
    spans.push(span);
    ids.push(isFirst ? own : undefined);
  }
  for (const [index, span] of spans.entries()) {
    if (ids[index] !== undefined) continue;
    ids[index] = yield* freeId(walk, index, span, taken);
  }
  return { spans, ids: ids as string[] };
}

/** JSON text of the items of a response's output. */
function* outputOf(response: string): Sliced<string> {
  const walk = new TextWalk(response);
  let made = "";
  for (const member of walk.members({ start: response.indexOf("{"), end: response.trimEnd().length })) {
    if (member === undefined) yield;
    else if (member.key === "output" && response[member.start] === "[")
      made = response.slice(member.start + 1, member.end - 1).trim();
  }
  return made;
}

function* seenOf(walk: TextWalk, item: Span): Sliced<Seen> {
  const seen: Seen = {};
  for (const member of walk.members(item)) {
    if (member === undefined) yield;
    else if (isSeen(member.key)) seen[member.key] = member;
  }
  return seen;
}

const isSeen = (key: string): key is keyof Seen =>
  key === "id" || key === "type" || key === "role" || key === "content" || key === "status";

/** The member's text without quotes, where it is a string. Escapes stay: ids, types and roles have none. */
const stringAt = (text: string, at: Span | undefined): string | undefined =>
  at === undefined || text[at.start] !== '"' ? undefined : text.slice(at.start + 1, at.end - 1);

const typeOf = (text: string, { type, role }: Seen): string =>
  stringAt(text, type) ?? (role === undefined ? "" : "message");

/** Characters of an id. */
const MAX_ID = 256;
/** Ids as providers give them. */
const ID = new RegExp(`^[\\w.:-]{1,${MAX_ID}}$`);

function ownId(text: string, { id }: Seen): string | undefined {
  const own = id === undefined || id.end - id.start > MAX_ID + QUOTES ? undefined : stringAt(text, id);
  // A copy: a part of the text would keep all of it in memory.
  return own !== undefined && ID.test(own) ? Buffer.from(own, "latin1").toString("latin1") : undefined;
}

/** Characters at both ends of an item that its id is made of. */
const ENDS = 256;
/** Steps of the walk that take as long as a hash. */
const STEPS_OF_HASH = 300;

/**
 * The id of an item that was sent without one, or with one that an item before it has: pages go by ids. It comes of the item's place,
 * its length and its ends, which are alike in every response that continues the conversation.
 */
function* freeId(walk: TextWalk, index: number, span: Span, taken: ReadonlySet<string>): Sliced<string> {
  const { text } = walk;
  const { start, end } = span;
  const ends = text.slice(start, Math.min(end, start + ENDS)) + text.slice(Math.max(start, end - ENDS), end);
  const prefix = prefixOf(typeOf(text, yield* seenOf(walk, span)));
  for (let again = 0; ; again++) {
    const said = `${index}:${again}:${end - start}:${ends}`;
    const id = `${prefix}_${createHash("sha256").update(said).digest("hex").slice(0, 32)}`;
    if (walk.isDue(STEPS_OF_HASH)) yield;
    if (!taken.has(id)) return id;
  }
}

/** Items that a conversation keeps, as they were sent. */
export interface KeptItems {
  /** JSON text, the inside of a list: a comma between two items, and no white space around any. */
  readonly items: string;
  /** An id of each, and how many characters each has. */
  readonly ids: readonly string[];
  readonly lengths: readonly number[];
}

export const NO_ITEMS: KeptItems = Object.freeze({ items: "", ids: [], lengths: [] });

/**
 * Items as a conversation keeps them. An item without an id, or with one that the conversation has, gets a new one, which its text
 * does not say: an upstream would look for it.
 * @param text JSON text of items, the inside of a list
 * @param newId makes an id that begins with a prefix such as `msg`
 */
export function* keptItems(
  text: string,
  has: (id: string) => boolean,
  newId: (prefix: string) => string,
): Sliced<KeptItems> {
  const walk = new TextWalk(text);
  const [texts, ids, lengths]: [string[], string[], number[]] = [[], [], []];
  const taken = new Set<string>();
  for (const span of walk.parts(0, text.length)) {
    if (span === undefined) {
      yield;
      continue;
    }
    const seen = yield* seenOf(walk, span);
    const own = ownId(text, seen);
    const isFree = own !== undefined && !taken.has(own) && !has(own);
    const id = isFree ? own : newId(prefixOf(typeOf(text, seen)));
    taken.add(id);
    ids.push(id);
    texts.push(text.slice(span.start, span.end));
    lengths.push(span.end - span.start);
  }
  return { items: texts.join(","), ids, lengths };
}

/** Those of both, one behind the other. */
export const joinedItems = (first: KeptItems, then: KeptItems): KeptItems => ({
  items: first.items === "" || then.items === "" ? first.items + then.items : `${first.items},${then.items}`,
  ids: [...first.ids, ...then.ids],
  lengths: [...first.lengths, ...then.lengths],
});

/** All but the item at this place. */
export function withoutItem({ items, ids, lengths }: KeptItems, index: number): KeptItems {
  const { start, end } = spansOf(lengths)[index] as Span;
  const before = items.slice(0, Math.max(0, start - 1));
  const behind = items.slice(start === 0 ? end + 1 : end);
  return { items: before + behind, ids: ids.toSpliced(index, 1), lengths: lengths.toSpliced(index, 1) };
}

/** Where items of a conversation stand. */
export const placesOf = ({ ids, lengths }: KeptItems): GivenItems => ({ ids, spans: spansOf(lengths) });

function spansOf(lengths: readonly number[]): Span[] {
  let at = 0;
  return lengths.map((length) => {
    const span = { start: at, end: at + length };
    at = span.end + 1;
    return span;
  });
}

/**
 * JSON texts of items as they are listed.
 * @param indices their places in the conversation
 * @param isOfConversation items of a conversation also have a status
 */
export function* listedItems(
  items: string,
  { spans, ids }: GivenItems,
  indices: readonly number[],
  isOfConversation = false,
): Sliced<string[]> {
  const walk = new TextWalk(items);
  const texts: string[] = [];
  for (const index of indices) {
    const span = spans[index] as Span;
    const edits = listing(items, span, yield* seenOf(walk, span), ids[index] as string, isOfConversation);
    const { start, end } = span;
    const moved = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
    texts.push(applyEdits(items.slice(start, end), moved));
  }
  return texts;
}

/** What is changed of an item in a list. */
function listing(
  text: string,
  { start, end }: Span,
  seen: Seen,
  id: string,
  isOfConversation: boolean,
): Edit[] {
  if (text[start] !== "{") return [];
  const edits: Edit[] = [];
  const comma = HOLDS_NOTHING.test(text.slice(start, Math.min(end, start + ENDS))) ? "" : ",";
  const set = (at: Span | undefined, key: string, value: string) => {
    if (at !== undefined) edits.push({ start: at.start, end: at.end, text: value });
    else edits.push({ start: start + 1, end: start + 1, text: `"${key}":${value}${comma}` });
  };
  if (stringAt(text, seen.id) !== id) set(seen.id, "id", JSON.stringify(id));
  const type = typeOf(text, seen);
  if (isOfConversation && WITH_STATUS.has(type) && stringAt(text, seen.status) === undefined)
    set(seen.status, "status", '"completed"');
  if (type !== "message") return edits;
  if (stringAt(text, seen.type) === undefined) set(seen.type, "type", '"message"');
  const { content } = seen;
  if (content !== undefined && text[content.start] === '"') {
    const isAnswer = stringAt(text, seen.role) === "assistant";
    const [before, behind] = isAnswer ? OUTPUT_TEXT : INPUT_TEXT;
    edits.push({ start: content.start, end: content.start, text: before });
    edits.push({ start: content.end, end: content.end, text: behind });
  }
  return edits;
}

/** Items that OpenAI lists with a status, whoever sent them. */
const WITH_STATUS: ReadonlySet<string> = new Set(["message", "function_call", "function_call_output"]);
const HOLDS_NOTHING = /^\{\s*\}$/;
const INPUT_TEXT = ['[{"type":"input_text","text":', "}]"] as const;
const OUTPUT_TEXT = ['[{"type":"output_text","text":', ',"annotations":[]}]'] as const;

/** As ids of such items begin at OpenAI. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["function_call_output", "fco"],
  ["custom_tool_call", "ctc"],
  ["custom_tool_call_output", "ctco"],
]);

const prefixOf = (type: string): string => PREFIXES.get(type) ?? "item";
