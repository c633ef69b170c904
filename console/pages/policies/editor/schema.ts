/** The JSON schema of policies, as far as an editor asks it: what may be written at a path, and what it means. Pure. */
import { ITEM, type Path } from "./yaml-reader.ts";

export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** False: no other keys. */
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
}

/** The alternatives of a schema; what it says of itself holds for those that say nothing. */
export function alternatives(schema: Schema): readonly Schema[] {
  if (schema.anyOf === undefined) return [schema];
  const { anyOf, ...own } = schema;
  return anyOf.flatMap((each) => alternatives({ ...own, ...each }));
}

/** What may be at a path; nothing where the path leads out of the schema. */
export function schemasAt(root: Schema, path: Path): readonly Schema[] {
  let found = alternatives(root);
  for (const step of path)
    found = found.flatMap((schema) => {
      const next = stepInto(schema, step);
      return next === undefined ? [] : alternatives(next);
    });
  return found;
}

export function stepInto(schema: Schema, step: string): Schema | undefined {
  if (step === ITEM) return schema.items;
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, step))
    return schema.properties[step];
  const { additionalProperties: others } = schema;
  return typeof others === "object" ? others : undefined;
}

export const isMapping = (schema: Schema): boolean =>
  schema.properties !== undefined || typeof schema.additionalProperties === "object";
export const isSequence = (schema: Schema): boolean => schema.items !== undefined;

/** What a place takes, in words: `true or false`, `a whole number, 1 to 8`. */
export function takes(schemas: readonly Schema[]): string {
  return [...new Set(schemas.map(takesOne))].filter((each) => each !== "").join("; or ");
}

function takesOne(schema: Schema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.const !== undefined) return String(schema.const);
  if (isMapping(schema)) return "keys of its own";
  if (schema.items !== undefined) return `a list${isMapping(schema.items) ? "" : " of texts"}${most(schema)}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "integer") return `a whole number${range(schema)}`;
  if (schema.type === "number") return `a number${range(schema)}`;
  return schema.type === "string" ? "a text" : "";
}

const most = ({ maxItems }: Schema): string => (maxItems === undefined ? "" : `, at most ${maxItems}`);

const numbers = new Intl.NumberFormat("en");

function range({ minimum, maximum }: Schema): string {
  if (minimum === undefined && maximum === undefined) return "";
  if (maximum === undefined) return `, at least ${numbers.format(minimum ?? 0)}`;
  if (minimum === undefined) return `, at most ${numbers.format(maximum)}`;
  return `, ${numbers.format(minimum)} to ${numbers.format(maximum)}`;
}
