/** Bounds of orgs and people at a sign-in: to own one org too many waits, and no org keeps anybody from signing in or answering. */
import { expect, test } from "vitest";
import type { OrgRow } from "../../../../src/account/org.ts";
import { invitedUser } from "../../../../src/account/person.ts";
import type { Role } from "../../../../src/account/roles.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { ORIGIN } from "../../../support/trail.fixtures.ts";
import { claimsOf, identityRig } from "./fixtures.ts";

const rig = identityRig();
const EMAIL = "ann@example.com";
const ann = () => claimsOf("ann", { email: EMAIL });
const rolesOf = (userId: string) => rig.accounts.people.membershipsOf(userId).map(({ role }) => role);

/** As a directory adds somebody; an owner can give them another role once the directory has no token any more. */
const provision = ({ id: orgId }: OrgRow, role: Role) =>
  rig.accounts.act(() => {
    const { people } = rig.accounts;
    const user = people.invitedByEmail(EMAIL) ?? invitedUser(EMAIL, rig.clock.now());
    people.putUser(user);
    people.putMember({ orgId, userId: user.id, role, addedAtMs: rig.clock.now(), source: "directory" });
  });

test("S10: a directory's membership that owns a sixth org waits until its person owns fewer", async () => {
  const { user } = await rig.signIn(ann());
  const mine = await Promise.all(["a", "b", "c", "d", "e"].map((slug) => rig.org(slug)));
  for (const org of mine) {
    await provision(org, "owner");
    await rig.signIn(ann());
  }
  expect(rolesOf(user.id)).toEqual(["owner", "owner", "owner", "owner", "owner"]);
  const [sixth, other] = [await rig.org("f"), await rig.org("g")];
  await provision(sixth, "owner");
  await provision(other, "viewer");
  await rig.signIn(ann());
  expect(rolesOf(user.id).filter((role) => role === "owner")).toHaveLength(5);
  expect(rig.accounts.people.member(other.id, user.id)?.role).toBe("viewer");
  await rig.accounts.act(() =>
    rig.accounts.people.removeMember({ orgId: mine[0]?.id ?? "", userId: user.id }),
  );
  await rig.signIn(ann());
  expect(rig.accounts.people.member(sixth.id, user.id)?.role).toBe("owner");
});

test("S7: an org that used its changes of the day up keeps nobody from signing in, accepting or declining", async () => {
  const org = await rig.org("acme");
  const caller: Caller = {
    requestId: "",
    orgId: org.id,
    projectId: "",
    environment: "live",
    scopes: new Set(),
    actor: { kind: "person", id: "usr_1" },
    origin: ORIGIN,
  };
  const change = (count: number) =>
    rig.accounts.act(() => {
      for (let i = 0; i < count; i++) rig.trail.audit.note(caller, { act: "org.update", target: org.id });
    });
  await change(USUAL_QUOTAS.changes_per_day);
  await expect(change(1)).rejects.toThrow("changes by the other people of an organisation in a day");
  const [first, second] = [
    await rig.invite(org, "ada@example.com"),
    await rig.invite(org, "bob@example.com"),
  ];
  const [ada, bob] = [await rig.signIn(claimsOf("ada")), await rig.signIn(claimsOf("bob"))];
  await rig.answer("accept", ada.token, first.id);
  await rig.answer("decline", bob.token, second.id);
  expect(rig.accounts.people.membersOf(org.id).map(({ userId }) => userId)).toEqual([ada.user.id]);
  await provision(org, "member");
  const { user } = await rig.signIn(ann());
  expect(rig.accounts.people.member(org.id, user.id)?.role).toBe("member");
});
