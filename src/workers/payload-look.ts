/** A quick look at the bytes of a payload, without making text of them: most payloads have nothing to redact, and it shows that. */
import {
  AT_SIGN,
  BACKSLASH,
  BEYOND_ASCII,
  LONG_NUMERIC,
  lastCount,
  lastFlags,
  MOST_SCANNED,
  positions,
  scanMarks,
} from "../base/scan/scan.ts";
import { KeyWords } from "./redact-keys.ts";

/** Longer than what is looked for across two parts: a row of twelve, an escape. */
const OVERLAP = 16;

const BRACE = 123;

/** What an expression may take half a millisecond for, and no more. */
const LARGE_BYTES = 24 * 1024;
/** More marks in a part of a large payload take longer than a brief look may. */
const MOST_MARKS = 8_000;

export class PayloadLook {
  /** It may be large, and be looked at while calls wait: what needs an expression counts as found. */
  readonly isBrief: boolean;
  readonly bytes: Uint8Array;
  readonly #keys: KeyWords;
  #flags = 0;
  #latin1: string | undefined;

  /** @param mayBeBrief the look may not take more than a tenth of a millisecond */
  constructor(payload: Uint8Array, mayBeBrief = false) {
    this.isBrief = mayBeBrief && payload.length > LARGE_BYTES;
    this.bytes = payload;
    this.#keys = new KeyWords(this);
    let start = 0;
    let end = 0;
    do {
      end = Math.min(start + MOST_SCANNED, payload.length);
      const isWhole = end - start === payload.length;
      const marks = scanMarks(isWhole ? payload : payload.subarray(start, end));
      this.#flags |= lastFlags();
      if (this.isBrief && lastCount() > MOST_MARKS) this.#keys.found = true;
      for (let i = 0; i < marks && !this.#keys.found; i++)
        this.#keys.lookAt(start + (positions[i] as number));
      start = end - OVERLAP;
    } while (end < payload.length);
  }

  /** The payload, a character a byte. */
  get latin1(): string {
    this.#latin1 ??= latin1Of(this.bytes);
    return this.#latin1;
  }

  get beginsAsObject(): boolean {
    return this.bytes[0] === BRACE;
  }

  get isAscii(): boolean {
    return (this.#flags & BEYOND_ASCII) === 0;
  }

  /** Whether it has escapes of Unicode, which may hide anything. */
  get hasUnicodeEscape(): boolean {
    return (this.#flags & BACKSLASH) !== 0 && this.latin1.includes("\\u");
  }

  /** Whether twelve digits, spaces and hyphens follow each other. */
  get hasLongNumeric(): boolean {
    return (this.#flags & LONG_NUMERIC) !== 0;
  }

  get hasAtSign(): boolean {
    return (this.#flags & AT_SIGN) !== 0;
  }

  /** Whether it has a word of the preset `api_key`. */
  get mayHoldKey(): boolean {
    return this.#keys.found;
  }
}

const latin1Of = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
