/**
 * How large the parts of a request may be that no provider is paid to read, and how long its lists. Looked at by position,
 * before anything is built: what is refused must cost no more than its bytes.
 */
import { fail, type WeirError } from "../../base/errors.ts";
import { type Member, skim, utf8Of } from "../json/json.ts";
import { REQUEST_BOUNDS } from "../json/json-bounds.ts";

/** Bytes of JSON, as sent: of each option of ours and of what a format calls its metadata. */
const MAX_OPTION_BYTES = 16 * 1024;
/** Bytes of any other member that no model reads: a user's name, a token bias. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Pairs in `svc.metadata.tags`. */
export const MAX_TAGS = 32;
/** Characters of a model's name. */
export const MAX_MODEL_NAME = 256;

const METADATA: readonly string[] = ["metadata", "client_metadata"];

/** Elements of the lists that formats name. The largest that a provider takes is 100,000 messages (Anthropic). */
const MAX_ELEMENTS: Readonly<Record<string, number>> = {
  messages: 100_000,
  input: 100_000,
  documents: 10_000,
  tools: 1000,
  functions: 1000,
  include: 1000,
  stop: 1000,
  stop_sequences: 1000,
};

const SHORTEST_BOUND = Math.min(...Object.values(MAX_ELEMENTS));

/**
 * @param ours the members that hold our extension
 * @param unread all members that no model reads
 * @throws WeirError `invalid_value` naming the member at fault
 */
export function refuseLargeMembers(
  text: string,
  members: readonly Member[],
  ours: readonly string[],
  unread: readonly string[],
): void {
  // Most bodies are smaller as a whole.
  if (text.length <= MAX_OPTION_BYTES) return;
  for (const member of members) {
    const bytes = member.valueEnd - member.valueStart;
    if (bytes <= MAX_OPTION_BYTES) continue;
    const { key } = member;
    if (key === "svc" && ours.includes(key)) refuseLargeOptions(text, member, "/svc");
    else if (ours.includes(key) || METADATA.includes(key)) throw tooLarge(text, member, `/${key}`);
    else if (bytes > MAX_UNREAD_BYTES && unread.includes(key)) throw tooMuch(`/${key}`, MAX_UNREAD_BYTES);
  }
}

/** @throws WeirError `invalid_value` where a list has more elements than its use needs. */
export function refuseLongLists(body: Readonly<Record<string, unknown>>, members: readonly Member[]): void {
  // An element takes two bytes at the least.
  if ((members.at(-1)?.valueEnd ?? 0) < 2 * SHORTEST_BOUND) return;
  for (const { key } of members) {
    const most = Object.hasOwn(MAX_ELEMENTS, key) ? MAX_ELEMENTS[key] : undefined;
    const list = most === undefined ? undefined : body[key];
    if (most === undefined || !Array.isArray(list) || list.length <= most) continue;
    // One text as the ids of its tokens: the values of the whole body are bounded.
    if (key === "input" && typeof list[0] === "number") continue;
    throw fail("invalid_value", `/${key} has more than ${most} elements.`, { param: `/${key}` });
  }
}

/** Each member of an object of options is bounded, so that the object is. */
function refuseLargeOptions(text: string, { valueStart, valueEnd }: Member, pointer: string): void {
  const options = text.slice(valueStart, valueEnd);
  for (const member of membersIn(options, pointer)) {
    if (isLarge(member)) throw tooLarge(options, member, `${pointer}/${utf8Of(member.key)}`);
  }
}

/** Names the member's own member where that alone is too large. */
function tooLarge(text: string, { valueStart, valueEnd }: Member, pointer: string): WeirError {
  const largest = membersIn(text.slice(valueStart, valueEnd), pointer).find(isLarge);
  return tooMuch(largest === undefined ? pointer : `${pointer}/${utf8Of(largest.key)}`, MAX_OPTION_BYTES);
}

/** None where the text is no object: its schema says so. */
const membersIn = (text: string, pointer: string): readonly Member[] =>
  text.startsWith("{") ? skim(text, pointer, REQUEST_BOUNDS).members : [];

const isLarge = ({ valueStart, valueEnd }: Member): boolean => valueEnd - valueStart > MAX_OPTION_BYTES;

const tooMuch = (pointer: string, most: number): WeirError =>
  fail("invalid_value", `${pointer} is larger than ${most} bytes of JSON.`, { param: pointer });
