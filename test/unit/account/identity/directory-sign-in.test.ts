/** Sign-in of people whom directories invited: by the subject, and never at the cost of somebody else's invitation. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { activeMembership } from "../../../../src/account/identity/person-access.ts";
import { Sessions } from "../../../../src/account/identity/sessions.ts";
import { signIn } from "../../../../src/account/identity/sign-in.ts";
import type { FirstOwner } from "../../../../src/account/people/first-owner.ts";
import { ORIGIN } from "../../../support/trail.fixtures.ts";
import { directoryRig, type Rig } from "../scim/directory.fixtures.ts";

let rig: Rig;
let sessions: Sessions;
beforeEach(async () => {
  rig = await directoryRig();
  const { store, clock } = rig;
  sessions = new Sessions({ store, clock, csrfSecret: Buffer.alloc(32, 1), onFailure: () => {} });
});
afterEach(async () => {
  sessions.close();
  await rig.close();
});

/** @returns the id of who signed in */
async function comes(sub: string, email: string, isEmailVerified = false): Promise<string> {
  const claims = {
    iss: "idp",
    sub,
    email,
    isEmailVerified,
    name: "A",
    sid: "",
    amr: [],
    acr: "",
    idToken: "",
  };
  const { token } = await signIn(
    {
      accounts: rig.accounts,
      sessions,
      trail: rig.trail.trail,
      clock: rig.clock,
      firstOwner: { claim() {} } as unknown as FirstOwner,
      trustsEmail: false,
      directories: rig.links,
      maxOrgsOfPerson: 5,
    },
    { claims, firstOwner: "", requestId: "r", origin: ORIGIN, before: "" },
  );
  return sessions.find(token)?.row.userId ?? "";
}

test("the subject makes a new person the one whom the directory invited", async () => {
  await rig.createUser("ann@corp.example", { externalId: "s1" });
  const invited = rig.member("ann@corp.example")?.userId;
  expect(await comes("s1", "ann@home.example")).toBe(invited);
  expect(rig.people.user(invited ?? "")).toMatchObject({ status: "active", email: "ann@home.example" });
});

test("another subject, or an address that nobody vouches for, does not", async () => {
  await rig.createUser("ann@corp.example", { externalId: "s1" });
  const person = await comes("s2", "ann@corp.example");
  expect(rig.people.membershipsOf(person)).toEqual([]);
});

test("an invitation of another org stays with the address that it was sent to", async () => {
  const victim = await rig.addPerson({ email: "vic@example.com" }, "admin", rig.two);
  await rig.createUser("vic@example.com", { externalId: "s1" });
  const person = await comes("s1", "mallory@example.com", true);
  expect(person).not.toBe(victim.id);
  expect(rig.people.membershipsOf(person).map(({ orgId }) => orgId)).toEqual([rig.one]);
  expect(rig.people.membershipsOf(victim.id).map(({ orgId }) => orgId)).toEqual([rig.two]);
});

test("the directory goes on deciding about a person who was known before", async () => {
  const person = await comes("s1", "ann@home.example", true);
  const { id } = await rig.createUser("ann@corp.example", { externalId: "s1" });
  expect(await comes("s1", "ann@home.example", true)).toBe(person);
  expect(rig.people.member(rig.one, person)?.source).toBe("directory");
  expect(rig.people.invitedByEmail("ann@corp.example")).toBeUndefined();
  await rig.call("scimDeleteUser", { id });
  expect(rig.people.member(rig.one, person)).toBeUndefined();
});

test("S6: a directory that knows a stranger's address changes neither the length nor the org of their session", async () => {
  const { accounts, people, clock } = rig;
  const org = accounts.org(rig.one);
  if (org === undefined) throw new Error("no org");
  await accounts.act(() => accounts.replaceOrg({ ...org, security: { ...org.security, sessionHours: 720 } }));
  await rig.createUser("vic@example.com", { externalId: "s-vic" });
  const person = await comes("s-vic", "vic@example.com", true);
  const [session] = sessions.of(person);
  expect(people.member(rig.one, person)?.source).toBe("directory");
  expect(session && session.row.endsAtMs - clock.now()).toBe(12 * 3_600_000);
  expect(session && activeMembership({ accounts }, session, person)).toBeUndefined();
});
