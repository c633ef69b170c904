/**
 * Keys of the playground: each person has one of a project and environment, for an hour. Asked for again, its row gets another secret and
 * the earlier one opens nothing any more; id, spend and audit go on. So the rows of a person are as many as the projects that they try.
 */
import { createHash } from "node:crypto";
import { fail } from "../../base/errors.ts";
import { contentId, newId } from "../../base/ids.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { HOUR_MS } from "../../base/time.ts";
import { type KeyRow, keyWorks, revokedKey } from "../key.ts";
import { isOfPlayground, type PlaygroundOwner } from "../key-tables.ts";
import type { KeyContext, Keyring } from "../keyring.ts";
import { mayAs, type Role } from "../roles.ts";
import { DEFAULT_SCOPES } from "../scopes.ts";
import { type Environment, hashSecret, secretHint } from "../secret.ts";
import type { AccountTables } from "../tables.ts";
import { NEWEST_SVC_VERSION } from "../versions.ts";

const LIFETIME_MS = HOUR_MS;

/** What a request about the playground names. */
export interface PlaygroundAsked {
  readonly projectId: string;
  /** Undefined: live, but test in a test project. */
  readonly environment: Environment | undefined;
}

/**
 * Whose key a person asks for; call it in the act, for they may have left since they were let in.
 * @throws WeirError 400, 403 `role`, `org_closed`
 */
export function playgroundOwner(
  accounts: AccountTables,
  { orgId, actor }: Pick<Caller, "orgId" | "actor">,
  { projectId, environment }: PlaygroundAsked,
): PlaygroundOwner {
  accounts.mustOpenOrg(orgId);
  const role = accounts.people.member(orgId, actor.id)?.role;
  if (role === undefined || !mayAs(role, "member"))
    throw fail("role", "The playground needs the role member.", { details: { role: "member" } });
  const project = accounts.project(projectId);
  if (project === undefined || project.orgId !== orgId || project.status !== "active")
    throw fail("invalid_value", "There is no such project.", { param: "/project_id" });
  if (environment === "live" && project.environment === "test")
    throw fail("invalid_value", "A test project holds test keys only.", { param: "/environment" });
  return { orgId, personId: actor.id, projectId, environment: environment ?? project.environment };
}

/** @param dailyMicroUsd what the key may spend in a day; hard @param before its row so far */
export function playgroundRow(
  owner: PlaygroundOwner,
  dailyMicroUsd: number,
  secret: string,
  nowMs: number,
  before: KeyRow | undefined,
): KeyRow {
  const { id = newId("key", nowMs), createdAtMs = nowMs } = before ?? {};
  const opened = { hash: hashSecret(secret), hint: secretHint(secret) };
  return { ...rowWithoutSecret(owner, dailyMicroUsd, nowMs), ...opened, id, createdAtMs };
}

const rowWithoutSecret = (
  { orgId, personId, projectId, environment }: PlaygroundOwner,
  dailyMicroUsd: number,
  nowMs: number,
): Omit<KeyRow, "id" | "hash" | "hint" | "createdAtMs"> => ({
  orgId,
  projectId,
  kind: "playground",
  name: "Playground",
  environment,
  scopes: DEFAULT_SCOPES,
  limits: {},
  budget: { dailyMicroUsd, hard: true },
  onDisconnect: "cancel",
  svcVersion: NEWEST_SVC_VERSION,
  lifetimeMs: LIFETIME_MS,
  expiresAtMs: nowMs + LIFETIME_MS,
  revokedAtMs: null,
  isRevoked: false,
  rotatedFrom: null,
  createdBy: personId,
  personId,
});

export interface PlaygroundContextDeps {
  readonly accounts: AccountTables;
  readonly keyring: Pick<Keyring, "contextOf">;
  readonly dailyMicroUsd: number;
  readonly now: () => number;
}

/**
 * What a person's playground key would be to a call now, whether they have one or not; for questions about calls, which charge nothing.
 * @throws as `playgroundOwner`
 */
export function playgroundContext(
  { accounts, keyring, dailyMicroUsd, now }: PlaygroundContextDeps,
  caller: Caller,
  asked: PlaygroundAsked,
): KeyContext {
  const owner = playgroundOwner(accounts, caller, asked);
  const nowMs = now();
  const { id = idOfNone(owner), createdAtMs = nowMs } = accounts.playgroundKey(owner) ?? {};
  const row = rowWithoutSecret(owner, dailyMicroUsd, nowMs);
  return keyring.contextOf({ ...row, id, createdAtMs, hash: "", hint: "" });
}

/** A person without a playground key has this id in its place: their dry runs are counted under it. It is always the same. */
const idOfNone = (owner: PlaygroundOwner): string =>
  contentId(
    "key",
    createHash("sha256")
      .update(JSON.stringify(Object.values(owner)))
      .digest(),
  );

/**
 * In the act that takes a person's membership or role away: ends their playground keys, if they may have none any more.
 * @param role undefined: they are no member any more
 * @returns the ids of those that worked
 */
export function endPlaygroundKeys(
  accounts: AccountTables,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  role: Role | undefined,
  nowMs: number,
): string[] {
  if (role !== undefined && mayAs(role, "member")) return [];
  const working = accounts
    .playgroundKeysOf({ orgId, personId: userId })
    .filter((row) => keyWorks(row, nowMs));
  for (const row of working) accounts.replaceKey(revokedKey(row, nowMs));
  return working.map(({ id }) => id);
}

/** Each is as its settings say, and its secret is replaced by another way. @throws WeirError 409 `state` */
export function assertNotOfPlayground(row: KeyRow): void {
  if (!isOfPlayground(row)) return;
  throw fail(
    "state",
    "A key of the playground cannot be changed; POST /v1/playground/key replaces its secret.",
  );
}
