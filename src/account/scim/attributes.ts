/**
 * Which attributes an answer shows: the parameters `attributes` and `excludedAttributes` (RFC 7644 section 3.9).
 */
import { type Attribute, foldCase, type ResourceSchema } from "./attribute.ts";
import { scimFail } from "./error.ts";
import { resolvePath, resourceScope } from "./filter/attribute-path.ts";

const MAX_CHARS = 4096;
const MAX_NAMES = 100;

/** Attributes by name: whole, or the sub-attributes that are meant. */
type Named = ReadonlyMap<string, ReadonlySet<string> | "whole">;

export interface Projection {
  /** The attributes that `attributes` names; undefined where the request names none, and those shown by default are shown. */
  readonly shown: Named | undefined;
  readonly hidden: Named;
}

/** Names separated by commas; undefined if the parameter is absent. */
export type ProjectionQuery = Partial<Record<"attributes" | "excludedAttributes", string | undefined>>;

/**
 * Reads both parameters; names that are not known select nothing.
 * @throws ScimError `invalidValue` for a malformed name, or for too many
 */
export function projectionOf(
  schema: ResourceSchema,
  { attributes = "", excludedAttributes = "" }: ProjectionQuery,
): Projection {
  return {
    shown: attributes.trim() === "" ? undefined : readNames(schema, attributes),
    hidden: readNames(schema, excludedAttributes),
  };
}

function readNames(schema: ResourceSchema, text: string): Named {
  const names = text.length > MAX_CHARS ? undefined : text.split(",").map((name) => name.trim());
  if (names === undefined || names.length > MAX_NAMES) {
    throw scimFail("invalidValue", "There are too many names of attributes.");
  }
  const read = new Map<string, Set<string> | "whole">();
  for (const name of names.filter((name) => name !== "")) {
    const { attribute, sub } = resolvePath(name, resourceScope(schema), "invalidValue");
    if (attribute === undefined) continue;
    const before = read.get(attribute.name);
    if (sub === undefined || before === "whole") read.set(attribute.name, "whole");
    else read.set(attribute.name, (before ?? new Set<string>()).add(sub.name));
  }
  return read;
}

/** Whether the attribute is shown at all, so that what is dear to read need not be: the members of a group. */
export function isShown(schema: ResourceSchema, { shown, hidden }: Projection, name: string): boolean {
  const attribute = schema.byName.get(foldCase(name));
  if (attribute?.returned === "always") return true;
  return (shown === undefined || shown.has(name)) && hidden.get(name) !== "whole";
}

/** A resource with what is shown of it; `id` and `schemas` always are. Makes a new object. */
export function project(
  schema: ResourceSchema,
  projection: Projection,
  resource: object,
): Record<string, unknown> {
  const seen: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(resource)) {
    if (!isShown(schema, projection, name)) continue;
    const attribute = schema.byName.get(foldCase(name));
    seen[name] = attribute?.returned === "always" ? value : partsOf(attribute, projection, name, value);
  }
  return seen;
}

function partsOf(
  attribute: Attribute | undefined,
  { shown, hidden }: Projection,
  name: string,
  value: unknown,
): unknown {
  const [only = "whole", without] = [shown?.get(name), hidden.get(name)];
  if (attribute?.type !== "complex" || (only === "whole" && without === undefined)) return value;
  const isPartShown = (part: string) =>
    (only === "whole" || only.has(part)) &&
    (without === undefined || without === "whole" || !without.has(part));
  const shorten = (complex: unknown) =>
    Object.fromEntries(Object.entries(complex ?? {}).filter(([part]) => isPartShown(part)));
  return Array.isArray(value) ? value.map(shorten) : shorten(value);
}
