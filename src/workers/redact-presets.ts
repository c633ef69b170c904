/**
 * The redaction presets. Each finds its spans in linear time. Patterns never match a backslash or a quote and never begin
 * inside an escape, so that a text that contains JSON (tool arguments) stays JSON.
 */
import type { PresetName } from "../redaction.ts";

/** Start and end of each match, in any order. */
export type Finder = (text: string) => Iterable<readonly [number, number]>;

export const PRESETS: Readonly<Record<PresetName, Finder>> = {
  api_key: (text) => (HINTS.api_key(text) ? regexSpans(text, API_KEYS) : []),
  card: (text) => digitSpans(text, isCard, 13, 19),
  aadhaar: (text) => digitSpans(text, isAadhaar, 12, 12),
  pan: (text) => (HINTS.pan(text) ? regexSpans(text, PAN) : []),
  email: (text) => (HINTS.email(text) ? regexSpans(text, EMAIL) : []),
  phone: (text) => (HINTS.phone(text) ? regexSpans(text, PHONE) : []),
};

/**
 * Enough digits for the shortest number that is redacted. Written-out character classes let the engine check every eighth
 * character only (Boyer-Moore); a repetition does not. Most texts have no match and are searched in a sixth of the time.
 */
const ROOM_FOR_NUMBER = new RegExp("[\\d -]".repeat(12));
const LONG_NUMBER = /\d(?:[ -]?\d){11}/;
const mayHoldNumber = (text: string) => ROOM_FOR_NUMBER.test(text) && LONG_NUMBER.test(text);

const ROOM_FOR_PHONE = new RegExp("[\\d .()-]".repeat(8));
const PHONE_DIGITS = /\d(?:[ .()-]{0,2}\d){7}/;

/** Matches begin at the last character of a prefix, or at the first of a word. */
export const KEY_WORDS =
  "[-_](?<=(?:svc|sk|glpat|xox[abeprs]|xai|hf|npm|gsk|pplx|r8|fw|tvly)-|(?:_live|_test|whsec|gh[pousr]|github_pat|hf|npm|gsk|pplx|r8|fw|tvly)_)|A(?:KIA|SIA|Iza)|SG\\.|eyJ|Bearer |PRIVATE KEY";
const KEY_WORD = new RegExp(KEY_WORDS);
const KEY_WORD_HERE = new RegExp(KEY_WORDS, "y");
/** A rare character of every word, and its distance from the beginning of the match. */
const KEY_MARKS: readonly (readonly [string, number])[] = [
  ...["-", "_", "A", "S", "B", "P"].map((mark) => [mark, 0] as const),
  ["J", 2],
];
/** With more of these characters the whole expression is quicker. */
const MAX_KEY_MARKS = 300;

/** The search for single characters is vectorised: a third of the time of the expression for prose and JSON. */
function mayHoldKey(text: string): boolean {
  let left = MAX_KEY_MARKS;
  for (const [mark, distance] of KEY_MARKS) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      if (left-- === 0) return KEY_WORD.test(text);
      if (at < distance) continue;
      KEY_WORD_HERE.lastIndex = at - distance;
      if (KEY_WORD_HERE.test(text)) return true;
    }
  }
  return false;
}

/**
 * A fast check first: a text without the hint has no match of the preset. Presets may share a hint, which is then tested
 * once.
 */
export const HINTS: Readonly<Record<PresetName, (text: string) => boolean>> = {
  api_key: mayHoldKey,
  card: mayHoldNumber,
  aadhaar: mayHoldNumber,
  pan: (text) => /\d{4}[A-Za-z]/.test(text),
  email: (text) => text.includes("@"),
  phone: (text) => ROOM_FOR_PHONE.test(text) && PHONE_DIGITS.test(text),
};

/** A match must not begin inside `\n` or `\u00e9`; directly after such an escape it may, as after a space. */
const starts = (word: string) =>
  String.raw`(?<!\\)(?<!\\u[\da-fA-F]{0,3})(?:(?<![${word}])|(?<=\\[bfnrt])|(?<=\\u[\da-fA-F]{4}))`;

/** Prefixes of vendors' secrets; then JSON web tokens, bearer credentials and PEM private keys. */
const API_KEYS = [
  new RegExp(
    `${starts("A-Za-z0-9")}(?:${[
      "svc-(?:live|test|scim)-[A-Za-z0-9]{20,64}",
      "sk-[A-Za-z0-9_-]{16,256}",
      "(?:sk|rk|pk|rzp)_(?:live|test)_[A-Za-z0-9]{10,256}",
      "whsec_[A-Za-z0-9+/]{16,128}",
      "A(?:KIA|SIA)[0-9A-Z]{16}",
      "AIza[A-Za-z0-9_-]{35}",
      "gh[pousr]_[A-Za-z0-9]{36,255}",
      "github_pat_[A-Za-z0-9_]{22,255}",
      "glpat-[A-Za-z0-9_-]{20,64}",
      "xox[abeprs]-[A-Za-z0-9-]{10,255}",
      "(?:hf|npm|gsk|pplx|r8|fw|tvly)[_-][A-Za-z0-9]{20,128}",
      "xai-[A-Za-z0-9]{20,128}",
      "SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}",
      "eyJ[A-Za-z0-9_-]{8,4096}\\.eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,2048}",
    ].join("|")})`,
    "g",
  ),
  /(?<=\bBearer )[A-Za-z0-9._~+/-]{20,4096}={0,2}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^"-]|-(?!----)){0,10000}-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
];

const EMAIL = [
  new RegExp(
    `${starts("A-Za-z0-9._%+-")}[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])`,
    "g",
  ),
];

/** Indian income tax number: five letters (the fourth is the kind of holder), four digits, a letter. */
const PAN = [
  new RegExp(
    `${starts("A-Za-z0-9")}(?:[A-Z]{3}[ABCFGHJKLPT][A-Z]\\d{4}[A-Z]|[a-z]{3}[abcfghjklpt][a-z]\\d{4}[a-z])(?![A-Za-z0-9])`,
    "g",
  ),
];

const PHONE = [
  // International: a plus, 8 to 15 digits, with usual separators.
  new RegExp(`${starts("\\w+")}\\+\\d(?:[ .()-]{0,2}\\d){7,14}(?!\\d)`, "g"),
  // Indian mobile, bare or after 0 or 91.
  new RegExp(`${starts("\\w.+-")}(?:0|91[ -]?)?[6-9]\\d{4}[ -]?\\d{5}(?![\\w.]?\\d)`, "g"),
  // North American, grouped only: ten bare digits may be anything.
  new RegExp(`${starts("\\w.+-")}(?:1[ .-])?(?:\\(\\d{3}\\) ?|\\d{3}[ .-])\\d{3}[ .-]\\d{4}(?!\\d)`, "g"),
];

function* regexSpans(text: string, patterns: readonly RegExp[]): Generator<readonly [number, number]> {
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) yield [match.index, match.index + match[0].length];
  }
}

const DIGIT_RUN = /\d(?:[ -]?\d){11,}/g;

/**
 * Finds numbers with a check digit, bare or in groups separated by single spaces or hyphens. Every sequence of whole groups
 * is tried, so that a card number next to an amount is found.
 */
function* digitSpans(
  text: string,
  valid: (digits: string) => boolean,
  minDigits: number,
  maxDigits: number,
): Generator<readonly [number, number]> {
  for (const run of text.matchAll(DIGIT_RUN)) {
    const skipped = escapeDigits(text, run.index);
    const groups = [...run[0].slice(skipped).matchAll(/\d+/g)].map((g) => ({
      digits: g[0],
      start: run.index + skipped + g.index,
    }));
    for (let from = 0; from < groups.length; ) {
      const to = longest(groups, from, valid, minDigits, maxDigits);
      const first = groups[from];
      const last = groups[to];
      if (first === undefined || last === undefined) {
        from++;
        continue;
      }
      yield [first.start, last.start + last.digits.length];
      from = to + 1;
    }
  }
}

/** How many digits at `at` belong to an escape (`\u2011`) that began before it. */
function escapeDigits(text: string, at: number): number {
  const begun = /\\u([\da-fA-F]{0,3})$/.exec(text.slice(Math.max(0, at - 5), at))?.[1];
  if (begun === undefined) return 0;
  const missing = 4 - begun.length;
  return /^[\da-fA-F]+$/.test(text.slice(at, at + missing)) ? missing : 0;
}

/** Index of the last group of the longest valid number that begins at group `from`; -1 if there is none. */
function longest(
  groups: readonly { digits: string }[],
  from: number,
  valid: (digits: string) => boolean,
  minDigits: number,
  maxDigits: number,
): number {
  let digits = "";
  let best = -1;
  for (let to = from; to < groups.length && digits.length < maxDigits; to++) {
    digits += groups[to]?.digits ?? "";
    if (digits.length >= minDigits && digits.length <= maxDigits && valid(digits)) best = to;
  }
  return best;
}

/** ISO/IEC 7812: a known issuer (2 to 6, RuPay's 81 and 82) and Luhn's check digit. */
function isCard(digits: string): boolean {
  if (!/^(?:[2-6]|8[12])/.test(digits)) return false;
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

/** Verhoeff's scheme: multiplication in the dihedral group D5, and its permutation. */
const D5 = [
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
];
const P8 = [
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
];

/** Indian resident number: 12 digits, the first 2 to 9, Verhoeff's check digit. */
function isAadhaar(digits: string): boolean {
  if (!/^[2-9]/.test(digits)) return false;
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    check = Number(D5[check]?.[Number(P8[at % 8]?.[digit])]);
  }
  return check === 0;
}
