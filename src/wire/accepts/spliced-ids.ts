/**
 * Ids of calls in a body that passes as bytes. The client's format is the upstream's, but the ids need not be of such an upstream:
 * another model of this gateway may have answered the turns before, and clients send its ids back.
 */
import type { OrgKey } from "../format.ts";
import { type Edit, jsonAt, type Member, memberOf, membersOf } from "../json/json.ts";
import { type Span, spansOf } from "../json/spans.ts";
import type { Accepted } from "./bounds.ts";
import { CallIds } from "./call-ids.ts";

/** Where an id stands within a text; its quotes are part of it. */
export interface IdPlace extends Span {
  readonly isCall: boolean;
}

/** The places of ids in one message or item of a dialect. @param text JSON of it, latin1 */
export type PlacesIn = (text: string, members: readonly Member[]) => IdPlace[];

interface Place extends IdPlace {
  readonly id: string;
  readonly isModel: boolean;
}

/**
 * Edits of the body that replace ids which the upstream would refuse; none where it takes all. Most upstreams take ids that two calls
 * share.
 * @param messages the member of this name in `bytes`
 */
export function idEdits(
  bytes: Buffer,
  messages: Member,
  placesIn: PlacesIn,
  { callId, sharesCallIds, refusesSharedIds }: Accepted,
  orgKey: OrgKey,
): Edit[] {
  if (callId === undefined || bytes[messages.valueStart] !== OPEN_ARRAY) return [];
  const text = bytes.toString("latin1", messages.valueStart, messages.valueEnd);
  const places = spansOf(text).flatMap(({ start, end }) => placesOf(text.slice(start, end), start, placesIn));
  const isShared = refusesSharedIds === true && sharesCallIds !== true && sharesId(places);
  if (!isShared && places.every(({ id }) => callId.taken.test(id))) return [];
  const ids = new CallIds(callId, orgKey, () => places.map(({ id }) => id));
  return places.flatMap(({ start, end, id, isCall, isModel }) => {
    ids.by(isModel);
    const told = isCall && sharesCallIds !== true ? ids.call(id) : ids.result(id);
    if (told === id) return [];
    return [{ start: messages.valueStart + start, end: messages.valueStart + end, text: `"${told}"` }];
  });
}

function sharesId(places: readonly Place[]): boolean {
  const calls = places.filter(({ isCall }) => isCall);
  return new Set(calls.map(({ id }) => id)).size < calls.length;
}

function placesOf(message: string, from: number, placesIn: PlacesIn): Place[] {
  if (!MAY_CALL.test(message)) return [];
  const members = message.startsWith("{") ? membersOf(message) : undefined;
  if (members === undefined) return [];
  const isAssistant = jsonAt(message, members, "role") === '"assistant"';
  return placesIn(message, members).flatMap((place) => {
    const { isCall } = place;
    const id = idAt(message.slice(place.start, place.end));
    return id === undefined
      ? []
      : [{ start: from + place.start, end: from + place.end, isCall, id, isModel: isAssistant || isCall }];
  });
}

/** A message without this has no calls; it may also stand in a text. */
const MAY_CALL = /"(?:tool_|call_id")/;

function idAt(json: string): string | undefined {
  if (!json.startsWith('"')) return undefined;
  try {
    return JSON.parse(Buffer.from(json, "latin1").toString()) as string;
  } catch {
    return undefined;
  }
}

/** The items of a member that is a list, with their places. */
function itemsOf(text: string, members: readonly Member[], key: string): readonly Item[] {
  const list = memberOf(members, key);
  if (list === undefined || text[list.valueStart] !== "[") return [];
  const within = text.slice(list.valueStart, list.valueEnd);
  return spansOf(within).flatMap(({ start, end }) => {
    const item = within.slice(start, end);
    const own = item.startsWith("{") ? membersOf(item) : undefined;
    return own === undefined ? [] : [{ text: item, members: own, from: list.valueStart + start }];
  });
}

interface Item {
  readonly text: string;
  readonly members: readonly Member[];
  readonly from: number;
}

function placeOf({ members, from }: Item, key: string, isCall: boolean): IdPlace[] {
  const id = memberOf(members, key);
  return id === undefined ? [] : [{ start: from + id.valueStart, end: from + id.valueEnd, isCall }];
}

/** Anthropic's blocks. */
export const messagesIds: PlacesIn = (text, members) =>
  itemsOf(text, members, "content").flatMap((block) => {
    const type = jsonAt(block.text, block.members, "type");
    if (type === '"tool_use"') return placeOf(block, "id", true);
    return type === '"tool_result"' ? placeOf(block, "tool_use_id", false) : [];
  });

/** Chat completions. */
export const chatIds: PlacesIn = (text, members) => [
  ...itemsOf(text, members, "tool_calls").flatMap((call) => placeOf(call, "id", true)),
  ...placeOf({ text, members, from: 0 }, "tool_call_id", false),
];

/** Items of responses. */
export const responsesIds: PlacesIn = (text, members) => {
  const isResult = jsonAt(text, members, "type").endsWith('_output"');
  return placeOf({ text, members, from: 0 }, "call_id", !isResult);
};

const OPEN_ARRAY = 91;
