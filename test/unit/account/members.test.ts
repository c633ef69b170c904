/** Members: who may invite, change and remove whom, and what follows. */

import { describe, expect, test } from "vitest";
import { invitationId } from "../../../src/account/people/invitations.ts";
import type { MemberRow } from "../../../src/account/person.ts";
import type { Role } from "../../../src/account/roles.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { accountRig, failure } from "./fixtures.ts";

const rig = accountRig();

interface Member {
  user_id: string;
  role: Role;
  email: string;
}
const add = (by: Caller, email: string, role?: Role) =>
  rig.call<Member>("addMember", by, { body: { email, ...(role && { role }) } });
const change = (by: Caller, id: string, role: Role) =>
  rig.call<Member>("updateMember", by, { id, body: { role } });
interface Listed extends Member {
  status: string;
  is_managed: boolean;
  since: string;
}
const list = async (by: Caller) => (await rig.call<{ data: Listed[] }>("listMembers", by, {})).data;
const again = (by: Caller, id: string) => rig.call<Listed>("inviteAgain", by, { id });
const remove = (by: Caller, id: string, query: object = {}) => rig.call("removeMember", by, { id, query });

describe("an invitation", () => {
  test("makes an invited person with an id at once, a mail with a link, an event", async () => {
    const admin = await rig.person("admin");
    const made = await add(admin, "New.Person@Example.COM", "viewer");
    expect(made).toEqual({
      org_id: admin.orgId,
      user_id: expect.stringMatching(/^usr_/),
      role: "viewer",
      email: "New.Person@example.com",
    });
    const [mail] = rig.mails;
    expect(mail?.userId).toBe(made.user_id);
    expect(mail).toMatchObject({
      orgName: "First organisation",
      role: "viewer",
      invitedBy: "admin@example.com",
    });
    expect(rig.trail.eventsOf(admin.orgId)[0]).toMatchObject({ type: "member.added", data: made });
  });

  test("of a person of this org is refused; of one who was invited elsewhere it is the same person", async () => {
    const admin = await rig.person("admin");
    await add(admin, "new@example.com");
    expect(await failure(add(admin, "NEW@example.com"))).toBe("state /email");
    expect(await failure(add(admin, "admin@example.com"))).toBe("state /email");
    const other = await rig.person("admin", { orgId: "org_other", email: "other@example.com" });
    await rig.accounts.act(() => {
      const org = rig.accounts.org(admin.orgId);
      if (org !== undefined) rig.accounts.addOrg({ ...org, id: "org_other", slug: "other" });
    });
    const [here] = rig.accounts.people.membersOf(admin.orgId).slice(-1);
    expect((await add(other, "new@example.com")).user_id).toBe(here?.userId);
  });

  test("S6: says who answers for it, who changes its role afterwards, and ends after two weeks", async () => {
    const [owner, admin] = [await rig.person("owner"), await rig.person("admin")];
    const { user_id: id } = await add(admin, "new@example.com");
    const row = () => rig.accounts.people.member(admin.orgId, id);
    const endsAtMs = rig.clock.now() + 14 * DAY_MS;
    expect(row()?.invitation).toEqual({ by: admin.actor, endsAtMs });
    await change(owner, id, "viewer");
    expect(row()).toMatchObject({ role: "viewer", invitation: { by: owner.actor, endsAtMs } });
  });

  test("S6: may be sent again once whoever sent it could not send it any more", async () => {
    const [owner, admin] = [await rig.person("owner"), await rig.person("admin")];
    const email = "new@example.com";
    await add(admin, email);
    expect(await failure(add(owner, email))).toBe("state /email");
    await change(owner, admin.actor.id, "member");
    expect(await failure(add(owner, email))).toBe("done");
    const key = await rig.create({ scopes: ["inference", "write:org"] });
    await add(rig.caller(key.secret), "other@example.com", "viewer");
    await rig.revoke(key.id);
    expect(await failure(add(owner, "other@example.com"))).toBe("done");
  });

  test("S6: may be sent again once it has ended, with another id", async () => {
    const admin = await rig.person("admin");
    const made = await add(admin, "new@example.com", "viewer");
    const row = () => rig.accounts.people.member(admin.orgId, made.user_id) as MemberRow;
    const before = invitationId(row());
    rig.clock.advance(14 * DAY_MS - 1);
    expect(await failure(add(admin, "new@example.com"))).toBe("state /email");
    rig.clock.advance(1);
    expect((await add(admin, "New@example.com", "billing")).user_id).toBe(made.user_id);
    expect(row()).toMatchObject({ role: "billing", invitation: { endsAtMs: rig.clock.now() + 14 * DAY_MS } });
    expect(invitationId(row())).not.toBe(before);
    expect(rig.mails).toHaveLength(2);
  });

  test("that waits is sent again as it is, and can be accepted for fourteen days more", async () => {
    const [owner, admin] = [await rig.person("owner"), await rig.person("admin")];
    const { user_id: id } = await add(admin, "new@example.com", "viewer");
    const before = invitationId(rig.accounts.people.member(admin.orgId, id) as MemberRow);
    rig.clock.advance(20 * DAY_MS);
    expect((await list(owner)).find(({ user_id }) => user_id === id)).toMatchObject({ status: "lapsed" });
    expect(await again(owner, id)).toMatchObject({
      status: "invited",
      role: "viewer",
      invitation: {
        expires_at: new Date(rig.clock.now() + 14 * DAY_MS).toISOString(),
        invited_by: "owner@example.com",
      },
    });
    expect(invitationId(rig.accounts.people.member(admin.orgId, id) as MemberRow)).toBe(before);
    expect(rig.mails).toHaveLength(2);
    expect(rig.mails[1]).toMatchObject({ userId: id, role: "viewer", invitedBy: "owner@example.com" });
    expect(rig.trail.auditOf(owner.orgId)[0]).toMatchObject({ act: "member.invite_again", target: id });
  });

  test("is sent again by whoever could give its role, to somebody who has not joined, as often as others", async () => {
    const [owner, admin] = [await rig.person("owner"), await rig.person("admin")];
    const { user_id: id } = await add(owner, "new@example.com", "owner");
    expect(await failure(again(admin, id))).toBe("role");
    expect(await failure(again(owner, admin.actor.id))).toBe("state");
    expect(await failure(again(owner, "usr_none"))).toBe("not_found");
    for (let sent = 1; sent < 50; sent++) await again(owner, id);
    expect(await failure(again(owner, id))).toBe("plan_limit");
  });

  test("is listed with its state, and members with when they joined", async () => {
    const admin = await rig.person("admin");
    await add(admin, "new@example.com", "viewer");
    const since = new Date(rig.clock.now()).toISOString();
    expect(await list(admin)).toMatchObject([
      { user_id: admin.actor.id, status: "active", is_managed: false },
      { email: "new@example.com", status: "invited", since, invitation: { invited_by: "admin@example.com" } },
    ]);
    expect((await list(admin))[0]).not.toHaveProperty("invitation");
  });

  test("an org sends 50 a day", async () => {
    const admin = await rig.person("admin");
    for (let i = 0; i < 50; i++) await add(admin, `new-${i}@example.com`);
    expect(await failure(add(admin, "late@example.com"))).toBe("plan_limit");
    expect(rig.mails).toHaveLength(50);
    rig.clock.advance(DAY_MS);
    expect(await failure(add(admin, "late@example.com"))).toBe("done");
  });
});

describe("a role", () => {
  test.each<[Role, Role, string]>([
    ["owner", "owner", "done"],
    ["admin", "owner", "role"],
    ["admin", "admin", "done"],
    ["admin", "billing", "done"],
  ])("%s may give %s: %s", async (own, given, expected) => {
    const caller = await rig.person(own);
    expect(await failure(add(caller, "new@example.com", given))).toBe(expected);
  });

  test("above one's own can be neither given nor taken", async () => {
    const [owner, admin, member] = [
      await rig.person("owner"),
      await rig.person("admin"),
      await rig.person("member"),
    ];
    expect(await failure(change(admin, owner.actor.id, "viewer"))).toBe("role");
    expect(await failure(change(admin, member.actor.id, "owner"))).toBe("role");
    expect(await failure(remove(admin, owner.actor.id))).toBe("role");
    expect(await change(owner, member.actor.id, "owner")).toMatchObject({ role: "owner" });
    // Now that there are two, the first may step back.
    expect(await failure(change(owner, owner.actor.id, "viewer"))).toBe("done");
  });
});

describe("removing", () => {
  test("is for admins; anybody may leave", async () => {
    const [member, viewer] = [await rig.person("member"), await rig.person("viewer")];
    await rig.person("owner");
    expect(await failure(remove(member, viewer.actor.id))).toBe("role");
    expect(await failure(remove(viewer, viewer.actor.id))).toBe("done");
    expect(rig.accounts.people.member(viewer.orgId, viewer.actor.id)).toBeUndefined();
    expect(rig.trail.eventsOf(viewer.orgId)[0]).toMatchObject({ type: "member.removed" });
    expect(await failure(remove(member, viewer.actor.id))).toBe("not_found");
  });

  test("the last owner who has signed in stays", async () => {
    const owner = await rig.person("owner");
    await add(owner, "second@example.com", "owner");
    expect(await failure(remove(owner, owner.actor.id))).toBe("last_owner");
    expect(await failure(change(owner, owner.actor.id, "admin"))).toBe("last_owner");
  });

  test("of two owners who leave at the same time one stays", async () => {
    const owners = [await rig.person("owner"), await rig.person("owner", { email: "b@example.com" })];
    const outcomes = await Promise.all(owners.map((owner) => failure(remove(owner, owner.actor.id))));
    expect(outcomes.sort()).toEqual(["done", "last_owner"]);
  });

  test("revokes the keys that the person made if it is asked for, and tells which", async () => {
    const [owner, member] = [await rig.person("owner"), await rig.person("member")];
    const projectId = rig.owner.projectId;
    const key = await rig.create({ project_id: projectId }, member);
    const kept = await rig.create({ project_id: projectId }, owner);
    await remove(owner, member.actor.id, { revoke_keys: "true" });
    expect([(await rig.get(key.id)).status, (await rig.get(kept.id)).status]).toEqual(["revoked", "active"]);
    const [row] = rig.trail.auditOf(owner.orgId);
    expect(row?.changes).toContainEqual({ field: "keys_revoked", after: [key.id] });
  });

  test("S13: revokes keys that keys of the person made, too, and those of nobody else", async () => {
    const [owner, member] = [await rig.person("owner"), await rig.person("member")];
    const project = { project_id: rig.owner.projectId };
    const maker = await rig.create({ ...project, scopes: ["inference", "read:usage", "write:keys"] }, member);
    const made = await rig.create(project, rig.caller(maker.secret));
    const next = await rig.rotate(made.id, { grace_seconds: 60 }, rig.caller(maker.secret));
    const kept = await rig.create(project, rig.owner);
    await remove(owner, member.actor.id, { revoke_keys: "true" });
    const statuses = await Promise.all(
      [maker, made, next, kept].map(async ({ id }) => (await rig.get(id)).status),
    );
    expect(statuses).toEqual(["revoked", "revoked", "revoked", "active"]);
  });

  test("an invited person whom nobody wants any more is forgotten", async () => {
    const owner = await rig.person("owner");
    const { user_id: id } = await add(owner, "new@example.com");
    await remove(owner, id);
    expect(rig.accounts.people.user(id)).toBeUndefined();
    expect(rig.accounts.people.invitedByEmail("new@example.com")).toBeUndefined();
  });
});

test("an org whose people can make keys need not keep one that can", async () => {
  const live = rig.rowOf(rig.secrets.live);
  expect(await failure(rig.revoke(live.id))).toBe("state");
  await rig.person("member");
  expect(await failure(rig.revoke(live.id))).toBe("done");
});

describe("S10: a directory's member whom an owner makes an owner once the directory has no token", () => {
  const promoted = async (id: string) => {
    const owner = await rig.person("owner");
    const row = rig.accounts.people.member(owner.orgId, id);
    if (row === undefined) throw new Error("no member");
    const { invitation: _, ...rest } = row;
    await rig.accounts.act(() => rig.accounts.people.putMember({ ...rest, source: "directory" }));
    rig.hasDirectory = false;
    await change(owner, id, "owner");
    return rig.accounts.people.member(owner.orgId, id);
  };

  test("is the directory's no longer, which could take their role else", async () => {
    const member = await rig.person("member");
    expect(await promoted(member.actor.id)).toMatchObject({ role: "owner", source: "invitation" });
  });

  test("accepts it, where they have not signed in yet", async () => {
    const { user_id: id } = await add(await rig.person("admin"), "new@example.com");
    expect(await promoted(id)).toMatchObject({
      role: "owner",
      source: "invitation",
      invitation: { by: { kind: "person" }, endsAtMs: rig.clock.now() + 14 * DAY_MS },
    });
  });
});
