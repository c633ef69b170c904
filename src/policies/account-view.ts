/**
 * What this room sees of accounts: whose a project or key is, and what an org allows. The account's tables have this shape.
 */
import type { RouteFacts } from "../routing/eligibility.ts";

export interface AccountView {
  project(id: string): { readonly orgId: string; readonly slug: string; readonly status: string } | undefined;
  key(
    id: string,
  ):
    | { readonly orgId: string; readonly projectId: string; readonly environment: "live" | "test" }
    | undefined;
  org(id: string): { readonly dataPolicy: RouteFacts["orgPolicy"] } | undefined;
}

/** Whether a project is there and of this org. Deleted ones are not. */
export function isProject(accounts: AccountView, orgId: string, id: string): boolean {
  const project = accounts.project(id);
  return project?.orgId === orgId && project.status !== "deleted";
}
