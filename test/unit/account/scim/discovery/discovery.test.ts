/** The documents of RFC 7643 sections 5 to 7. */
import { describe, expect, test } from "vitest";
import { readUserBody } from "../../../../../src/account/scim/body.ts";
import {
  resourceTypes,
  schemaDocuments,
  serviceProviderConfig,
} from "../../../../../src/account/scim/discovery/discovery.ts";
import { GROUP, USER } from "../../../../../src/account/scim/schema.ts";
import { readGroupBody } from "../fixtures.ts";

const BASE = "https://gateway.example/scim/v2";

test("the service provider's configuration says what is supported", () => {
  expect(serviceProviderConfig(BASE)).toEqual({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: 200 },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "OAuth Bearer Token",
        description: expect.stringMatching(/./),
        specUri: "https://www.rfc-editor.org/info/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${BASE}/ServiceProviderConfig` },
  });
});

test("the resource types are User and Group, without extensions", () => {
  const [user, group, ...more] = resourceTypes(BASE);
  expect(user).toEqual({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id: "User",
    name: "User",
    endpoint: "/Users",
    description: expect.stringMatching(/./),
    schema: "urn:ietf:params:scim:schemas:core:2.0:User",
    schemaExtensions: [],
    meta: { resourceType: "ResourceType", location: `${BASE}/ResourceTypes/User` },
  });
  expect(group).toMatchObject({
    id: "Group",
    endpoint: "/Groups",
    schema: "urn:ietf:params:scim:schemas:core:2.0:Group",
  });
  expect(more).toEqual([]);
});

describe("schemas", () => {
  interface Document {
    readonly id: string;
    readonly attributes: readonly (Record<string, unknown> & {
      name: string;
      subAttributes?: Document["attributes"];
    })[];
  }
  const [user, group] = schemaDocuments(BASE) as unknown as readonly [Document, Document];
  const every = (attributes: Document["attributes"]): Document["attributes"] =>
    attributes.flatMap((attribute) => [attribute, ...every(attribute.subAttributes ?? [])]);

  test("list the attributes that are kept, and not the common ones", () => {
    expect(user).toMatchObject({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
      id: USER.id,
      name: "User",
      meta: { resourceType: "Schema", location: `${BASE}/Schemas/${USER.id}` },
    });
    expect(user.attributes.map(({ name }) => name)).toEqual([
      "userName",
      "name",
      "displayName",
      "title",
      "active",
      "emails",
      "groups",
      "roles",
    ]);
    expect(group.attributes.map(({ name }) => name)).toEqual(["displayName", "members"]);
  });

  test("have the characteristics of section 7 and nothing of our own", () => {
    expect(user.attributes[0]).toEqual({
      name: "userName",
      type: "string",
      multiValued: false,
      description: expect.stringMatching(/./),
      required: true,
      caseExact: false,
      mutability: "readWrite",
      returned: "default",
      uniqueness: "server",
    });
    const allowed = [
      "name",
      "type",
      "subAttributes",
      "multiValued",
      "description",
      "required",
      "canonicalValues",
      "caseExact",
      "mutability",
      "returned",
      "uniqueness",
      "referenceTypes",
    ];
    for (const attribute of every([...user.attributes, ...group.attributes])) {
      expect(allowed).toEqual(expect.arrayContaining(Object.keys(attribute)));
      expect(attribute.description).not.toBe("");
      expect(attribute.type === "complex").toBe(attribute.subAttributes !== undefined);
      if (attribute.type === "reference") expect(attribute.referenceTypes).toHaveLength(1);
    }
  });

  test("name exactly what a body may set", () => {
    const sample = (attributes: Document["attributes"]): Record<string, unknown> =>
      Object.fromEntries(
        attributes.filter(({ mutability }) => mutability !== "readOnly").map((a) => [a.name, sampleOf(a)]),
      );
    const sampleOf = ({ type, multiValued, subAttributes }: Document["attributes"][number]): unknown => {
      if (type !== "complex") return type === "boolean" ? true : "x";
      return multiValued ? [sample(subAttributes ?? [])] : sample(subAttributes ?? []);
    };
    const fullUser = { ...sample(user.attributes), externalId: "x" };
    const fullGroup = { ...sample(group.attributes), externalId: "x" };
    expect(readUserBody(fullUser)).toEqual(fullUser);
    expect(readGroupBody(fullGroup)).toEqual(fullGroup);
  });

  test("compare identifiers exactly, and names in any case", () => {
    const exact = [...USER.byName.values(), ...GROUP.byName.values()]
      .filter((a) => a.caseExact)
      .map((a) => a.name);
    expect(new Set(exact)).toEqual(new Set(["id", "externalId", "schemas"]));
  });
});
