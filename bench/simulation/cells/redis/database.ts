/** The rows of a Redis in memory. Keys and values are strings of bytes: each character is one. */

export interface StreamEntry {
  readonly version: number;
  readonly fields: readonly string[];
}

export class Stream {
  entries: StreamEntry[] = [];
}

/** Member -> score. */
export class SortedSet {
  readonly scores = new Map<string, number>();

  /** Lowest score first, then by the bytes of the member. */
  sorted(): [member: string, score: number][] {
    return [...this.scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
  }
}

type Kept = string | string[] | Map<string, string> | Set<string> | SortedSet | Stream;

export class Database {
  readonly #kept = new Map<string, Kept>();
  /** When a key is forgotten, milliseconds of this Redis's clock. */
  readonly #ends = new Map<string, number>();
  /** Milliseconds since 1970. */
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  /** A copy, as a replica has it. */
  copy(): Database {
    const copy = new Database(this.now);
    for (const [key, value] of this.#kept) copy.#kept.set(key, copied(value));
    for (const [key, end] of this.#ends) copy.#ends.set(key, end);
    return copy;
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  keys(): string[] {
    return [...this.#kept.keys()].filter((key) => this.has(key));
  }

  text(key: string): string | undefined {
    const found = this.#find(key);
    if (found !== undefined && typeof found !== "string") throw wrongKind();
    return found;
  }

  setText(key: string, value: string): void {
    this.#ends.delete(key);
    this.#kept.set(key, value);
  }

  /** As it is, before a change that leaves its end alone. */
  replaceText(key: string, value: string): void {
    this.#kept.set(key, value);
  }

  hash(key: string): ReadonlyMap<string, string> {
    const found = this.#find(key);
    if (found === undefined) return NO_FIELDS;
    if (!(found instanceof Map)) throw wrongKind();
    return found;
  }

  list(key: string): readonly string[] {
    const found = this.#find(key);
    if (found === undefined) return [];
    if (!Array.isArray(found)) throw wrongKind();
    return found;
  }

  set(key: string): ReadonlySet<string> {
    const found = this.#find(key);
    if (found === undefined) return NO_MEMBERS;
    if (!(found instanceof Set)) throw wrongKind();
    return found;
  }

  sortedSet(key: string): SortedSet | undefined {
    const found = this.#find(key);
    if (found !== undefined && !(found instanceof SortedSet)) throw wrongKind();
    return found;
  }

  stream(key: string): Stream | undefined {
    const found = this.#find(key);
    if (found !== undefined && !(found instanceof Stream)) throw wrongKind();
    return found;
  }

  /** The same as it is kept, to be changed; made where there is none. `changed` must be called afterwards. */
  forChange<K extends Kept>(key: string, found: K | undefined, make: () => K): K {
    if (found !== undefined && this.#kept.has(key)) return found;
    const made = make();
    this.#kept.set(key, made);
    return made;
  }

  /** Redis keeps nothing that is empty. */
  changed(key: string): void {
    const value = this.#kept.get(key);
    if (value !== undefined && typeof value !== "string" && sizeOf(value) === 0) this.remove(key);
  }

  /** Nothing forgets it from now on. @returns whether something would have */
  endless(key: string): boolean {
    return this.has(key) && this.#ends.delete(key);
  }

  remove(key: string): boolean {
    const had = this.has(key);
    this.#kept.delete(key);
    this.#ends.delete(key);
    return had;
  }

  endsAt(key: string): number | undefined {
    return this.#ends.get(key);
  }

  endAt(key: string, ms: number): void {
    if (this.has(key)) this.#ends.set(key, ms);
  }

  /** Keys that end, and when. */
  ends(): [key: string, ms: number][] {
    return [...this.#ends];
  }

  /** All rows but those of streams, each key's in one list. */
  contents(): Map<string, string[]> {
    const contents = new Map<string, string[]>();
    for (const key of this.keys()) {
      const value = this.#find(key);
      if (value !== undefined && !(value instanceof Stream)) contents.set(key, listed(value));
    }
    return contents;
  }

  #find(key: string): Kept | undefined {
    const end = this.#ends.get(key);
    if (end !== undefined && end <= this.now()) {
      this.#kept.delete(key);
      this.#ends.delete(key);
      return undefined;
    }
    return this.#kept.get(key);
  }
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map();
const NO_MEMBERS: ReadonlySet<string> = new Set();

const wrongKind = () => new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");

/** What Redis answers in place of a reply. */
export class RedisError extends Error {}

function sizeOf(value: Exclude<Kept, string>): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof SortedSet) return value.scores.size;
  // A stream without entries stays.
  return value instanceof Stream ? 1 : value.size;
}

function listed(value: Exclude<Kept, Stream>): string[] {
  if (typeof value === "string") return [value];
  if (value instanceof SortedSet) return value.sorted().flatMap(([member, score]) => [member, String(score)]);
  return value instanceof Map ? [...value].flat() : [...value];
}

function copied(value: Kept): Kept {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return [...value];
  if (value instanceof Map) return new Map(value);
  if (value instanceof Set) return new Set(value);
  if (value instanceof SortedSet) {
    const copy = new SortedSet();
    for (const [member, score] of value.scores) copy.scores.set(member, score);
    return copy;
  }
  const copy = new Stream();
  copy.entries = [...value.entries];
  return copy;
}
