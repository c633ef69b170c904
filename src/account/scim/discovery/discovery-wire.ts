/** Shapes of the documents of discovery for the API description (RFC 7643 sections 5 to 7). */
import { z } from "zod";

const schemas = z.array(z.string()).describe("URNs of the schemas of the document");
const meta = z
  .object({
    resourceType: z.string().describe("Kind of the document"),
    location: z.string().describe("Its URL"),
  })
  .describe("About the document itself");

const supported = z.boolean().describe("Whether this service can do it");
const ability = z.object({ supported });

export const configShape = z.object({
  schemas,
  patch: ability.describe("Changes by PATCH"),
  bulk: z
    .object({
      supported,
      maxOperations: z.int().describe("Most operations of one request"),
      maxPayloadSize: z.int().describe("Most bytes of one request"),
    })
    .describe("Several changes in one request"),
  filter: z
    .object({ supported, maxResults: z.int().describe("Most resources of one answer") })
    .describe("Lists with a filter"),
  changePassword: ability.describe("Passwords"),
  sort: ability.describe("Lists in an order that the client chooses"),
  etag: ability.describe("Entity tags"),
  authenticationSchemes: z
    .array(
      z.object({
        type: z.string().describe("Kind of the scheme"),
        name: z.string().describe("Name of the scheme"),
        description: z.string().describe("What to send"),
        specUri: z.string().describe("Where it is specified"),
        primary: z.boolean().describe("Whether to prefer it"),
      }),
    )
    .describe("How a client says who it is"),
  meta,
});

export const resourceTypeShape = z.object({
  schemas,
  id: z.string().describe("`User` or `Group`"),
  name: z.string().describe("`User` or `Group`"),
  endpoint: z.string().describe("Where the resources are, below `/scim/v2`"),
  description: z.string().describe("What the resources are"),
  schema: z.string().describe("URN of their schema"),
  schemaExtensions: z.array(z.never()).describe("None"),
  meta,
});

const simpleAttribute = z.object({
  name: z.string().describe("Name of the attribute"),
  type: z
    .enum(["string", "boolean", "dateTime", "reference", "complex"])
    .describe("What its values are; `complex`: they have sub-attributes"),
  multiValued: z.boolean().describe("Whether it has a list of values"),
  description: z.string().describe("What it means"),
  required: z.boolean().describe("Whether a resource must have it"),
  canonicalValues: z.array(z.string()).optional().describe("Usual values"),
  referenceTypes: z.array(z.string()).optional().describe("What it refers to"),
  caseExact: z.boolean().optional().describe("Whether the case of letters matters"),
  mutability: z.enum(["readOnly", "readWrite", "immutable", "writeOnly"]).describe("Who may write it"),
  returned: z.enum(["always", "never", "default", "request"]).describe("When an answer has it"),
  uniqueness: z.enum(["none", "server", "global"]).optional().describe("Among which resources it is unique"),
});

export const attributeShape = simpleAttribute.extend({
  subAttributes: z.array(simpleAttribute).optional().describe("Parts of each value"),
});

export const schemaShape = z.object({
  schemas,
  id: z.string().describe("URN of the schema"),
  name: z.string().describe("`User` or `Group`"),
  description: z.string().describe("What the resources are"),
  attributes: z.array(attributeShape).describe("What is kept of them"),
  meta,
});
