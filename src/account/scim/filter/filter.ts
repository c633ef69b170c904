/**
 * Filters (RFC 7644 section 3.4.2.2): their tree, how it is read and how it is written. Reading is linear in the length of
 * the text and bounded in depth. Attributes that the service does not keep are allowed: they have no value.
 */
import type { ResourceSchema } from "../attribute.ts";
import { Steps } from "../steps.ts";
import {
  type AttributePath,
  comparedAttribute,
  resolvePath,
  resourceScope,
  type Scope,
  valueScope,
} from "./attribute-path.ts";
import { readInstant } from "./date-time.ts";
import { FilterWords } from "./filter-words.ts";

export type Literal = string | number | boolean | null;

const COMPARISONS = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
export type Comparison = (typeof COMPARISONS)[number];

export type Filter =
  | { readonly op: "and" | "or"; readonly filters: readonly Filter[] }
  | { readonly op: "not"; readonly filter: Filter }
  | { readonly op: "pr"; readonly path: AttributePath }
  | { readonly op: Comparison; readonly path: AttributePath; readonly value: Literal }
  /** A value path: some value of the attribute matches. */
  | { readonly op: "some"; readonly path: AttributePath; readonly filter: Filter };

/** Levels of parentheses and brackets within each other. */
export const MAX_FILTER_DEPTH = 32;

/**
 * Reads a filter of a list request.
 * @param steps counts the work, if the caller wants to know
 * @throws ScimError `invalidFilter`
 */
export function parseFilter(text: string, schema: ResourceSchema, steps = new Steps()): Filter {
  const words = new FilterWords(text, "invalidFilter", steps);
  const filter = readOr(words, resourceScope(schema), 0);
  if (words.next.kind !== "end") throw words.fail("goes on where it should end");
  return filter;
}

/** What stands in the brackets of a value path, and the closing bracket. */
export function readValueFilter(words: FilterWords, path: AttributePath, depth = 0): Filter {
  const { attribute, sub } = path;
  const hasValues = sub === undefined && (attribute === undefined || attribute.type === "complex");
  if (!hasValues || attribute?.multiValued === false) throw words.fail(`has a bracket after ${path.text}`);
  const filter = readOr(words, valueScope(attribute), depth + 1);
  words.demand("]");
  return filter;
}

function readOr(words: FilterWords, scope: Scope, depth: number): Filter {
  if (depth > MAX_FILTER_DEPTH) throw words.fail(`is nested deeper than ${MAX_FILTER_DEPTH} levels`);
  return readJoined(words, "or", () => readJoined(words, "and", () => readTerm(words, scope, depth)));
}

function readJoined(words: FilterWords, op: "and" | "or", read: () => Filter): Filter {
  const first = read();
  if (!words.isNext(op)) return first;
  const filters = [first];
  while (words.takes(op)) filters.push(read());
  return { op, filters };
}

function readTerm(words: FilterWords, scope: Scope, depth: number): Filter {
  if (words.takes("(")) return readGroup(words, scope, depth);
  const { kind, text } = words.take();
  if (kind !== "word") throw words.fail("lacks the name of an attribute");
  if (text.toLowerCase() === "not" && words.takes("(")) {
    return { op: "not", filter: readGroup(words, scope, depth) };
  }
  const path = resolvePath(text, scope, words.fault);
  if (!words.takes("[")) return readComparison(words, path);
  // The RFC has no value paths in value paths, and no attribute of ours could have one.
  if (scope.isWithinValue) throw words.fail("has brackets in brackets");
  return readSome(words, path, depth);
}

function readGroup(words: FilterWords, scope: Scope, depth: number): Filter {
  const filter = readOr(words, scope, depth + 1);
  words.demand(")");
  return filter;
}

/** Entra ID also sends `emails[type eq "work"].value eq "a@b"`, which the RFC does not have: one value meets both. */
function readSome(words: FilterWords, path: AttributePath, depth: number): Filter {
  const filter = readValueFilter(words, path, depth);
  const { kind, text } = words.next;
  if (kind !== "word" || !text.startsWith(".")) return { op: "some", path, filter };
  words.take();
  const sub = resolvePath(text.slice(1), valueScope(path.attribute), words.fault);
  return { op: "some", path, filter: { op: "and", filters: [filter, readComparison(words, sub)] } };
}

function readComparison(words: FilterWords, path: AttributePath): Filter {
  const { kind, text } = words.take();
  const name = text.toLowerCase();
  if (kind === "word" && name === "pr") return { op: "pr", path };
  const op = COMPARISONS.find((comparison) => comparison === name);
  if (kind !== "word" || op === undefined) throw words.fail(`lacks an operator after ${path.text}`);
  const value = comparable(path, readLiteral(words));
  const complaint = refusal(path, op, value);
  if (complaint !== undefined) throw words.fail(complaint);
  return { op, path, value };
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const CONSTANTS: ReadonlyMap<string, Literal> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** A JSON literal; constants in any case, since `True` is common. */
function readLiteral(words: FilterWords): Literal {
  const { kind, text } = words.take();
  if (kind === "string") return readString(words, text);
  const constant = CONSTANTS.get(text.toLowerCase());
  if (constant !== undefined) return constant;
  const number = kind === "word" && NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number))
    throw words.fail("lacks a value: a string in quotes, a number, true, false or null");
  // There is one zero.
  return number === 0 ? 0 : number;
}

function readString(words: FilterWords, text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw words.fail("has a string that JSON does not allow");
  }
}

/** Entra ID sends `roles[primary eq "True"]`. */
function comparable(path: AttributePath, value: Literal): Literal {
  if (comparedAttribute(path)?.type !== "boolean" || typeof value !== "string") return value;
  return CONSTANTS.get(value.toLowerCase()) ?? value;
}

/** Why the comparison cannot be made; undefined if it can. */
function refusal(path: AttributePath, op: Comparison, value: Literal): string | undefined {
  const compared = comparedAttribute(path);
  if (compared === undefined) {
    return path.attribute === undefined ? undefined : `compares ${path.text}, which has no value of its own`;
  }
  const isEquality = op === "eq" || op === "ne";
  if (isEquality && value === null) return undefined;
  if (compared.type === "boolean" && !isEquality) return `compares ${path.text}, a boolean, with ${op}`;
  const isText = op === "co" || op === "sw" || op === "ew";
  if (!isEquality && typeof value !== "string") return `compares ${path.text} with ${op} and no string`;
  if (compared.type === "dateTime" && !isText && readInstant(value) === undefined) {
    return `compares ${path.text} with no time such as 2026-01-31T00:00:00Z`;
  }
  return undefined;
}

/** Writes a filter such that {@link parseFilter} reads it as the same tree. */
export function printFilter(filter: Filter): string {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.map(printOperand).join(` ${filter.op} `);
    case "not":
      return `not (${printFilter(filter.filter)})`;
    case "pr":
      return `${filter.path.text} pr`;
    case "some":
      return `${filter.path.text}[${printFilter(filter.filter)}]`;
    default:
      return `${filter.path.text} ${filter.op} ${JSON.stringify(filter.value)}`;
  }
}

const printOperand = (filter: Filter): string =>
  filter.op === "and" || filter.op === "or" ? `(${printFilter(filter)})` : printFilter(filter);
