/**
 * Mends a tool's schema where its provider would refuse it, though the model is not held to it: keywords of older drafts are said as
 * draft 2020-12 says them, what the outermost schema may not have moves into its description, and what a schema must say is said. All
 * else stays the text that the caller wrote.
 */
import { append } from "../json/append.ts";
import { applyEdits, type Edit, membersOf } from "../json/json.ts";
import { removeSpans } from "../json/spans.ts";
import { addedMember, toldEdits } from "./fit.ts";
import { References } from "./references.ts";
import type { ToolRules } from "./rules.ts";
import {
  keywordOf,
  readingSchema,
  readSchema,
  type SchemaMember,
  type SchemaNode,
  saysType,
} from "./schema-tree.ts";

export interface MendedSchema {
  /** JSON; the same string where nothing had to change. */
  readonly text: string;
  /** What the outermost schema may not have is only told to the model: it stands in the description. */
  readonly isTold: boolean;
}

/**
 * @param text JSON of the schema
 * @throws WeirError `invalid_json` where a long string or name in the schema is none
 */
export const mendSchema = (text: string, rules: ToolRules): MendedSchema =>
  readingSchema(() => {
    const root = readSchema(text);
    if (root === undefined) return { text, isTold: false };
    const told = root.members.map(({ key }) => rules.refusedOutermost.has(key));
    const mending = new Mending(text, rules.saysAll);
    const words = rules.propertyName === undefined ? NONE : mending.leaveProperties(root, rules.propertyName);
    mending.mend(root, told, words);
    mending.redirect(root);
    return { text: applyEdits(text, mending.edits), isTold: told.includes(true) || words.length > 0 };
  });

/** The bound that a boolean of draft 4 is about. */
const BOUNDS: ReadonlyMap<string, string> = new Map([
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
]);

/** Keywords of a tuple, as draft 2020-12 names them. */
const NEW_NAMES: ReadonlyMap<string, string> = new Map([
  ["items", "prefixItems"],
  ["additionalItems", "items"],
]);

/** Collects the edits that mend one tool's schema. */
class Mending {
  readonly edits: Edit[] = [];
  readonly #text: string;
  readonly #saysAll: boolean;
  /** Schemas whose list of items has another name in draft 2020-12. */
  readonly #tuples = new Set<SchemaNode>();
  /** Schemas that leave their place. */
  readonly #left = new Set<SchemaNode>();
  /** Schemas with a reference. */
  readonly #referring: SchemaNode[] = [];

  constructor(text: string, saysAll: boolean) {
    this.#text = text;
    this.#saysAll = saysAll;
  }

  /**
   * Takes out the outermost schema's properties whose names do not match.
   * @param name what the provider takes
   * @returns a text for the description, for each property that was taken out
   */
  leaveProperties(root: SchemaNode, name: RegExp): readonly string[] {
    const properties = keywordOf(root, "properties");
    if (properties === undefined || properties.schemas.every((schema) => name.test(schema.name))) return NONE;
    const from = properties.valueStart;
    const text = this.#text.slice(from, properties.end);
    const members = membersOf(text);
    // One name stands twice, or there are more than are looked at.
    if (members === undefined) return NONE;
    const spans = members.map(({ start, valueEnd }) => ({ start: from + start, end: from + valueEnd }));
    const goes = properties.schemas.map((schema) => !name.test(schema.name));
    for (const [index, { node }] of properties.schemas.entries()) {
      if (goes[index] === true && node !== undefined) this.#left.add(node);
    }
    append(this.edits, removeSpans(spans, goes));
    return members.flatMap(({ valueStart, valueEnd }, index) => {
      const told = `${properties.schemas[index]?.name}: ${text.slice(valueStart, valueEnd)}`;
      return goes[index] === true ? [told] : [];
    });
  }

  /**
   * @param told whether each of the schema's members moves into the description
   * @param words what else is told there
   */
  mend(node: SchemaNode, told: readonly boolean[] = NONE, words: readonly string[] = NONE): void {
    if (this.#isTuple(node)) this.#tuples.add(node);
    const goes = node.members.map((member, index) => told[index] === true || this.#isIdle(member, node));
    for (const [index, member] of node.members.entries()) {
      if (goes[index] !== true && this.#mendMember(member, node)) {
        for (const { node: inner } of member.schemas) {
          if (inner !== undefined && !this.#left.has(inner)) this.mend(inner);
        }
      }
    }
    const isTold = told.includes(true) || words.length > 0;
    if (isTold) append(this.edits, toldEdits(this.#text, node, goes, words));
    else if (goes.includes(true)) append(this.edits, removeSpans(node.members, goes));
    if (this.#saysAll) this.#sayAll(node);
  }

  /** Whether a boolean of draft 4 has no meaning: it is false, there is no bound, or it is said again. */
  #isIdle(member: SchemaMember, node: SchemaNode): boolean {
    const bound = BOUNDS.get(member.key);
    if (bound === undefined) return false;
    const first = this.#text[member.valueStart];
    if (first !== "t") return first === "f";
    // A bound is as long as a caller likes: it is said once more, however often the boolean is.
    return keywordOf(node, bound) === undefined || keywordOf(node, member.key) !== member;
  }

  /** @returns false if the value was replaced, with all that is in it */
  #mendMember(member: SchemaMember, node: SchemaNode): boolean {
    const { key, valueStart } = member;
    const first = this.#text[valueStart];
    const bound = first === "t" ? BOUNDS.get(key) : undefined;
    if (bound !== undefined) {
      const { valueStart: from, end } = keywordOf(node, bound) as SchemaMember;
      return this.#replace(member, this.#text.slice(from, end));
    }
    if (key === "$ref" && keywordOf(node, key) === member) this.#referring.push(node);
    const isTuple = this.#tuples.has(node);
    if (key === "items" && first === "[") {
      if (!isTuple) return this.#replace(member, "{}");
      this.#rename(member, "prefixItems");
      return true;
    }
    const isFurther = key === "additionalItems" && isTuple;
    if (isFurther) this.#rename(member, "items");
    const isOfArray = (key === "items" || isFurther) && saysType(this.#text, node, "array");
    if (!this.#saysAll || !isOfArray) return true;
    // `true` is a schema of anything, `false` one of nothing.
    if (first === "t") return this.#replace(member, "{}");
    return first === "f" ? this.#replace(member, '{"not":{}}') : true;
  }

  /** A list of schemas, one for each item, as drafts up to 7 have it. Draft 2020-12 takes no empty one, nor two. */
  #isTuple(node: SchemaNode): boolean {
    const items = keywordOf(node, "items");
    if (items === undefined || this.#text[items.valueStart] !== "[") return false;
    return items.schemas.length > 0 && keywordOf(node, "prefixItems") === undefined;
  }

  #sayAll(node: SchemaNode): void {
    if (saysType(this.#text, node, "object") && keywordOf(node, "properties") === undefined) {
      this.edits.push(addedMember(node, "properties", "{}"));
    }
    const items = this.#tuples.has(node) ? "additionalItems" : "items";
    if (saysType(this.#text, node, "array") && keywordOf(node, items) === undefined) {
      this.edits.push(addedMember(node, "items", "{}"));
    }
  }

  /** Pointers through keywords that have another name now, once all is mended. */
  redirect(root: SchemaNode): void {
    if (this.#tuples.size === 0) return;
    const references = new References(this.#text, root);
    for (const node of this.#referring) {
      const reference = references.of(node);
      if (reference?.startsWith("#/") !== true) continue;
      const words = reference.slice(2).split("/");
      references.target(reference, (at, key, index) => {
        if (this.#tuples.has(at)) words[index] = NEW_NAMES.get(key) ?? (words[index] as string);
      });
      const redirected = `#/${words.join("/")}`;
      if (redirected === reference) continue;
      this.#replace(keywordOf(node, "$ref") as SchemaMember, JSON.stringify(redirected));
    }
  }

  #replace({ valueStart, end }: SchemaMember, text: string): false {
    this.edits.push({ start: valueStart, end, text });
    return false;
  }

  #rename({ start, keyEnd }: SchemaMember, key: string): void {
    this.edits.push({ start, end: keyEnd, text: JSON.stringify(key) });
  }
}

const NONE: readonly never[] = Object.freeze([]);
