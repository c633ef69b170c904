/**
 * What an attribute is (RFC 7643 section 2.2 and 7), and the builders of the tables in `schema.ts`. Filters, PATCH, bodies
 * and the discovery documents all go by these tables, so that they cannot disagree.
 */
export type Mutability = "readOnly" | "readWrite" | "immutable" | "writeOnly";

export interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "dateTime" | "reference" | "complex";
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  /** Whether the case of strings and references matters; userName is compared without regard to case, id is not. */
  readonly caseExact: boolean;
  readonly mutability: Mutability;
  readonly returned: "always" | "never" | "default" | "request";
  readonly uniqueness: "none" | "server" | "global";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
  /** Longest string, in UTF-16 units. */
  readonly maxChars: number;
  /** The most values of a multi-valued attribute. */
  readonly maxValues: number;
  /** No two values of the attribute have the same `value`, so that they are found by it. */
  readonly isKeyed: boolean;
}

const MAX_CHARS = 256;
const MAX_VALUES = 50;

/** A single string, readWrite and not caseExact; `more` says what is different. */
export function attribute(name: string, description: string, more: Partial<Attribute> = {}): Attribute {
  return {
    name,
    type: "string",
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    maxChars: MAX_CHARS,
    maxValues: MAX_VALUES,
    isKeyed: false,
    ...more,
  };
}

export function complex(
  name: string,
  description: string,
  subAttributes: readonly Attribute[],
  more: Partial<Attribute> = {},
): Attribute {
  return attribute(name, description, { type: "complex", subAttributes, ...more });
}

/** One resource type: its core schema, and where it is served. */
export interface ResourceSchema {
  /** The URN of the core schema. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Path below `/scim/v2`. */
  readonly endpoint: string;
  /** Those that the document of the schema lists; the common attributes are not among them (RFC 7643 section 3.1). */
  readonly attributes: readonly Attribute[];
  /** The common attributes as well, by name in lower case. */
  readonly byName: ReadonlyMap<string, Attribute>;
}

/** A sub-attribute by its name in any case. */
export function subAttribute({ subAttributes = [] }: Attribute, name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return subAttributes.find((sub) => sub.name.toLowerCase() === wanted);
}

/** What strings that are not caseExact are compared by, and what an index of them should be keyed by. */
export const foldCase = (text: string): string => text.toLowerCase();
