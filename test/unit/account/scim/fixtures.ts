/** Resources and schemas for the tests of SCIM, and what a refusal says. */
import { attribute, complex } from "../../../../src/account/scim/attribute.ts";
import { type GroupBody, readingGroup } from "../../../../src/account/scim/body.ts";
import { ScimError } from "../../../../src/account/scim/error.ts";
import type { Filter } from "../../../../src/account/scim/filter/filter.ts";
import { matching } from "../../../../src/account/scim/filter/match.ts";
import type { PatchOperation } from "../../../../src/account/scim/patch/patch-body.ts";
import { resourceSchema, USER } from "../../../../src/account/scim/schema.ts";
import { atOnce } from "../../../../src/account/scim/slices.ts";
import { Steps } from "../../../../src/account/scim/steps.ts";

/** With the attributes of the RFC's examples that the service does not keep. */
export const RFC_USER = resourceSchema({
  ...USER,
  attributes: [
    ...USER.attributes,
    attribute("userType", ""),
    attribute("nickName", ""),
    complex("ims", "", [attribute("value", ""), attribute("type", "")], { multiValued: true }),
    complex(
      "addresses",
      "",
      [
        ...["formatted", "streetAddress", "locality", "region", "postalCode", "country", "type"].map((name) =>
          attribute(name, ""),
        ),
        attribute("primary", "", { type: "boolean" }),
      ],
      { multiValued: true },
    ),
  ],
});

export const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/** The person of the RFC's examples. */
export const BARBARA = deepFreeze({
  schemas: [USER.id],
  id: "2819c223-7f76-453a-919d-413861904646",
  externalId: "701984",
  userName: "bjensen",
  name: { formatted: "Ms. Barbara J Jensen", familyName: "Jensen", givenName: "Barbara" },
  title: "Vice President",
  userType: "Employee",
  active: true,
  emails: [
    { value: "bjensen@example.com", type: "work", primary: true },
    { value: "babs@jensen.org", type: "home" },
  ],
  addresses: [
    { type: "work", streetAddress: "100 Universal City Plaza", locality: "Hollywood", country: "USA" },
    { type: "home", streetAddress: "456 Hollywood Blvd", locality: "Hollywood", country: "USA" },
  ],
  groups: [{ value: "e9e30dba", display: "Tour Guides" }],
  meta: { resourceType: "User", lastModified: "2011-05-13T04:42:34Z", version: 'W/"1"' },
});

export const GROUP_ID = "acbf3ae7-8463-9692-b4fd-9b4da3f908ce";

export const group = (...members: string[]) =>
  deepFreeze({
    id: GROUP_ID,
    displayName: "Tour Guides",
    ...(members.length > 0 && { members: members.map((value) => ({ value })) }),
  });

/** So that a write to what must not change throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

export const op = (
  name: PatchOperation["op"],
  path: string | undefined,
  value?: unknown,
): PatchOperation => ({
  op: name,
  ...(path !== undefined && { path }),
  ...(value !== undefined && { value }),
});

/** Whether a resource matches, found without a pause. */
export const matches = (filter: Filter, resource: object, steps = new Steps()): boolean =>
  atOnce(matching(filter, resource, steps));

/** A group as POST and PUT send it, read without a pause. */
export const readGroupBody = (raw: unknown): GroupBody => atOnce(readingGroup(raw, new Steps()));

/** Status and keyword of the ScimError that the act throws; other errors pass. */
export function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ScimError) return `${error.status} ${error.scimType}`;
    throw error;
  }
  return "not refused";
}

/** The same of what goes on for a while. */
export async function refusalOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
  } catch (error) {
    if (error instanceof ScimError) return `${error.status} ${error.scimType}`;
    throw error;
  }
  return "not refused";
}
