/** The documents by which a directory learns what this service can do (RFC 7644 section 4). */
import { type ScimCallDeps, scimOperation } from "../call.ts";
import { scimStatus } from "../error.ts";
import { listBody } from "../list.ts";
import { idPath, listShape } from "../wire.ts";
import { resourceTypes, schemaDocuments, serviceProviderConfig } from "./discovery.ts";
import { configShape, resourceTypeShape, schemaShape } from "./discovery-wire.ts";

export const discoveryOperations = (deps: ScimCallDeps) => ({
  scimConfig: scimOperation(deps, {
    name: "scimConfig",
    method: "GET",
    at: "/ServiceProviderConfig",
    summary: "What this SCIM service can do",
    output: configShape,
    run: (_input, { baseUrl }) => serviceProviderConfig(baseUrl),
  }),
  scimResourceTypes: scimOperation(deps, {
    name: "scimResourceTypes",
    method: "GET",
    at: "/ResourceTypes",
    summary: "Kinds of resources: users and groups",
    output: listShape(resourceTypeShape),
    run: (_input, { baseUrl }) => whole(resourceTypes(baseUrl)),
  }),
  scimResourceType: scimOperation(deps, {
    name: "scimResourceType",
    method: "GET",
    at: "/ResourceTypes/{id}",
    summary: "One kind of resource",
    path: idPath,
    output: resourceTypeShape,
    errors: ["not_found"],
    run: ({ path }, { baseUrl }) => named(resourceTypes(baseUrl), path.id),
  }),
  scimSchemas: scimOperation(deps, {
    name: "scimSchemas",
    method: "GET",
    at: "/Schemas",
    summary: "Attributes of users and groups",
    output: listShape(schemaShape),
    run: (_input, { baseUrl }) => whole(schemaDocuments(baseUrl)),
  }),
  scimSchema: scimOperation(deps, {
    name: "scimSchema",
    method: "GET",
    at: "/Schemas/{id}",
    summary: "Attributes of one kind of resource",
    path: idPath,
    output: schemaShape,
    errors: ["not_found"],
    run: ({ path }, { baseUrl }) => named(schemaDocuments(baseUrl), path.id),
  }),
});

const whole = <T extends object>(documents: readonly T[]) => listBody(documents.length, 1, documents);

/** @throws ScimError 404 */
function named<T extends { readonly id: string }>(documents: readonly T[], id: string): T {
  const document = documents.find((one) => one.id === id);
  if (document === undefined) throw scimStatus(404, "There is no such document.");
  return document;
}
