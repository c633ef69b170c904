/** Names in bytes, found without making strings of them. */

const BUCKETS = 128;

/** A number that few other texts have, by their length and their ends. */
const bucketOf = (bytes: Uint8Array, from: number, to: number): number =>
  ((to - from) * 7 + (bytes[from] as number) * 5 + (bytes[to - 1] as number) * 3) & (BUCKETS - 1);

/** Whether a slice of bytes is the name. */
export function isSame(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const { length } = name;
  if (to - from !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[from + i] !== name[i]) return false;
  return true;
}

interface Entry<T> {
  readonly bytes: Uint8Array;
  readonly named: T;
}

/** What is known by a name, of one character at the least. */
export class Names<T extends { readonly key: string }> {
  readonly #buckets: Entry<T>[][] = Array.from({ length: BUCKETS }, () => []);

  constructor(all: readonly T[]) {
    for (const named of all) {
      const bytes = Buffer.from(named.key);
      this.#buckets[bucketOf(bytes, 0, bytes.length)]?.push({ bytes, named });
    }
  }

  /** Undefined where there is none of the name that stands between two offsets. */
  at(bytes: Uint8Array, from: number, to: number): T | undefined {
    if (to === from) return undefined;
    for (const { bytes: name, named } of this.#buckets[bucketOf(bytes, from, to)] as Entry<T>[])
      if (isSame(name, bytes, from, to)) return named;
    return undefined;
  }
}

/** The text of nothing. */
const NONE = { bytes: new Uint8Array(0), text: "" };

/** Texts that are met again and again in bytes, such as names of models: each is made once. */
export class KeptTexts {
  readonly #kept: { readonly bytes: Uint8Array; readonly text: string }[] = new Array(BUCKETS).fill(NONE);

  /** The text between two offsets; undefined where there is none, and where it is beyond ASCII. */
  at(bytes: Buffer, from: number, to: number): string | undefined {
    if (to === from) return undefined;
    const bucket = bucketOf(bytes, from, to);
    const kept = this.#kept[bucket] as { readonly bytes: Uint8Array; readonly text: string };
    if (isSame(kept.bytes, bytes, from, to)) return kept.text;
    for (let i = from; i < to; i++) if ((bytes[i] as number) > 127) return undefined;
    const text = bytes.toString("latin1", from, to);
    this.#kept[bucket] = { bytes: Buffer.from(text), text };
    return text;
  }
}
