/** An org as the console knows it, and what a change of it asks for: types alone, for what is tried without a browser. */
import type { Operations } from "../../api/operations.ts";

export type Org = Exclude<Operations["getMe"]["answer"]["orgs"][number], { readonly locked: string }>;
export type OrgBody = NonNullable<Operations["updateOrg"]["body"]>;
