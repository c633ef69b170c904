/**
 * Any character, for texts of property tests. What fast-check calls the unit "binary" gives the same, and first spends a
 * second on a table of all million of them.
 */
import fc from "fast-check";

/** Halves of a pair are no characters: these numbers are left out. */
const [HALVES, BEHIND_HALVES, LAST] = [0xd800, 0xe000, 0x10ffff];
const HALVES_COUNT = BEHIND_HALVES - HALVES;

export const anyCharacter: fc.Arbitrary<string> = fc.nat(LAST - HALVES_COUNT).map(
  (number) => String.fromCodePoint(number < HALVES ? number : number + HALVES_COUNT),
  // Also gives fast-check its dangerous words, such as `__proto__`: it asks whether they are made of these.
  (char) => {
    const code = typeof char === "string" ? char.codePointAt(0) : undefined;
    if (code === undefined || char !== String.fromCodePoint(code) || (code >= HALVES && code < BEHIND_HALVES))
      throw new Error("not one character");
    return code < HALVES ? code : code - HALVES_COUNT;
  },
);
