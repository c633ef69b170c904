/**
 * Fits a JSON schema to a provider that holds the model to it: objects are closed, a choice gets the keyword that is taken, and what is
 * refused moves into the description, for the model to read, as the providers' own SDKs do. Only what must change is edited: all
 * else stays the text that the caller wrote.
 */
import { applyEdits, type Edit } from "../json/json.ts";
import { removeSpans } from "../json/spans.ts";
import { isRecursive, References } from "./references.ts";
import type { SchemaRules } from "./rules.ts";
import {
  keywordOf,
  readingSchema,
  readSchema,
  type SchemaMember,
  type SchemaNode,
  saysType,
  shortValue,
  takesObjects,
} from "./schema-tree.ts";

export interface FittedSchema {
  /** JSON; the same string where nothing had to change. */
  readonly text: string;
  /** A bound is only told to the model: it stands in a description. */
  readonly isTold: boolean;
  /** An object that took any member takes only those that are named. */
  readonly isClosed: boolean;
}

/**
 * @param text JSON of the schema
 * @returns undefined of a schema that the provider cannot hold a model to, whatever is edited
 * @throws WeirError `invalid_json` where a long string or name in the schema is none
 */
export const fitSchema = (text: string, rules: SchemaRules): FittedSchema | undefined =>
  readingSchema(() => {
    const root = readSchema(text);
    return root === undefined ? { text, isTold: false, isClosed: false } : fitted(text, root, rules);
  });

function fitted(text: string, root: SchemaNode, rules: SchemaRules): FittedSchema | undefined {
  const references = new References(text, root);
  if (!rules.recursion && isRecursive(root, references, rules.refused)) return undefined;
  const fitting = new Fitting(text, rules, references);
  if (!fitting.fit(root, true)) return undefined;
  const { edits, isTold, isClosed } = fitting;
  return { text: applyEdits(text, edits), isTold, isClosed };
}

/** What stands beside a reference and changes nothing about it. */
const BESIDE_REFERENCE = /^\$|^definitions$/;

/** References to the whole, or to a definition of the outermost schema. */
const DEFINED = /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/;

/** Keywords of schemas that have their type from other schemas. */
const TYPELESS = ["$ref", "anyOf", "oneOf", "allOf"];

/** The type of a value, in JSON Schema's words; undefined of objects and lists. */
function plainType(value: unknown): string | undefined {
  if (value === null) return "null";
  return typeof value === "object" ? undefined : typeof value;
}

/** Collects the edits that fit one schema to a provider's grammar. */
class Fitting {
  readonly edits: Edit[] = [];
  isTold = false;
  isClosed = false;
  readonly #text: string;
  readonly #rules: SchemaRules;
  readonly #references: References;

  constructor(text: string, rules: SchemaRules, references: References) {
    this.#text = text;
    this.#rules = rules;
    this.#references = references;
  }

  /** @returns false of a schema that cannot be fitted */
  fit(node: SchemaNode, isRoot: boolean): boolean {
    if (this.#rules.allRequired && !this.#requiresAll(node, isRoot)) return false;
    const reference = this.#references.of(node);
    if (reference?.startsWith("#") === false) return false;
    if (this.#rules.definedReferences && !this.#isDefined(reference)) return false;
    if (this.#rules.allTyped && !this.#sayType(node)) return false;
    if (!isRoot && reference !== undefined) {
      const wrapped = wrappedReference(this.#text, node, BESIDE_REFERENCE);
      if (wrapped !== undefined) this.edits.push(wrapped);
    }
    const moved = node.members.map((member) => this.#isRefused(member, node));
    for (const [index, member] of node.members.entries()) {
      if (moved[index] === true) continue;
      if (member.key === "additionalProperties") {
        if (!this.#close(member)) return false;
      } else if (!this.#fitWithin(member, node)) return false;
    }
    if (moved.includes(true)) {
      this.isTold = true;
      for (const edit of toldEdits(this.#text, node, moved)) this.edits.push(edit);
    }
    return this.#closeOpen(node);
  }

  #fitWithin(member: SchemaMember, node: SchemaNode): boolean {
    const { key, schemas } = member;
    if (key === "oneOf" || (key === "allOf" && !this.#takesAllOf(member))) {
      // All of one schema is any of it.
      if (!hasNoOther(node, key) || (key === "allOf" && schemas.length !== 1)) return false;
      this.#rename(member, "anyOf");
    }
    return schemas.every(({ node: inner }) =>
      inner === undefined ? !this.#rules.allTyped : this.fit(inner, false),
    );
  }

  #takesAllOf({ schemas }: SchemaMember): boolean {
    const { allOf } = this.#rules;
    return allOf && schemas.every(({ node }) => node === undefined || keywordOf(node, "$ref") === undefined);
  }

  /** Whether a keyword must leave its place. */
  #isRefused(member: SchemaMember, node: SchemaNode): boolean {
    const { key, schemas } = member;
    const { refused, formats, plainLiterals, mostMinItems } = this.#rules;
    if (refused.has(key)) return true;
    const first = this.#text[member.valueStart];
    if (key === "format") return !formats.has(String(shortValue(this.#text, member)));
    if (key === "pattern") return first === '"' && !this.#rules.takesPattern(this.#valueOf(member) as string);
    if (key === "minItems") return !(Number(shortValue(this.#text, member)) <= mostMinItems);
    if (key === "items") return first === "[";
    // Draft 4 says so whether a bound is within; no later draft takes a boolean.
    if (key === "exclusiveMinimum" || key === "exclusiveMaximum") return first === "t" || first === "f";
    if (key === "oneOf") return keywordOf(node, "anyOf") !== undefined && schemas.length > 0;
    if (!plainLiterals || (key !== "enum" && key !== "const")) return false;
    if (key === "const") return first === "{" || first === "[";
    const values = this.#valueOf(member);
    return Array.isArray(values) && values.some((value) => typeof value === "object" && value !== null);
  }

  #valueOf({ valueStart, end }: SchemaMember): unknown {
    return JSON.parse(this.#text.slice(valueStart, end));
  }

  /** No grammar has members of any name. */
  #close({ valueStart, end }: SchemaMember): boolean {
    if (this.#text.slice(valueStart, end) === "false") return true;
    if (!this.#rules.closesMaps) return false;
    this.isClosed = true;
    this.edits.push({ start: valueStart, end, text: "false" });
    return true;
  }

  /** An object that does not say whether it is open must say that it is closed. */
  #closeOpen(node: SchemaNode): boolean {
    if (keywordOf(node, "additionalProperties") !== undefined || !takesObjects(this.#text, node)) return true;
    if (keywordOf(node, "properties") === undefined) {
      if (!this.#rules.closesMaps) return false;
      this.isClosed = true;
    }
    this.edits.push(addedMember(node, "additionalProperties", "false"));
    return true;
  }

  #isDefined(reference: string | undefined): boolean {
    if (reference === undefined) return true;
    return DEFINED.test(reference) && this.#references.target(reference) !== undefined;
  }

  /** A schema of nothing but values says their type by them. @returns false of a schema whose type is not known, or that of its items */
  #sayType(node: SchemaNode): boolean {
    if (keywordOf(node, "type") !== undefined) {
      const items = keywordOf(node, "items");
      return (
        !saysType(this.#text, node, "array") || (items !== undefined && this.#text[items.valueStart] === "{")
      );
    }
    if (TYPELESS.some((key) => keywordOf(node, key) !== undefined)) return true;
    const values = keywordOf(node, "enum") ?? keywordOf(node, "const");
    if (values === undefined) return false;
    const value = this.#valueOf(values);
    const types = new Set((values.key === "enum" && Array.isArray(value) ? value : [value]).map(plainType));
    if (types.size === 0 || types.has(undefined)) return false;
    const [type] = types;
    this.edits.push(addedMember(node, "type", JSON.stringify(types.size === 1 ? type : [...types])));
    return true;
  }

  #rename({ start, keyEnd }: SchemaMember, key: string): void {
    this.edits.push({ start, end: keyEnd, text: JSON.stringify(key) });
  }

  #requiresAll(node: SchemaNode, isRoot: boolean): boolean {
    const text = this.#text;
    if (isRoot) {
      if (shortValue(text, keywordOf(node, "type")) !== "object") return false;
      if (["anyOf", "oneOf", "allOf"].some((key) => keywordOf(node, key) !== undefined)) return false;
    }
    const properties = keywordOf(node, "properties");
    if (properties === undefined) return true;
    const required = keywordOf(node, "required");
    const names: unknown = required === undefined ? [] : this.#valueOf(required);
    const listed = new Set(Array.isArray(names) ? names : []);
    const known = new Set(properties.schemas.map(({ name }) => name));
    return listed.size === known.size && [...known].every((name) => listed.has(name));
  }
}

/**
 * A reference as a choice of one, which means the same: a choice may have other keywords beside it.
 * @param beside the keywords that a reference may have beside it
 * @param value the reference's JSON text, where it is another than in the schema
 * @returns undefined where the reference may stay, or must: the schema has a choice already
 */
export function wrappedReference(
  text: string,
  node: SchemaNode,
  beside: RegExp,
  value?: string,
): Edit | undefined {
  if (node.members.every(({ key }) => beside.test(key)) || !hasNoOther(node, "$ref")) return undefined;
  const { start, valueStart, end } = keywordOf(node, "$ref") as SchemaMember;
  return { start, end, text: `"anyOf":[{"$ref":${value ?? text.slice(valueStart, end)}}]` };
}

/** A member behind all others. @param value JSON text */
export function addedMember({ members, start }: SchemaNode, key: string, value: string): Edit {
  const last = members.at(-1);
  const at = last?.end ?? start + 1;
  return { start: at, end: at, text: `${last === undefined ? "" : ","}${JSON.stringify(key)}:${value}` };
}

/**
 * Moves keywords into the description, in the words of Anthropic's SDKs: behind what it says, `{minimum: 1, maximum: 10}`.
 * @param moved whether each of the schema's members goes
 * @param more what else is told; at least one of both is
 */
export function toldEdits(
  text: string,
  node: SchemaNode,
  moved: readonly boolean[],
  more: readonly string[] = [],
): Edit[] {
  const gone = node.members.filter((_, index) => moved[index] === true);
  const told = gone.map(({ key, valueStart, end }) => `${key}: ${text.slice(valueStart, end)}`);
  const words = `{${[...told, ...more].join(", ")}}`;
  const description = keywordOf(node, "description");
  if (description !== undefined) {
    return [addedTo(text, description, words), ...removeSpans(node.members, moved)];
  }
  const [first] = gone;
  if (first === undefined) return [addedMember(node, "description", JSON.stringify(words))];
  // The first of them gives its place to the description.
  const { start, end } = first;
  const others = moved.with(moved.indexOf(true), false);
  const described = { start, end, text: `"description":${JSON.stringify(words)}` };
  return [described, ...removeSpans(node.members, others)];
}

function addedTo(text: string, { valueStart, end }: SchemaMember, words: string): Edit {
  const isText = text[valueStart] === '"' && end - valueStart > '""'.length;
  if (!isText) return { start: valueStart, end, text: JSON.stringify(words) };
  return { start: end - 1, end: end - 1, text: JSON.stringify(`\n\n${words}`).slice(1, -1) };
}

/** Whether `anyOf` is free for what such a keyword means. */
const hasNoOther = ({ members }: SchemaNode, key: string): boolean =>
  members.every((member) => member.key !== "anyOf") &&
  (key === "oneOf" || members.every((member) => member.key !== "oneOf")) &&
  members.filter((member) => member.key === key).length === 1;
