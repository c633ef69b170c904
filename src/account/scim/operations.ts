/** What the routes of SCIM and of its token run. */
import { discoveryOperations } from "./discovery/discovery-operations.ts";
import { type GroupOperationDeps, groupOperations } from "./groups/group-operations.ts";
import { type TokenOperationDeps, tokenOperations } from "./token-operations.ts";
import { userOperations } from "./user-operations.ts";

export type ScimOperationDeps = TokenOperationDeps & GroupOperationDeps;

export const scimOperations = (deps: ScimOperationDeps) => ({
  ...tokenOperations(deps),
  ...userOperations(deps),
  ...groupOperations(deps),
  ...discoveryOperations(deps),
});
