/**
 * Shapes of the routes of SCIM as the API description prints them, made from the tables of `schema.ts`. Answers have them exactly.
 * The shapes of bodies say what is understood; `body.ts` and `patch-body.ts` read bodies, and are more lenient.
 */
import { z } from "zod";
import type { Attribute, ResourceSchema } from "./attribute.ts";
import { LIST_SCHEMA } from "./list.ts";
import { MAX_OPERATIONS, PATCH_SCHEMA } from "./patch/patch-body.ts";
import { COMMON_ATTRIBUTES, GROUP, USER } from "./schema.ts";

type Shown = Readonly<Record<string, unknown>>;

/** Further answers of reading and of changing a resource. */
export const NOT_MODIFIED = { 304: "It is as the entity tag of `If-None-Match` has it." } as const;
export const CHANGED = { 412: "It has changed since the entity tag of `If-Match`." } as const;

export const idPath = z.object({ id: z.string().describe("Identifier that the service chose") });

/** A value of the attribute, with its meaning. @param only those of its parts */
function valueShape(attribute: Attribute, only: (part: Attribute) => boolean): z.ZodType {
  const { multiValued, description } = attribute;
  const one = oneShape(attribute, only);
  return (multiValued ? z.array(one) : one).describe(description.replace(/\.$/, ""));
}

function oneShape(attribute: Attribute, only: (part: Attribute) => boolean): z.ZodType {
  const { type, canonicalValues, mutability, subAttributes = [] } = attribute;
  if (type === "complex") return z.object(optionalShapes(subAttributes, only));
  if (type === "boolean") return z.boolean();
  if (type === "dateTime") return z.iso.datetime();
  // Where the client may write, the canonical values are a proposal (RFC 7643 section 7).
  return mutability === "readOnly" && canonicalValues !== undefined ? z.enum(canonicalValues) : z.string();
}

const optionalShapes = (attributes: readonly Attribute[], only: (attribute: Attribute) => boolean) =>
  Object.fromEntries(attributes.filter(only).map((a) => [a.name, valueShape(a, only).optional()]));

const isEvery = (): boolean => true;

/** With `attributes` and `excludedAttributes` any attribute may be missing that is not always returned. */
function resourceShape({ name, attributes }: ResourceSchema, example: Shown): z.ZodType<Shown, Shown> {
  const all = [...COMMON_ATTRIBUTES, ...attributes];
  const always = all.filter(({ returned }) => returned === "always");
  const shapes = {
    ...optionalShapes(all, isEvery),
    ...Object.fromEntries(always.map((a) => [a.name, valueShape(a, isEvery)])),
  };
  return z.object(shapes).meta({ title: name, examples: [example] });
}

const isWritable = ({ name, mutability }: Attribute): boolean =>
  mutability !== "readOnly" || name === "schemas";

/** What POST and PUT understand. Anything is let through here: what it must be, `body.ts` says in the words of SCIM. */
function resourceBody({ name, attributes }: ResourceSchema, description: string, example: Shown) {
  const shapes = optionalShapes([...COMMON_ATTRIBUTES, ...attributes], isWritable);
  const required = attributes.filter((attribute) => attribute.required).map((attribute) => attribute.name);
  const { properties } = z.toJSONSchema(z.object(shapes));
  return z
    .looseObject({})
    .describe(description)
    .meta({ title: name, properties, required, examples: [example] });
}

const USER_EXAMPLE = {
  schemas: [USER.id],
  userName: "ann@example.com",
  externalId: "00u1ann",
  name: { givenName: "Ann", familyName: "Lee" },
  emails: [{ value: "ann@example.com", type: "work", primary: true }],
  active: true,
};
const USER_ID = "scu_01J8Z3K7Q5R6S7T8V9W0X1Y2Z3";
const GROUP_ID = "scg_01J8Z3K7Q5R6S7T8V9W0X1Y2Z3";

const metaExample = (resourceType: string, location: string) => ({
  resourceType,
  created: "2026-09-09T08:00:00.000Z",
  lastModified: "2026-09-09T08:00:00.000Z",
  location: `https://gateway.example/scim/v2${location}`,
  version: 'W/"1"',
});

export const userShape = resourceShape(USER, {
  ...USER_EXAMPLE,
  id: USER_ID,
  meta: metaExample(USER.name, `${USER.endpoint}/${USER_ID}`),
});

export const groupShape = resourceShape(GROUP, {
  schemas: [GROUP.id],
  id: GROUP_ID,
  displayName: "weir-admin",
  members: [{ value: USER_ID, type: USER.name }],
  meta: metaExample(GROUP.name, `${GROUP.endpoint}/${GROUP_ID}`),
});

export const userBody = resourceBody(
  USER,
  "A User of RFC 7643 section 4.1; attributes that are not kept are dropped",
  USER_EXAMPLE,
);

export const groupBody = resourceBody(GROUP, "A Group of RFC 7643 section 4.2", {
  schemas: [GROUP.id],
  displayName: "weir-admin",
  members: [],
});

/** @param resource of the list */
export const listShape = <S extends z.ZodType>(resource: S) =>
  z
    .object({
      schemas: z
        .tuple([z.literal(LIST_SCHEMA)])
        .readonly()
        .describe("URN of the message"),
      totalResults: z.int().describe("All that match, not only those of this page"),
      startIndex: z.int().describe("Index of the first one; counted from 1"),
      itemsPerPage: z.int().describe("Those of this page"),
      Resources: z.array(resource).readonly().describe("Those of this page; empty if nothing matches"),
    })
    .meta({
      title: "ListResponse",
      examples: [
        {
          schemas: [LIST_SCHEMA],
          totalResults: 1,
          startIndex: 1,
          itemsPerPage: 1,
          Resources: resource.meta()?.examples ?? [],
        },
      ],
    });

export const PATCH_EXAMPLE = {
  user: [{ op: "replace", path: "active", value: false }],
  group: [{ op: "add", path: "members", value: [{ value: USER_ID }] }],
} as const;

const patchShape = z.object({
  schemas: z.array(z.literal(PATCH_SCHEMA)).optional().describe("URN of the message"),
  Operations: z
    .array(
      z.object({
        op: z.enum(["add", "remove", "replace"]).describe("What to do; in any case of letters"),
        path: z
          .string()
          .optional()
          .describe('What to change: `active`, `name.familyName` or `emails[type eq "work"].value`'),
        value: z
          .unknown()
          .describe("What to set; without a path an object of attributes. Not for every removal"),
      }),
    )
    .min(1)
    .max(MAX_OPERATIONS)
    .describe("Done in their order, all or none"),
});

/** As {@link resourceBody}: what it must be, `patch-body.ts` says. */
export const patchBody = (operations: readonly object[]) => {
  const { properties, required } = z.toJSONSchema(patchShape, { io: "input" });
  return z
    .looseObject({})
    .describe("A PatchOp of RFC 7644 section 3.5.2")
    .meta({
      title: "PatchOp",
      properties,
      required,
      examples: [{ schemas: [PATCH_SCHEMA], Operations: operations }],
    });
};
