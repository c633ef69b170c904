/** Damage in one place of a JSON text, for readers that must tell it as a full parse does. */
import fc from "fast-check";

export interface Damage {
  readonly place: number;
  /** Put in at the place. */
  readonly piece: string;
  /** Characters behind the place that are left out. */
  readonly gone: number;
}

const PIECES = [
  "",
  ",",
  ":",
  '"',
  "{",
  "}",
  "[",
  "]",
  "0",
  "-",
  ".",
  "e",
  "\\",
  " ",
  "\t",
  "\f",
  "\n",
  '"n":1,',
  "x",
];

export const damage: fc.Arbitrary<Damage> = fc.record({
  place: fc.nat(),
  piece: fc.constantFrom(...PIECES),
  gone: fc.nat(1),
});

export function damagedBy(text: string, { place, piece, gone }: Damage): string {
  const at = place % (text.length + 1);
  return text.slice(0, at) + piece + text.slice(at + gone);
}
