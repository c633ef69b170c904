/** `/scim/v2/Groups`: groups of users, some of which give a role (RFC 7644 section 3). */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { nextTurn } from "../../../base/clock.ts";
import { newId } from "../../../base/ids.ts";
import { FullAnswer } from "../../../base/operation/answer.ts";
import type { JobQueue } from "../../../store/jobs/jobs.ts";
import { type ProjectionQuery, projectionOf } from "../attributes.ts";
import { type GroupBody, readingGroup } from "../body.ts";
import { assertMatch, type ScimCall, type ScimCallDeps, scimOperation } from "../call.ts";
import { scimStatus } from "../error.ts";
import { ifNoneMatch } from "../etag.ts";
import { list, listQuery, projectionQuery } from "../filtered-list.ts";
import type { MembershipDeps } from "../membership.ts";
import { patching } from "../patch/patch.ts";
import { type PatchOperation, readPatchBody } from "../patch/patch-body.ts";
import { namedMembers } from "../patch/patched-members.ts";
import { roleOfName } from "../roles.ts";
import { etagOf, type GroupAttributes, groupLocation, type ScimGroupRow } from "../rows.ts";
import { GROUP } from "../schema.ts";
import { inSlices, Pace } from "../slices.ts";
import { Steps } from "../steps.ts";
import {
  CHANGED,
  groupBody,
  groupShape,
  idPath,
  listShape,
  NOT_MODIFIED,
  PATCH_EXAMPLE,
  patchBody,
} from "../wire.ts";
import { allMembers, assertUsers, changeMembers, type MemberChange, membersAmong } from "./group-members.ts";
import { settleGroupRoles } from "./group-role-job.ts";
import { groupAnswer, listedGroups } from "./listed-groups.ts";

export interface GroupOperationDeps extends MembershipDeps, ScimCallDeps {
  readonly jobs: Pick<JobQueue, "enqueue">;
}

export const MAX_GROUPS = 1000;
/** Tries of a change that is planned outside its act, where another one comes first each time. */
const TRIES = 5;

export function groupOperations(deps: GroupOperationDeps) {
  return { ...readingOperations(deps), ...changingOperations(deps) };
}

const readingOperations = (deps: GroupOperationDeps) => ({
  scimListGroups: scimOperation(deps, {
    summary: "Groups of the directory, filtered and paged; no match is an empty list",
    method: "GET",
    path: "/scim/v2/Groups",
    query: listQuery,
    output: listShape(groupShape),
    run: ({ query }, call) => list(listedGroups(deps, call), query),
  }),
  scimGetGroup: scimOperation(deps, {
    summary: "Read a group; with `excludedAttributes=members` without its members",
    method: "GET",
    path: "/scim/v2/Groups/{id}",
    params: idPath,
    query: z.object(projectionQuery),
    output: groupShape,
    errors: ["not_found"],
    otherStatuses: NOT_MODIFIED,
    run: ({ params, query }, call) => getGroup(deps, call, params.id, query),
  }),
});

const changingOperations = (deps: GroupOperationDeps) => ({
  scimCreateGroup: scimOperation(deps, {
    summary: "Add a group. One called as a role, or `weir-<role>`, gives its members that role",
    method: "POST",
    path: "/scim/v2/Groups",
    query: z.object(projectionQuery),
    body: groupBody,
    output: groupShape,
    status: 201,
    run: ({ query, body }, call) => createGroup(deps, call, query, body),
  }),
  scimReplaceGroup: scimOperation(deps, {
    summary: "Replace a group and its members",
    method: "PUT",
    path: "/scim/v2/Groups/{id}",
    params: idPath,
    query: z.object(projectionQuery),
    body: groupBody,
    output: groupShape,
    errors: ["not_found", "state"],
    otherStatuses: CHANGED,
    async run({ params, query, body }, call) {
      const projection = projectionOf(GROUP, query);
      const row = await replaceGroup(deps, call, params.id, body);
      return await groupAnswer(deps, call, row, { projection });
    },
  }),
  scimPatchGroup: scimOperation(deps, {
    summary: "Change a group; with `attributes` the answer is the group, otherwise empty",
    method: "PATCH",
    path: "/scim/v2/Groups/{id}",
    params: idPath,
    query: z.object(projectionQuery),
    body: patchBody(PATCH_EXAMPLE.group),
    output: groupShape.optional(),
    status: 204,
    errors: ["not_found", "state"],
    otherStatuses: { 200: "The group, because `attributes` asked for it.", ...CHANGED },
    async run({ params, query, body }, call) {
      const projection = projectionOf(GROUP, query);
      const row = await patchGroup(deps, call, params.id, readPatchBody(body));
      if (query.attributes !== undefined)
        return await groupAnswer(deps, call, row, { projection, status: 200 });
      return new FullAnswer<never>({ headers: { etag: etagOf(row) } }, {});
    },
  }),
  scimDeleteGroup: scimOperation(deps, {
    summary: "Remove a group; its members stay in the org",
    method: "DELETE",
    path: "/scim/v2/Groups/{id}",
    params: idPath,
    output: z.undefined(),
    status: 204,
    errors: ["not_found", "state"],
    otherStatuses: CHANGED,
    run: ({ params }, call) => deleteGroup(deps, call, params.id),
  }),
});

/** @throws ScimError 404, also for a group of another org */
function groupNamed({ tables }: GroupOperationDeps, { orgId }: ScimCall, id: string): ScimGroupRow {
  const row = tables.group(orgId, id);
  if (row === undefined) throw scimStatus(404, "There is no such group.");
  return row;
}

async function getGroup(deps: GroupOperationDeps, call: ScimCall, id: string, query: ProjectionQuery) {
  const row = groupNamed(deps, call, id);
  const headers = { etag: etagOf(row) };
  if (!ifNoneMatch(call.ifNoneMatch, headers.etag)) {
    return new FullAnswer<never>({ status: 304, headers }, {});
  }
  return await groupAnswer(deps, call, row, { projection: projectionOf(GROUP, query) });
}

async function createGroup(deps: GroupOperationDeps, call: ScimCall, query: ProjectionQuery, raw: unknown) {
  const { accounts, clock, tables, trail } = deps;
  const projection = projectionOf(GROUP, query);
  const { members, ...attributes } = await groupBodyOf(raw);
  const add = idsOf(members);
  await assertUsers(deps, call.orgId, add);
  const row = await accounts.act(() => {
    if (tables.counts(call.orgId).groups >= MAX_GROUPS) {
      throw scimStatus(403, `A directory has at most ${MAX_GROUPS} groups.`);
    }
    const nowMs = clock.now();
    const made: ScimGroupRow = {
      id: newId("scg", nowMs),
      orgId: call.orgId,
      attributes,
      memberCount: 0,
      createdAtMs: nowMs,
      changedAtMs: nowMs,
      version: 1,
    };
    tables.putGroup(made);
    const after = { ...attributes, members_added: add };
    trail.audit.note(call.caller, { act: "scim_group.create", target: made.id, after });
    return made;
  });
  await changeMembers(deps, call.caller, row, { add, remove: [] });
  const headers = { location: groupLocation(call.baseUrl, row.id) };
  return await groupAnswer(deps, call, row, { projection, headers });
}

/** @throws ScimError as `readUserBody` */
async function groupBodyOf(raw: unknown): Promise<GroupBody> {
  const steps = new Steps();
  return await inSlices(readingGroup(raw, steps), steps, new Pace());
}

const idsOf = (members: readonly { readonly value: string }[] = []): string[] =>
  members.map(({ value }) => value);

async function replaceGroup(deps: GroupOperationDeps, call: ScimCall, id: string, raw: unknown) {
  const { members, ...attributes } = await groupBodyOf(raw);
  const wanted = idsOf(members);
  await assertUsers(deps, call.orgId, wanted);
  return await planned(deps, call, id, async () => {
    const present = await allMembers(deps, call.orgId, id);
    return { attributes, ...(await changeBetween(present, wanted)) };
  });
}

/** In slices: each of these takes up to a millisecond for a large group. */
async function changeBetween(before: readonly string[], after: readonly string[]): Promise<MemberChange> {
  const wanted = new Set(after);
  await nextTurn();
  const remove = before.filter((id) => !wanted.has(id));
  await nextTurn();
  const present = new Set(before);
  await nextTurn();
  return { add: [...wanted].filter((id) => !present.has(id)), remove };
}

async function patchGroup(
  deps: GroupOperationDeps,
  call: ScimCall,
  id: string,
  operations: readonly PatchOperation[],
): Promise<ScimGroupRow> {
  groupNamed(deps, call, id);
  const named = namedMembers(operations);
  return await planned(deps, call, id, async (row) => {
    const { orgId } = call;
    const present =
      named === undefined ? await allMembers(deps, orgId, id) : await membersAmong(deps, row, named);
    const resource = { id, ...row.attributes, members: present.map((value) => ({ value })) };
    const [steps, pace] = [new Steps(), new Pace()];
    const patched = await inSlices(patching(GROUP, resource, operations, steps), steps, pace);
    const { id: _, members, ...attributes } = patched;
    await pace.pause();
    const change = await changeBetween(present, idsOf(members));
    await assertUsers(deps, orgId, change.add);
    return { attributes, ...change };
  });
}

type GroupPlan = MemberChange & { readonly attributes: GroupAttributes };

/**
 * Plans a change from the group as it is, which may take a while, and makes it if the group is still so. Members that others
 * add or remove meanwhile do not count: each change adds and removes its own.
 * @throws ScimError 404, 409, 412
 */
async function planned(
  deps: GroupOperationDeps,
  call: ScimCall,
  id: string,
  plan: (row: ScimGroupRow) => Promise<GroupPlan>,
): Promise<ScimGroupRow> {
  for (let left = TRIES; left > 0; left--) {
    const before = groupNamed(deps, call, id);
    const change = await plan(before);
    const row = await deps.accounts.act(() => saveGroup(deps, call, before, change));
    if (row === undefined) continue;
    await changeMembers(deps, call.caller, row, change);
    return row;
  }
  throw scimStatus(409, "The group is being changed by another request.");
}

/** In an act. @returns undefined if the attributes have changed since the plan */
function saveGroup(
  deps: GroupOperationDeps,
  call: ScimCall,
  seen: ScimGroupRow,
  { attributes, add, remove }: GroupPlan,
): ScimGroupRow | undefined {
  const { tables, clock, jobs, trail } = deps;
  const row = groupNamed(deps, call, seen.id);
  assertMatch(call, row, "group");
  const isRenamed = !isDeepStrictEqual(attributes, row.attributes);
  if (isRenamed && !isDeepStrictEqual(seen.attributes, row.attributes)) return undefined;
  if (!isRenamed && add.length === 0 && remove.length === 0) return row;
  const after = { ...row, attributes, version: row.version + 1, changedAtMs: clock.now() };
  tables.putGroup(after);
  if (roleOfName(row.attributes.displayName) !== roleOfName(attributes.displayName)) {
    const payload = { orgId: row.orgId, groupId: row.id };
    // A key of its own for each change: a job that runs already has met some members before it.
    jobs.enqueue(settleGroupRoles, { key: `${row.id}.${after.version}`, orgId: row.orgId, payload });
  }
  trail.audit.note(call.caller, {
    act: "scim_group.update",
    target: row.id,
    before: row.attributes,
    after: {
      ...attributes,
      ...(add.length > 0 && { members_added: add }),
      ...(remove.length > 0 && { members_removed: remove }),
    },
  });
  return after;
}

/** Members first, so that one who repeats a deletion that was cut short finds the group still there. */
async function deleteGroup(deps: GroupOperationDeps, call: ScimCall, id: string): Promise<undefined> {
  const { accounts, tables, trail } = deps;
  assertMatch(call, groupNamed(deps, call, id), "group");
  for (let left = TRIES; left > 0; left--) {
    const row = groupNamed(deps, call, id);
    const remove = await allMembers(deps, call.orgId, id);
    await changeMembers(deps, call.caller, row, { add: [], remove });
    const isGone = await accounts.act(() => {
      const last = groupNamed(deps, call, id);
      if (tables.membersAfter(call.orgId, id, 1).length > 0) return false;
      tables.removeGroup(last);
      trail.audit.note(call.caller, { act: "scim_group.delete", target: id, before: row.attributes });
      return true;
    });
    if (isGone) return undefined;
  }
  throw scimStatus(409, "The group is being changed by another request.");
}
