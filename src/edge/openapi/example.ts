/** Small example values for schemas, for the API description. */
import type { Json, Schema } from "./openapi-types.ts";

/**
 * A small value that fits a schema: its own example or default, else an object of the fields that are required or have
 * an example.
 */
export function exampleOf(schema: Schema): Json | string | number | boolean | null | unknown[] {
  const given = schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0];
  if (given !== undefined) return given as Json;
  const option = (schema.anyOf ?? schema.oneOf)?.find((v) => typeof v === "object");
  if (typeof option === "object") return exampleOf(option);
  if (schema.type === "object") {
    const properties = Object.entries(schema.properties ?? {});
    const told = properties.filter(
      ([name, value]) => schema.required?.includes(name) || schemaOrNone(value)?.examples !== undefined,
    );
    const shown = told.length > 0 ? told : properties.slice(0, 1);
    return Object.fromEntries(shown.map(([name, value]) => [name, exampleOf(schemaOrNone(value) ?? {})]));
  }
  if (schema.type === "array") return [exampleOf(itemsOf(schema) ?? {})];
  if (schema.type === "boolean") return true;
  if (schema.type === "integer" || schema.type === "number") return Math.max(1, schema.minimum ?? 1);
  return schema.type === "null" ? null : "text";
}

export const schemaOrNone = (value: Schema | boolean | undefined): Schema | undefined =>
  typeof value === "object" && Object.keys(value).length > 0 ? value : undefined;

export const itemsOf = ({ items }: Schema): Schema | undefined =>
  Array.isArray(items) ? undefined : schemaOrNone(items as Schema | boolean | undefined);
