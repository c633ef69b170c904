/**
 * Each step in which a schema is written makes a copy: `z.string().min(1).describe("…")` makes three schemas. Zod keeps the first two as
 * parents of the third, since a schema inherits the descriptions and other metadata of its parents. Parents without metadata are a third of
 * all schemas: they take 4 MB of resident memory, and nothing reads them.
 */
import { z } from "zod";

type Schema = z.core.$ZodType;

/** Schemas that are shared by several routes, and whole routes of a second gateway in one process, are looked through once. */
const lookedAt = new WeakSet<Schema>();

/** Lets go of parents without metadata, also those of schemas within this one. What the schema accepts, returns and describes stays the same. */
export function letParentsGo(schema: Schema | undefined): void {
  const waiting = schema === undefined ? [] : [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (lookedAt.has(next)) continue;
    lookedAt.add(next);
    shorten(next);
    waiting.push(...partsOf(next._zod.def));
  }
}

function shorten(schema: Schema): void {
  const { parent } = schema._zod;
  if (parent === undefined) return;
  shorten(parent);
  if (parent._zod.parent === undefined && !z.globalRegistry.has(parent)) schema._zod.parent = undefined;
}

/** Schemas within a definition: an element, members, branches. Those that are made later, by `z.lazy`, are not made for this. */
const partsOf = (definition: object): Schema[] =>
  Object.values(definition).flatMap((part: unknown) => {
    if (typeof part !== "object" || part === null) return [];
    if (isSchema(part)) return [part];
    return Object.values(part).filter(isSchema);
  });

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "_zod" in value && "run" in (value._zod as object);
