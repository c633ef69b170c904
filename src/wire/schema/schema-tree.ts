/**
 * A JSON schema's text by position: which of its values are schemas themselves, and where the members of each are. Values that are
 * data (`enum`, `const`, `default`, `examples`) and names of properties are never taken for schemas or keywords. Keywords are those
 * of JSON Schema 2020-12 and of draft 7 (https://json-schema.org/draft/2020-12/json-schema-core, section 10).
 */
import { fail, WeirError } from "../../base/errors.ts";
import type { JsonText } from "../json/json-text.ts";
import { nameOf, skipSpace, valueEnd } from "../json/scan.ts";
import type { Span } from "../json/spans.ts";

/** A schema that is an object. */
export interface SchemaNode extends Span {
  /** In order; a name may stand twice. */
  readonly members: readonly SchemaMember[];
}

/** One keyword of a schema; offsets into the text. */
export interface SchemaMember extends Span {
  /** Without escapes. */
  readonly key: string;
  /** Offset after the key's closing quote. `start` is its opening quote's, `end` is the value's end. */
  readonly keyEnd: number;
  readonly valueStart: number;
  /** The schemas in the value. */
  readonly schemas: readonly NamedSchema[];
}

/** A schema by its name in a map, by its index in a list; empty where it is the value itself. */
export interface NamedSchema {
  readonly name: string;
  /** Undefined of what is no object: schemas may be `true` and `false`. */
  readonly node: SchemaNode | undefined;
}

/** How a keyword holds schemas: as its value, in a list, by name, or as its value or a list. */
const HOLDS: ReadonlyMap<string, "value" | "list" | "map" | "either"> = new Map([
  ["properties", "map"],
  ["patternProperties", "map"],
  ["$defs", "map"],
  ["definitions", "map"],
  ["dependentSchemas", "map"],
  ["dependencies", "map"],
  ["anyOf", "list"],
  ["oneOf", "list"],
  ["allOf", "list"],
  ["prefixItems", "list"],
  ["items", "either"],
  ["additionalItems", "value"],
  ["unevaluatedItems", "value"],
  ["contains", "value"],
  ["additionalProperties", "value"],
  ["unevaluatedProperties", "value"],
  ["propertyNames", "value"],
  ["not", "value"],
  ["if", "value"],
  ["then", "value"],
  ["else", "value"],
  ["contentSchema", "value"],
]);

const QUOTE = 34;
const COMMA = 44;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;

/** Deeper texts are not read. No body nests so deep. */
const MAX_DEPTH = 512;

/** Whether a name may be in a schema: most have no choice and no reference, and need not be decoded. */
export function mayHave({ json }: JsonText, name: string): boolean {
  const quoted = `"${name}"`;
  if (typeof json === "string") return json.includes(quoted);
  return json.bytes.subarray(json.start, json.end).includes(quoted);
}

/** @returns undefined if the text is no object. @throws on text that is no JSON, or nests too deep */
export function readSchema(text: string): SchemaNode | undefined {
  return readNode(text, skipSpace(text, 0), 0);
}

/** Reads a schema. @throws WeirError `invalid_json` where its text is none, or nests too deep */
export function readingSchema<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof WeirError) throw error;
    throw fail("invalid_json", "The body is not valid JSON (in a schema).");
  }
}

function readNode(text: string, open: number, depth: number): SchemaNode | undefined {
  if (text.charCodeAt(open) !== OPEN_OBJECT) return undefined;
  if (depth > MAX_DEPTH) throw new RangeError(`The schema nests deeper than ${MAX_DEPTH} levels.`);
  const members: SchemaMember[] = [];
  const end = eachMember(text, open, (key, start, keyEnd, valueStart) => {
    const schemas: NamedSchema[] = [];
    const valueAt = readSchemas(text, valueStart, HOLDS.get(key), depth + 1, schemas);
    members.push({ key, start, keyEnd, valueStart, end: valueAt, schemas });
    return valueAt;
  });
  return { start: open, end, members };
}

/** Adds the schemas of a keyword's value. @returns the offset behind the value */
function readSchemas(
  text: string,
  at: number,
  holds: "value" | "list" | "map" | "either" | undefined,
  depth: number,
  schemas: NamedSchema[],
): number {
  const first = text.charCodeAt(at);
  const add = (name: string, start: number): number => {
    const node = readNode(text, start, depth);
    schemas.push({ name, node });
    return node === undefined ? valueEnd(text, start) : node.end;
  };
  if (first === OPEN_OBJECT) {
    if (holds === "map") return eachMember(text, at, (name, _start, _keyEnd, value) => add(name, value));
    if (holds === "value" || holds === "either") return add("", at);
  }
  if (first === OPEN_ARRAY && (holds === "list" || holds === "either")) {
    return eachElement(text, at, (index, start) => add(`${index}`, start));
  }
  return valueEnd(text, at);
}

/** @param read returns the offset behind the value. @returns the offset behind the object */
function eachMember(
  text: string,
  open: number,
  read: (key: string, start: number, keyEnd: number, valueStart: number) => number,
): number {
  let at = skipSpace(text, open + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = valueEnd(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    at = skipSpace(text, read(nameOf(text, at, keyEnd - 1), at, keyEnd, valueStart));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return at + 1;
}

function eachElement(text: string, open: number, read: (index: number, start: number) => number): number {
  let at = skipSpace(text, open + 1);
  for (let index = 0; at < text.length && text.charCodeAt(at) !== CLOSE_ARRAY; index++) {
    at = skipSpace(text, read(index, at));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return at + 1;
}

/** Up to so many members, looking through them costs less than an index. */
const FEW = 32;

const INDEXES = new WeakMap<SchemaNode, ReadonlyMap<string, SchemaMember>>();

/** A schema's keyword: of equal names the last, which is the one that readers of JSON take. */
export function keywordOf(node: SchemaNode, key: string): SchemaMember | undefined {
  const { members } = node;
  if (members.length <= FEW) return members.findLast((member) => member.key === key);
  let index = INDEXES.get(node);
  if (index === undefined) {
    index = new Map(members.map((member) => [member.key, member]));
    INDEXES.set(node, index);
  }
  return index.get(key);
}

/** A keyword's value, if it is short: types, flags, bounds. Undefined where it is long, or there is none. */
export function shortValue(text: string, member: SchemaMember | undefined): unknown {
  if (member === undefined || member.end - member.valueStart > MAX_SHORT) return undefined;
  try {
    return JSON.parse(text.slice(member.valueStart, member.end));
  } catch {
    return undefined;
  }
}

const MAX_SHORT = 256;

/** Whether a schema says that its values may be objects, by its type or by its properties. */
export function takesObjects(text: string, node: SchemaNode): boolean {
  const type = shortValue(text, keywordOf(node, "type"));
  return type === undefined ? keywordOf(node, "properties") !== undefined : isOrHas(type, "object");
}

/** Whether the type that a schema says is this one, or is of this one and others. */
export const saysType = (text: string, node: SchemaNode, name: string): boolean =>
  isOrHas(shortValue(text, keywordOf(node, "type")), name);

const isOrHas = (type: unknown, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));
