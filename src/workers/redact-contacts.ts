/** The presets `email`, `phone` and `pan`. No match contains a backslash or a quote, so that JSON inside a text stays JSON. */
import { type Finder, regexSpans, starts } from "./redact-spans.ts";

/** Characters of RFC 5322's dot-atom that people use, and letters of scripts that put spaces between words. */
const LOCAL = /[A-Za-z0-9._%+\-\p{L}\p{M}\p{N}]/u;
/** Scripts without spaces: an address in their midst begins where ASCII does. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** RFC 5321, section 4.5.3.1.1. */
const MAX_LOCAL = 64;

const LABEL = "[A-Za-z0-9\\-\\p{L}\\p{M}]{1,63}";
/** A top-level domain is ASCII (also an encoded one) or of one other script. */
const TOP = "(?:(?:xn--[A-Za-z0-9-]{1,59}|[A-Za-z]{2,24})(?![A-Za-z0-9])|(?![A-Za-z])[\\p{L}\\p{M}]{2,24})";
/** Versions (`vite@6.0.0-beta.rc`), files for dense screens (`logo@2x.png`) and units of systemd are no domains. */
const DOMAIN = new RegExp(
  `(?!v?\\d{1,5}\\.\\d{1,5}[.-]|\\dx\\.)(?![\\w.-]{1,63}\\.(?:service|socket|timer|target)(?!\\w))(?:${LABEL}\\.){1,8}${TOP}`,
  "uy",
);

/** From each `@` to both sides: most texts have few. */
export function* emails(text: string): Generator<readonly [number, number]> {
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const start = localStart(text, at);
    if (start === at) continue;
    DOMAIN.lastIndex = at + 1;
    const domain = DOMAIN.exec(text)?.[0];
    if (domain === undefined) continue;
    const end = at + 1 + domain.length;
    // The address of a repository.
    if (text[end] === ":" && text.slice(start, at) === "git") continue;
    yield [start, end];
  }
}

/** Where the local part begins that ends at `at`; `at` if there is none. */
function localStart(text: string, at: number): number {
  let start = at;
  for (; start > 0 && at - start < MAX_LOCAL; start--) {
    const char = text[start - 1] ?? "";
    if (!LOCAL.test(char) || (char > "\x7f" && UNSPACED.test(char))) break;
  }
  // A handle of another network: `@user@host`.
  if (text[start - 1] === "@") return at;
  const before = text.slice(Math.max(0, start - 5), start);
  if (/(?<![A-Za-z0-9])[dDoO]'$/.test(before)) return start - 2;
  const begun = /\\(?:u[\da-fA-F]{0,3})?$/.exec(before)?.[0];
  if (begun === undefined) return start;
  const whole = text.slice(start - begun.length, at);
  return start - begun.length + (/^\\(?:[bfnrt]|u[\da-fA-F]{4})?/.exec(whole)?.[0].length ?? 0);
}

export const holdsAt = (text: string): boolean => text.includes("@");

/** Income-tax Rules, 1962, rule 114: five letters (the fourth is the kind of holder), 0001 to 9999, a letter. */
const PAN = [
  new RegExp(
    `${starts("A-Za-z0-9", "A-Za-z")}(?:[A-Z]{3}[ABCFGHJKLPT][A-Z](?!0000)\\d{4}[A-Z]|[a-z]{3}[abcfghjklpt][a-z](?!0000)\\d{4}[a-z])(?![A-Za-z0-9])`,
    "g",
  ),
];

export const pans: Finder = (text) => regexSpans(text, PAN);
export const mayHoldPan = (text: string): boolean => /\d{4}[A-Za-z]/.test(text);

/** Between the digits of a phone number: at most one separator, or a bracket with one. */
const SEPARATOR = "(?:[ .-]|[ -]?\\(|\\)[ .-]?)?";
const digits = (count: string) => `(?:${SEPARATOR}\\d){${count}}`;
/** What must not follow: more digits, or the rest of a word or number. */
const END = "(?!\\w|\\.\\d)";

const PHONES = [
  // ITU-T E.164: a plus, then 8 to 15 digits; with the fixed lengths of India (ten after 91) and North America (ten after 1).
  new RegExp(
    `${starts("\\w+", "(+")}(?:(?:\\(\\+91\\)|\\+91)${SEPARATOR}(?:\\(0\\) ?)?[1-9]${digits("9")}(?!\\d)|(?:\\(\\+1\\)|\\+1)${SEPARATOR}[2-9]${digits("9")}(?!\\d)|(?:\\(\\+[1-9]\\d{0,2}\\)|\\+[1-9])${digits("7,14")}(?!\\d))`,
    "g",
  ),
  // Indian mobile (National Numbering Plan: ten digits from 6), bare or after 0, 91 or 0091.
  new RegExp(
    `${starts("\\w.+-", "06-9")}(?:0[ -]?|(?:00)?91[ -]?)?[6-9](?:\\d{4}[ -]?\\d{5}|\\d{2}[ -]\\d{3}[ -]\\d{4})${END}`,
    "g",
  ),
  // Indian landline: 0, the area, a separator, the subscriber; ten digits after the 0.
  new RegExp(
    `${starts("\\w.+-", "(0")}(?:${[
      "(?:\\(0[1-8]\\d\\) ?|0[1-8]\\d[ -])[2-7]\\d{3}[ -]?\\d{4}",
      "(?:\\(0[1-8]\\d\\d\\) ?|0[1-8]\\d\\d[ -])[2-7]\\d{2}[ -]?\\d{4}",
      "(?:\\(0[1-8]\\d{3}\\) ?|0[1-8]\\d{3}[ -])[2-7]\\d{2}[ -]?\\d{3}",
    ].join("|")})${END}`,
    "g",
  ),
  // North American, grouped only: ten bare digits may be anything.
  new RegExp(
    `${starts("\\w.+-", "(1-9")}(?:1[ .-])?(?:\\([2-9]\\d{2}\\) ?|[2-9]\\d{2}[ .-])[2-9]\\d{2}[ .-]\\d{4}${END}`,
    "g",
  ),
];

export const phones: Finder = (text) => regexSpans(text, PHONES);

const ROOM_FOR_PHONE = new RegExp("[\\d .()-]".repeat(8));
const PHONE_DIGITS = /\d(?:[ .()-]{0,2}\d){7}/;
export const mayHoldPhone = (text: string): boolean => ROOM_FOR_PHONE.test(text) && PHONE_DIGITS.test(text);
