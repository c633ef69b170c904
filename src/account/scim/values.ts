/**
 * Reads what clients send as values of attributes: names in any case, unknown and read-only parts dropped, types and lengths
 * checked. The result is made anew, with names of the schema only, so that nothing of a client's objects lives on.
 */
import { type Attribute, subAttribute } from "./attribute.ts";
import { scimFail } from "./error.ts";
import type { Sliced } from "./slices.ts";
import type { Steps } from "./steps.ts";

export type SimpleValue = string | boolean;

/** A value with sub-attributes: `name`, or one of `emails`. */
export type ComplexValue = Readonly<Record<string, SimpleValue>>;

/** Null, an empty string and an empty list are no value: undefined (RFC 7643 section 2.5). */
export type AttributeValue = SimpleValue | ComplexValue | readonly ComplexValue[];

/** Reads the value of an attribute without parts. @throws ScimError `invalidValue` */
export function readSimple(attribute: Attribute, raw: unknown): SimpleValue | undefined {
  const value = unwrapped(raw);
  if (value === undefined || value === null || value === "") return undefined;
  if (attribute.type === "boolean") return readBoolean(attribute, value);
  if (typeof value !== "string") throw scimFail("invalidValue", `${attribute.name} must be a string.`);
  if (value.length > attribute.maxChars) {
    throw scimFail("invalidValue", `${attribute.name} has more than ${attribute.maxChars} characters.`);
  }
  // They would end keys of the store early, or be stored as another text.
  if (!value.isWellFormed() || hasControlCharacter(value)) {
    throw scimFail("invalidValue", `${attribute.name} has a character that is not allowed.`);
  }
  return value;
}

/** Entra ID sends "True" and "False". */
function readBoolean(attribute: Attribute, value: unknown): boolean {
  const text = typeof value === "string" && value.length < 6 ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  if (text === false || text === "false") return false;
  throw scimFail("invalidValue", `${attribute.name} must be true or false.`);
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++)
    if (text.charCodeAt(i) < 0x20 || text.charCodeAt(i) === 0x7f) return true;
  return false;
}

/** Older jobs of Entra ID send `[{"value": …}]` for single values as well. */
function unwrapped(raw: unknown): unknown {
  const value = single(raw);
  return isObject(value) && Object.hasOwn(value, "value") ? value.value : value;
}

const single = (raw: unknown): unknown => (Array.isArray(raw) && raw.length < 2 ? raw[0] : raw);

/**
 * The parts of a complex value that were sent; undefined for those that were sent without a value. For one of several values
 * a string stands for `{value}`.
 * @throws ScimError `invalidValue`
 */
export function readParts(
  attribute: Attribute,
  raw: unknown,
): Readonly<Record<string, SimpleValue | undefined>> {
  const one = single(raw);
  if (one === undefined || one === null) return {};
  const sent = attribute.multiValued && typeof one === "string" ? { value: one } : one;
  if (!isObject(sent)) throw scimFail("invalidValue", `${attribute.name} must be an object.`);
  const read: Record<string, SimpleValue | undefined> = {};
  for (const [name, part] of Object.entries(sent)) {
    const sub = subAttribute(attribute, name);
    if (sub !== undefined && sub.mutability !== "readOnly") read[sub.name] = readSimple(sub, part);
  }
  return read;
}

/** @returns undefined if no part of it has a value. @throws ScimError `invalidValue` */
export function readComplex(attribute: Attribute, raw: unknown): ComplexValue | undefined {
  const read: Record<string, SimpleValue> = {};
  for (const [name, value] of Object.entries(readParts(attribute, raw))) {
    if (value !== undefined) read[name] = value;
  }
  return Object.keys(read).length === 0 ? undefined : read;
}

/** Reading a value and adding it takes about as long as so many comparisons. */
const STEPS_OF_VALUE = 8;

/**
 * Values of a multi-valued attribute; one alone may come without its list.
 * @throws ScimError `invalidValue`, or `tooMany` if the steps do not suffice
 */
export function* readingValues(attribute: Attribute, raw: unknown, steps: Steps): Sliced<ComplexValue[]> {
  if (raw === undefined || raw === null) return [];
  const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (list.length > attribute.maxValues) throw tooManyValues(attribute);
  const read: ComplexValue[] = [];
  for (const one of list) {
    steps.take(STEPS_OF_VALUE);
    yield;
    const value = readComplex(attribute, one);
    if (value !== undefined) read.push(value);
  }
  return read;
}

export const tooManyValues = ({ name, maxValues }: Attribute) =>
  scimFail("invalidValue", `${name} has more than ${maxValues} values.`);

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
