/** Who may act on a key: whoever holds all of its scopes, whichever operation changes, ends or replaces it. */
import { describe, expect, test } from "vitest";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { accountRig, failure } from "./fixtures.ts";

const rig = accountRig();

/** A key of the org with a scope that no member holds. */
const strongKey = async (by: Caller = rig.owner, projectId = rig.owner.projectId) =>
  (await rig.create({ scopes: ["inference", "write:org"], project_id: projectId }, by)).id;
const weakKey = async (...scopes: string[]): Promise<Caller> =>
  rig.caller(
    (await rig.create({ scopes: ["inference", ...scopes], project_id: rig.owner.projectId })).secret,
  );

const ACTS: readonly [string, (id: string, by: Caller) => Promise<unknown>][] = [
  ["revokes it", (id, by) => rig.revoke(id, by)],
  ["rotates it", (id, by) => rig.rotate(id, { grace_seconds: 0 }, by)],
  ["renames it", (id, by) => rig.patch(id, { name: "mine" }, by)],
  ["lowers its limits", (id, by) => rig.patch(id, { limits: { rpm: 1 } }, by)],
  ["sets its budget", (id, by) => rig.patch(id, { budget: { daily_micro: 1, hard: true } }, by)],
  ["ends it in an hour", (id, by) => rig.patch(id, { expires_in: "1h" }, by)],
  ["pins its version", (id, by) => rig.patch(id, { svc_version: "2026-09-09" }, by)],
  ["says what a client that goes away does", (id, by) => rig.patch(id, { on_disconnect: "drain" }, by)],
  ["takes its scopes", (id, by) => rig.patch(id, { scopes: ["inference"] }, by)],
  ["sends nothing to change", (id, by) => rig.patch(id, {}, by)],
  ["raises its limits", (id, by) => rig.call("requestLimits", by, { body: { key_id: id, rpm: 100 } })],
];

describe.each(ACTS)("S13: who %s", (_, act) => {
  test("holds its scopes: a member gets `role`, a key `scope`, and nothing has changed", async () => {
    const id = await strongKey();
    const before = rig.accounts.key(id);
    const member = await rig.person("member");
    expect(await failure(act(id, member))).toBe("role");
    expect(await failure(act(id, await weakKey("write:keys", "read:keys")))).toBe("scope");
    expect(rig.accounts.key(id)).toEqual(before);
  });

  test("may do it as an admin, and as a member where the member holds them", async () => {
    expect(await failure(act(await strongKey(), await rig.person("admin")))).toBe("done");
    const own = await rig.create({ project_id: rig.owner.projectId }, await rig.person("member"));
    expect(await failure(act(own.id, await rig.person("member", { email: "b@example.com" })))).toBe("done");
  });
});

describe("S13: keys that go with something else", () => {
  const made = (by = rig.owner) =>
    rig.call("createProject", by, { body: { slug: "second", name: "Second" } });

  test("a project is deleted by a key that holds the scopes of its keys", async () => {
    const project = await made();
    const id = await strongKey(rig.owner, project.id);
    const remove = (by: Caller) => failure(rig.call("deleteProject", by, { id: project.id }));
    expect(await remove(await weakKey("write:keys"))).toBe("scope");
    expect((await rig.get(id)).status).toBe("active");
    await rig.create({ scopes: ["read:billing"], project_id: project.id });
    expect(await remove(await weakKey("write:org"))).toBe("scope");
    expect((await rig.get(id)).status).toBe("active");
    expect(await remove(await weakKey("write:org", "read:billing"))).toBe("done");
    expect((await rig.get(id)).status).toBe("revoked");
  });

  test("keys that have ended keep nobody from deleting it", async () => {
    const project = await made();
    await rig.revoke(await strongKey(rig.owner, project.id));
    const by = await weakKey("read:org");
    expect(await failure(rig.call("deleteProject", by, { id: project.id }))).toBe("done");
  });

  test("a member who leaves, or a key that removes one, ends only keys whose scopes it holds", async () => {
    const maker = await rig.person("admin");
    await rig.person("owner");
    const id = await strongKey(maker);
    const row = rig.accounts.people.member(maker.orgId, maker.actor.id);
    if (row === undefined) throw new Error("no member");
    await rig.accounts.act(() => rig.accounts.people.putMember({ ...row, role: "member" }));
    const member: Caller = { ...maker, scopes: (await rig.person("member")).scopes };
    const remove = (by: Caller, query: object) =>
      failure(rig.call("removeMember", by, { id: maker.actor.id, query }));
    expect(await remove(member, { revoke_keys: "true" })).toBe("role");
    expect(await remove(await weakKey("write:org", "read:keys"), { revoke_keys: "true" })).toBe("done");
    expect((await rig.get(id)).status).toBe("revoked");
  });

  test("leaving without them is always possible", async () => {
    const maker = await rig.person("member");
    await rig.person("owner");
    expect(await failure(rig.call("removeMember", maker, { id: maker.actor.id }))).toBe("done");
  });
});

test("S13: a member who gives more than they hold gets `role`, as for every act above them", async () => {
  const member = await rig.person("member");
  const body = { scopes: ["write:org"], project_id: rig.owner.projectId };
  expect(await failure(rig.create(body, member))).toBe("role /scopes");
});

test("S13: a key that has `read:payloads` is managed by whoever may give it", async () => {
  const { id } = await rig.create({ scopes: ["read:payloads"] });
  expect(await failure(rig.patch(id, { name: "x" }, await weakKey("write:keys")))).toBe("scope");
  expect(await failure(rig.revoke(id, await rig.person("member")))).toBe("role");
  expect(await failure(rig.revoke(id, rig.owner))).toBe("done");
});
