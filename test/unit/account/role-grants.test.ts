/** Which roles a key gives: those of the person behind it, as far as that person may today. */
import { describe, expect, test } from "vitest";
import { ROLES, type Role } from "../../../src/account/roles.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { accountRig, failure } from "./fixtures.ts";

const rig = accountRig();
let invited = 0;

const add = (by: Caller, role: Role) =>
  failure(rig.call("addMember", by, { body: { email: `new-${++invited}@example.com`, role } }));
/** Roles that the caller can give. */
async function given(by: Caller): Promise<string> {
  const outcomes: [Role, string][] = [];
  for (const role of ROLES) outcomes.push([role, await add(by, role)]);
  for (const [, outcome] of outcomes) expect(["done", "role"]).toContain(outcome);
  return outcomes.flatMap(([role, outcome]) => (outcome === "done" ? [role] : [])).join(" ");
}
async function keyBy(
  maker: Caller,
  scopes: readonly string[] = ["write:keys", "write:org"],
): Promise<Caller> {
  const { secret } = await rig.create({ scopes, project_id: rig.owner.projectId }, maker);
  return rig.caller(secret);
}
/** The person's role becomes another; undefined: they leave. */
async function become(person: Caller, role: Role | undefined): Promise<void> {
  const { people } = rig.accounts;
  const row = people.member(person.orgId, person.actor.id);
  if (row === undefined) throw new Error("no member");
  await rig.accounts.act(() =>
    role === undefined ? people.removeMember(row) : people.putMember({ ...row, role }),
  );
}

describe("a key that a person made gives roles", () => {
  test.each([
    ["owner", "admin billing member viewer"],
    ["admin", "admin billing member viewer"],
  ] as const)("of an %s: %s", async (role, expected) => {
    const maker = await rig.person(role);
    expect(await given(await keyBy(maker))).toBe(expected);
    expect(await given(await keyBy(maker, ["write:org"]))).toBe(expected);
  });

  test("as far as the person may today, whatever they were", async () => {
    await rig.person("owner", { email: "other@example.com" });
    const maker = await rig.person("admin");
    const key = await keyBy(maker);
    const outcomes: Record<string, string> = {};
    for (const role of ["member", "billing", "viewer", "admin"] as const) {
      await become(maker, role);
      outcomes[role] = await given(key);
    }
    expect(outcomes).toEqual({
      member: "member viewer",
      billing: "billing",
      viewer: "viewer",
      admin: "admin billing member viewer",
    });
  });

  test("none once the person has left, or is disabled", async () => {
    const [left, disabled] = [
      await rig.person("admin"),
      await rig.person("admin", { email: "b@example.com" }),
    ];
    const [keyOfLeft, keyOfDisabled] = [await keyBy(left), await keyBy(disabled)];
    await become(left, undefined);
    const { people } = rig.accounts;
    const user = people.user(disabled.actor.id);
    await rig.accounts.act(() => user && people.putUser({ ...user, status: "disabled" }));
    expect([await given(keyOfLeft), await given(keyOfDisabled)]).toEqual(["", ""]);
  });

  test("no more through keys that it makes, or by being rotated by itself", async () => {
    const maker = await rig.person("admin");
    const first = await keyBy(maker);
    const second = await keyBy(first);
    const { secret } = await rig.rotate(second.actor.id, { grace_seconds: 0 }, second);
    const third = rig.caller(secret);
    expect(await given(third)).toBe("admin billing member viewer");
    await become(maker, "viewer");
    expect([await given(first), await given(third)]).toEqual(["viewer", "viewer"]);
  });
});

describe("a key of which nobody knows who made it", () => {
  test("gives all roles but owner while it administers the org, as the key of the first start does", async () => {
    expect(await given(rig.owner)).toBe("admin billing member viewer");
    await rig.person("owner");
    expect(await given(await keyBy(rig.owner))).toBe("admin billing member viewer");
  });

  test("gives what a member may without one of the scopes that administer", async () => {
    expect(await given(await keyBy(rig.owner, ["write:org"]))).toBe("member viewer");
  });

  test("changes and removes members within the same bounds", async () => {
    const [admin, viewer] = [await rig.person("admin"), await rig.person("viewer")];
    const weak = await keyBy(rig.owner, ["write:org", "read:org"]);
    const change = (id: string, role: Role, by: Caller) =>
      failure(rig.call("updateMember", by, { id, body: { role } }));
    expect(await change(viewer.actor.id, "admin", weak)).toBe("role");
    expect(await change(admin.actor.id, "viewer", weak)).toBe("role");
    expect(await change(viewer.actor.id, "member", weak)).toBe("done");
    const remove = (id: string, by: Caller) => failure(rig.call("removeMember", by, { id }));
    expect(await remove(admin.actor.id, weak)).toBe("role");
    expect(await remove(viewer.actor.id, weak)).toBe("done");
    expect(await remove(admin.actor.id, rig.owner)).toBe("done");
  });
});
