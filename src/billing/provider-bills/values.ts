/** Values of a provider's bill, checked one by one: each fault names line and column. Nothing of a value is ever evaluated. */
import { fail, type WeirError } from "../../base/errors.ts";

/** Where a value is, for messages. */
export interface Place {
  /** Line of the file, 1 for the first; in JSON the number of the result. */
  readonly line: number;
  readonly column: string;
}

/** A wrong value, with its place; only its beginning is repeated. */
export function wrong({ line, column }: Place, what: string, value?: unknown): WeirError {
  // A nested value is not repeated: one that is nested too deep cannot be written as JSON.
  const isShown = ["string", "number", "boolean"].includes(typeof value);
  const shown = isShown ? `: ${JSON.stringify(String(value).slice(0, 40))}` : "";
  const message = `Line ${line}, column ${column}: ${what}${shown}.`;
  return fail("invalid_value", message, { details: { line, column } });
}

/** Names begin with a letter or digit: a cell that a spreadsheet would run as a formula is none. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_ .:/@,()-]{0,199}$/;
const COUNT = /^\d{1,15}$/;
const AMOUNT = /^(\d{1,9})(?:\.(\d{1,18}))?$/;

/** @throws WeirError 400 */
export function nameOf(value: unknown, place: Place): string {
  if (typeof value !== "string" || !NAME.test(value)) throw wrong(place, "this is not a name", value);
  return value;
}

/** @throws WeirError 400 unless it is a whole number from 0 to 10^15 */
export function countOf(value: unknown, place: Place): number {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !COUNT.test(text)) throw wrong(place, "this is not a whole number", value);
  return Number(text);
}

/** Micro-USD, rounded half up. @param scale of one of the unit: 10^6 for USD, 10^4 for cents. @throws WeirError 400 */
export function microOf(value: unknown, place: Place, scale = 1_000_000): number {
  // A JSON number of a tiny amount would be written with an exponent.
  const text = typeof value === "number" && Number.isFinite(value) ? value.toFixed(12) : value;
  const parts = typeof text === "string" ? AMOUNT.exec(text) : null;
  if (parts === null) throw wrong(place, "this is not an amount in USD", value);
  const digits = (parts[2] ?? "").padEnd(18, "0");
  const atto = BigInt(parts[1] ?? 0) * 10n ** 18n + BigInt(digits);
  return Number((atto * BigInt(scale) + 5n * 10n ** 17n) / 10n ** 18n);
}

/** The day of `2026-11-23`, of an instant in UTC, or of Unix seconds. @throws WeirError 400 */
export function dayOf(value: unknown, place: Place): string {
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value < 1e11)
    return new Date(value * 1000).toISOString().slice(0, 10);
  const text = typeof value === "string" ? value : "";
  if (/^\d{9,10}$/.test(text)) return dayOf(Number(text), place);
  const day = /^(\d{4}-\d{2}-\d{2})(?:[T ][0-9:.]{5,15}(?:Z|\+00:00| UTC)?)?$/.exec(text)?.[1] ?? "";
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day)
    throw wrong(place, "this is not a day, YYYY-MM-DD", value);
  return day;
}
