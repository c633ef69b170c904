/** The presets `card` and `aadhaar`: numbers with a check digit, bare or in groups. */
import type { Finder } from "./redact-spans.ts";

/** Enough digits for the shortest number that is redacted. */
const LONG_NUMBER = /\d(?:[ -]?\d){11}/;
export const holdsLongNumber = (text: string): boolean => LONG_NUMBER.test(text);

export const cards: Finder = (text) => numberSpans(text, cardFrom);
export const aadhaars: Finder = (text) => numberSpans(text, aadhaarFrom);

/** A run of digits with single spaces or hyphens between them. */
interface Groups {
  /** Where each group begins and ends in the text. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** All digits together, and where those of each group begin among them. */
  readonly digits: string;
  readonly offsets: readonly number[];
}

/** Index of the last group of the number that begins at group `from`; -1 if there is none. */
type NumberFrom = (groups: Groups, from: number) => number;

const DIGIT_RUN = /\d(?:[ -]?\d){11,}/g;

/** Sequences of whole groups are tried from each group, so that a card number next to an amount is found. */
function* numberSpans(text: string, numberFrom: NumberFrom): Generator<readonly [number, number]> {
  let isInIban: ((start: number, end: number) => boolean) | undefined;
  for (const run of text.matchAll(DIGIT_RUN)) {
    const groups = groupsOf(text, run.index + escapeDigits(text, run.index), run.index + run[0].length);
    for (let from = 0; from < groups.starts.length; from++) {
      const to = numberFrom(groups, from);
      if (to < 0) continue;
      const [start = 0, end = 0] = [groups.starts[from], groups.ends[to]];
      if (isOther(text, start, end)) continue;
      isInIban ??= ibansOf(text);
      if (isInIban(start, end)) continue;
      yield [start, end];
      from = to;
    }
  }
}

function groupsOf(text: string, start: number, end: number): Groups {
  const [starts, ends, offsets]: [number[], number[], number[]] = [[], [], []];
  let inGroup = false;
  let separators = 0;
  for (let at = start; at <= end; at++) {
    const isDigit = at < end && text.charCodeAt(at) >= DIGIT_ZERO;
    if (isDigit && !inGroup) {
      starts.push(at);
      offsets.push(at - start - separators);
    } else if (!isDigit) {
      if (inGroup) ends.push(at);
      separators++;
    }
    inGroup = isDigit;
  }
  return { starts, ends, digits: text.slice(start, end).replace(/[ -]/g, ""), offsets };
}

/** Spaces and hyphens have lower codes. */
const DIGIT_ZERO = 48;

const sizeAt = ({ starts, ends }: Groups, at: number): number => (ends[at] ?? 0) - (starts[at] ?? 0);

const digitsOf = (groups: Groups, from: number, to: number): string =>
  groups.digits.slice(groups.offsets[from], (groups.offsets[to] ?? 0) + sizeAt(groups, to));

/** How many digits at `at` belong to an escape (`\u2011`) that began before it. */
function escapeDigits(text: string, at: number): number {
  const begun = /\\u([\da-fA-F]{0,3})$/.exec(text.slice(Math.max(0, at - 5), at))?.[1];
  if (begun === undefined) return 0;
  const missing = 4 - begun.length;
  return /^[\da-fA-F]+$/.test(text.slice(at, at + missing)) ? missing : 0;
}

/** What has the digits of a card by chance: part of a fraction or of a hash, the end of a UUID, a phone number with its plus. */
function isOther(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 10), start);
  const after = text.slice(end, end + 8);
  if (/\d\.$/.test(before) || /^\.\d/.test(after)) return true;
  if (before.endsWith("+") && end - start <= E164_DIGITS) return true;
  if (end - start === UUID_NODE && /[\da-fA-F]{4}-[\da-fA-F]{4}-$/.test(before)) return true;
  if (/[\da-f]{7}[a-f]$/i.test(before) || /^[a-f][\da-f]{7}/i.test(after)) return true;
  const isInWord = /[A-Za-z]$/.test(before) && /^[A-Za-z]/.test(after);
  return isInWord && !/\\(?:[bfnrt]|u[\da-fA-F]{4})$/.test(before);
}

const E164_DIGITS = 15;
/** Digits after the last hyphen of a UUID (RFC 9562). */
const UUID_NODE = 12;

const IBAN = /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3}(?![A-Z\d]))?/g;
const MIN_IBAN = 15;

/** Whether a number is part of an IBAN of the text; to be asked from left to right. */
function ibansOf(text: string): (start: number, end: number) => boolean {
  const matches = text.matchAll(IBAN);
  let next = matches.next();
  return (start, end) => {
    while (!next.done && next.value.index + next.value[0].length < end) next = matches.next();
    if (next.done || next.value.index > start) return false;
    return next.value.index + ibanLength(next.value[0]) >= end;
  };
}

/** Groups at the end of a match that may be the words that follow. */
const MAX_WORDS = 3;

/** ISO 13616: country, two check digits, up to 30 characters; with the first four at the end, the remainder by 97 is 1. */
function ibanLength(match: string): number {
  let iban = match;
  for (let words = 0; words <= MAX_WORDS && iban.length >= MIN_IBAN; words++) {
    const compact = iban.replaceAll(" ", "");
    if (remainderBy97(compact.slice(4) + compact.slice(0, 4)) === 1) return iban.length;
    iban = iban.slice(0, -5).trimEnd();
  }
  return 0;
}

/** Letters count as 10 to 35. */
function remainderBy97(text: string): number {
  let remainder = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    remainder = code < 58 ? (remainder * 10 + code - 48) % 97 : (remainder * 100 + code - 55) % 97;
  }
  return remainder;
}

const MIN_CARD = 13;
const MAX_CARD = 19;

/** The longest card number in groups of three digits and more, or in groups of one or two with none beside them. */
function cardFrom(groups: Groups, from: number): number {
  const size = sizeAt(groups, from);
  if (size < 3 && sizeAt(groups, from - 1) === size) return -1;
  let count = 0;
  let best = -1;
  for (let to = from; to < groups.starts.length; to++) {
    if (to > from && (size < 3 ? sizeAt(groups, to) !== size : sizeAt(groups, to - 1) < 3)) break;
    count += sizeAt(groups, to);
    if (count > MAX_CARD) break;
    if (count < MIN_CARD || (size < 3 && sizeAt(groups, to + 1) === size)) continue;
    const digits = digitsOf(groups, from, to);
    if (CARD.test(digits) && luhn(digits)) best = to;
  }
  return best;
}

/** ISO/IEC 7812: the networks' leading digits with their lengths, as they publish them. */
const CARD = new RegExp(
  `^(?:${[
    // Visa
    "4\\d{12}(?:\\d{3}){0,2}",
    // Mastercard
    "5[1-5]\\d{14}|2(?:22[1-9]|2[3-9]\\d|[3-6]\\d{2}|7[01]\\d|720)\\d{12}",
    // American Express
    "3[47]\\d{13}",
    // Diners Club
    "3(?:0[0-59]|[689]\\d)\\d{11}(?:\\d{2})?",
    // JCB
    "35(?:2[89]|[3-8]\\d)\\d{12}",
    // Discover, RuPay, UnionPay
    "(?:60|62|64|65|81|82)\\d{14}|(?:6011|62\\d\\d|64[4-9]\\d|65\\d\\d|81\\d\\d)\\d{13,15}|508\\d{13}",
    // Maestro, Dankort, Verve, Elo
    "(?:50(?:18|19|20|38|6\\d)|5893|6304|6759|676[1-3]|636[23])\\d{12}(?:\\d{2,3})?",
    // Mir, Troy, Uzcard, Humo
    "(?:220[0-4]|9792|8600|9860)\\d{12}",
  ].join("|")})$`,
);

function luhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    let digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    if (at % 2 === 1) {
      digit *= 2;
      if (digit > 9) digit -= 9;
    }
    sum += digit;
  }
  return sum % 10 === 0;
}

/** Twelve digits bare, or in three groups of four that are no part of a longer number. */
function aadhaarFrom(groups: Groups, from: number): number {
  if (sizeAt(groups, from) === 12) return isAadhaar(digitsOf(groups, from, from)) ? from : -1;
  const to = from + 2;
  for (let at = from; at <= to; at++) if (sizeAt(groups, at) !== 4) return -1;
  // Several such numbers may follow each other; four groups of four are a card or a virtual id.
  if (foursBeside(groups, from, -1) % 3 !== 0 || foursBeside(groups, to, 1) % 3 !== 0) return -1;
  return isAadhaar(digitsOf(groups, from, to)) ? to : -1;
}

const MAX_BESIDE = 12;

function foursBeside(groups: Groups, at: number, step: -1 | 1): number {
  let count = 0;
  while (count < MAX_BESIDE && sizeAt(groups, at + (count + 1) * step) === 4) count++;
  return count;
}

const rowsOf = (rows: readonly string[]) => rows.map((row) => Uint8Array.from(row, Number));

/** Verhoeff's scheme: multiplication in the dihedral group D5, and its permutation. */
const D5 = rowsOf([
  "0123456789",
  "1234067895",
  "2340178956",
  "3401289567",
  "4012395678",
  "5987604321",
  "6598710432",
  "7659821043",
  "8765932104",
  "9876543210",
]);
const P8 = rowsOf([
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
]);

/** Indian resident number: 12 digits, the first 2 to 9, Verhoeff's check digit. */
function isAadhaar(digits: string): boolean {
  if (!/^[2-9]/.test(digits)) return false;
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    check = D5[check]?.[P8[at % 8]?.[digit] ?? 0] ?? 0;
  }
  return check === 0;
}
