/**
 * Operations on keys: create, list, read, change, revoke, rotate. Each act checks and writes in one transaction, and
 * the cached context is dropped once it is committed, before the answer.
 */

import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageOf, walkedPage } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import { DAY_MS } from "../../base/time.ts";
import { SharedTurns } from "../../base/turns/shared-turns.ts";
import type { Trail } from "../../store/events/trail.ts";
import { withHold } from "../fields/hold-field.ts";
import {
  createdKeyShape,
  isMadeFor,
  type KeyOrder,
  type KeyRow,
  keyShape,
  keyStatus,
  keyWire,
  keyWorks,
  newKey,
  revokedKey,
  rotatedKeyShape,
} from "../key.ts";
import type { KeyPosition } from "../key-tables.ts";
import { assertKeyMakerStays } from "../last-key-maker.ts";
import type { PlanPort } from "../plan-limits.ts";
import { personBehind } from "../role-grants.ts";
import { assertMayActOn, assertMayChange, assertMayGrant, DEFAULT_SCOPES, orderedScopes } from "../scopes.ts";
import { newSecret } from "../secret.ts";
import type { AccountTables } from "../tables.ts";
import { NEWEST_SVC_VERSION, svcVersion } from "../versions.ts";
import { createBody, listQuery, patchBody, rotateBody } from "./key-bodies.ts";
import { keyCreated, keyRevoked, keyRotated } from "./key-events.ts";
import { lifetimeMs, limitsOf, mergeBudget, withNamed } from "./key-fields.ts";
import { keyMatcher, keysToLookAt } from "./key-search.ts";
import type { LastUsed } from "./last-used.ts";
import { assertNotOfPlayground } from "./playground-key.ts";

export interface KeyOperationDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly lastUsed: LastUsed;
  readonly plan: PlanPort;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

const byId = z.object({ id: field.keyId });
export function keyOperations(deps: KeyOperationDeps) {
  return { ...readingOperations(deps), ...changingOperations(deps) };
}

function readingOperations(deps: KeyOperationDeps) {
  const turns = new SharedTurns();
  return {
    listKeys: operation({
      summary:
        "List the org's API keys, newest first. A search looks at some thousand keys: a page may be short, and `next_cursor` goes on",
      method: "GET",
      path: "/v1/keys",
      access: "read:keys / viewer",
      group: "Keys",
      query: listQuery,
      output: pageOf(keyShape),
      run: ({ query }, caller) => listKeys(deps, turns, caller, query),
    }),
    getKey: operation({
      summary: "Read an API key",
      method: "GET",
      path: "/v1/keys/{id}",
      access: "read:keys / viewer",
      group: "Keys",
      params: byId,
      output: keyShape,
      errors: ["not_found"],
      run: ({ params }, caller) => show(deps, ownKey(deps, caller, params.id)),
    }),
  };
}

function changingOperations(deps: KeyOperationDeps) {
  return {
    createKey: operation({
      summary: "Create an API key; the answer is the only one that carries its secret",
      method: "POST",
      path: "/v1/keys",
      access: "write:keys / member",
      group: "Keys",
      body: createBody,
      output: createdKeyShape,
      status: 201,
      errors: ["scope", "role", "plan_limit", "org_closed", "unsupported_version"],
      run: ({ body }, caller) => createKey(deps, caller, body),
    }),
    updateKey: operation({
      summary: "Change an API key; what is left out stays, null clears a limit or budget",
      method: "PATCH",
      path: "/v1/keys/{id}",
      access: "write:keys / member",
      group: "Keys",
      params: byId,
      body: patchBody,
      output: keyShape,
      errors: ["not_found", "scope", "role", "state", "unsupported_version"],
      run: ({ params, body }, caller) => updateKey(deps, caller, params.id, body),
    }),
    revokeKey: operation({
      summary: "Revoke an API key for good, from the next request on",
      method: "DELETE",
      path: "/v1/keys/{id}",
      access: "write:keys / member",
      group: "Keys",
      params: byId,
      output: keyShape,
      errors: ["not_found", "scope", "role", "state"],
      run: ({ params }, caller) => revokeKey(deps, caller, params.id),
    }),
    rotateKey: operation({
      summary: "Replace an API key by a new one; the old one works until its grace ends",
      method: "POST",
      path: "/v1/keys/{id}/rotate",
      access: "write:keys / member",
      group: "Keys",
      params: byId,
      body: rotateBody,
      output: rotatedKeyShape,
      status: 201,
      errors: ["not_found", "scope", "role", "state"],
      run: ({ params, body }, caller) => rotateKey(deps, caller, params.id, body.grace_seconds),
    }),
  };
}

function show({ accounts, lastUsed, clock }: KeyOperationDeps, row: KeyRow, nowMs = clock.now()) {
  const facts = { lastUsedAtMs: lastUsed.at(row.id), lineageId: accounts.lineageOf(row) };
  return keyWire(row, facts, nowMs);
}

/** Keys of other orgs count as not found. */
function ownKey({ accounts }: KeyOperationDeps, caller: Caller, id: string): KeyRow {
  const row = accounts.key(id);
  return mustExist(row?.orgId === caller.orgId ? row : undefined, "key");
}

async function createKey(deps: KeyOperationDeps, caller: Caller, body: z.output<typeof createBody>) {
  const { accounts, clock, trail } = deps;
  const { wire, secret } = await accounts.act(() => {
    const nowMs = clock.now();
    const org = accounts.mustOpenOrg(caller.orgId);
    const projectId = body.project_id ?? caller.projectId;
    // A person belongs to no project.
    if (projectId === "") throw fail("invalid_value", "Name the key's project.", { param: "/project_id" });
    const project = accounts.project(projectId);
    if (project === undefined || project.orgId !== org.id || project.status !== "active") {
      throw fail("invalid_value", "There is no such project.", { param: "/project_id" });
    }
    const environment = body.environment ?? project.environment;
    if (environment === "live" && project.environment === "test") {
      throw fail("invalid_value", "A test project holds test keys only.", { param: "/environment" });
    }
    assertMayChange(caller, environment);
    const granted = orderedScopes(body.scopes ?? DEFAULT_SCOPES);
    assertMayGrant(caller, granted, "/scopes");
    const plan = deps.plan(org.planId);
    if (plan.keys !== 0 && !accounts.hasFewerKeysThan(plan.keys, org.id, nowMs)) {
      throw fail("plan_limit", `The plan allows ${plan.keys} keys at a time. Revoke one first.`);
    }
    const defaultMs = org.security.keyDefaultExpiryDays * DAY_MS;
    const order: KeyOrder = {
      orgId: org.id,
      projectId: project.id,
      name: body.name,
      environment,
      scopes: granted,
      limits: limitsOf({}, body.limits, plan),
      budget: mergeBudget({ dailyMicroUsd: null, hard: true }, body.budget),
      onDisconnect: body.on_disconnect ?? "cancel",
      ...(body.hold !== undefined && { hold: body.hold }),
      svcVersion:
        body.svc_version === undefined ? NEWEST_SVC_VERSION : svcVersion(body.svc_version, "/svc_version"),
      lifetimeMs: body.expires_in === undefined ? defaultMs || null : lifetimeMs(body.expires_in),
      rotatedFrom: null,
      ...makerOf(deps, caller),
    };
    const { row, secret } = addKey(deps, order, nowMs);
    const wire = show(deps, row);
    trail.audit.note(caller, { act: "key.create", target: row.id, after: wire });
    trail.events.emit(keyCreated, org.id, wire);
    return { wire, secret };
  });
  return { ...wire, secret };
}

function makerOf({ accounts }: KeyOperationDeps, caller: Caller): Pick<KeyRow, "createdBy" | "personId"> {
  const personId = personBehind(accounts, caller);
  return { createdBy: caller.actor.id, ...(personId !== undefined && { personId }) };
}

function addKey(deps: KeyOperationDeps, order: KeyOrder, nowMs: number): { row: KeyRow; secret: string } {
  const ever = deps.accounts.keysEver(order.orgId);
  const what = "keys in an organisation, revoked and expired ones included";
  assertWithin(deps.quotas, "keys_ever", ever, what, "Change the keys that there are.");
  const secret = newSecret(order.environment);
  const row = newKey(order, secret, nowMs);
  deps.accounts.pruneWorkingKeys(order.orgId, nowMs);
  deps.accounts.addKey(row);
  return { row, secret };
}

function listKeys(
  deps: KeyOperationDeps,
  turns: SharedTurns,
  { orgId }: Caller,
  query: z.output<typeof listQuery>,
) {
  const nowMs = deps.clock.now();
  const isWanted = keyMatcher(query);
  return walkedPage({
    cursors: deps.cursors,
    asked: query,
    list: `keys:${orgId}`,
    turns,
    orgId,
    rows: (after) => keysToLookAt(deps.accounts, orgId, query, after as KeyPosition | undefined),
    positionOf: ({ createdAtMs, id }) => [createdAtMs, id],
    matches: (row) =>
      isWanted(row) &&
      (query.status === undefined || keyStatus(row, nowMs) === query.status) &&
      (query.created_by === undefined || row.createdBy === query.created_by) &&
      (query.person_id === undefined || isMadeFor(row, query.person_id)),
    show: (row) => show(deps, row, nowMs),
  });
}

async function updateKey(
  deps: KeyOperationDeps,
  caller: Caller,
  id: string,
  body: z.output<typeof patchBody>,
) {
  const { accounts, clock } = deps;
  return await accounts.act(() => {
    const nowMs = clock.now();
    const org = accounts.mustOpenOrg(caller.orgId);
    const old = ownKey(deps, caller, id);
    assertMayActOn(caller, old);
    assertNotOfPlayground(old);
    if (!keyWorks(old, nowMs))
      throw fail("state", `A key that is ${keyStatus(old, nowMs)} cannot be changed.`);
    const wanted = body.scopes === undefined ? old.scopes : orderedScopes(body.scopes);
    assertMayGrant(
      caller,
      wanted.filter((scope) => !old.scopes.includes(scope)),
      "/scopes",
    );
    const lifetime = typeof body.expires_in === "string" ? lifetimeMs(body.expires_in) : null;
    const changed: KeyRow = {
      ...withHold(old, body.hold),
      name: body.name ?? old.name,
      scopes: wanted,
      limits: limitsOf(old.limits, body.limits, deps.plan(org.planId)),
      budget: mergeBudget(old.budget, body.budget),
      onDisconnect: body.on_disconnect ?? old.onDisconnect,
      svcVersion:
        body.svc_version === undefined ? old.svcVersion : svcVersion(body.svc_version, "/svc_version"),
      ...(body.expires_in === undefined
        ? {}
        : { lifetimeMs: lifetime, expiresAtMs: lifetime === null ? null : nowMs + lifetime }),
    };
    assertKeyMakerStays(accounts, org.id, [changed], nowMs);
    replaceKey(deps, caller, old, changed);
    if (body.limits !== undefined || body.budget !== undefined) {
      // Limits and budget are the lineage's: the other key of a rotation gets what the request named of them, too.
      for (const relative of accounts.relativesOf(changed, nowMs)) {
        assertMayActOn(caller, relative);
        replaceKey(deps, caller, relative, withNamed(relative, changed, body));
      }
    }
    return show(deps, changed, nowMs);
  });
}

function replaceKey(deps: KeyOperationDeps, caller: Caller, old: KeyRow, changed: KeyRow): void {
  deps.accounts.replaceKey(changed);
  const [before, after] = [show(deps, old), show(deps, changed)];
  deps.trail.audit.note(caller, { act: "key.update", target: old.id, before, after });
}

/** Idempotent: `revoked_at` stays that of the first request. */
async function revokeKey(deps: KeyOperationDeps, caller: Caller, id: string) {
  const { accounts, clock, trail } = deps;
  return await accounts.act(() => {
    const nowMs = clock.now();
    const old = ownKey(deps, caller, id);
    assertMayActOn(caller, old);
    const before = show(deps, old);
    if (before.status === "revoked") return before;
    const revoked = revokedKey(old, nowMs);
    assertKeyMakerStays(accounts, old.orgId, [revoked], nowMs);
    accounts.replaceKey(revoked);
    const after = show(deps, revoked);
    trail.audit.note(caller, { act: "key.revoke", target: id, before, after });
    trail.events.emit(keyRevoked, old.orgId, after);
    return after;
  });
}

/**
 * The successor is of the same lineage, whose spend and limits it goes on with: else each rotation would open another budget. It
 * copies name, scopes, limits, budget and settings, and gets the same lifetime again. It does not count
 * against the plan's number of keys, or a full org could not rotate. To keep that limit effective, a key cannot be
 * rotated again while its predecessor works.
 */
async function rotateKey(deps: KeyOperationDeps, caller: Caller, id: string, graceSeconds: number) {
  const { accounts, clock, trail } = deps;
  const { wire, secret } = await accounts.act(() => {
    const nowMs = clock.now();
    accounts.mustOpenOrg(caller.orgId);
    const old = ownKey(deps, caller, id);
    // The answer contains the new secret: without this check, write:keys alone would expose every key of the org.
    assertMayActOn(caller, old);
    assertNotOfPlayground(old);
    const status = keyStatus(old, nowMs);
    if (status !== "active") throw fail("state", `Only an active key can be rotated; this one is ${status}.`);
    const before = old.rotatedFrom === null ? undefined : accounts.key(old.rotatedFrom);
    if (before !== undefined && keyWorks(before, nowMs)) {
      throw fail(
        "state",
        `${before.id}, which this key replaced, still works. Revoke it before rotating again.`,
      );
    }
    const { personId: _, ...kept } = old;
    const lineageId = accounts.lineageOf(old);
    const order = { ...kept, rotatedFrom: old.id, lineageId, ...makerOf(deps, caller) };
    const { row, secret } = addKey(deps, order, nowMs);
    const succeeded = { ...old, replacedBy: row.id };
    const replaced: KeyRow =
      graceSeconds === 0
        ? revokedKey(succeeded, nowMs)
        : { ...succeeded, revokedAtMs: nowMs + graceSeconds * 1000 };
    assertKeyMakerStays(accounts, old.orgId, [replaced, row], nowMs);
    accounts.replaceKey(replaced);
    const wire = { ...show(deps, row), rotated_from: old.id };
    trail.audit.note(caller, { act: "key.rotate", target: old.id, after: wire });
    trail.events.emit(keyRotated, old.orgId, wire);
    return { wire, secret };
  });
  return { ...wire, secret };
}
