/**
 * All operations of this room, for the route table.
 */
import { type DryRunDeps, dryRunOperations } from "./dry-run-operations.ts";
import { type PolicyOperationDeps, policyOperations } from "./policy-operations.ts";
import { type ReportDeps, reportOperations } from "./report-operations.ts";

export type PoliciesOperationDeps = PolicyOperationDeps & DryRunDeps & ReportDeps;

export const policiesOperations = (deps: PoliciesOperationDeps) => ({
  ...policyOperations(deps),
  ...dryRunOperations(deps),
  ...reportOperations(deps),
});
