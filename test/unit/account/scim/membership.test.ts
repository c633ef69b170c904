/** What users and groups of a directory mean for the members of its org, and of no other. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { roleOfGroups, roleOfName } from "../../../../src/account/scim/roles.ts";
import { directoryRig, type Rig } from "./directory.fixtures.ts";
import { refusalOf } from "./fixtures.ts";

let rig: Rig;
beforeEach(async () => {
  rig = await directoryRig();
});
afterEach(() => rig.close());

const signedIn = { iss: "idp", sub: "s1", status: "active", isEmailVerified: true } as const;
const off = { op: "replace", path: "active", value: false };
const on = { op: "replace", path: "active", value: true };

describe("roles", () => {
  test.each([
    ["admin", "admin"],
    ["ADMIN", "admin"],
    [" Weir-Billing ", "billing"],
    ["weir-viewer", "viewer"],
    ["owner", undefined],
    ["weir-owner", undefined],
    ["weir-", undefined],
    ["weir admin", undefined],
    ["__proto__", undefined],
  ])("a group called %j gives %j", (name, role) => {
    expect(roleOfName(name)).toBe(role);
  });

  test("the highest of a user's groups wins, and none means member", () => {
    expect(roleOfGroups(["viewer", "Weir-Admin", "billing"])).toBe("admin");
    expect(roleOfGroups(["member", "billing"])).toBe("billing");
    expect(roleOfGroups(["viewer"])).toBe("viewer");
    expect(roleOfGroups(["Everybody", "owner"])).toBe("member");
  });

  test("follow the groups: their members, their names, and that they are there", async () => {
    const { id } = await rig.createUser("ann@example.com");
    const viewers = await rig.createGroup("viewer", [id]);
    expect(rig.member("ann@example.com")?.role).toBe("viewer");
    const admins = await rig.createGroup("weir-admin", [id]);
    expect(rig.member("ann@example.com")?.role).toBe("admin");
    await rig.patchGroup(admins.id, { op: "replace", path: "displayName", value: "weir-billing" });
    await rig.settleRoles(admins.id);
    expect(rig.member("ann@example.com")?.role).toBe("billing");
    await rig.call("scimDeleteGroup", { id: admins.id });
    expect(rig.member("ann@example.com")?.role).toBe("viewer");
    await rig.call("scimReplaceGroup", { id: viewers.id, body: { displayName: "viewer" } });
    expect(rig.member("ann@example.com")?.role).toBe("member");
    const roles = rig.trail.auditOf(rig.one).filter(({ act }) => act === "member.update");
    expect(roles.map(({ changes }) => changes[0]?.after)).toEqual([
      "member",
      "viewer",
      "billing",
      "admin",
      "viewer",
    ]);
  });

  test("are there with the membership that a user gets back", async () => {
    const { id } = await rig.createUser("ann@example.com");
    await rig.createGroup("admin", [id]);
    await rig.patchUser(id, off);
    await rig.patchUser(id, on);
    expect(rig.member("ann@example.com")?.role).toBe("admin");
  });

  test("a job settles them after a name changed, and only where the role did", async () => {
    const { id } = await rig.createGroup("Sales");
    await rig.patchGroup(id, { op: "replace", path: "displayName", value: "Selling" });
    expect(rig.trail.jobs.row("scim.settle_group_roles", `${id}.2`)).toBeUndefined();
    await rig.patchGroup(id, { op: "replace", path: "displayName", value: "Admin" });
    expect(rig.trail.jobs.row("scim.settle_group_roles", `${id}.3`)?.payload).toEqual({
      orgId: rig.one,
      groupId: id,
    });
  });
});

describe("a user", () => {
  test("is invited by the primary address, else that for work, else the userName", async () => {
    const [home, work] = [
      { value: "h@example.com", type: "home" },
      { value: "w@example.com", type: "Work" },
    ];
    await rig.createUser("u1", { emails: [home, work] });
    await rig.createUser("u2@example.com", { emails: [{ ...home, value: "p@example.com", primary: true }] });
    await rig.createUser("u3@Example.com");
    const emails = rig.people.membersOf(rig.one).map(({ userId }) => rig.people.user(userId)?.email);
    expect(emails.sort()).toEqual(["p@example.com", "u3@example.com", "w@example.com"]);
    expect(await refusalOf(rig.createUser("no address"))).toBe("400 invalidValue");
  });

  test("who comes and goes is told as events", async () => {
    const { id } = await rig.createUser("ann@example.com");
    await rig.patchUser(id, off);
    await rig.patchUser(id, off);
    expect(rig.trail.eventsOf(rig.one).map(({ type }) => type)).toEqual(["member.removed", "member.added"]);
  });

  test("keeps the invitation that other orgs gave the person", async () => {
    const hal = await rig.addPerson({ email: "hal@example.com" }, "admin", rig.two);
    const { id } = await rig.createUser("HAL@example.com");
    expect(rig.member("hal@example.com")?.userId).toBe(hal.id);
    await rig.call("scimDeleteUser", { id });
    expect(rig.people.member(rig.two, hal.id)?.role).toBe("admin");
    expect([rig.people.user(hal.id)?.status, rig.ended]).toEqual(["invited", []]);
  });

  test("of whom nobody knows any more, no address is kept", async () => {
    const { id } = await rig.createUser("ann@example.com");
    const person = rig.member("ann@example.com")?.userId ?? "";
    await rig.patchUser(id, off);
    expect([rig.people.user(person), rig.people.invitedByEmail("ann@example.com")]).toEqual([
      undefined,
      undefined,
    ]);
    await rig.patchUser(id, on);
    expect(rig.member("ann@example.com")?.source).toBe("directory");
  });

  test("loses the sessions of a person who is in no other org, and only then", async () => {
    const { id } = await rig.createUser("ann@example.com");
    const person = rig.people.user(rig.member("ann@example.com")?.userId ?? "");
    if (person === undefined) throw new Error("no person");
    await rig.accounts.act(() => rig.people.putUser({ ...person, ...signedIn }));
    const elsewhere = { orgId: rig.two, userId: person.id, role: "viewer", addedAtMs: 1 } as const;
    await rig.accounts.act(() => rig.people.putMember({ ...elsewhere, source: "invitation" }));
    await rig.patchUser(id, off);
    expect([rig.ended, rig.people.member(rig.two, person.id)?.role]).toEqual([[], "viewer"]);
    await rig.patchUser(id, on);
    await rig.accounts.act(() => rig.people.removeMember(elsewhere));
    await rig.patchUser(id, off);
    expect(rig.ended).toEqual([person.id]);
    expect(rig.people.user(person.id)?.status).toBe("active");
  });

  test("has an address of their own in the directory", async () => {
    await rig.createUser("u1", { emails: [{ value: "a@example.com" }] });
    const second = { emails: [{ value: "A@example.com" }] };
    expect(await refusalOf(rig.createUser("u2", second))).toBe("409 uniqueness");
    const { id } = await rig.createUser("u2@example.com");
    const operation = { op: "replace", path: "userName", value: "U1" };
    expect(await refusalOf(rig.patchUser(id, operation))).toBe("409 uniqueness");
    expect((await rig.createUser("u1", second, rig.two)).userName).toBe("u1");
  });
});

describe("a membership by hand", () => {
  test("keeps its role and its end; whom it belongs to is found by the verified address", async () => {
    const ivy = await rig.addPerson({ ...signedIn, email: "ivy@example.com" }, "viewer");
    const { id } = await rig.createUser("ivy@example.com");
    await rig.createGroup("admin", [id]);
    expect(rig.people.member(rig.one, ivy.id)).toMatchObject({ role: "viewer", source: "invitation" });
    expect(await refusalOf(rig.patchUser(id, off))).toBe("409 undefined");
    expect(await refusalOf(rig.call("scimDeleteUser", { id }))).toBe("409 undefined");
    expect((await rig.call("scimGetUser", { id })).active).toBe(true);
  });

  test("of somebody whose address nobody vouches for is not found", async () => {
    const ivy = await rig.addPerson(
      { ...signedIn, email: "ivy@example.com", isEmailVerified: false },
      "owner",
    );
    await rig.createUser("ivy@example.com");
    expect(rig.member("ivy@example.com")?.userId).not.toBe(ivy.id);
  });

  test("that was made before the directory knew the person becomes its own once it is gone", async () => {
    const ivy = await rig.addPerson({ ...signedIn, email: "ivy@example.com" }, "viewer");
    const { id } = await rig.createUser("ivy@example.com");
    const row = rig.people.member(rig.one, ivy.id);
    if (row !== undefined) await rig.accounts.act(() => rig.people.removeMember(row));
    await rig.patchUser(id, on);
    expect(rig.people.member(rig.one, ivy.id)).toMatchObject({ role: "member", source: "directory" });
  });
});

describe("the link to a sign-in", () => {
  test("is the externalId, for those whom the directory invited and who have not come yet", async () => {
    const made = await rig.createUser("ann@example.com", { externalId: "sub-1" });
    await rig.createUser("ann@example.com", { externalId: "sub-1" }, rig.two);
    expect(rig.links.waitingFor("sub-1").map(({ orgId }) => orgId)).toEqual([rig.one, rig.two].sort());
    expect([
      rig.links.waitingFor("sub"),
      rig.links.waitingFor(""),
      rig.links.waitingFor("x".repeat(999)),
    ]).toEqual([[], [], []]);
    await rig.patchUser(made.id, off);
    expect(rig.links.waitingFor("sub-1").map(({ orgId }) => orgId)).toEqual([rig.two]);
  });

  test("follows the membership to the person who signed in", async () => {
    const { id } = await rig.createUser("ann@example.com");
    const old = rig.member("ann@example.com");
    const ann = await rig.addPerson({ ...signedIn, email: "ann@home.example" });
    if (old === undefined) throw new Error("no member");
    await rig.accounts.act(() => {
      rig.people.removeMember(old);
      rig.people.putMember({ ...old, userId: ann.id });
      rig.links.moved(rig.one, old.userId, ann.id);
    });
    await rig.createGroup("admin", [id]);
    expect(rig.people.member(rig.one, ann.id)?.role).toBe("admin");
    await rig.call("scimDeleteUser", { id });
    expect([rig.people.member(rig.one, ann.id), rig.ended]).toEqual([undefined, [ann.id]]);
  });
});
