/** Groups as lists find and show them. Members are read where a filter or the answer needs them, and no more of them. */
import type { z } from "zod";
import { isShown, type Projection, project } from "./attributes.ts";
import type { ScimCall } from "./call.ts";
import { scimFail } from "./error.ts";
import type { Filter } from "./filter.ts";
import { allMembers } from "./group-members.ts";
import type { Listed } from "./listing.ts";
import type { RequiredEquality } from "./match.ts";
import type { MembershipDeps } from "./membership.ts";
import { groupResource, type ScimGroupRow } from "./rows.ts";
import { GROUP } from "./schema.ts";
import type { groupShape } from "./wire.ts";

/** Members of all groups of one answer, and of one search. */
const MOST_SHOWN = 20_000;

export async function shownGroup(
  deps: MembershipDeps,
  { baseUrl }: ScimCall,
  row: ScimGroupRow,
  projection: Projection,
): Promise<z.input<typeof groupShape>> {
  const isWhole = isShown(GROUP, projection, "members");
  const members = isWhole ? await allMembers(deps, row.orgId, row.id) : undefined;
  return project(GROUP, projection, groupResource(row, baseUrl, members)) as z.input<typeof groupShape>;
}

export function listedGroups(deps: MembershipDeps, call: ScimCall): Listed<ScimGroupRow> {
  const { tables } = deps;
  const { orgId, baseUrl } = call;
  const budget = { left: MOST_SHOWN };
  let sought: ReturnType<typeof soughtMembers> | undefined;
  return {
    schema: GROUP,
    total: tables.counts(orgId).groups,
    indexed: (equality) => indexedGroups(deps, orgId, equality),
    after: (id) => tables.groupsAfter(orgId, id),
    forFilter(row, filter, steps) {
      sought ??= soughtMembers(filter);
      if (sought === "all") {
        spend(budget, row);
        return allMembers(deps, orgId, row.id).then((ids) => groupResource(row, baseUrl, ids));
      }
      steps.take(sought.length * 10);
      const members = sought.filter((id) => tables.isMember(orgId, row.id, id));
      return groupResource(row, baseUrl, members);
    },
    shown(row, projection) {
      if (isShown(GROUP, projection, "members")) spend(budget, row);
      return shownGroup(deps, call, row, projection);
    },
  };
}

/** @throws ScimError `tooMany` */
function spend(budget: { left: number }, { memberCount }: ScimGroupRow): void {
  budget.left -= memberCount;
  if (budget.left >= 0) return;
  const hint = "Ask with excludedAttributes=members, or for fewer groups.";
  throw scimFail("tooMany", `The groups have more than ${MOST_SHOWN} members together. ${hint}`);
}

/**
 * Ids of the members that a filter asks about, which Entra ID does by `id eq "…" and members eq "…"`; `all` if it asks more of
 * members than whether some are there.
 */
function soughtMembers(filter: Filter): readonly string[] | "all" {
  const sought: string[] = [];
  return collects(filter, false, sought) ? sought : "all";
}

function collects(filter: Filter, isWithinMembers: boolean, sought: string[]): boolean {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.every((part) => collects(part, isWithinMembers, sought));
    case "not":
      // Of one value of many, "not this one" asks about the others.
      return isWithinMembers ? false : collects(filter.filter, false, sought);
    case "some":
      return collects(filter.filter, filter.path.attribute?.name === "members", sought);
    default: {
      if (!isWithinMembers && filter.path.attribute?.name !== "members") return true;
      if (filter.op !== "eq" || typeof filter.value !== "string") return false;
      sought.push(filter.value);
      return true;
    }
  }
}

function indexedGroups(
  { tables }: MembershipDeps,
  orgId: string,
  { attribute, value }: RequiredEquality,
): readonly ScimGroupRow[] | undefined {
  if (attribute === "externalId") return tables.groupsByExternalId(orgId, value);
  if (attribute === "displayName") return tables.groupsByName(orgId, value);
  if (attribute !== "id") return undefined;
  const row = tables.group(orgId, value);
  return row === undefined ? [] : [row];
}
