/** Bounds of orgs and people at a sign-in: an invitation to own one org too many waits, and no org keeps anybody from signing in. */
import { expect, test } from "vitest";
import type { Caller } from "../../../src/operation.ts";
import { USUAL_QUOTAS } from "../../../src/quota.ts";
import { ORIGIN } from "../../support/trail.fixtures.ts";
import { claimsOf, identityRig } from "./fixtures.ts";

const rig = identityRig();
const ann = () => claimsOf("ann", { email: "ann@example.com" });
const rolesOf = (userId: string) => rig.accounts.people.membershipsOf(userId).map(({ role }) => role);

test("S10: an invitation to own a sixth org waits until its person owns fewer", async () => {
  const { user } = await rig.signIn(ann());
  const mine = await Promise.all(["a", "b", "c", "d", "e"].map((slug) => rig.org(slug)));
  for (const org of mine) {
    await rig.invite(org, "ann@example.com", "owner");
    await rig.signIn(ann());
  }
  expect(rolesOf(user.id)).toEqual(["owner", "owner", "owner", "owner", "owner"]);
  const [sixth, other] = [await rig.org("f"), await rig.org("g")];
  await rig.invite(sixth, "ann@example.com", "owner");
  await rig.invite(other, "ann@example.com", "viewer");
  await rig.signIn(ann());
  expect(rolesOf(user.id).filter((role) => role === "owner")).toHaveLength(5);
  expect(rig.accounts.people.member(other.id, user.id)?.role).toBe("viewer");
  await rig.accounts.act(() =>
    rig.accounts.people.removeMember({ orgId: mine[0]?.id ?? "", userId: user.id }),
  );
  await rig.signIn(ann());
  expect(rig.accounts.people.member(sixth.id, user.id)?.role).toBe("owner");
});

test("S7: an org that used its changes of the day up keeps nobody from signing in", async () => {
  const org = await rig.org("acme");
  const invited = await rig.invite(org, "ann@example.com");
  const caller: Caller = {
    ...{ requestId: "", orgId: org.id, projectId: "", environment: "live", scopes: new Set() },
    ...{ actor: { kind: "person", id: "usr_1" }, origin: ORIGIN },
  };
  const change = (count: number) =>
    rig.accounts.act(() => {
      for (let i = 0; i < count; i++) rig.trail.audit.note(caller, { act: "org.update", target: org.id });
    });
  await change(USUAL_QUOTAS.changes_per_day);
  await expect(change(1)).rejects.toThrow("changes by the people of an organisation in a day");
  const { user } = await rig.signIn(ann());
  expect([user.id, rig.accounts.people.member(org.id, user.id)?.role]).toEqual([
    invited.member.userId,
    "member",
  ]);
});
