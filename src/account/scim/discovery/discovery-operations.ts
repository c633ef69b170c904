/** The documents by which a directory learns what this service can do (RFC 7644 section 4). */
import { type ScimCallDeps, scimOperation } from "../call.ts";
import { scimStatus } from "../error.ts";
import { listBody } from "../list.ts";
import { idPath, listShape } from "../wire.ts";
import { resourceTypes, schemaDocuments, serviceProviderConfig } from "./discovery.ts";
import { configShape, resourceTypeShape, schemaShape } from "./discovery-wire.ts";

export const discoveryOperations = (deps: ScimCallDeps) => ({
  scimConfig: scimOperation(deps, {
    summary: "What this SCIM service can do",
    method: "GET",
    path: "/scim/v2/ServiceProviderConfig",
    output: configShape,
    run: (_input, { baseUrl }) => serviceProviderConfig(baseUrl),
  }),
  scimResourceTypes: scimOperation(deps, {
    summary: "Kinds of resources: users and groups",
    method: "GET",
    path: "/scim/v2/ResourceTypes",
    output: listShape(resourceTypeShape),
    run: (_input, { baseUrl }) => whole(resourceTypes(baseUrl)),
  }),
  scimResourceType: scimOperation(deps, {
    summary: "One kind of resource",
    method: "GET",
    path: "/scim/v2/ResourceTypes/{id}",
    params: idPath,
    output: resourceTypeShape,
    errors: ["not_found"],
    run: ({ params }, { baseUrl }) => named(resourceTypes(baseUrl), params.id),
  }),
  scimSchemas: scimOperation(deps, {
    summary: "Attributes of users and groups",
    method: "GET",
    path: "/scim/v2/Schemas",
    output: listShape(schemaShape),
    run: (_input, { baseUrl }) => whole(schemaDocuments(baseUrl)),
  }),
  scimSchema: scimOperation(deps, {
    summary: "Attributes of one kind of resource",
    method: "GET",
    path: "/scim/v2/Schemas/{id}",
    params: idPath,
    output: schemaShape,
    errors: ["not_found"],
    run: ({ params }, { baseUrl }) => named(schemaDocuments(baseUrl), params.id),
  }),
});

const whole = <T extends object>(documents: readonly T[]) => listBody(documents.length, 1, documents);

/** @throws ScimError 404 */
function named<T extends { readonly id: string }>(documents: readonly T[], id: string): T {
  const document = documents.find((one) => one.id === id);
  if (document === undefined) throw scimStatus(404, "There is no such document.");
  return document;
}
