/** Who somebody is after a sign-in, which orgs are theirs, and what is left of invitations. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FIRST_OWNER_FILE } from "../../../src/account/first-owner.ts";
import { INVITATION_DAYS } from "../../../src/account/invitations.ts";
import { failureKind } from "../account/fixtures.ts";
import { claimsOf, identityRig } from "./fixtures.ts";

const rig = identityRig();
const DAY_MS = 86_400_000;
const actsOf = (orgId: string): string[] => rig.trail.auditOf(orgId).map(({ act }) => act);

describe("a person", () => {
  test("is who the provider says, whatever address they have now", async () => {
    const before = await rig.signIn(claimsOf("ada"));
    const after = await rig.signIn(claimsOf("ada", { email: "ada@new.example.com" }));
    expect(after.user).toMatchObject({ id: before.user.id, email: "ada@new.example.com" });
    // Somebody else was given the old address.
    const other = await rig.signIn(claimsOf("bob", { email: "ada@example.com" }));
    expect(other.user.id).not.toBe(before.user.id);
  });

  test("of another issuer with the same subject is another person", async () => {
    const one = await rig.signIn(claimsOf("ada"));
    const two = await rig.signIn(claimsOf("ada", { iss: "https://other.example.com" }));
    expect(two.user.id).not.toBe(one.user.id);
  });

  test("keeps an address that nobody verified as such, also where a later token names none", async () => {
    await rig.signIn(claimsOf("eve", { email: "boss@example.com", isEmailVerified: false }));
    const { user } = await rig.signIn(claimsOf("eve", { email: "", isEmailVerified: true }));
    expect(user).toMatchObject({ email: "boss@example.com", isEmailVerified: false });
    rig.deps.trustsEmail = true;
    const again = await rig.signIn(claimsOf("eve", { email: "", isEmailVerified: false }));
    expect(again.user.isEmailVerified).toBe(false);
  });

  test("who is disabled gets no session, and their invitation stays", async () => {
    const { user } = await rig.signIn(claimsOf("ada"));
    const org = await rig.org("acme");
    const { secret, member } = await rig.invite(org, "friend@example.com");
    await rig.accounts.act(() => rig.accounts.people.putUser({ ...user, status: "disabled" }));
    expect(await failureKind(rig.signIn(claimsOf("ada"), { invitation: secret }))).toBe("role");
    expect(rig.sessions.of(user.id)).toHaveLength(1);
    expect(rig.invitations.find(secret)).toEqual(member);
  });
});

describe("an invitation", () => {
  test("is accepted by the verified address, and the person keeps the id that it gave", async () => {
    const org = await rig.org("acme");
    const { member } = await rig.invite(org, "Ada@Example.com", "viewer");
    const { user } = await rig.signIn(claimsOf("ada"));
    expect(user).toMatchObject({ id: member.userId, status: "active" });
    expect(rig.rolesOf(user.id)).toEqual({ acme: "viewer" });
    expect(actsOf(org.id)).toEqual(["member.join"]);
  });

  test("is not accepted by an address that nobody verified, unless addresses are trusted", async () => {
    const { member } = await rig.invite(await rig.org("acme"), "ada@example.com");
    const claims = claimsOf("ada", { isEmailVerified: false });
    const { user } = await rig.signIn(claims);
    expect([user.id === member.userId, rig.rolesOf(user.id)]).toEqual([false, {}]);
    rig.deps.trustsEmail = true;
    expect(rig.rolesOf((await rig.signIn(claims)).user.id)).toEqual({ acme: "member" });
    expect(rig.accounts.people.user(member.userId)).toBeUndefined();
  });

  test("is accepted by its link with another address, once", async () => {
    const org = await rig.org("acme");
    const { member, secret } = await rig.invite(org, "friend@example.com", "admin");
    const ada = await rig.signIn(claimsOf("ada", { isEmailVerified: false }), { invitation: secret });
    expect(ada.user).toMatchObject({ id: member.userId, email: "ada@example.com" });
    expect(rig.rolesOf(ada.user.id)).toEqual({ acme: "admin" });
    const late = await rig.signIn(claimsOf("bob"), { invitation: secret });
    const invited = await rig.signIn(claimsOf("friend"));
    expect([rig.rolesOf(late.user.id), rig.rolesOf(invited.user.id)]).toEqual([{}, {}]);
    expect(actsOf(org.id)).toEqual(["member.join"]);
  });

  test.each(["somebody new", "somebody who is known"])(
    "opens by its link the org that sent it and no other, to %s",
    async (who) => {
      const [acme, globex] = [await rig.org("acme"), await rig.org("globex")];
      await rig.invite(acme, "friend@example.com", "admin");
      const { secret } = await rig.invite(globex, "friend@example.com", "viewer");
      if (who === "somebody who is known") await rig.signIn(claimsOf("bob"));
      const bob = await rig.signIn(claimsOf("bob"), { invitation: secret });
      expect(rig.rolesOf(bob.user.id)).toEqual({ globex: "viewer" });
      // What was not for the link waits for the address.
      const friend = await rig.signIn(claimsOf("friend"));
      expect(rig.rolesOf(friend.user.id)).toEqual({ acme: "admin" });
      expect([actsOf(acme.id), actsOf(globex.id)]).toEqual([["member.join"], ["member.join"]]);
    },
  );

  test("that was taken back opens nothing by its link", async () => {
    const [acme, globex] = [await rig.org("acme"), await rig.org("globex")];
    await rig.invite(acme, "friend@example.com");
    const { member, secret } = await rig.invite(globex, "friend@example.com");
    await rig.accounts.act(() => rig.accounts.people.removeMember(member));
    const { user } = await rig.signIn(claimsOf("bob"), { invitation: secret });
    expect(rig.rolesOf(user.id)).toEqual({});
  });

  test("ends after fourteen days", async () => {
    const { secret } = await rig.invite(await rig.org("acme"), "friend@example.com");
    rig.clock.advance(INVITATION_DAYS * DAY_MS);
    const { user } = await rig.signIn(claimsOf("bob"), { invitation: secret });
    expect(rig.rolesOf(user.id)).toEqual({});
  });

  test.each(["", "x", "x".repeat(43), "../..", "\u0000".repeat(43)])(
    "that never was opens nothing: %j",
    async (invitation) => {
      await rig.invite(await rig.org("acme"), "friend@example.com");
      expect(rig.rolesOf((await rig.signIn(claimsOf("bob"), { invitation })).user.id)).toEqual({});
    },
  );

  test("to an org of which the person is a member already changes no role", async () => {
    const org = await rig.org("acme");
    await rig.invite(org, "ada@example.com", "viewer");
    const { user } = await rig.signIn(claimsOf("ada"));
    const { secret } = await rig.invite(org, "friend@example.com", "admin");
    await rig.signIn(claimsOf("ada"), { invitation: secret });
    expect(rig.rolesOf(user.id)).toEqual({ acme: "viewer" });
    expect(actsOf(org.id)).toEqual(["member.join"]);
  });

  test("of both the address and a link opens both orgs", async () => {
    const [acme, globex] = [await rig.org("acme"), await rig.org("globex")];
    await rig.invite(acme, "ada@example.com", "admin");
    const { secret } = await rig.invite(globex, "friend@example.com", "viewer");
    const { user } = await rig.signIn(claimsOf("ada"), { invitation: secret });
    expect(rig.rolesOf(user.id)).toEqual({ acme: "admin", globex: "viewer" });
  });

  test("is accepted once, by 200 people who open its link at the same time", async () => {
    const org = await rig.org("acme");
    const { secret } = await rig.invite(org, "friend@example.com");
    const people = await Promise.all(
      Array.from({ length: 200 }, (_, i) => rig.signIn(claimsOf(`p${i}`), { invitation: secret })),
    );
    expect(people.filter(({ user }) => rig.rolesOf(user.id).acme !== undefined)).toHaveLength(1);
    expect(rig.accounts.people.membersOf(org.id)).toHaveLength(1);
    expect(actsOf(org.id)).toEqual(["member.join"]);
  });

  test("is accepted once where one person signs in 40 times at once", async () => {
    const org = await rig.org("acme");
    await rig.invite(org, "ada@example.com");
    const all = await Promise.all(Array.from({ length: 40 }, () => rig.signIn(claimsOf("ada"))));
    expect(new Set(all.map(({ user }) => user.id)).size).toBe(1);
    expect(rig.accounts.people.membersOf(org.id)).toHaveLength(1);
    expect(actsOf(org.id)).toEqual(["member.join"]);
  });
});

describe("the owner of a new installation", () => {
  const firstRoles = async (...given: Parameters<typeof rig.signIn>) =>
    rig.rolesOf((await rig.signIn(...given)).user.id);
  const secret = () => readFileSync(join(rig.dataDir, FIRST_OWNER_FILE), "utf8").trim();

  test("is on loopback whoever signs in first, and nobody else", async () => {
    Object.assign(rig.deps, { firstOwner: rig.firstOwner(true) });
    expect(await firstRoles(claimsOf("ada"))).toEqual({ first: "owner" });
    expect(await firstRoles(claimsOf("bob"))).toEqual({});
  });

  test("is one of 200 who sign in at the same time", async () => {
    Object.assign(rig.deps, { firstOwner: rig.firstOwner(true) });
    const all = await Promise.all(Array.from({ length: 200 }, (_, i) => firstRoles(claimsOf(`p${i}`))));
    expect(all.filter(({ first }) => first === "owner")).toHaveLength(1);
    expect(actsOf(rig.first.id)).toEqual(["member.first_owner"]);
  });

  test("is elsewhere who holds the secret of the data folder, once", async () => {
    expect(await firstRoles(claimsOf("ada"))).toEqual({});
    expect(await firstRoles(claimsOf("ada"), { firstOwner: "x".repeat(secret().length) })).toEqual({});
    expect(await firstRoles(claimsOf("ada"), { firstOwner: `${secret()}x` })).toEqual({});
    const right = secret();
    expect(await firstRoles(claimsOf("ada"), { firstOwner: right })).toEqual({ first: "owner" });
    expect(await firstRoles(claimsOf("bob"), { firstOwner: right })).toEqual({});
  });

  test("is an operator whose address is verified, and no other who claims it", async () => {
    Object.assign(rig.deps, { firstOwner: rig.firstOwner(false, ["ada@example.com"]) });
    expect(await firstRoles(claimsOf("eve", { email: "ada@example.com", isEmailVerified: false }))).toEqual(
      {},
    );
    expect(await firstRoles(claimsOf("ada"))).toEqual({ first: "owner" });
  });

  test("may come after people whom a key has invited", async () => {
    await rig.invite(rig.first, "bob@example.com", "admin");
    expect(await firstRoles(claimsOf("bob"))).toEqual({ first: "admin" });
    expect(await firstRoles(claimsOf("ada"), { firstOwner: secret() })).toEqual({ first: "owner" });
  });
});

test("the secret of the first owner is the same in the folder of each cell, also where a gateway alone had made one", () => {
  const secret = () => readFileSync(join(rig.dataDir, FIRST_OWNER_FILE), "utf8").trim();
  const alone = secret();
  rig.firstOwner(false, [], Buffer.alloc(32, 1));
  const ofCells = secret();
  rig.firstOwner(false, [], Buffer.alloc(32, 1));
  expect([ofCells === alone, secret()]).toEqual([false, Buffer.alloc(32, 1).toString("base64url")]);
});
