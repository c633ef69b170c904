/**
 * Numbers of documents: `TI/26-27/0000001`. CGST rule 46 (b): at most 16 characters, letters, digits, hyphen and slash,
 * consecutive and unique in a financial year. A number is allotted in the act that puts its document, so a dropped act and a
 * dead process leave no gap.
 */
import { StoreTables } from "../../store/tables/store-tables.ts";

const MOST_CHARACTERS = 16;
/** More look odd, and are never needed. */
const MOST_DIGITS = 7;

/** The next number is longer than a number may be. */
export class SeriesFull extends Error {
  override readonly name = "SeriesFull";
}

export class Series extends StoreTables {
  /** [prefix, financial year] → the last number. */
  readonly #last = this.store.table<number>("invoices.series");

  /** Only in an act, which must put the document. @param fy `2026-27`. @throws SeriesFull; then nothing is put */
  next(prefix: string, fy: string): string {
    const number = (this.#last.get([prefix, fy]) ?? 0) + 1;
    const text = numberText(prefix, fy, number);
    this.#last.put([prefix, fy], number);
    return text;
  }
}

/** @throws SeriesFull where the digits do not suffice */
export function numberText(prefix: string, fy: string, number: number): string {
  const head = `${prefix}/${fy.slice(2)}/`;
  const digits = Math.min(MOST_DIGITS, MOST_CHARACTERS - head.length);
  const text = String(number);
  if (text.length > digits) {
    const message = `the series ${head} has no number after ${"9".repeat(digits)}: set another prefix in supplier.yaml`;
    throw new SeriesFull(message);
  }
  return `${head}${text.padStart(digits, "0")}`;
}
