/**
 * All operations of this room, for the route table.
 */
import { type KeyOperationDeps, keyOperations } from "./key-operations.ts";
import { type ProjectOperationDeps, projectOperations } from "./project-operations.ts";

export type AccountOperationDeps = KeyOperationDeps & ProjectOperationDeps;

export const accountOperations = (deps: AccountOperationDeps) => ({
  ...keyOperations(deps),
  ...projectOperations(deps),
});
