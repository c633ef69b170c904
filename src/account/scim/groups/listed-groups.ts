/** Groups as lists find and show them. Members are read where a filter or the answer needs them, and no more of them. */
import { type AnswerParts, type FullAnswer, raw } from "../../../base/operation/answer.ts";
import { isShown, type Projection, project } from "../attributes.ts";
import type { ScimCall } from "../call.ts";
import { SCIM_MEDIA_TYPE, scimFail } from "../error.ts";
import type { Filter } from "../filter/filter.ts";
import type { RequiredEquality } from "../filter/match.ts";
import type { Listed } from "../filtered-list.ts";
import type { MembershipDeps } from "../membership.ts";
import { etagOf, groupResource, memberValue, type ScimGroupRow } from "../rows.ts";
import { GROUP } from "../schema.ts";
import { STEPS_OF_ROW } from "../slices.ts";
import { memberSlices } from "./group-members.ts";

/** Members of all groups of one answer, and of one search. */
const MOST_SHOWN = 20_000;

/** A group as JSON in UTF-8. Members are written in slices: 10,000 of them have more than a megabyte. */
export async function shownGroup(
  deps: MembershipDeps,
  { baseUrl }: ScimCall,
  row: ScimGroupRow,
  projection: Projection,
): Promise<Buffer> {
  const head = JSON.stringify(project(GROUP, projection, groupResource(row, baseUrl)));
  const parts: Buffer[] = [];
  if (isShown(GROUP, projection, "members")) {
    for await (const ids of memberSlices(deps, row.orgId, row.id)) {
      const { members } = project(GROUP, projection, { members: ids.map((id) => memberValue(baseUrl, id)) });
      const text = JSON.stringify(members).slice(1, -1);
      parts.push(Buffer.from(parts.length === 0 ? text : `,${text}`));
    }
  }
  if (parts.length === 0) return Buffer.from(head);
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"members":[`), ...parts, Buffer.from("]}")]);
}

/** A group as the answer to a request that is about it. */
export async function groupAnswer(
  deps: MembershipDeps,
  call: ScimCall,
  row: ScimGroupRow,
  { projection, ...parts }: AnswerParts & { readonly projection: Projection },
): Promise<FullAnswer<never>> {
  const { headers } = parts;
  const shown = await shownGroup(deps, call, row, projection);
  return raw(SCIM_MEDIA_TYPE, shown, { ...parts, headers: { ...headers, etag: etagOf(row) } });
}

/** With all its members, as a filter looks at it. */
async function wholeGroup(deps: MembershipDeps, row: ScimGroupRow, baseUrl: string): Promise<object> {
  const members: object[] = [];
  for await (const ids of memberSlices(deps, row.orgId, row.id)) {
    for (const id of ids) members.push(memberValue(baseUrl, id));
  }
  return { ...groupResource(row, baseUrl), ...(members.length > 0 && { members }) };
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
        return wholeGroup(deps, row, baseUrl);
      }
      steps.take(sought.length * 10);
      const members = sought
        .filter((id) => tables.isMember(orgId, row.id, id))
        .map((id) => memberValue(baseUrl, id));
      return { ...groupResource(row, baseUrl), ...(members.length > 0 && { members }) };
    },
    shown(row, projection) {
      if (isShown(GROUP, projection, "members")) spend(budget, row);
      return shownGroup(deps, call, row, projection);
    },
    // Members are read in slices of their own.
    cost: () => STEPS_OF_ROW,
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
      // "Not this one", asked of one value of many, is about the others.
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
