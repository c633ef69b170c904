/** A string that grows by small pieces, kept flat so that a piece does not keep the read it came from alive. */
import { putRun } from "./byte-runs.ts";
import { copied } from "./latin1.ts";

/** A string put together from pieces keeps each of them, at several times its length: after so many they are joined. */
const MAX_LOOSE = 16;
/** The first block of bytes is small, as most answers are short. */
const FIRST_BLOCK = 512;
const BLOCK = 2048;

const NO_BLOCK = Buffer.alloc(0);

export class Growing {
  /** Bytes so far. */
  length = 0;
  #flat: Buffer[] = [];
  /** Where bytes are written, behind those of `#flat`; once there is one, texts are written there, too. */
  #block: Buffer = NO_BLOCK;
  #used = 0;
  #tail = "";
  /** Pieces since they were last joined. */
  #loose = 0;

  add(fragment: string): void {
    this.length += fragment.length;
    if (this.#block !== NO_BLOCK) {
      this.#addText(fragment);
      return;
    }
    this.#tail += fragment;
    if (this.#tail.length >= 1024) {
      this.#flat.push(Buffer.from(this.#tail, "latin1"));
      this.#tail = "";
    } else if (++this.#loose === MAX_LOOSE) {
      this.#tail = copied(this.#tail);
      this.#loose = 0;
    }
  }

  /** Bytes from `start` up to `end`, which are copied. */
  addBytes(bytes: Buffer, start: number, end: number): void {
    this.length += end - start;
    if (this.#used + end - start > this.#block.length) this.#makeRoom(end - start);
    putRun(bytes, start, end, this.#block, this.#used);
    this.#used += end - start;
  }

  clear(): void {
    this.length = 0;
    this.#flat = [];
    this.#block = NO_BLOCK;
    this.#used = 0;
    this.#tail = "";
  }

  text(): string {
    const inBlock = this.#block.toString("latin1", 0, this.#used);
    if (this.#flat.length === 0) return inBlock + this.#tail;
    return Buffer.concat(this.#flat).toString("latin1") + inBlock + this.#tail;
  }

  #addText(text: string): void {
    if (this.#used + text.length > this.#block.length) this.#makeRoom(text.length);
    this.#block.write(text, this.#used, "latin1");
    this.#used += text.length;
  }

  /** A new block with room for so many bytes. The tail is written to the first one. */
  #makeRoom(bytes: number): void {
    const tail = this.#tail;
    this.#tail = "";
    if (this.#used > 0) this.#flat.push(this.#block.subarray(0, this.#used));
    const usual = this.#block === NO_BLOCK ? FIRST_BLOCK : BLOCK;
    this.#block = Buffer.allocUnsafe(Math.max(usual, tail.length + bytes));
    this.#used = tail === "" ? 0 : this.#block.write(tail, 0, "latin1");
  }
}
