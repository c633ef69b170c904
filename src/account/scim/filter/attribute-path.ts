/**
 * Names of attributes in filters, PATCH paths and projections (attrPath of RFC 7644 figure 1): in any case, with or without
 * the URN of the schema. Names are looked up in tables and never in objects that a client sent.
 */
import { type Attribute, type ResourceSchema, subAttribute } from "../attribute.ts";
import { type ScimType, scimFail } from "../error.ts";

/** ATTRNAME of RFC 7644, and `$ref`, which the RFC uses and its grammar forgets. */
const ATTRIBUTE_NAME = /^(?:[A-Za-z][A-Za-z0-9_-]*|\$ref)$/;

export interface AttributePath {
  /** In the spelling of the schema; as it was sent if the attribute is not known. */
  readonly text: string;
  /** The attribute; absent where this service does not keep it: it has no value and cannot be set. */
  readonly attribute?: Attribute;
  readonly sub?: Attribute;
}

/** Where names are looked up: in a resource, or within the brackets of a value path. */
export interface Scope {
  /** URN that may stand before a name. */
  readonly schemaId?: string;
  /** Within the brackets of a value path. */
  readonly isWithinValue: boolean;
  find(name: string): Attribute | undefined;
}

export const resourceScope = ({ id, byName }: ResourceSchema): Scope => ({
  schemaId: id,
  isWithinValue: false,
  find: (name) => byName.get(name.toLowerCase()),
});

/** @param attribute undefined: nothing is known there */
export const valueScope = (attribute: Attribute | undefined): Scope => ({
  isWithinValue: true,
  find: (name) => (attribute === undefined ? undefined : subAttribute(attribute, name)),
});

/** @param fault the keyword to fail with if the name is malformed, or names a part of what has no parts */
export function resolvePath(text: string, scope: Scope, fault: ScimType): AttributePath {
  const local = localPart(text, scope.schemaId);
  if (local === undefined) return { text };
  const [name = "", subName, ...rest] = local.split(".");
  const isWellFormed =
    ATTRIBUTE_NAME.test(name) && (subName === undefined || ATTRIBUTE_NAME.test(subName)) && rest.length === 0;
  if (!isWellFormed) throw scimFail(fault, `"${text}" is no name of an attribute.`);
  const attribute = scope.find(name);
  if (attribute === undefined) return { text };
  if (subName === undefined) return { text: attribute.name, attribute };
  if (attribute.type !== "complex") throw scimFail(fault, `${attribute.name} has no sub-attributes.`);
  const sub = subAttribute(attribute, subName);
  return sub === undefined ? { text } : { text: `${attribute.name}.${sub.name}`, attribute, sub };
}

/** What follows the URN of the schema; undefined for an attribute of another schema, such as an extension. */
function localPart(text: string, schemaId: string | undefined): string | undefined {
  if (!/^urn:/i.test(text)) return text;
  if (schemaId === undefined) return undefined;
  const prefix = `${schemaId}:`;
  return text.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
    ? text.slice(prefix.length)
    : undefined;
}

/** The attribute that a comparison looks at: of `emails` it is `emails.value` (RFC 7644 section 3.4.2.2). */
export function comparedAttribute({ attribute, sub }: AttributePath): Attribute | undefined {
  if (sub !== undefined || attribute === undefined || attribute.type !== "complex") return sub ?? attribute;
  return attribute.multiValued ? subAttribute(attribute, "value") : undefined;
}
