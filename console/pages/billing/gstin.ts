/**
 * What can be said of a GSTIN while it is typed, before anybody is asked: its form, its State, its check character. Pure.
 *
 * Form: state code (2 digits), PAN (5 letters, 4 digits, 1 letter), number of the registration, a letter that is almost always Z, check
 * character; source: the pattern of normal, composite and casual taxpayers in the API documents of the GST portal (GSTN).
 */
import { INDIAN_STATES } from "./indian-states.ts";

export const GSTIN_LENGTH = 15;

export interface GstinWords {
  /** `partial`: right so far; `good`: nothing is wrong that can be seen from here. */
  readonly state: "empty" | "partial" | "bad" | "good";
  readonly text: string;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE = ALPHABET.length;

/**
 * The check character behind the first fourteen characters: Luhn's scheme to base 36 (ISO/IEC 7812-1, annex B, with 36 in the place of
 * 10), as the GST portal reckons it. Each character counts by its place in `0-9A-Z`, every second one double; a double of two digits to
 * base 36 counts by their sum. The check character makes the whole a multiple of 36.
 * @param first fourteen characters of 0-9 and A-Z
 */
export function gstinCheck(first: string): string {
  let sum = 0;
  for (const [at, character] of [...first].entries()) {
    const product = ALPHABET.indexOf(character) * (at % 2 === 0 ? 1 : 2);
    sum += Math.floor(product / BASE) + (product % BASE);
  }
  return ALPHABET.charAt((BASE - (sum % BASE)) % BASE);
}

const DIGIT = /[0-9]/;
const LETTER = /[A-Z]/;
/** What each character may be, and what is said where it is something else. */
const PLACES: readonly (readonly [length: number, kind: RegExp, says: string])[] = [
  [2, DIGIT, "The first two characters are the digits of the State."],
  [5, LETTER, "Characters 3 to 7 are letters, the beginning of the PAN."],
  [4, DIGIT, "Characters 8 to 11 are digits of the PAN."],
  [1, LETTER, "Character 12 is a letter, the end of the PAN."],
  [1, /[1-9A-Z]/, "Character 13 is the number of the registration: not 0."],
  [1, /[1-9A-JZ]/, "Character 14 is almost always Z."],
  [1, /[0-9A-Z]/, "The last character is a digit or a letter."],
];
const KINDS = PLACES.flatMap(([length, kind, says]) => Array.from({ length }, () => [kind, says] as const));

/** As it is compared and sent: without spaces around, in upper case. */
export const gstinOf = (typed: string): string => typed.trim().toUpperCase();

/** `Karnataka (29)`; undefined for a code that no registration begins with. */
export function stateOfCode(code: string): string | undefined {
  const [, name] = INDIAN_STATES.find(([each]) => each === code) ?? [];
  return name === undefined ? undefined : `${name} (${code})`;
}

const bad = (text: string): GstinWords => ({ state: "bad", text });

/** @param stateCode the State of the address, two digits; empty where none is chosen: then it is not compared */
export function gstinWords(typed: string, stateCode: string): GstinWords {
  const gstin = gstinOf(typed);
  if (gstin === "") return { state: "empty", text: "15 characters, as on the registration" };
  const wrong = formFault(gstin);
  if (wrong !== undefined) return bad(wrong);
  if (gstin.length < 2) return { state: "partial", text: `1 of ${GSTIN_LENGTH} characters` };
  const code = gstin.slice(0, 2);
  const state = stateOfCode(code);
  if (state === undefined) return bad(`It begins with the digits of a State, and ${code} is of none.`);
  const place = stateCode === "" ? undefined : stateOfCode(stateCode);
  if (place !== undefined && code !== stateCode)
    return bad(`It is of ${state}, and the address is in ${place}: they must be of one State.`);
  if (gstin.length < GSTIN_LENGTH)
    return { state: "partial", text: `${state}; ${gstin.length} of ${GSTIN_LENGTH} characters` };
  if (gstinCheck(gstin.slice(0, -1)) !== gstin.at(-1))
    return bad("The last character does not fit the others: compare each with the registration.");
  return { state: "good", text: `${state}, PAN ${gstin.slice(2, 12)}. The check character fits.` };
}

function formFault(gstin: string): string | undefined {
  if (!/^[0-9A-Z]*$/.test(gstin)) return "It has digits and letters only, without spaces between.";
  if (gstin.length > GSTIN_LENGTH) return `It has ${GSTIN_LENGTH} characters; these are ${gstin.length}.`;
  for (const [at, character] of [...gstin].entries()) {
    const [kind, says] = KINDS[at] ?? [];
    if (kind?.test(character) === false) return says;
  }
  return undefined;
}
