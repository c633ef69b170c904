/**
 * Which item of a streamed response an event speaks of, and which of its texts. Servers number items and contents from 0 or
 * from 1, differently in deltas and in finished items, give all of them one number, change an item's id from event to
 * event, or leave either out. So an event goes to what its id and number name where that can still take it, else to the
 * first that waits for such an event; and what ends an item, or the response, is matched with what came before in order.
 */
import { fail } from "../../errors.ts";
import type { Fragment } from "../neutral.ts";
import { type JsonObject, stringOf } from "../reader.ts";
import type { ItemKind, TextKind } from "./kinds.ts";

/** Items and texts beyond these are passed over: no answer has so many. */
const MAX_ITEMS = 4096;
const MAX_TEXTS = 512;
/** The longest ids in use, which hold sealed content, have some hundred characters. A longer one names nothing. */
const MAX_ID_CHARS = 1024;
/** Of servers that change an item's id from event to event: later ones are not seen again, and not kept. */
const MAX_IDS = 4 * MAX_ITEMS;

export interface OpenText {
  readonly kind: TextKind;
  /** As the events that lengthen it number it. */
  index: number | undefined;
  readonly part: number;
  isOpen: boolean;
  /** Some of it came. */
  hasText: boolean;
  /** An event said that it begins. */
  isAnnounced: boolean;
  /** An event told the whole text. */
  isWhole: boolean;
  /** An event told the whole content. */
  isEnded: boolean;
  hasCitations: boolean;
}

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
  /** Arguments, and a name, that came before the call was known. */
  early: Fragment;
  name: string;
  isAnnounced: boolean;
  isDone: boolean;
  isSealed: boolean;
  /** The last reasoning part, open until the next begins: the seal comes with the item's end. */
  last: OpenText | undefined;
}

/** How an event names an item. */
interface ItemPlace {
  /** "" where it has none. */
  readonly id: string;
  readonly index: number | undefined;
}

/** @param item where the event holds the item itself. */
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

  /** @param maxEarlyBytes of arguments that come before their calls are announced, all together. */
  constructor(maxEarlyBytes: number) {
    this.#maxEarlyBytes = maxEarlyBytes;
  }

  /**
   * Arguments of a call that was not announced yet: they are kept until it is.
   * @throws WeirError `upstream_invalid_response` where they are too many.
   */
  keep(item: OpenItem, early: Fragment): void {
    this.#earlyBytes += early.length;
    if (this.#earlyBytes > this.#maxEarlyBytes) {
      throw fail("upstream_invalid_response", "The provider sent a call larger than the gateway takes.");
    }
    item.early += early;
  }

  /** The item that a delta, or an event of one content, belongs to; undefined beyond the bound. */
  of(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    if (known !== undefined) return known;
    const waiting =
      place.index === undefined
        ? this.all.findLast((item) => isWaiting(item, kind) && (place.id === "" || item.isAnnounced))
        : this.all.find((item) => isWaiting(item, kind) && isExpected(item));
    return waiting === undefined ? this.add(place, kind) : this.#name(waiting, place);
  }

  /** The item of an event that tells a text or arguments as a whole. */
  itemOfWhole(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    if (known !== undefined) return known;
    const waiting = this.all.find((item) => isWaiting(item, kind) && lacksWhole(item));
    return waiting === undefined ? this.of(place, kind) : this.#name(waiting, place);
  }

  named(id: string): OpenItem | undefined {
    return id === "" ? undefined : this.#ids.get(id);
  }

  /** The item that an event says begins. */
  begun(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    const isAgain = known?.id === place.id && known.id !== "" && known.index === place.index;
    const isSame = known !== undefined && (!known.isAnnounced || isAgain);
    const item = isSame ? known : this.add(place, kind);
    if (item !== undefined) item.isAnnounced = true;
    return item;
  }

  /** The item that an event tells as a whole. */
  done(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    const known = this.#open(place, kind);
    if (known !== undefined) return known;
    const again = this.#ids.get(place.id);
    if (again?.kind === kind && again.index === place.index) return again;
    return this.all.find((item) => item.kind === kind && !item.isDone) ?? this.add(place, kind);
  }

  /** The items that a response's `output` of one kind tells; undefined for one that no event has told of. */
  paired(outputs: readonly ItemPlace[], kind: ItemKind): readonly (OpenItem | undefined)[] {
    const items = this.all.filter((item) => item.kind === kind);
    if (items.length === outputs.length) return items;
    const both = ({ id, index }: ItemPlace) => (id === "" ? undefined : `${index} ${id}`);
    const areNamed = new Set(outputs.map(({ id }) => id)).size === outputs.length;
    const name = ({ id }: ItemPlace) => (areNamed && id !== "" ? id : undefined);
    const number = ({ index }: ItemPlace) => String(index);
    return matched(items, outputs, [both, both], [name, name], [number, number]);
  }

  /** What events number the first item of a response with so many. */
  firstOf(count: number): number {
    return firstIndex(this.all, count);
  }

  add(place: ItemPlace, kind: ItemKind): OpenItem | undefined {
    if (this.all.length === MAX_ITEMS) return undefined;
    const { id, index } = place;
    const item: OpenItem = {
      ...{ kind, id, index, texts: [], call: undefined, early: "", name: "" },
      ...{ isAnnounced: false, isDone: false, isSealed: false, last: undefined },
    };
    this.all.push(item);
    return this.#name(item, place);
  }

  /** One that is not done, by its id and number. Where they name two, the number decides if both have that id. */
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

/** It was announced, or a text of it was, and nothing of it came yet. */
const isExpected = ({ isAnnounced, texts, call }: OpenItem): boolean =>
  (isAnnounced || texts.some((text) => text.isAnnounced)) &&
  call?.hasText !== true &&
  !texts.some(({ hasText }) => hasText);

/** The text that a delta lengthens; undefined where a new one begins with it. */
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

/** The text that an event says begins; undefined where it is a new one. */
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

/** The text that an event tells as a whole; undefined where no other told of it. */
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
  /** In the item's list. */
  readonly index: number;
}

/** The texts that a finished item's contents of one kind are; undefined for one that no event has told of. */
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
    // Those without text are the same whichever they are.
    return contents.map((content) => (content.text === "" ? undefined : withText[filled.indexOf(content)]));
  }
  const first = firstIndex(own, contents.length);
  return matched(own, contents, [({ index }) => String(index), ({ index }) => String(index + first)]);
}

/** 0, but where events number from 1: none of them has said 0, and one has said how many there are. */
const firstIndex = (given: readonly { readonly index: number | undefined }[], count: number): number =>
  !given.some(({ index }) => index === 0) && given.some(({ index }) => index === count) ? 1 : 0;

/** What one of the given is called, and one of the wanted: the same name, the same thing. Undefined: it has no such name. */
type Naming<T, W> = readonly [of: (one: T) => string | undefined, wanted: (want: W) => string | undefined];

/** What each of the wanted is: by the first naming under which it is found, else what is left over, in order. */
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
