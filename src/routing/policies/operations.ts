/**
 * All operations of this room, for the route table.
 */
import { type DryRunDeps, dryRunOperations } from "./dry-run-operations.ts";
import { policyNameOperations } from "./policy-names.ts";
import { type PolicyOperationDeps, policyOperations } from "./policy-operations.ts";
import { type ReportDeps, reportOperations } from "./report-operations.ts";

export type PoliciesOperationDeps = PolicyOperationDeps & DryRunDeps & ReportDeps;

export const policiesOperations = (deps: PoliciesOperationDeps) => ({
  ...policyOperations(deps),
  ...policyNameOperations(deps),
  ...dryRunOperations(deps),
  ...reportOperations(deps),
});
