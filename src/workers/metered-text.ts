/**
 * A bound for the work of an org's own patterns. RE2 is linear for one search, but to find all matches of `a.*b|a` takes the square
 * of the text: each search runs to the end and takes one character. So the characters that re2js reads are counted, which says
 * the same on every machine, and beyond a budget the search ends with an error: what was not searched must not be stored.
 */
import type { RE2JS } from "re2js";

/** A text takes more work than its budget allows. */
export class TooMuchWork extends Error {
  constructor() {
    super("the redaction patterns take too long on this text");
  }
}

/** Work that may be done: for one text, and with it for what the text is a part of. */
export class WorkBudget {
  #left: number;
  readonly #whole: WorkBudget | undefined;

  constructor(most: number, whole?: WorkBudget) {
    this.#left = most;
    this.#whole = whole;
  }

  /** Below 0 once all is spent. */
  get left(): number {
    return this.#left;
  }

  /** @throws TooMuchWork once all is spent, here or in the whole */
  take(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw new TooMuchWork();
    this.#whole?.take(work);
  }
}

/**
 * Work of all own patterns for each character of a text. A unit is one instruction for one character read, 6.6 ns at the worst of 19
 * patterns on 10 texts; eight patterns as people write them take 540 to 1,060 units a character.
 */
export const WORK_PER_CHARACTER = 2_000;
/** For short texts, in which a match alone may take a few thousand. */
const WORK_OF_ANY_TEXT = 2_000_000;

export const budgetFor = (characters: number, whole?: WorkBudget): WorkBudget =>
  new WorkBudget(WORK_OF_ANY_TEXT + WORK_PER_CHARACTER * characters, whole);

/** What reading a character takes whatever the program, in instructions. */
const READ_COST = 8;
/** What beginning and ending a search takes beside its reads: without it, texts of many short matches cost six times as much a unit. */
const MATCH_COST = 100;
/** Characters that `indexOf` compares in the time of a read. */
const COMPARED_AT_ONCE = 64;

/**
 * A text that counts what is read of it. re2js takes it for a string, because it asks for the tag of the object, and its engines read
 * by `charCodeAt`, `indexOf` and `length` alone; a test holds it to that. It is no subclass of `String`: where V8 knows of one that
 * overrides `charCodeAt`, the scans of all JSON in the thread that loaded it take twice the time (measured, `docs/performance.md`).
 */
class MeteredText {
  readonly #text: string;
  readonly #cost: number;
  readonly #budget: WorkBudget;

  constructor(text: string, cost: number, budget: WorkBudget) {
    this.#text = text;
    this.#cost = cost;
    this.#budget = budget;
  }

  get [Symbol.toStringTag](): string {
    return "String";
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.#budget.take(this.#cost);
    return this.#text.charCodeAt(at);
  }

  indexOf(sought: string, from = 0): number {
    const at = this.#text.indexOf(sought, from);
    const passed = Math.max(0, (at < 0 ? this.length : at) - from);
    this.#budget.take(READ_COST * (1 + passed / COMPARED_AT_ONCE));
    return at;
  }

  toString(): string {
    return this.#text;
  }
}

/** Start and end of each match. @throws TooMuchWork if the budget does not suffice */
export function matchesWithin(pattern: RE2JS, text: string, budget: WorkBudget): [number, number][] {
  const found: [number, number][] = [];
  const metered = new MeteredText(text, READ_COST + pattern.programSize(), budget);
  const matcher = pattern.matcher(metered as unknown as string);
  while (matcher.find()) {
    budget.take(MATCH_COST);
    found.push([matcher.start(), matcher.end()]);
  }
  return found;
}
