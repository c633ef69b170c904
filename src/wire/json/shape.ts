/**
 * Texts of JSON that differ in some values alone: the answers of a provider. The shape of a text is its bytes between its numbers and strings.
 * Where another text has the same, it is valid as well, and its value is that of the first with other numbers and strings: it need not be
 * parsed.
 */
import { fitsShape, leafStarts, MOST_LEAVES, positions, shapes } from "../../base/scan/scan.ts";
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./characters.ts";
import type { Member } from "./json.ts";
import { isSame } from "./names.ts";
import type { Signs } from "./signs.ts";

type Holder = Record<string | number, unknown>;

/** Longer strings are none that a provider has for a word. */
const LONGEST_WORD = 64;
/** An integer of so many digits is exact. */
const MOST_DIGITS = 15;
const ZERO = 48;

/** A number or a string that is read. */
abstract class Leaf {
  /** Its index among all. */
  readonly index: number;
  /** The sign that ends a string, or follows a number. */
  readonly sign: number;
  /** Bytes between a number and that sign. */
  readonly behind: number;

  constructor(index: number, sign: number, behind: number) {
    this.index = index;
    this.sign = sign;
    this.behind = behind;
  }

  /** Takes what stands between two offsets. @returns false where that is something else */
  abstract take(bytes: Buffer, from: number, to: number): boolean;
}

class Word extends Leaf {
  readonly #holder: Holder;
  readonly #key: string | number;
  #last: Uint8Array = new Uint8Array(0);

  constructor(index: number, sign: number, holder: Holder, key: string | number) {
    super(index, sign, 0);
    this.#holder = holder;
    this.#key = key;
  }

  take(bytes: Buffer, from: number, to: number): boolean {
    if (to - from > LONGEST_WORD) return false;
    if (!isSame(this.#last, bytes, from, to)) {
      this.#last = Uint8Array.prototype.slice.call(bytes, from, to);
      this.#holder[this.#key] = bytes.toString("latin1", from, to);
    }
    return true;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const WHOLE_NUMBER = new RegExp(`^${NUMBER.source}$`);

class Count extends Leaf {
  readonly #holder: Holder;
  readonly #key: string | number;
  #last = Number.NaN;

  constructor(index: number, sign: number, behind: number, holder: Holder, key: string | number) {
    super(index, sign, behind);
    this.#holder = holder;
    this.#key = key;
  }

  take(bytes: Buffer, from: number, to: number): boolean {
    let value = 0;
    for (let i = from; i < to; i++) {
      const digit = (bytes[i] as number) - ZERO;
      if (digit < 0 || digit > 9) return this.#other(bytes, from, to);
      value = value * 10 + digit;
    }
    const digits = to - from;
    if (digits > MOST_DIGITS || digits === 0 || (digits > 1 && bytes[from] === ZERO))
      return this.#other(bytes, from, to);
    if (value !== this.#last) this.#set(value);
    return true;
  }

  /** With a sign, a fraction or an exponent, or too long. */
  #other(bytes: Buffer, from: number, to: number): boolean {
    const text = bytes.toString("latin1", from, to);
    if (!WHOLE_NUMBER.test(text)) return false;
    this.#set(Number(text));
    // Minus zero equals zero.
    this.#last = Number.NaN;
    return true;
  }

  #set(value: number): void {
    this.#holder[this.#key] = value;
    this.#last = value;
  }
}

/** Where a member of the object stands, by signs. */
interface Placed {
  readonly key: string;
  /** The first quote of its name. */
  readonly sign: number;
  /** Bytes from the name to the value. */
  readonly colon: number;
  /** The sign behind the value, and the bytes between them. */
  readonly endSign: number;
  readonly behind: number;
}

/** The member of the text that was scanned last. */
function memberAt({ key, sign, colon, endSign, behind }: Placed): Member {
  const keyEnd = (positions[sign + 1] as number) + 1;
  return {
    key,
    start: positions[sign] as number,
    keyEnd,
    valueStart: keyEnd + colon,
    valueEnd: (positions[endSign] as number) - behind,
    opaqueBytes: 0,
  };
}

export class Shape {
  /** The value of the text that was found to be of this shape last: it changes with the next one. Strings that are no words are empty. */
  readonly value: object;
  /** Index of its first run among all. */
  readonly #run: number;
  /** Number of its numbers and strings. */
  readonly #count: number;
  /** Those that are read. */
  readonly #leaves: readonly Leaf[];
  readonly #placed: readonly Placed[];

  constructor(value: object, run: number, count: number, leaves: readonly Leaf[], placed: readonly Placed[]) {
    this.value = value;
    this.#run = run;
    this.#count = count;
    this.#leaves = leaves;
    this.#placed = placed;
  }

  /** Whether a text has this shape, which was scanned last, and has as many signs. */
  fits(bytes: Buffer): boolean {
    if (!fitsShape(this.#run, this.#count, bytes.length)) return false;
    for (const leaf of this.#leaves) {
      const to = (positions[leaf.sign] as number) - leaf.behind;
      if (!leaf.take(bytes, leafStarts[leaf.index] as number, to)) return false;
    }
    return true;
  }

  /** The members that were asked for of the text that was scanned last, and the last one. */
  members(): Member[] {
    return this.#placed.map(memberAt);
  }
}

/** An object or a list that is open. */
interface Open {
  readonly value: Holder;
  readonly isObject: boolean;
  isBeforeName: boolean;
  key: string | number;
  names: number;
}

/** Reads the shape of an object that was scanned last. */
export class ShapeReader {
  readonly #bytes: Buffer;
  readonly #words: ReadonlySet<string>;
  readonly #leaves: Leaf[] = [];
  readonly #runs: Run[] = [];
  readonly #open: Open[] = [];
  /** Sign of the name of each member of the object. */
  readonly #nameSigns: number[] = [];
  readonly #endSigns: number[] = [];
  #at = 0;

  /** @param words names of the strings that are read */
  constructor(bytes: Buffer, words: ReadonlySet<string>) {
    this.#bytes = bytes;
    this.#words = words;
  }

  /**
   * @param value of the text; it becomes the shape's, without its strings
   * @param members of the text @param wanted which of them {@link Shape.members} gives
   * @returns undefined where a name stands twice in an object, and where one would be no member of its own
   */
  read(
    count: number,
    value: object,
    members: readonly Member[],
    wanted: readonly string[],
  ): Shape | undefined {
    for (let sign = 0; sign < count; sign++) {
      const place = positions[sign] as number;
      this.#number(sign, place);
      const c = this.#bytes[place];
      if (c === QUOTE) {
        if (!this.#string(sign)) return undefined;
        sign++;
      } else if (!this.#bracket(c, sign, value as Holder)) return undefined;
    }
    const placed = members.map((member, i): Placed => {
      const endSign = this.#endSigns[i] as number;
      const behind = (positions[endSign] as number) - member.valueEnd;
      const sign = this.#nameSigns[i] as number;
      return { key: copied(member.key), sign, colon: member.valueStart - member.keyEnd, endSign, behind };
    });
    this.#runTo(this.#bytes.length, 0, 0, false);
    const run = room.take(this.#runs);
    if (run === undefined) return undefined;
    const asked = placed.filter(({ key }, i) => wanted.includes(key) || i === placed.length - 1);
    return new Shape(value, run, this.#runs.length - 1, this.#leaves, asked);
  }

  /** Takes the number between two signs, if one is there. */
  #number(sign: number, place: number): void {
    const top = this.#open.at(-1);
    if (top === undefined) return;
    const from = (positions[sign - 1] as number) + 1;
    const found = NUMBER.exec(this.#bytes.toString("latin1", from, place));
    if (found === null) return;
    const start = from + found.index;
    const end = start + found[0].length;
    this.#leaves.push(new Count(this.#runs.length, sign, place - end, top.value, top.key));
    this.#runTo(start, sign, place - end, false);
    this.#at = end;
  }

  #string(sign: number): boolean {
    const top = this.#open.at(-1) as Open;
    const from = (positions[sign] as number) + 1;
    const to = positions[sign + 1] as number;
    if (top.isBeforeName) {
      top.key = this.#bytes.toString("latin1", from, to);
      top.isBeforeName = false;
      top.names++;
      if (this.#open.length === 1) this.#nameSigns.push(sign);
      return top.key !== "__proto__";
    }
    const isWord = top.isObject && this.#words.has(top.key as string);
    top.value[top.key] = "";
    if (isWord) this.#leaves.push(new Word(this.#runs.length, sign + 1, top.value, top.key));
    this.#runTo(from, sign + 1, 0, true);
    this.#at = to;
    return true;
  }

  #bracket(c: number | undefined, sign: number, whole: Holder): boolean {
    const top = this.#open.at(-1);
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      const isObject = c === OPEN_OBJECT;
      const value = top === undefined ? whole : (top.value[top.key] as Holder);
      // Another member of the name comes later: the value has that one.
      if (typeof value !== "object" || value === null) return false;
      this.#open.push({ value, isObject, isBeforeName: isObject, key: 0, names: 0 });
      return true;
    }
    if (this.#open.length === 1 && this.#nameSigns.length > this.#endSigns.length) this.#endSigns.push(sign);
    if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      this.#open.pop();
      return top !== undefined && (!top.isObject || top.names === Object.keys(top.value).length);
    }
    if (c !== COMMA || top === undefined) return false;
    if (top.isObject) top.isBeforeName = true;
    else top.key = (top.key as number) + 1;
    return true;
  }

  /** The run before a leaf. */
  #runTo(end: number, sign: number, behind: number, isString: boolean): void {
    this.#runs.push({ bytes: this.#bytes.subarray(this.#at, end), sign, behind, isString });
  }
}

/** A part of a text would keep all of it. */
const copied = (key: string): string => Buffer.from(key, "latin1").toString("latin1");

/** Bytes that all texts of a shape have before a leaf. */
interface Run {
  readonly bytes: Uint8Array;
  /** As those of the leaf. */
  readonly sign: number;
  readonly behind: number;
  readonly isString: boolean;
}

/** The memory that the shapes of all readings share. */
class Room {
  /** How often it was emptied. */
  emptied = 0;
  #used = 0;
  /** Texts that found no room. */
  #missed = 0;

  /** @returns the index of the first run; undefined where there is no room */
  take(runs: readonly Run[]): number | undefined {
    const size = runs.reduce((sum, { bytes }) => sum + HEAD + 4 * Math.ceil(bytes.length / 16), 0);
    const start = this.#used;
    if (runs.length > MOST_LEAVES || size > shapes.length / 4) return undefined;
    if (start + size > shapes.length) {
      this.miss();
      return undefined;
    }
    this.#used += size;
    let at = start;
    for (const { bytes, sign, behind, isString } of runs) {
      shapes.set([bytes.length, sign, behind, isString ? 1 : 0], at);
      const words = new Int32Array(4 * Math.ceil(bytes.length / 16));
      new Uint8Array(words.buffer).set(bytes);
      shapes.set(words, at + HEAD);
      at += HEAD + words.length;
    }
    return start;
  }

  /** Where there is none for many texts, others are used now than those that it has. */
  miss(): void {
    if (++this.#missed < MOST_MISSED) return;
    this.#missed = this.#used = 0;
    this.emptied++;
  }
}

/** Numbers before the bytes of a run. */
const HEAD = 4;
/** Texts that find no room until it is emptied. */
const MOST_MISSED = 1000;
const room = new Room();

/** Signs of a text that has a shape; one with more is made of lists, whose lengths differ. */
const MOST_SIGNS = 512;
/** Shapes of one number of signs. */
const MOST_ALIKE = 4;

/** The shapes of what is read in one way. */
export class Shapes {
  readonly #words: ReadonlySet<string>;
  readonly #wanted: readonly string[];
  /** By their number of signs. Empty: one text of so many was seen. */
  readonly #byCount = new Map<number, Shape[]>();
  #emptied = room.emptied;

  /** @param words names of the strings that are read @param wanted names of members that {@link Shape.members} is to give */
  constructor(words: readonly string[], wanted: readonly string[]) {
    this.#words = new Set(words);
    this.#wanted = wanted;
  }

  /** @param signs of the text, which was scanned last */
  of(bytes: Buffer, { count, isPlain }: Signs): Shape | undefined {
    if (!isPlain || count > MOST_SIGNS || this.#isEmptied()) return undefined;
    const known = this.#byCount.get(count);
    if (known === undefined) return undefined;
    for (const shape of known) if (shape.fits(bytes)) return shape;
    return undefined;
  }

  /**
   * Tells of a text that had none of the shapes: of its number of signs the second one is learned.
   * @param signs of the text, which was scanned last @param value of the text; nobody else may use it from now on
   */
  learn(bytes: Buffer, { count, isPlain }: Signs, value: () => object, members: readonly Member[]): void {
    if (!isPlain || count > MOST_SIGNS || members.length === 0) return;
    const known = this.#byCount.get(count);
    if (known === undefined) {
      this.#byCount.set(count, []);
      return;
    }
    if (known.length >= MOST_ALIKE) {
      room.miss();
      return;
    }
    const shape = new ShapeReader(bytes, this.#words).read(count, value(), members, this.#wanted);
    if (shape !== undefined) known.push(shape);
  }

  /** Its shapes are gone where the room was emptied. */
  #isEmptied(): boolean {
    if (this.#emptied === room.emptied) return false;
    this.#emptied = room.emptied;
    this.#byCount.clear();
    return true;
  }
}
