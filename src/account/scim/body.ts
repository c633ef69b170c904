/**
 * Users and groups as POST and PUT send them. Lenient, as identity providers are: names in any case, unknown and read-only
 * attributes dropped, "True" for true.
 */
import { z } from "zod";
import type { Attribute, ResourceSchema } from "./attribute.ts";
import { scimFail } from "./error.ts";
import { ValueList } from "./patch/value-list.ts";
import { GROUP, MAX_MEMBERS, USER } from "./schema.ts";
import { atOnce, type Sliced } from "./slices.ts";
import { Steps } from "./steps.ts";
import { type AttributeValue, isObject, readComplex, readingValues, readSimple } from "./values.ts";

const text = z.string().optional();

const several = z.array(
  z.object({ value: z.string(), display: text, type: text, primary: z.boolean().optional() }),
);

/** Lengths are those of `schema.ts`. An absent `active` says nothing: the caller decides what that means. */
const userBodySchema = z.object({
  userName: z.string(),
  externalId: text,
  name: z.object({ formatted: text, familyName: text, givenName: text }).optional(),
  displayName: text,
  title: text,
  active: z.boolean().optional(),
  emails: several.optional(),
  roles: several.optional(),
});

/** Members are there once each; whether they are users is the caller's to know. */
const groupBodySchema = z.object({
  displayName: z.string(),
  externalId: text,
  members: z
    .array(z.object({ value: z.string() }))
    .max(MAX_MEMBERS)
    .optional(),
});

export type UserBody = z.output<typeof userBodySchema>;
export type GroupBody = z.output<typeof groupBodySchema>;

/** @throws ScimError `invalidSyntax` if the body is no object, `invalidValue` if a value is wrong or a required one missing */
export const readUserBody = (raw: unknown): UserBody =>
  userBodySchema.parse(atOnce(readingResource(USER, raw, new Steps())));

/** In slices: a group has many members. @throws ScimError as {@link readUserBody} */
export function* readingGroup(raw: unknown, steps: Steps): Sliced<GroupBody> {
  const read = yield* readingResource(GROUP, raw, steps);
  return groupBodySchema.parse(read);
}

/** RFC 7644 section 3.5.1: read-only attributes are ignored. */
function* readingResource(
  schema: ResourceSchema,
  raw: unknown,
  steps: Steps,
): Sliced<Record<string, AttributeValue>> {
  if (!isObject(raw)) throw scimFail("invalidSyntax", "The body must be a JSON object.");
  const read: Record<string, AttributeValue> = {};
  for (const [name, part] of Object.entries(raw)) {
    const attribute = schema.byName.get(name.toLowerCase());
    if (attribute === undefined || attribute.mutability === "readOnly") continue;
    const value = yield* readingAttribute(attribute, part, steps);
    if (value !== undefined) read[attribute.name] = value;
  }
  for (const { name, required } of schema.attributes) {
    if (required && read[name] === undefined) throw scimFail("invalidValue", `${name} is required.`);
  }
  return read;
}

function* readingAttribute(
  attribute: Attribute,
  raw: unknown,
  steps: Steps,
): Sliced<AttributeValue | undefined> {
  if (!attribute.multiValued) {
    return attribute.type === "complex" ? readComplex(attribute, raw) : readSimple(attribute, raw);
  }
  const list = new ValueList(attribute, [], steps);
  yield* list.add(yield* readingValues(attribute, raw, steps));
  const values = list.toArray();
  return values.length === 0 ? undefined : values;
}
