/**
 * The documents by which clients learn what this service can do (RFC 7643 sections 5 to 7, RFC 7644 section 4).
 */
import type { z } from "zod";
import type { Attribute, ResourceSchema } from "../attribute.ts";
import { MAX_RESULTS } from "../list.ts";
import { GROUP, USER } from "../schema.ts";
import type { attributeShape, configShape, resourceTypeShape, schemaShape } from "./discovery-wire.ts";

const CONFIG_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const TYPE_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const SCHEMA_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema";

const RESOURCES: readonly ResourceSchema[] = [USER, GROUP];

/** @param baseUrl of the service, such as `https://gateway.example/scim/v2` */
export function serviceProviderConfig(baseUrl: string): z.input<typeof configShape> {
  return {
    schemas: [CONFIG_SCHEMA],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "OAuth Bearer Token",
        description: "The organisation's SCIM token in the Authorization header.",
        specUri: "https://www.rfc-editor.org/info/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${baseUrl}/ServiceProviderConfig` },
  };
}

/** One document for each resource type. @param baseUrl as of {@link serviceProviderConfig} */
export function resourceTypes(baseUrl: string): z.input<typeof resourceTypeShape>[] {
  return RESOURCES.map(({ id, name, description, endpoint }) => ({
    schemas: [TYPE_SCHEMA],
    id: name,
    name,
    endpoint,
    description,
    schema: id,
    schemaExtensions: [],
    meta: { resourceType: "ResourceType", location: `${baseUrl}/ResourceTypes/${name}` },
  }));
}

/** One document for each schema. @param baseUrl as of {@link serviceProviderConfig} */
export function schemaDocuments(baseUrl: string): z.input<typeof schemaShape>[] {
  return RESOURCES.map(({ id, name, description, attributes }) => ({
    schemas: [SCHEMA_SCHEMA],
    id,
    name,
    description,
    attributes: attributes.map(attributeDocument),
    meta: { resourceType: "Schema", location: `${baseUrl}/Schemas/${id}` },
  }));
}

/** RFC 7643 section 7. Case and uniqueness are said of texts only, as in its section 8.7. */
function attributeDocument(attribute: Attribute): z.input<typeof attributeShape> {
  const { name, type, multiValued, description, required, mutability, returned, uniqueness } = attribute;
  const { subAttributes, canonicalValues, referenceTypes, caseExact } = attribute;
  const isText = type === "string" || type === "reference";
  return {
    name,
    type,
    ...(subAttributes !== undefined && { subAttributes: subAttributes.map(attributeDocument) }),
    multiValued,
    description,
    required,
    ...(canonicalValues !== undefined && { canonicalValues: [...canonicalValues] }),
    ...(referenceTypes !== undefined && { referenceTypes: [...referenceTypes] }),
    ...(isText && { caseExact }),
    mutability,
    returned,
    ...(isText && { uniqueness }),
  };
}
