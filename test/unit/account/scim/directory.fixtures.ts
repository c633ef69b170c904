/** Directories over a real store, without HTTP: two orgs, a caller for each, and the operations. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newOrg } from "../../../../src/account/org.ts";
import { invitedUser, type MemberRow, type UserRow } from "../../../../src/account/person.ts";
import type { Role } from "../../../../src/account/roles.ts";
import { groupRoleHandler } from "../../../../src/account/scim/groups/group-role-job.ts";
import { ScimLog } from "../../../../src/account/scim/log.ts";
import { scimOperations } from "../../../../src/account/scim/operations.ts";
import { SignInLinks } from "../../../../src/account/scim/sign-in-links.ts";
import { ScimTables } from "../../../../src/account/scim/tables.ts";
import { ScimTokens } from "../../../../src/account/scim/token.ts";
import { AccountTables } from "../../../../src/account/tables.ts";
import { FullAnswer } from "../../../../src/base/operation/answer.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { AnyOperation, Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { openStore } from "../../../../src/store/store.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { ORIGIN, trailOn } from "../../../support/trail.fixtures.ts";

export const START = Date.UTC(2026, 8, 9);

export type Resource = Record<string, unknown> & { id: string };

const failing = (error: unknown): never => {
  throw error;
};

export type Rig = Awaited<ReturnType<typeof directoryRig>>;

/** Close it when done. */
export async function directoryRig() {
  const folder = mkdtempSync(join(tmpdir(), "weir-scim-"));
  const clock = new ManualClock(new Date(START).toISOString());
  // Acts only read and put: each is run twice.
  const store = openStore(folder, { actsTwice: true });
  const accounts = new AccountTables(store);
  const trail = trailOn(store, clock);
  const tables = new ScimTables(store);
  const tokens = new ScimTokens({ store, clock });
  const log = new ScimLog({ store, clock, tokens, quotas: USUAL_QUOTAS, onFailure: failing });
  const ended: string[] = [];
  const deps = {
    accounts,
    clock,
    tables,
    tokens,
    log,
    trail: trail.trail,
    jobs: trail.jobs,
    cursors: cursors(Buffer.alloc(32, 1)),
    publicUrl: "https://weir.example",
    hasSso: () => true,
    // Acts run twice.
    endSessions: (id: string) => void (ended.includes(id) || ended.push(id)),
  };
  const operations = scimOperations(deps);
  const { people } = accounts;
  const orgs = ["one", "two"].map((slug) =>
    newOrg({ slug, name: slug, kind: "team", billingCountry: "US", planId: "local" }, clock.now()),
  );
  await accounts.act(() => {
    for (const org of orgs) accounts.addOrg(org);
  });
  const [one, two] = orgs.map(({ id }) => id) as [string, string];

  const caller = (orgId: string): Caller => ({
    orgId,
    projectId: "",
    environment: "live",
    scopes: new Set(),
    origin: ORIGIN,
    requestId: "01J00000000000000000000000",
    actor: { kind: "directory", id: "sct_1" },
  });

  interface Input {
    readonly id?: string;
    readonly query?: object;
    readonly body?: unknown;
    readonly orgId?: string;
  }

  /** The answer's JSON; `undefined` for none. */
  async function call<T = Resource>(name: keyof typeof operations, input: Input = {}): Promise<T> {
    const { run } = operations[name] as AnyOperation;
    const { id, query = {}, body = {}, orgId = one } = input;
    const given = { params: { id }, query, body } as unknown as Parameters<typeof run>[0];
    const answer = await run(given, caller(orgId), NO_HEAD);
    if (!(answer instanceof FullAnswer)) return answer as T;
    const { json, bytes } = answer.content;
    return (bytes === undefined ? json : JSON.parse(Buffer.from(bytes.body).toString())) as T;
  }

  return {
    store,
    accounts,
    people,
    clock,
    tables,
    tokens,
    log,
    trail,
    deps,
    call,
    ended,
    one,
    two,
    caller,
    links: new SignInLinks(tables, accounts),
    createUser: (userName: string, more: object = {}, orgId = one) =>
      call("scimCreateUser", { orgId, body: { userName, ...more } }),
    createGroup: (displayName: string, ids: readonly string[] = []) =>
      call("scimCreateGroup", { body: { displayName, members: ids.map((value) => ({ value })) } }),
    patchUser: (id: string, ...operations: object[]) =>
      call("scimPatchUser", { id, body: { Operations: operations } }),
    patchGroup: (id: string, ...operations: object[]) =>
      call("scimPatchGroup", { id, body: { Operations: operations } }),
    member(userName: string, orgId = one): MemberRow | undefined {
      return people.member(orgId, tables.userByName(orgId, userName)?.personId ?? "");
    },
    /** Adds a person past the operations, with a membership by hand where a role is given. */
    async addPerson(more: Partial<UserRow>, role?: Role, orgId = one): Promise<UserRow> {
      const user = { ...invitedUser("x@example.com", clock.now()), ...more };
      await accounts.act(() => {
        people.putUser(user);
        if (role === undefined) return;
        people.putMember({ orgId, userId: user.id, role, addedAtMs: clock.now(), source: "invitation" });
      });
      return user;
    },
    /** Runs the job of a renamed group, which these tests do not wait for. */
    settleRoles: (groupId: string) =>
      groupRoleHandler(deps).run(
        { orgId: one, groupId },
        { key: "", orgId: one, createdAtMs: 0, attempt: 1, signal: new AbortController().signal },
      ),
    async close() {
      log.close();
      trail.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
