/**
 * Whether an org's own redaction patterns are quick enough to be accepted: all of them are run over texts that make patterns slow, and
 * their work is counted. It cannot find every slow text; while payloads are redacted, `metered-text.ts` bounds the work of each.
 */
import { RE2JS } from "re2js";
import { matchesWithin, WORK_PER_CHARACTER, WorkBudget } from "./metered-text.ts";

/** Long enough for the square of it to show. */
const SAMPLE_CHARACTERS = 4_096;
/** Less than while payloads are redacted, so that what is accepted is not refused there by a hair. */
export const TRIAL_WORK = SAMPLE_CHARACTERS * (WORK_PER_CHARACTER - 500);
/** So many of the patterns' own characters are tried. */
const MOST_CHARACTERS = 16;

const TEXTS = [
  "the quick brown fox jumps over 12 lazy dogs, and writes to jane@example.com. ",
  "0123456789",
  "ABCDE1234F GB82 WEST 1234 5698 7654 32 ",
  'eyJhbGciOiJIUzI1NiJ9+/ {"a":[1,2.5,null]}\n',
  "नमस्ते दुनिया Ünïcödé 漢字 ",
  "a",
  "A",
  " ",
  "-",
];

/**
 * The pattern that takes most of the work, if all together take too much on one of the texts; undefined if they are quick.
 * @param patterns of an org, all of which compile
 */
export function slowPattern(patterns: readonly string[]): number | undefined {
  const compiled = patterns.map((pattern) => RE2JS.compile(pattern));
  for (const text of samples(patterns)) {
    let [total, most, slowest] = [0, -1, 0];
    for (const [at, pattern] of compiled.entries()) {
      const work = workOf(pattern, text);
      total += work;
      if (work > most) [most, slowest] = [work, at];
      if (total > TRIAL_WORK) return slowest;
    }
  }
  return undefined;
}

/** What the pattern takes for the text, as far as it is of interest. */
function workOf(pattern: RE2JS, text: string): number {
  const budget = new WorkBudget(TRIAL_WORK);
  try {
    matchesWithin(pattern, text, budget);
  } catch {
    return TRIAL_WORK + 1;
  }
  return TRIAL_WORK - budget.left;
}

/** Usual texts, runs of what the patterns name, and a mixture of it. */
function samples(patterns: readonly string[]): string[] {
  const named = [
    ...new Set([...patterns.join("")].filter((character) => /[\p{L}\p{N}@_./:-]/u.test(character))),
  ];
  const tried = named.slice(0, MOST_CHARACTERS);
  const mixed = Array.from(
    { length: SAMPLE_CHARACTERS },
    (_, i) => named[scattered(i) % named.length] ?? "a",
  );
  return [...TEXTS, ...tried].map(filled).concat(mixed.join(""));
}

const filled = (text: string): string =>
  text.repeat(Math.ceil(SAMPLE_CHARACTERS / text.length)).slice(0, SAMPLE_CHARACTERS);

/** Numbers without a pattern, the same each time (Knuth's multiplicative hash). */
const scattered = (at: number): number => Math.imul(at + 1, 2_654_435_761) >>> 8;
