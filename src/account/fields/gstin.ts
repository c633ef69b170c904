/**
 * GSTIN: the number of an Indian taxpayer under GST. Fifteen characters: state code (2), income tax number (PAN, 10), number
 * of the registration (1), a letter that is almost always Z (1), check character (1).
 */
import { z } from "zod";
import { isIndianState } from "./gst-states.ts";
import { asciiUpper } from "./text-field.ts";

/** Source: the pattern of normal, composite and casual taxpayers in the API documents of the GST portal (GSTN). */
const GSTIN = /^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z][1-9A-JZ][0-9A-Z]$/;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE = ALPHABET.length;

/**
 * The check character that follows the first fourteen: Luhn's scheme to base 36 (ISO/IEC 7812-1 annex B, with 36 in place
 * of 10). Every second character counts double, a double of two digits by the sum of its digits.
 * @param first fourteen characters of 0-9 and A-Z. @throws RangeError for others
 */
export function gstinCheckCharacter(first: string): string {
  if (!/^[0-9A-Z]{14}$/.test(first)) throw new RangeError("fourteen characters of 0-9 and A-Z");
  let sum = 0;
  for (const [at, character] of [...first].entries()) {
    const product = ALPHABET.indexOf(character) * (at % 2 === 0 ? 1 : 2);
    sum += Math.floor(product / BASE) + (product % BASE);
  }
  return ALPHABET.charAt((BASE - (sum % BASE)) % BASE);
}

/** What is wrong with a GSTIN in upper case; undefined if nothing is. The register itself is not asked. */
export function gstinFault(gstin: string): string | undefined {
  if (!GSTIN.test(gstin)) return "a GSTIN has 15 characters in the form of 29AAGCB7383J1Z4";
  const state = gstin.slice(0, 2);
  if (!isIndianState(state)) return `a GSTIN begins with a GST state code, and ${state} is none`;
  if (gstinCheckCharacter(gstin.slice(0, -1)) !== gstin.at(-1)) {
    return "the last character of this GSTIN does not fit the others: compare it with the registration";
  }
  return undefined;
}

/** A GSTIN, in upper case after it is read; empty for none. */
export const gstinField = z
  .string()
  .max(40, "a GSTIN has 15 characters")
  .meta({ examples: ["29AAGCB7383J1Z4"] })
  .transform((given, context) => {
    const gstin = asciiUpper(given.trim());
    const fault = gstin === "" ? undefined : gstinFault(gstin);
    if (fault !== undefined) context.issues.push({ code: "custom", message: fault, input: given });
    return gstin;
  });
