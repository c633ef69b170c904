/** JSON Schema of the document, from zod's own: a field has the description that its schema was given. */
import { z } from "zod";
import type { Schema } from "./openapi-types.ts";

/** @param io what a schema takes, or what it gives: they differ by defaults and conversions */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): Schema {
  const { $schema, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return withLifted(json);
}

/** Zod leaves the description of a schema that was made nullable beside null: moved up, to where other fields have it. */
function withLifted(schema: Schema): Schema {
  const { anyOf = [], oneOf = [], allOf = [], items, additionalProperties, properties = {} } = schema;
  const inner = [anyOf, oneOf, allOf, items, additionalProperties, Object.values(properties)].flat();
  for (const part of inner) if (typeof part === "object") withLifted(part);
  const [branch, none] = anyOf;
  if (anyOf.length !== 2 || typeof branch !== "object" || typeof none !== "object") return schema;
  const { description, ...plain } = branch;
  if (none.type !== "null" || description === undefined) return schema;
  schema.description ??= description;
  if (Object.keys(plain).join() !== "type") return Object.assign(schema, { anyOf: [plain, none] });
  delete schema.anyOf;
  return Object.assign(schema, { type: [plain.type, "null"] });
}
