/** A string that grows by small pieces, kept flat so that a piece does not keep the read it came from alive. */
import { copied } from "./latin1.ts";

/** A string put together from pieces keeps each of them, at several times its length: after so many they are joined. */
const MAX_LOOSE = 16;

export class Growing {
  /** Bytes so far. */
  length = 0;
  #flat: Buffer[] = [];
  #tail = "";
  /** Pieces since they were last joined. */
  #loose = 0;

  add(fragment: string): void {
    this.length += fragment.length;
    this.#tail += fragment;
    if (this.#tail.length >= 1024) {
      this.#flat.push(Buffer.from(this.#tail, "latin1"));
      this.#tail = "";
    } else if (++this.#loose === MAX_LOOSE) {
      this.#tail = copied(this.#tail);
      this.#loose = 0;
    }
  }

  clear(): void {
    this.length = 0;
    this.#flat = [];
    this.#tail = "";
  }

  text(): string {
    if (this.#flat.length === 0) return this.#tail;
    return Buffer.concat(this.#flat).toString("latin1") + this.#tail;
  }
}
