/**
 * What was made of a text, kept for the next call: an agent sends the same tools with each. A pure function of the text alone, so that
 * it does not matter who sent it. Bounded in memory, whatever callers send.
 */

/** Characters of one text. Larger ones are rare, and cost little beside what the call's model reads. */
const MAX_TEXT = 64 * 1024;

/** Characters of all texts, with what else is kept for each. */
const MAX_TOTAL = 4 * 1024 * 1024;
/** What is made of a short text may be several times as long, and has objects of its own. */
const KEPT_BESIDE = 1024;

export class TextCache<Value> {
  /** From the least recently used to the most. */
  readonly #made = new Map<string, { readonly value: Value }>();
  readonly #make: (text: string) => Value;
  #total = 0;

  /** @param make is called again for texts that are long, or were not met for some time */
  constructor(make: (text: string) => Value) {
    this.#make = make;
  }

  get(text: string): Value {
    if (text.length > MAX_TEXT) return this.#make(text);
    const kept = this.#made.get(text);
    if (kept !== undefined) {
      this.#made.delete(text);
      this.#made.set(text, kept);
      return kept.value;
    }
    const value = this.#make(text);
    this.#made.set(text, { value });
    this.#total += KEPT_BESIDE + text.length;
    for (const oldest of this.#made.keys()) {
      if (this.#total <= MAX_TOTAL) break;
      this.#made.delete(oldest);
      this.#total -= KEPT_BESIDE + oldest.length;
    }
    return value;
  }
}
