/**
 * An org's own redaction patterns: RE2 expressions that every payload is searched for. They must be cheap to compile,
 * because calls compile them on the event loop, and cheap to run. What they take is tried in a worker when they are set, and bounded
 * there for each payload (`src/workers/metered-text.ts`). The bounds here are for all patterns of an org together.
 */
import { RE2JS } from "re2js";
import { z } from "zod";

export const MAX_PATTERNS = 20;
export const MAX_PATTERN_CHARACTERS = 500;

/**
 * Instructions of all compiled patterns. re2js takes up to 20 ns for each instruction and character of one search; what it takes to
 * find all matches may be the square of the text, which this does not bound.
 */
export const MAX_INSTRUCTIONS = 2_000;

/** What all patterns may cost to compile, in {@link compileCost}: below 50 ms of the event loop. */
export const MAX_COMPILE_COST = 20_000;

/** Measured with re2js 2.10, in the time of one instruction (up to 2.5 µs). */
const COST_OF_CLASS = 100;
const COST_OF_FOLDED_RANGE = 2_500;

/**
 * An upper bound of what a pattern costs to compile, from its text alone: 500 characters can ask for half a million
 * instructions (`(?:aaa…){1000}`, 0.3 s) or for folding the case of 120 long ranges of characters (0.5 s).
 *
 * A count after a group repeats the whole group, any other count one instruction; RE2 expands both. Groups are taken to
 * contain the whole pattern and each other, and what is quoted or in a class is counted too: that only adds.
 */
export function compileCost(pattern: string): number {
  let single = 0;
  let grouped = 1;
  for (const { index, 0: text, groups } of pattern.matchAll(/\{(?<least>\d{1,9})(?:,(?<most>\d{0,9}))?\}/g)) {
    const count =
      Math.max(1, Number(groups?.least), Number(groups?.most ?? 0)) + (text.includes(",") ? 1 : 0);
    // An empty quotation (\Q\E) lets the count through to the group before it.
    const isOfGroup = /(?:[)}]|\\E)$/.test(pattern.slice(Math.max(0, index - 2), index));
    if (isOfGroup) grouped *= count;
    else single += 2 * count;
  }
  const classes = pattern.match(/\\[pP]/g)?.length ?? 0;
  const ignoresCase = /\(\?[A-Za-z-]*i/.test(pattern);
  const folded = ignoresCase ? (pattern.match(/-(?:[^\0-\x7f]|\\x\{)/g)?.length ?? 0) : 0;
  return (2 * pattern.length + single) * grouped + COST_OF_CLASS * classes + COST_OF_FOLDED_RANGE * folded;
}

/** In these texts an expression finds each empty place: ends of text and line, ends of a word, and between any two. */
const PLACES = ["", "a", " ", "\n", "aa  \n\na\n ab"];

/** Whether an expression can match without taking a character, as `x*`, `^` and `\b` do. */
function matchesEmpty(expression: RE2JS): boolean {
  return PLACES.some((text) => {
    const matcher = expression.matcher(text);
    while (matcher.find()) if (matcher.start() === matcher.end()) return true;
    return false;
  });
}

/** What is wrong with one of an org's patterns, and with which. */
interface PatternFault {
  readonly at: number;
  readonly message: string;
}

/** The first pattern that is no RE2 expression, matches the empty string, or makes them too large together. */
export function patternsFault(patterns: readonly string[]): PatternFault | undefined {
  let cost = 0;
  let instructions = 0;
  for (const [at, pattern] of patterns.entries()) {
    cost += compileCost(pattern);
    if (cost > MAX_COMPILE_COST) return { at, message: TOO_LARGE };
    const expression = compiled(pattern);
    if (typeof expression === "string") return { at, message: expression };
    instructions += expression.programSize();
    if (instructions > MAX_INSTRUCTIONS) return { at, message: TOO_LARGE };
    if (matchesEmpty(expression)) {
      return {
        at,
        message: "this pattern also matches where there is no character: let it take at least one",
      };
    }
  }
  return undefined;
}

const TOO_LARGE =
  "with this pattern the patterns are too large together: repeat less often, or name fewer characters";

/** The compiled pattern, or why it is none. */
function compiled(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : "";
    return `this is no RE2 expression (it has no look-around and no back-references): ${why}`;
  }
}

/** The field `redact.patterns` of a data policy. */
export const redactionPatternsField = z
  .array(
    z
      .string()
      .min(1, "a pattern has at least one character")
      .max(MAX_PATTERN_CHARACTERS, `a pattern has at most ${MAX_PATTERN_CHARACTERS} characters`),
  )
  .max(MAX_PATTERNS, `at most ${MAX_PATTERNS} patterns`)
  .meta({ examples: [["EMP-[0-9]{6}"]] })
  .transform((patterns, context) => {
    const fault = patternsFault(patterns);
    if (fault !== undefined) {
      const { at, message } = fault;
      context.issues.push({ code: "custom", path: [at], message, input: patterns[at] });
    }
    return [...new Set(patterns)];
  });
