/**
 * Reads digits of other scripts, full-width forms, and the spaces and hyphens of typography between digits as ASCII. A folded
 * text has the length of the original, so that spans of one are spans of the other. `mayFold` says of bytes what `folded`
 * does to their text.
 */
/** First of ten digits: Arabic, Persian, full-width, and nine scripts of India from Devanagari to Malayalam. */
const ZEROS = [
  0x0660, 0x06f0, 0xff10, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
];
const DIGITS = ZEROS.map((zero) => `${String.fromCharCode(zero)}-${String.fromCharCode(zero + 9)}`).join("");
const SPACES = "\\u00a0\\u2007\\u2009\\u202f";
const HYPHENS = "\\u2010-\\u2013";

/** Three digits together: every number that a preset finds has them, and most texts in these scripts have not. */
const TO_FOLD = new RegExp(`[${DIGITS}]{3}|[\\uff0b\\uff20]|\\d[${SPACES}${HYPHENS}][\\d(]`);
const FOLDED = new RegExp(`[${DIGITS}${SPACES}${HYPHENS}\\uff01-\\uff5e]`, "g");

export const folded = (text: string): string => (TO_FOLD.test(text) ? text.replace(FOLDED, ascii) : text);

function ascii(char: string): string {
  const code = char.charCodeAt(0);
  if (code > 0xff00) return String.fromCharCode(code - 0xfee0);
  const zero = ZEROS.find((first) => code >= first && code <= first + 9);
  if (zero !== undefined) return String(code - zero);
  return code >= 0x2010 && code <= 0x2013 ? "-" : " ";
}

const threeOf = (digit: string) => new RegExp(digit.repeat(3));

/**
 * The same in UTF-8: bytes that texts without such characters rarely have, found by a vectorised search, and what decides.
 */
const IN_BYTES: readonly (readonly [rare: string, decides: RegExp])[] = [
  ["\xe0", threeOf("\\xe0[\\xa5\\xa7\\xa9\\xab\\xad\\xaf\\xb1\\xb3\\xb5][\\xa6-\\xaf]")],
  ["\xd9", threeOf("\\xd9[\\xa0-\\xa9]")],
  ["\xdb", threeOf("\\xdb[\\xb0-\\xb9]")],
  ["\xef\xbc", /(?:\xef\xbc[\x90-\x99]){3}|\xef\xbc[\x8b\xa0]/],
  ["\xc2\xa0", /\d\xc2\xa0[\d(]/],
  ["\xe2\x80", /\d\xe2\x80[\x87\x89\x90-\x93\xaf][\d(]/],
];

/** @param latin1 the bytes of a payload as Latin-1 */
export const mayFold = (latin1: string): boolean =>
  IN_BYTES.some(([rare, decides]) => latin1.includes(rare) && decides.test(latin1));
