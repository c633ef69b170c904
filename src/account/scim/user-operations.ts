/** `/scim/v2/Users`: what a directory says of people (RFC 7644 section 3). Each change is one act. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { newId } from "../../base/ids.ts";
import { answer, FullAnswer } from "../../base/operation/answer.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { isShown, type Projection, type ProjectionQuery, project, projectionOf } from "./attributes.ts";
import { readUserBody, type UserBody } from "./body.ts";
import { assertMatch, type ScimCall, type ScimCallDeps, scimOperation } from "./call.ts";
import { scimFail, scimStatus } from "./error.ts";
import { ifNoneMatch } from "./etag.ts";
import { type Filter, printFilter } from "./filter/filter.ts";
import type { RequiredEquality } from "./filter/match.ts";
import { type Listed, list, listQuery, projectionQuery } from "./filtered-list.ts";
import { type MembershipDeps, settleMembership, withdraw } from "./membership.ts";
import { applyPatch } from "./patch/patch.ts";
import { readPatchBody } from "./patch/patch-body.ts";
import {
  addressOf,
  etagOf,
  type ScimUserRow,
  type UserAttributes,
  userLocation,
  userResource,
  userWithoutMeta,
} from "./rows.ts";
import { USER } from "./schema.ts";
import { STEPS_OF_ROW } from "./slices.ts";
import { Steps } from "./steps.ts";
import {
  CHANGED,
  idPath,
  listShape,
  NOT_MODIFIED,
  PATCH_EXAMPLE,
  patchBody,
  userBody,
  userShape,
} from "./wire.ts";

export interface UserOperationDeps extends MembershipDeps, ScimCallDeps {}

export const MAX_USERS = 10_000;
/** Steps of a PATCH, which runs in an act and so cannot pause: a few milliseconds. Those of identity providers take a hundred. */
const MAX_PATCH_STEPS = 25_000;

export function userOperations(deps: UserOperationDeps) {
  return { ...readingOperations(deps), ...changingOperations(deps) };
}

const readingOperations = (deps: UserOperationDeps) => ({
  scimListUsers: scimOperation(deps, {
    summary: "Users of the directory, filtered and paged; no match is an empty list",
    method: "GET",
    path: "/scim/v2/Users",
    query: listQuery,
    output: listShape(userShape),
    run: ({ query }, call) => list(listedUsers(deps, call), query),
  }),
  scimGetUser: scimOperation(deps, {
    summary: "Read a user, also one who is not active",
    method: "GET",
    path: "/scim/v2/Users/{id}",
    params: idPath,
    query: z.object(projectionQuery),
    output: userShape,
    errors: ["not_found"],
    otherStatuses: NOT_MODIFIED,
    run: ({ params, query }, call) => getUser(deps, call, params.id, query),
  }),
});

const changingOperations = (deps: UserOperationDeps) => ({
  scimCreateUser: scimOperation(deps, {
    summary: "Add a user, who becomes a member of the org",
    method: "POST",
    path: "/scim/v2/Users",
    query: z.object(projectionQuery),
    body: userBody,
    output: userShape,
    status: 201,
    errors: ["state"],
    run: ({ query, body }, call) => createUser(deps, call, query, body),
  }),
  scimReplaceUser: scimOperation(deps, {
    summary: "Replace a user; `active` that is left out stays",
    method: "PUT",
    path: "/scim/v2/Users/{id}",
    params: idPath,
    query: z.object(projectionQuery),
    body: userBody,
    output: userShape,
    errors: ["not_found", "state"],
    otherStatuses: CHANGED,
    run({ params, query, body }, call) {
      const sent = readUserBody(body);
      return changeUser(deps, call, params.id, query, () => sent);
    },
  }),
  scimPatchUser: scimOperation(deps, {
    summary: "Change a user; `active: false` ends their membership at once",
    method: "PATCH",
    path: "/scim/v2/Users/{id}",
    params: idPath,
    query: z.object(projectionQuery),
    body: patchBody(PATCH_EXAMPLE.user),
    output: userShape,
    errors: ["not_found", "state"],
    otherStatuses: CHANGED,
    run({ params, query, body }, call) {
      const operations = readPatchBody(body);
      return changeUser(deps, call, params.id, query, ({ id, attributes }) => {
        const { id: _, ...after } = applyPatch(
          USER,
          { id, ...attributes },
          operations,
          new Steps(MAX_PATCH_STEPS),
        );
        return after;
      });
    },
  }),
  scimDeleteUser: scimOperation(deps, {
    summary: "Remove a user and their membership",
    method: "DELETE",
    path: "/scim/v2/Users/{id}",
    params: idPath,
    output: z.undefined(),
    status: 204,
    errors: ["not_found", "state"],
    otherStatuses: CHANGED,
    run: ({ params }, call) => deleteUser(deps, call, params.id),
  }),
});

function shown(
  { tables }: UserOperationDeps,
  { baseUrl }: ScimCall,
  row: ScimUserRow,
  projection: Projection,
) {
  const groups = isShown(USER, projection, "groups") ? tables.groupsOf(row) : undefined;
  return project(USER, projection, userResource(row, baseUrl, groups));
}

function listedUsers(deps: UserOperationDeps, call: ScimCall): Listed<ScimUserRow> {
  const { tables } = deps;
  const { orgId, baseUrl } = call;
  let sought: string | undefined;
  return {
    schema: USER,
    total: tables.counts(orgId).users,
    indexed: (sought) => indexedUsers(deps, orgId, sought),
    after: (id) => tables.usersAfter(orgId, id),
    forFilter(row, filter: Filter, steps: Steps) {
      sought ??= printFilter(filter);
      const groups = sought.includes("groups") ? tables.groupsOf(row) : [];
      steps.take(groups.length * 10);
      return (sought.includes("meta") ? userResource : userWithoutMeta)(row, baseUrl, groups);
    },
    shown: (row, projection) => Buffer.from(JSON.stringify(shown(deps, call, row, projection))),
    cost: ({ groupIds }) => STEPS_OF_ROW * (1 + groupIds.length / 4),
  };
}

function indexedUsers(
  { tables }: UserOperationDeps,
  orgId: string,
  { attribute, value }: RequiredEquality,
): readonly ScimUserRow[] | undefined {
  if (attribute === "externalId") return tables.usersByExternalId(orgId, value);
  if (attribute === "displayName") return undefined;
  const row = attribute === "id" ? tables.user(orgId, value) : tables.userByName(orgId, value);
  return row === undefined ? [] : [row];
}

/** @throws ScimError 404, also for a user of another org */
function userNamed({ tables }: UserOperationDeps, call: ScimCall, id: string): ScimUserRow {
  const row = tables.user(call.orgId, id);
  if (row === undefined) throw scimStatus(404, "There is no such user.");
  call.about(row.attributes.userName);
  return row;
}

function getUser(deps: UserOperationDeps, call: ScimCall, id: string, query: ProjectionQuery) {
  const row = userNamed(deps, call, id);
  const headers = { etag: etagOf(row) };
  if (!ifNoneMatch(call.ifNoneMatch, headers.etag)) {
    return new FullAnswer<z.input<typeof userShape>>({ status: 304, headers }, {});
  }
  return answer(shown(deps, call, row, projectionOf(USER, query)), { headers });
}

async function createUser(deps: UserOperationDeps, call: ScimCall, query: ProjectionQuery, raw: unknown) {
  const { accounts, clock, tables } = deps;
  const projection = projectionOf(USER, query);
  const { active = true, ...sent } = readUserBody(raw);
  call.about(sent.userName);
  const row = await accounts.act(() => {
    if (tables.counts(call.orgId).users >= MAX_USERS) {
      throw scimStatus(403, `A directory has at most ${MAX_USERS} users.`);
    }
    const nowMs = clock.now();
    const made: ScimUserRow = {
      id: newId("scu", nowMs),
      orgId: call.orgId,
      personId: "",
      groupIds: [],
      version: 1,
      createdAtMs: nowMs,
      changedAtMs: nowMs,
      attributes: { ...sent, active },
    };
    return save(deps, call.caller, made, undefined);
  });
  const headers = { etag: etagOf(row), location: userLocation(call.baseUrl, row.id) };
  return answer(shown(deps, call, row, projection), { headers });
}

async function changeUser(
  deps: UserOperationDeps,
  call: ScimCall,
  id: string,
  query: ProjectionQuery,
  change: (row: ScimUserRow) => UserBody,
) {
  const projection = projectionOf(USER, query);
  const row = await deps.accounts.act(() => {
    const before = userNamed(deps, call, id);
    assertMatch(call, before, "user");
    const { active = before.attributes.active, ...after } = change(before);
    call.about(after.userName);
    const attributes = { ...after, active };
    const isSame = isDeepStrictEqual(attributes, before.attributes);
    const changed = { version: before.version + 1, changedAtMs: deps.clock.now() };
    return save(deps, call.caller, isSame ? before : { ...before, attributes, ...changed }, before);
  });
  return answer(shown(deps, call, row, projection), { headers: { etag: etagOf(row) } });
}

/** In an act. @throws ScimError 409 for a userName or an address of another user, and for memberships made by hand */
function save(
  deps: UserOperationDeps,
  caller: Caller,
  row: ScimUserRow,
  before: ScimUserRow | undefined,
): ScimUserRow {
  const { tables, trail } = deps;
  const namesake = tables.userByName(row.orgId, row.attributes.userName);
  if (namesake !== undefined && namesake.id !== row.id) {
    throw scimFail("uniqueness", "Another user of the directory has this userName.");
  }
  addressOf(row.attributes);
  const settled = settleMembership(deps, caller, row);
  const isChanged = !isDeepStrictEqual(settled, before);
  if (isChanged) tables.putUser(settled);
  if (row !== before) {
    const act = before === undefined ? "scim_user.create" : "scim_user.update";
    trail.audit.note(caller, { act, target: row.id, ...changeOf(before?.attributes, row.attributes) });
  }
  return settled;
}

const changeOf = (before: UserAttributes | undefined, after: UserAttributes) => ({
  ...(before !== undefined && { before }),
  after,
});

async function deleteUser(deps: UserOperationDeps, call: ScimCall, id: string): Promise<undefined> {
  const { accounts, clock, tables, trail } = deps;
  await accounts.act(() => {
    const row = userNamed(deps, call, id);
    assertMatch(call, row, "user");
    withdraw(deps, call.caller, row);
    for (const group of tables.groupsOf(row)) {
      tables.removeMember(row.orgId, group.id, id);
      const changed = { version: group.version + 1, changedAtMs: clock.now() };
      tables.putGroup({ ...group, ...changed, memberCount: group.memberCount - 1 });
    }
    tables.removeUser(row);
    trail.audit.note(call.caller, { act: "scim_user.delete", target: id, before: row.attributes });
  });
  return undefined;
}
