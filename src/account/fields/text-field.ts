/**
 * Text that people write about themselves: names and lines of an address. It is printed on invoices, in mails and in lists,
 * so it is one line and cannot change how the text around it reads.
 */
import { z } from "zod";

/**
 * Control characters, line and paragraph separators, half surrogates, and the controls of writing direction (Unicode
 * Standard Annex #9), which can make a name show as another. Joiners stay allowed: Indian scripts need them.
 */
const NOT_PLAIN = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** One line of text without the spaces around it; may be empty. @param most characters (UTF-16 units) */
export const plainText = (most: number) =>
  z
    .string()
    .max(most, `at most ${most} characters`)
    .refine((text) => !NOT_PLAIN.test(text), {
      error: "one line of text, without control characters",
      abort: true,
    })
    .trim();

/** The name of a thing that an org has, without the spaces around it. */
export const nameField = z.string().trim().min(1).max(200);

/** The name of an org. */
export const orgNameField = plainText(200).min(1, "a name has at least one character");

/**
 * A to Z in lower case, all else as it is. Unicode's own mapping makes other characters equal to ASCII letters (the Kelvin
 * sign to k, the dotless i to I), so that one name could pass for another.
 */
export const asciiLower = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** a to z in upper case, all else as it is. */
export const asciiUpper = (text: string): string =>
  text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
