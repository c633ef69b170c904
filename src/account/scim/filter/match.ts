/**
 * Whether a resource matches a filter. The work is counted, so that one filter over many resources stays bounded.
 */
import { type Attribute, foldCase } from "../attribute.ts";
import type { Sliced } from "../slices.ts";
import type { Steps } from "../steps.ts";
import { type AttributePath, comparedAttribute } from "./attribute-path.ts";
import { readInstant } from "./date-time.ts";
import type { Comparison, Filter, Literal } from "./filter.ts";

/**
 * In slices: a group has many members.
 * @param resource names of attributes as in the schema; or one value of a multi-valued attribute
 * @param steps give the same for all resources of a list request
 * @throws ScimError `tooMany` if the comparisons exceed the steps
 */
export function* matching(filter: Filter, resource: object, steps: Steps): Sliced<boolean> {
  // Each part of the filter takes a step for each resource and value, also if it looks at nothing.
  steps.take(1);
  switch (filter.op) {
    case "and":
    case "or":
      return yield* joined(filter.op, filter.filters, resource, steps);
    case "not":
      return !(yield* matching(filter.filter, resource, steps));
    case "some":
      for (const value of valuesAt(resource, filter.path.attribute)) {
        if (typeof value !== "object" || value === null) continue;
        yield;
        if (yield* matching(filter.filter, value, steps)) return true;
      }
      return false;
    case "pr":
      return yield* isPresent(filter.path, resource, steps);
    default:
      return yield* compares(filter.path, filter.op, filter.value, resource, steps);
  }
}

function* joined(
  op: "and" | "or",
  filters: readonly Filter[],
  resource: object,
  steps: Steps,
): Sliced<boolean> {
  for (const part of filters) {
    yield;
    if ((yield* matching(part, resource, steps)) === (op === "or")) return op === "or";
  }
  return op === "and";
}

/** Values of an attribute in its holder, none if it is absent; own properties only. */
function valuesAt(holder: object, attribute: Attribute | undefined): readonly unknown[] {
  if (attribute === undefined || !Object.hasOwn(holder, attribute.name)) return [];
  const value = (holder as Readonly<Record<string, unknown>>)[attribute.name];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** Whether some value that is compared meets the test, which is tried on one after another. */
function* someCompared(
  path: AttributePath,
  holder: object,
  steps: Steps,
  meets: (value: unknown) => boolean,
): Sliced<boolean> {
  const compared = comparedAttribute(path);
  for (const value of valuesAt(holder, path.attribute)) {
    steps.take(1);
    yield;
    const isItself = compared === path.attribute || typeof value !== "object" || value === null;
    if (isItself ? meets(value) : valuesAt(value, compared).some(meets)) return true;
  }
  return false;
}

/** RFC 7644: a value that is not empty, and of a complex attribute one that has such a part. */
function* isPresent(path: AttributePath, holder: object, steps: Steps): Sliced<boolean> {
  const { attribute, sub } = path;
  if (sub !== undefined) return yield* someCompared(path, holder, steps, isFilled);
  for (const value of valuesAt(holder, attribute)) {
    steps.take(1);
    yield;
    if (isFilled(value)) return true;
  }
  return false;
}

function isFilled(value: unknown): boolean {
  if (typeof value !== "object" || value === null)
    return value !== undefined && value !== null && value !== "";
  return Object.values(value).some((part) => part !== undefined && part !== null && part !== "");
}

/**
 * A multi-valued attribute matches if one of its values does. `ne` is also true of an attribute without a value, and null
 * stands for having none, so that `title eq null` is `not (title pr)`.
 */
function* compares(
  path: AttributePath,
  op: Comparison,
  value: Literal,
  holder: object,
  steps: Steps,
): Sliced<boolean> {
  const attribute = comparedAttribute(path);
  if (value === null) return (yield* someCompared(path, holder, steps, isFilled)) === (op === "ne");
  if (attribute === undefined) return op === "ne";
  if (op !== "ne")
    return yield* someCompared(path, holder, steps, (v) => holds(attribute, op, v, value, steps));
  let hasValue = false;
  const differs = yield* someCompared(path, holder, steps, (v) => {
    hasValue = true;
    return !holds(attribute, "eq", v, value, steps);
  });
  return differs || !hasValue;
}

function holds(
  attribute: Attribute,
  op: Exclude<Comparison, "ne">,
  value: unknown,
  literal: string | number | boolean,
  steps: Steps,
): boolean {
  if (typeof value !== "string" || typeof literal !== "string") return op === "eq" && value === literal;
  steps.take(costOf(op, value, literal));
  if (attribute.type === "dateTime" && op !== "co" && op !== "sw" && op !== "ew") {
    const [left, right] = [readInstant(value), readInstant(literal)];
    return left !== undefined && right !== undefined && ordered(op, left, right);
  }
  return attribute.caseExact
    ? holdsOfText(op, value, literal)
    : holdsOfText(op, foldCase(value), foldCase(literal));
}

/** In steps of about 256 characters; a search can take the product of both lengths. */
const costOf = (op: Comparison, value: string, literal: string): number =>
  Math.floor((op === "co" ? value.length * literal.length : value.length + literal.length) / 256);

function holdsOfText(op: Exclude<Comparison, "ne">, value: string, literal: string): boolean {
  if (op === "co") return value.includes(literal);
  if (op === "sw") return value.startsWith(literal);
  if (op === "ew") return value.endsWith(literal);
  return ordered(op, value, literal);
}

function ordered<T extends string | number>(
  op: "eq" | "gt" | "ge" | "lt" | "le",
  left: T,
  right: T,
): boolean {
  if (op === "eq") return left === right;
  if (op === "gt") return left > right;
  if (op === "ge") return left >= right;
  return op === "lt" ? left < right : left <= right;
}

const INDEXED = ["userName", "externalId", "id", "displayName"] as const;

export interface RequiredEquality {
  readonly attribute: (typeof INDEXED)[number];
  readonly value: string;
}

/**
 * The `userName eq "…"` (or externalId, id, displayName) that everything that matches meets: the whole filter or one part of
 * its `and`. With it the store reads an index instead of every resource; what the index finds must also be tried with
 * {@link matching}. Undefined if there is none.
 */
export function requiredEquality(filter: Filter): RequiredEquality | undefined {
  if (filter.op === "and") {
    for (const part of filter.filters) {
      const found = requiredEquality(part);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (filter.op !== "eq" || typeof filter.value !== "string") return undefined;
  const attribute = INDEXED.find((name) => name === filter.path.text);
  if (attribute === undefined || filter.path.attribute === undefined) return undefined;
  return { attribute, value: filter.value };
}
