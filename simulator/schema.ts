/**
 * Builds a small JSON document that fits a JSON Schema: tool arguments and structured answers. Supports what the
 * providers' structured outputs support (types, enum, const, anyOf, $ref, bounds, common formats); `pattern` is
 * ignored.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Recursive schemas end at this depth: optional fields are omitted, required ones become null. */
const MAX_DEPTH = 6;

const FORMATS: Readonly<Record<string, string>> = Object.freeze({
  "date-time": "2026-01-02T03:04:05Z",
  date: "2026-01-02",
  time: "03:04:05Z",
  duration: "PT1H",
  email: "river@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  uri: "https://example.com/",
});

/** A value that fits the schema; `word` supplies the strings, so that the same prompt gives the same document. */
export function documentFor(schema: unknown, word: () => string): unknown {
  return valueFor(schema, { root: schema, word }, 0);
}

interface Context {
  readonly root: unknown;
  readonly word: () => string;
}

function valueFor(schema: unknown, context: Context, depth: number): unknown {
  if (!isObject(schema)) return schema === false ? null : context.word();
  if (depth > MAX_DEPTH) return null;
  if (typeof schema.$ref === "string")
    return valueFor(resolve(schema.$ref, context.root), context, depth + 1);
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  for (const key of ["anyOf", "oneOf"] as const) {
    const branches = schema[key];
    if (Array.isArray(branches) && branches.length > 0) return valueFor(branches[0], context, depth + 1);
  }
  if (Array.isArray(schema.allOf)) {
    return valueFor(Object.assign({}, ...schema.allOf.filter(isObject)), context, depth + 1);
  }
  switch (typeOf(schema)) {
    case "object":
      return objectFor(schema, context, depth);
    case "array":
      return arrayFor(schema, context, depth);
    case "integer":
      return Math.ceil(numberFor(schema, 7));
    case "number":
      return numberFor(schema, 7.5);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return stringFor(schema, context);
  }
}

function typeOf(schema: JsonObject): unknown {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== "null") ?? "null";
  if (schema.type !== undefined) return schema.type;
  if (isObject(schema.properties)) return "object";
  return schema.items === undefined ? "string" : "array";
}

function objectFor(schema: JsonObject, context: Context, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (depth < MAX_DEPTH || required.includes(name)) made[name] = valueFor(property, context, depth + 1);
  }
  return made;
}

function arrayFor(schema: JsonObject, context: Context, depth: number): unknown[] {
  const least = typeof schema.minItems === "number" ? schema.minItems : 1;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : least;
  const length = depth >= MAX_DEPTH ? least : Math.max(0, Math.min(least, most, 1_000));
  return Array.from({ length }, () => valueFor(schema.items ?? { type: "string" }, context, depth + 1));
}

function numberFor(schema: JsonObject, wanted: number): number {
  const bound = (key: string, otherwise: number) =>
    typeof schema[key] === "number" ? schema[key] : otherwise;
  const low = Math.max(bound("minimum", -Infinity), bound("exclusiveMinimum", -Infinity) + 1);
  const high = Math.min(bound("maximum", Infinity), bound("exclusiveMaximum", Infinity) - 1);
  const value = Math.min(Math.max(wanted, low), Math.max(low, high));
  const step = bound("multipleOf", 0);
  return step > 0 ? Math.ceil((low > -Infinity ? low : 0) / step) * step : value;
}

function stringFor(schema: JsonObject, context: Context): string {
  const known = typeof schema.format === "string" ? FORMATS[schema.format] : undefined;
  let text = known ?? context.word();
  if (typeof schema.minLength === "number") text = text.padEnd(Math.min(schema.minLength, 10_000), "a");
  return typeof schema.maxLength === "number" ? text.slice(0, schema.maxLength) : text;
}

/** Resolves a local reference such as `#/$defs/step`; an unknown one fits anything. */
function resolve(reference: string, root: unknown): unknown {
  let found: unknown = root;
  for (const step of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) ? found[name] : undefined;
  }
  return found ?? {};
}
