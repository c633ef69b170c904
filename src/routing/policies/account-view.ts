/**
 * The part of accounts that this room reads: which org owns a project or key, and the org's data policy. The account
 * tables satisfy this interface.
 */
import { fail } from "../../base/errors.ts";
import type { RouteFacts } from "../planner/eligibility.ts";

export interface AccountView {
  project(id: string): { readonly orgId: string; readonly slug: string; readonly status: string } | undefined;
  key(
    id: string,
  ):
    | { readonly orgId: string; readonly projectId: string; readonly environment: "live" | "test" }
    | undefined;
  org(id: string): { readonly dataPolicy: RouteFacts["orgPolicy"] } | undefined;
}

/** Whether the project exists, is not deleted, and belongs to this org. */
export function isProject(accounts: AccountView, orgId: string, id: string): boolean {
  const project = accounts.project(id);
  return project?.orgId === orgId && project.status !== "deleted";
}

/** @param param the field that names the project @throws WeirError `not_found` where the org has no such project */
export function assertProject(accounts: AccountView, orgId: string, id: string, param: string): void {
  if (!isProject(accounts, orgId, id)) throw fail("not_found", "There is no such project.", { param });
}
