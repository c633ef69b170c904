/**
 * Texts of JSON that differ in some values alone: the answers of a provider. The shape of a text is its bytes between its numbers and strings.
 * Where another text has the same, it is valid as well, and its value is that of the first with other numbers and strings: it need not be
 * parsed.
 */
import { positions, scanned } from "../../base/scan/scan.ts";
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./characters.ts";
import type { Member } from "./json.ts";
import type { Signs } from "./signs.ts";

type Holder = Record<string | number, unknown>;

/** Longer strings are none that a provider has for a word. */
const LONGEST_WORD = 64;
/** An integer of so many digits is exact. */
const MOST_DIGITS = 15;
const ZERO = 48;

/** A number or a string, and the bytes of the shape before it. */
abstract class Leaf {
  readonly run: Run;
  /** The sign that ends a string, or follows a number. */
  readonly sign: number;
  /** Bytes between a number and that sign. */
  readonly behind: number;

  constructor(run: Run, sign: number, behind: number) {
    this.run = run;
    this.sign = sign;
    this.behind = behind;
  }

  /** Takes what stands between two offsets. @returns false where that is something else */
  abstract take(bytes: Buffer, from: number, to: number): boolean;
}

/** A string that nobody reads. */
class SkippedString extends Leaf {
  take(_: Buffer, from: number): boolean {
    return isString(this.sign, from);
  }
}

/** Whether a string begins at an offset, and no other sign stands in it. */
const isString = (end: number, from: number): boolean => positions[end - 1] === from - 1;

class Word extends Leaf {
  readonly #holder: Holder;
  readonly #key: string | number;
  #last: Uint8Array = new Uint8Array(0);

  constructor(run: Run, sign: number, holder: Holder, key: string | number) {
    super(run, sign, 0);
    this.#holder = holder;
    this.#key = key;
  }

  take(bytes: Buffer, from: number, to: number): boolean {
    if (!isString(this.sign, from) || to - from > LONGEST_WORD) return false;
    if (!this.#isLast(bytes, from, to)) {
      this.#last = Uint8Array.prototype.slice.call(bytes, from, to);
      this.#holder[this.#key] = bytes.toString("latin1", from, to);
    }
    return true;
  }

  #isLast(bytes: Uint8Array, from: number, to: number): boolean {
    const last = this.#last;
    const { length } = last;
    if (to - from !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[from + i] !== last[i]) return false;
    return true;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const WHOLE_NUMBER = new RegExp(`^${NUMBER.source}$`);

class Count extends Leaf {
  readonly #holder: Holder;
  readonly #key: string | number;
  #last = Number.NaN;

  constructor(run: Run, sign: number, behind: number, holder: Holder, key: string | number) {
    super(run, sign, behind);
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

/** Bytes that all texts of a shape have, four at a time. */
class Run {
  readonly length: number;
  readonly #words: Int32Array;
  /** The bytes of the last word that count. */
  readonly #mask: number;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    const words = new Int32Array((bytes.length >> 2) + 1);
    for (let i = 0; i < bytes.length; i++)
      words[i >> 2] = (words[i >> 2] as number) | ((bytes[i] as number) << (8 * (i & 3)));
    this.#words = words;
    this.#mask = (1 << (8 * (bytes.length & 3))) - 1;
  }

  /** Whether they stand at an offset of the text that was scanned last. */
  isAt(from: number): boolean {
    const words = this.#words;
    const last = words.length - 1;
    let at = from;
    for (let i = 0; i < last; i++, at += 4) if (scanned.getInt32(at, true) !== words[i]) return false;
    return (scanned.getInt32(at, true) & this.#mask) === words[last];
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

export class Shape {
  /** The value of the text that was found to be of this shape last: it changes with the next one. Strings that are no words are empty. */
  readonly value: object;
  readonly #leaves: readonly Leaf[];
  readonly #end: Run;
  readonly #placed: readonly Placed[];

  constructor(value: object, leaves: readonly Leaf[], end: Run, placed: readonly Placed[]) {
    this.value = value;
    this.#leaves = leaves;
    this.#end = end;
    this.#placed = placed;
  }

  /** Whether a text has this shape, which was scanned last, and has as many signs. */
  fits(bytes: Buffer): boolean {
    let at = 0;
    for (const leaf of this.#leaves) {
      const { run } = leaf;
      const from = at + run.length;
      const to = (positions[leaf.sign] as number) - leaf.behind;
      if (to < from || !run.isAt(at) || !leaf.take(bytes, from, to)) return false;
      at = to;
    }
    return at + this.#end.length === bytes.length && this.#end.isAt(at);
  }

  /** The members that were asked for of the text that was scanned last, and the last one. */
  members(): Member[] {
    const members: Member[] = [];
    for (const { key, sign, colon, endSign, behind } of this.#placed) {
      const keyEnd = (positions[sign + 1] as number) + 1;
      members.push({
        key,
        start: positions[sign] as number,
        keyEnd,
        valueStart: keyEnd + colon,
        valueEnd: (positions[endSign] as number) - behind,
        opaqueBytes: 0,
      });
    }
    return members;
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
      return { key: member.key, sign, colon: member.valueStart - member.keyEnd, endSign, behind };
    });
    const end = new Run(this.#bytes.subarray(this.#at));
    return new Shape(
      value,
      this.#leaves,
      end,
      placed.filter(({ key }, i) => wanted.includes(key) || i === placed.length - 1),
    );
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
    this.#leaves.push(new Count(this.#runTo(start), sign, place - end, top.value, top.key));
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
    const run = this.#runTo(from);
    const isWord = top.isObject && this.#words.has(top.key as string);
    top.value[top.key] = "";
    this.#leaves.push(
      isWord ? new Word(run, sign + 1, top.value, top.key) : new SkippedString(run, sign + 1, 0),
    );
    this.#at = to;
    return true;
  }

  #bracket(c: number | undefined, sign: number, whole: Holder): boolean {
    const top = this.#open.at(-1);
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      const isObject = c === OPEN_OBJECT;
      const value = top === undefined ? whole : (top.value[top.key] as Holder);
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

  #runTo(end: number): Run {
    return new Run(this.#bytes.subarray(this.#at, end));
  }
}

/** Signs of a text that has a shape; one with more is made of lists, whose lengths differ. */
const MOST_SIGNS = 512;
/** Shapes of one number of signs, and in all. */
const MOST_ALIKE = 4;
const MOST_SHAPES = 64;
/** So many texts of no shape that is kept, where there is no room for more, say that others are used now. */
const MOST_MISSED = 1000;

/** The shapes of what is read in one way. */
export class Shapes {
  readonly #words: ReadonlySet<string>;
  readonly #wanted: readonly string[];
  /** By their number of signs. Empty: one text of so many was seen. */
  readonly #byCount = new Map<number, Shape[]>();
  #size = 0;
  #missed = 0;

  /** @param words names of the strings that are read @param wanted names of members that {@link Shape.members} is to give */
  constructor(words: readonly string[], wanted: readonly string[]) {
    this.#words = new Set(words);
    this.#wanted = wanted;
  }

  /** @param signs of the text, which was scanned last */
  of(bytes: Buffer, { count, isPlain }: Signs): Shape | undefined {
    if (!isPlain || count > MOST_SIGNS) return undefined;
    const shapes = this.#byCount.get(count);
    if (shapes === undefined) return undefined;
    for (const shape of shapes) if (shape.fits(bytes)) return shape;
    return undefined;
  }

  /**
   * Tells of a text that had none of the shapes: of its number of signs the second one is learned.
   * @param signs of the text, which was scanned last @param value of the text; nobody else may use it from now on
   */
  learn(bytes: Buffer, { count, isPlain }: Signs, value: () => object, members: readonly Member[]): void {
    if (!isPlain || count > MOST_SIGNS || members.length === 0) return;
    const shapes = this.#byCount.get(count);
    if (shapes === undefined) {
      this.#byCount.set(count, []);
      return;
    }
    if (shapes.length >= MOST_ALIKE || this.#size >= MOST_SHAPES) {
      if (++this.#missed < MOST_MISSED) return;
      this.#missed = this.#size = 0;
      this.#byCount.clear();
      return;
    }
    const shape = new ShapeReader(bytes, this.#words).read(count, value(), members, this.#wanted);
    if (shape === undefined) return;
    this.#size++;
    shapes.push(shape);
  }
}
