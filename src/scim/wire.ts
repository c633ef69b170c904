/** Shapes of the routes of SCIM for the API description. What bodies must hold is checked by `body.ts` and `patch-body.ts`. */
import { z } from "zod";
import { PATCH_SCHEMA } from "./patch-body.ts";

const schemas = z.array(z.string()).describe("URNs of the schemas of the resource");

export const idPath = z.object({ id: z.string().describe("Identifier that the service chose") });

export const resourceShape = z.looseObject({
  schemas,
  id: z.string().describe("Identifier that the service chose"),
  meta: z.looseObject({}).optional().describe("When it was made and changed, its URL and its entity tag"),
});

/** Documents of discovery, some of which have no id. */
export const documentShape = z.looseObject({ schemas });

export const listShape = z.object({
  schemas: schemas.readonly(),
  totalResults: z.int().describe("All that match, not only those of this page"),
  startIndex: z.int().describe("Of the first one; counted from 1"),
  itemsPerPage: z.int().describe("Those of this page"),
  Resources: z.array(z.looseObject({})).readonly().describe("Those of this page; empty if nothing matches"),
});

export const PATCH_EXAMPLE = {
  user: [{ op: "replace", path: "active", value: false }],
  group: [{ op: "add", path: "members", value: [{ value: "scu_01J8Z3K7Q5R6S7T8V9W0X1Y2Z3" }] }],
} as const;

export const patchBody = (operations: readonly object[]) =>
  z
    .looseObject({})
    .describe("A PatchOp of RFC 7644 section 3.5.2")
    .meta({ examples: [{ schemas: [PATCH_SCHEMA], Operations: operations }] });
