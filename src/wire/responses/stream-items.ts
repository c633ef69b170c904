/**
 * Which item of a streamed response an event speaks of, and which of its texts. Servers number items and contents from 0 or
 * from 1, differently in deltas and in finished items, give all of them one number, change an item's id from event to
 * event, or leave either out. So an event goes to what its id and number name where that can still take it, else to the
 * first that waits for such an event; and what ends an item, or the response, is matched with what came before in order.
 */
import { fail } from "../../base/errors.ts";
import type { Fragment } from "../neutral/neutral.ts";
import { type JsonObject, stringOf } from "../neutral/reader.ts";
import type { ItemKind, TextKind } from "./kinds.ts";

/** More items and texts are ignored: no answer has so many. */
const MAX_ITEMS = 4096;
const MAX_TEXTS = 512;
/** The longest ids in use, which contain sealed content, have some hundred characters. Longer ones are ignored. */
const MAX_ID_CHARS = 1024;
/** Some servers change an item's id from event to event: their later ids are not seen again, and not kept. */
const MAX_IDS = 4 * MAX_ITEMS;

export interface OpenText {
  readonly kind: TextKind;
  /** Its index in delta events. */
  index: number | undefined;
  readonly part: number;
  isOpen: boolean;
  /** Some of its text came. */
  hasText: boolean;
  /** An event announced it. */
  isAnnounced: boolean;
  /** An event contained the whole text. */
  isWhole: boolean;
  /** An event contained the whole content. */
  isEnded: boolean;
  hasCitations: boolean;
}

/** A text that begins, nothing of which came yet. @param part its number among the neutral parts */
export const newText = (kind: TextKind, index: number | undefined, part: number): OpenText => ({
  kind,
  index,
  part,
  isOpen: true,
  hasText: false,
  isAnnounced: false,
  isWhole: false,
  isEnded: false,
  hasCitations: false,
});

export interface OpenCall {
  readonly part: number;
  isOpen: boolean;
  hasText: boolean;
}

export interface OpenItem {
  readonly kind: ItemKind;
  readonly id: string;
  readonly index: number | undefined;
  readonly texts: OpenText[];
  call: OpenCall | undefined;
  /** Arguments and a name that came before the call was announced. */
  early: Fragment;
  name: string;
  isAnnounced: boolean;
  isDone: boolean;
  isSealed: boolean;
  /** The last reasoning part, open until the next begins: the seal comes with the item's end. */
  last: OpenText | undefined;
}

/** The id and index by which an event refers to an item. */
interface ItemPlace {
  /** "" if it has none. */
  readonly id: string;
  readonly index: number | undefined;
}

/** @param item the item, if the event contains it */
export const placeIn = (event: JsonObject, item?: JsonObject): ItemPlace => ({
  id: idOf(item === undefined ? event.item_id : item.id),
  index: numberOf(event.output_index, MAX_ITEMS),
});

/** The places of the items of a response's `output`. @param first the number of the first. */
export const placesOf = (output: readonly JsonObject[], first: number) =>
  output.slice(0, MAX_ITEMS).map((item, at) => ({ item, place: { id: idOf(item.id), index: first + at } }));

function idOf(value: unknown): string {
  const id = stringOf(value);
  return id.length > MAX_ID_CHARS ? "" : id;
}

export class StreamItems {
  readonly all: OpenItem[] = [];
  readonly #ids = new Map<string, OpenItem>();
  readonly #places: Readonly<Record<ItemKind, (OpenItem | undefined)[]>> = {
    message: [],
    reasoning: [],
    call: [],
  };
  readonly #maxEarlyBytes: number;
  #earlyBytes = 0;

  /** @param maxEarlyBytes bound of all arguments that come before their calls are announced */
  constructor(maxEarlyBytes: number) {
    this.#maxEarlyBytes = maxEarlyBytes;
  }

  /**
   * Keeps arguments of a call until it is announced.
   * @throws WeirError `upstream_invalid_response` if there are too many
   */
  keep(item: OpenItem, early: Fragment): void {
    this.#earlyBytes += early.length;
    if (this.#earlyBytes > this.#maxEarlyBytes) {
      throw fail("upstream_invalid_response", "The provider sent a call larger than the gateway takes.");
    }
    item.early += early;
  }

  /** The item that a delta, or an event of one content, belongs to; undefined if there are too many items. */
  of(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    if (known !== undefined) return known;
    const waiting =
      place.index === undefined
        ? this.all.findLast((item) => isWaiting(item, kind) && (place.id === "" || item.isAnnounced))
        : this.all.find((item) => isWaiting(item, kind) && isExpected(item));
    return waiting === undefined ? this.add(place, kind) : this.#name(waiting, place);
  }

  /** The item of an event that contains a whole text or whole arguments. */
  itemOfWhole(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    if (known !== undefined) return known;
    const waiting = this.all.find((item) => isWaiting(item, kind) && lacksWhole(item));
    return waiting === undefined ? this.of(place, kind) : this.#name(waiting, place);
  }

  named(id: string): OpenItem | undefined {
    return id === "" ? undefined : this.#ids.get(id);
  }

  /** The item that an event announces. */
  begun(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    const isAgain = known?.id === place.id && known.id !== "" && known.index === place.index;
    const isSame = known !== undefined && (!known.isAnnounced || isAgain);
    const item = isSame ? known : this.add(place, kind);
    if (item !== undefined) item.isAnnounced = true;
    return item;
  }

  /** The item of an event that contains it as a whole. */
  done(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    if (known !== undefined) return known;
    const again = this.#ids.get(place.id);
    if (again?.kind === kind && again.index === place.index) return again;
    return this.all.find((item) => item.kind === kind && !item.isDone) ?? this.add(place, kind);
  }

  /** The items of one kind in a response's `output`; undefined for one that no event had. */
  paired(outputs: readonly ItemPlace[], kind: ItemKind): readonly (OpenItem | undefined)[] {
    const items = this.all.filter((item) => item.kind === kind);
    if (items.length === outputs.length) return items;
    const both = ({ id, index }: ItemPlace) => (id === "" ? undefined : `${index} ${id}`);
    const areNamed = new Set(outputs.map(({ id }) => id)).size === outputs.length;
    const name = ({ id }: ItemPlace) => (areNamed && id !== "" ? id : undefined);
    const number = ({ index }: ItemPlace) => String(index);
    return matched(items, outputs, [both, both], [name, name], [number, number]);
  }

  /** The index that events give the first of so many items. */
  firstOf(count: number): number {
    return firstIndex(this.all, count);
  }

  add(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    if (this.all.length === MAX_ITEMS) return undefined;
    const { id, index } = place;
    const item: OpenItem = {
      kind,
      id,
      index,
      texts: [],
      call: undefined,
      early: "",
      name: "",
      isAnnounced: false,
      isDone: false,
      isSealed: false,
      last: undefined,
    };
    this.all.push(item);
    return this.#name(item, place);
  }

  /** The unfinished item of this id and index. If they are of two items, the index decides if both have that id. */
  #open({ id, index }: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const named = id === "" ? undefined : this.#ids.get(id);
    const placed = index === undefined ? undefined : this.#places[kind][index];
    const isPlaced = placed !== undefined && !placed.isDone;
    if (isPlaced && placed.id === id) return placed;
    if (named?.kind === kind && !named.isDone) return named;
    return isPlaced ? placed : undefined;
  }

  #name(item: OpenItem, { id, index }: ItemPlace): OpenItem {
    if (id !== "" && this.#ids.size < MAX_IDS) this.#ids.set(id, item);
    if (index !== undefined) this.#places[item.kind][index] = item;
    return item;
  }
}

const isWaiting = (item: OpenItem, kind: ItemKind): boolean => item.kind === kind && !item.isDone;

const lacksWhole = ({ texts, call }: OpenItem): boolean =>
  call?.isOpen === true || texts.some(({ isWhole, isEnded }) => !isWhole && !isEnded);

/** The item or a text of it was announced, and no content of it came yet. */
const isExpected = ({ isAnnounced, texts, call }: OpenItem): boolean =>
  (isAnnounced || texts.some((text) => text.isAnnounced)) &&
  call?.hasText !== true &&
  !texts.some(({ hasText }) => hasText);

/** The text that a delta belongs to; undefined if the delta begins a new one. */
export function textToGrow(
  { texts }: OpenItem,
  kind: TextKind,
  index: number | undefined,
): OpenText | undefined {
  const takes = (text: OpenText) => text.kind === kind && text.isOpen && !text.isWhole && !text.isEnded;
  const placed = texts.findLast((text) => text.kind === kind && text.index === index);
  if (placed !== undefined) return takes(placed) ? placed : undefined;
  const waiting = texts.find((text) => takes(text) && text.isAnnounced && !text.hasText);
  if (waiting !== undefined) waiting.index = index;
  return waiting ?? (index === undefined ? texts.findLast(takes) : undefined);
}

/** The text that an event announces; undefined if it is a new one. */
export function textToBegin(
  { texts }: OpenItem,
  kind: TextKind,
  index: number | undefined,
): OpenText | undefined {
  const placed = texts.findLast((text) => text.kind === kind && text.index === index);
  return placed?.isAnnounced === false && placed.isOpen && !placed.isWhole && !placed.isEnded
    ? placed
    : undefined;
}

/** The text that an event contains as a whole; undefined if no earlier event had it. */
export function textToComplete(
  { texts }: OpenItem,
  kind: TextKind,
  index: number | undefined,
  wants: (text: OpenText) => boolean,
): OpenText | undefined {
  const placed = texts.findLast((text) => text.kind === kind && text.index === index);
  return placed !== undefined && wants(placed)
    ? placed
    : texts.find((text) => text.kind === kind && wants(text));
}

/** One content of a finished item. */
export interface Content {
  readonly text: string;
  /** Index in the item's list. */
  readonly index: number;
}

/** The texts of a finished item's contents of one kind; undefined for a content that no event had. */
export function pairedTexts(
  { texts }: OpenItem,
  kind: TextKind,
  contents: readonly Content[],
): readonly (OpenText | undefined)[] {
  const own = texts.filter((text) => text.kind === kind);
  if (own.length === contents.length) return own;
  const withText = own.filter(({ hasText }) => hasText);
  const filled = contents.filter(({ text }) => text !== "");
  if (withText.length === filled.length) {
    // Contents without text are interchangeable.
    return contents.map((content) => (content.text === "" ? undefined : withText[filled.indexOf(content)]));
  }
  const first = firstIndex(own, contents.length);
  return matched(own, contents, [({ index }) => String(index), ({ index }) => String(index + first)]);
}

/** 1 if events number from 1 (no index is 0, and one equals the count), else 0. */
const firstIndex = (given: readonly { readonly index: number | undefined }[], count: number): number =>
  !given.some(({ index }) => index === 0) && given.some(({ index }) => index === count) ? 1 : 0;

/** Names a given and a wanted thing: equal names mean the same thing. Undefined: it has no such name. */
type Naming<T, W> = readonly [of: (one: T) => string | undefined, wanted: (want: W) => string | undefined];

/** The given thing for each wanted one: by the first naming that finds one, else the remaining ones in order. */
function matched<T, W>(
  given: readonly T[],
  wanted: readonly W[],
  ...namings: readonly Naming<T, W>[]
): (T | undefined)[] {
  const left = new Set(given);
  const found: (T | undefined)[] = wanted.map(() => undefined);
  const inOrder: Naming<T, W> = [() => "", () => ""];
  for (const [nameOf, wantedName] of [...namings, inOrder]) {
    const named = Map.groupBy(left, nameOf);
    const taken = new Map<string, number>();
    for (const [at, want] of wanted.entries()) {
      const name = found[at] === undefined ? wantedName(want) : undefined;
      if (name === undefined) continue;
      const next = taken.get(name) ?? 0;
      const one = named.get(name)?.[next];
      if (one === undefined) continue;
      found[at] = one;
      taken.set(name, next + 1);
      left.delete(one);
    }
  }
  return found;
}

export const textIndexOf = (value: unknown): number | undefined => numberOf(value, MAX_TEXTS);

export const mayBegin = ({ texts }: OpenItem): boolean => texts.length < MAX_TEXTS;

const numberOf = (value: unknown, bound: number): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < bound ? value : undefined;
