/**
 * The attributes of users and groups that this service keeps (RFC 7643 sections 3.1, 4.1 and 4.2). Everything else that an
 * identity provider sends is dropped, the enterprise extension too: the gateway has no use for departments, managers,
 * addresses and phone numbers, and what it does not keep need not be erased.
 */
import { attribute, complex, type ResourceSchema } from "./attribute.ts";

/** Members of one group. */
export const MAX_MEMBERS = 10_000;

const readOnly = { mutability: "readOnly" } as const;
const exact = { caseExact: true } as const;

/** RFC 7643 section 3.1. The service writes all but externalId. */
export const COMMON_ATTRIBUTES = [
  attribute("schemas", "URNs of the schemas of the resource.", {
    type: "reference",
    referenceTypes: ["uri"],
    multiValued: true,
    returned: "always",
    ...readOnly,
    ...exact,
  }),
  attribute("id", "Identifier that the service chose.", {
    returned: "always",
    uniqueness: "server",
    ...readOnly,
    ...exact,
  }),
  attribute("externalId", "Identifier that the identity provider chose.", exact),
  complex(
    "meta",
    "About the resource itself.",
    [
      attribute("resourceType", "User or Group.", { ...readOnly, ...exact }),
      attribute("created", "When it was made.", { type: "dateTime", ...readOnly }),
      attribute("lastModified", "When it last changed.", { type: "dateTime", ...readOnly }),
      attribute("location", "Its URL.", {
        type: "reference",
        referenceTypes: ["uri"],
        ...readOnly,
        ...exact,
      }),
      attribute("version", "Its entity tag.", { ...readOnly, ...exact }),
    ],
    readOnly,
  ),
];

const reference = (description: string, type: string) =>
  attribute("$ref", description, { type: "reference", referenceTypes: [type], ...readOnly, ...exact });

const primary = attribute("primary", "True for at most one of the values.", { type: "boolean" });

const emails = complex(
  "emails",
  "E-mail addresses.",
  [
    attribute("value", "The address.", { maxChars: 320 }),
    attribute("display", "The address as it is shown.", { maxChars: 320 }),
    attribute("type", "What it is for.", { canonicalValues: ["work", "home", "other"] }),
    primary,
  ],
  { multiValued: true },
);

/** Entra ID writes a whole JSON object into `value` if its mapping says so. */
const roles = complex(
  "roles",
  "Roles at the identity provider.",
  [
    attribute("value", "The role.", { maxChars: 1024 }),
    attribute("display", "Its name as it is shown."),
    attribute("type", "Its kind."),
    primary,
  ],
  { multiValued: true },
);

const groups = complex(
  "groups",
  "Groups that the user is a member of; changed at the group.",
  [
    attribute("value", "Identifier of the group.", { ...readOnly, ...exact }),
    reference("URL of the group.", "Group"),
    attribute("display", "Name of the group.", readOnly),
    attribute("type", "Always direct.", { canonicalValues: ["direct"], ...readOnly }),
  ],
  { multiValued: true, ...readOnly },
);

/** With the common attributes. */
export function resourceSchema(schema: Omit<ResourceSchema, "byName">): ResourceSchema {
  const byName = new Map([...COMMON_ATTRIBUTES, ...schema.attributes].map((a) => [a.name.toLowerCase(), a]));
  return { ...schema, byName };
}

export const USER = resourceSchema({
  id: "urn:ietf:params:scim:schemas:core:2.0:User",
  name: "User",
  description: "A person in the directory of the organisation.",
  endpoint: "/Users",
  attributes: [
    attribute("userName", "Name to sign in with, often an e-mail address; unique in the organisation.", {
      required: true,
      uniqueness: "server",
    }),
    complex("name", "Parts of the name.", [
      attribute("formatted", "The whole name as it is shown."),
      attribute("familyName", "Family name."),
      attribute("givenName", "Given name."),
    ]),
    attribute("displayName", "Name that is shown."),
    attribute("title", "Job title."),
    attribute("active", "False if the person may not use the organisation.", { type: "boolean" }),
    emails,
    groups,
    roles,
  ],
});

/** Stored members are `{value}` alone: the service writes the other parts when it shows a group. */
const members = complex(
  "members",
  "Users in the group. Groups in groups are not supported.",
  [
    attribute("value", "Identifier of the user.", { mutability: "immutable", ...exact }),
    reference("URL of the user.", "User"),
    attribute("display", "Name of the user.", readOnly),
    attribute("type", "Always User.", { canonicalValues: ["User"], ...readOnly }),
  ],
  { multiValued: true, maxValues: MAX_MEMBERS, isKeyed: true },
);

export const GROUP = resourceSchema({
  id: "urn:ietf:params:scim:schemas:core:2.0:Group",
  name: "Group",
  description: "A group of people in the directory of the organisation.",
  endpoint: "/Groups",
  attributes: [attribute("displayName", "Name of the group.", { required: true }), members],
});
