/** Who somebody is after a sign-in, and who owns a new installation. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FIRST_OWNER_FILE } from "../../../../src/account/people/first-owner.ts";
import { failureKind } from "../fixtures.ts";
import { claimsOf, identityRig } from "./fixtures.ts";

const rig = identityRig();
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

  test("who is disabled gets no session", async () => {
    const { user } = await rig.signIn(claimsOf("ada"));
    await rig.accounts.act(() => rig.accounts.people.putUser({ ...user, status: "disabled" }));
    expect(await failureKind(rig.signIn(claimsOf("ada")))).toBe("role");
    expect(rig.sessions.of(user.id)).toHaveLength(1);
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

  test("is not made once the erasure of that org has begun, nor after it", async () => {
    Object.assign(rig.deps, { firstOwner: rig.firstOwner(true) });
    for (const change of [{ erasureBegunAtMs: 1 }, { erasedAtMs: 1 }]) {
      await rig.accounts.act(() => rig.accounts.replaceOrg({ ...rig.first, status: "closed", ...change }));
      expect(await firstRoles(claimsOf("ada"))).toEqual({});
    }
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
    expect(rig.rolesOf((await rig.comes(claimsOf("bob"))).user.id)).toEqual({ first: "admin" });
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
