/** What an invited person decides: nothing of an invitation comes into force before they accept it, and nothing of their session by it. */

import { describe, expect, test } from "vitest";
import { activeMembership } from "../../../../src/account/identity/person-access.ts";
import type { KeyRow } from "../../../../src/account/key.ts";
import type { OrgRow } from "../../../../src/account/org.ts";
import {
  INVITATION_DAYS,
  invitationId,
  invitationTerms,
} from "../../../../src/account/people/invitations.ts";
import type { Role } from "../../../../src/account/roles.ts";
import { FIRST_KEY_SCOPES } from "../../../../src/account/scopes.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/base/time.ts";
import { failureKind } from "../fixtures.ts";
import { claimsOf, identityRig } from "./fixtures.ts";

const rig = identityRig();
const actsOf = (orgId: string): string[] => rig.trail.auditOf(orgId).map(({ act }) => act);
const eventsOf = (orgId: string): string[] => rig.trail.eventsOf(orgId).map(({ type }) => type);
const accept = (token: string, id: string, address?: string) =>
  failureKind(rig.answer("accept", token, id, address));

/** An org with somebody who may invite. */
async function orgWith(slug: string, security: Partial<OrgRow["security"]> = {}, role: Role = "admin") {
  const org = await rig.org(slug, security);
  const { user: inviter } = await rig.signIn(claimsOf(`boss-of-${slug}`));
  await rig.own(org, inviter, role);
  return { org, inviter };
}
describe("S6: a sign-in alone", () => {
  test("joins no org that invited the address, whether the person is new or known", async () => {
    const org = await rig.org("acme", { sessionHours: 720 });
    await rig.invite(org, "ada@example.com", "admin");
    for (const times of [1, 2]) {
      const { user, session } = await rig.signIn(claimsOf("ada"));
      expect([times, rig.rolesOf(user.id)]).toEqual([times, {}]);
      expect(session.row.endsAtMs - session.row.createdAtMs).toBe(12 * HOUR_MS);
      expect(activeMembership(rig, session, user.id)).toBeUndefined();
    }
    expect([actsOf(org.id), eventsOf(org.id)]).toEqual([[], []]);
  });

  test("leaves all that waits as it was", async () => {
    const { member } = await rig.invite(await rig.org("acme"), "ada@example.com", "viewer");
    const { user } = await rig.signIn(claimsOf("ada"));
    expect(user.id).not.toBe(member.userId);
    expect(rig.accounts.people.member(member.orgId, member.userId)).toEqual(member);
  });
});

describe("S6: accepting", () => {
  test("makes a member, with audit and event, and is listed before", async () => {
    const { org, inviter } = await orgWith("acme");
    const { id } = await rig.invite(org, "Ada@Example.com", "viewer", inviter);
    const { token, user } = await rig.signIn(claimsOf("ada"));
    expect(await rig.invitationsOf(token)).toEqual([
      {
        id,
        org_id: org.id,
        org_slug: "acme",
        org_name: "acme",
        role: "viewer",
        email: "Ada@Example.com",
        invited_by: inviter.email,
        created_at: "2026-09-09T00:00:00.000Z",
        expires_at: "2026-09-23T00:00:00.000Z",
      },
    ]);
    expect(await rig.answer("accept", token, id)).toEqual({
      org_id: org.id,
      user_id: user.id,
      role: "viewer",
    });
    expect(rig.rolesOf(user.id)).toEqual({ acme: "viewer" });
    expect([actsOf(org.id), eventsOf(org.id)]).toEqual([["member.join"], ["member.joined"]]);
    expect(await rig.invitationsOf(token)).toEqual([]);
    expect(rig.accounts.people.invitedByEmail("ada@example.com")).toBeUndefined();
  });

  test("decides neither the active org nor the session's length, also where the invitation is older than the person's own org", async () => {
    const acme = await rig.org("acme", { sessionHours: 720 });
    const { id } = await rig.invite(acme, "ada@example.com", "owner");
    rig.clock.advance(1000);
    const first = await rig.signIn(claimsOf("ada"));
    const own = await rig.org("own", { sessionHours: 24 });
    await rig.own(own, first.user, "owner");
    expect(await accept(first.token, id)).toBe("done");
    for (const { session, user } of [first, await rig.signIn(claimsOf("ada"))])
      expect(activeMembership(rig, session, user.id)?.orgId).toBe(own.id);
    const { session } = await rig.signIn(claimsOf("ada"));
    expect(session.row.endsAtMs - session.row.createdAtMs).toBe(24 * HOUR_MS);
  });

  test("chooses no org for a person who has none, and they may choose it", async () => {
    const acme = await rig.org("acme");
    const { id } = await rig.invite(acme, "ada@example.com");
    const { token, session, user } = await rig.signIn(claimsOf("ada"));
    expect(await accept(token, id)).toBe("done");
    expect(activeMembership(rig, session, user.id)).toBeUndefined();
    await rig.accounts.act(() => rig.sessions.setActiveOrg(session, acme.id));
    const [chosen] = rig.sessions.of(user.id);
    expect(chosen && activeMembership(rig, chosen, user.id)?.orgId).toBe(acme.id);
  });

  test("twice, or 200 times at once, joins once", async () => {
    const org = await rig.org("acme");
    const { id } = await rig.invite(org, "ada@example.com");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => accept(token, id)));
    expect(new Set(outcomes)).toEqual(new Set(["done"]));
    expect(await accept(token, id)).toBe("done");
    expect(rig.accounts.people.membersOf(org.id).map(({ userId }) => userId)).toEqual([user.id]);
    expect([actsOf(org.id), eventsOf(org.id)]).toEqual([["member.join"], ["member.joined"]]);
  });

  test("is for the first of several people whom providers vouch for with one address", async () => {
    const org = await rig.org("acme");
    const { id } = await rig.invite(org, "ada@example.com");
    const people = await Promise.all(
      Array.from({ length: 50 }, (_, i) => rig.signIn(claimsOf(`p${i}`, { email: "ADA@example.com" }))),
    );
    const outcomes = await Promise.all(people.map(({ token }) => accept(token, id)));
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "not_found")).toHaveLength(49);
    expect(rig.accounts.people.membersOf(org.id)).toHaveLength(1);
  });

  test.each([
    ["another address", { email: "eve@example.com" }],
    ["the address with a label before it", { email: "ada@example.com.evil.example" }],
    ["the address with a tag", { email: "ada+x@example.com" }],
    ["a letter that only looks alike", { email: "аda@example.com" }],
    ["an address that nobody vouches for", { isEmailVerified: false }],
    ["no address", { email: "" }],
  ])("is refused to somebody with %s, and is not shown to them", async (_, differing) => {
    const { member, id } = await rig.invite(await rig.org("acme"), "ada@example.com");
    const { token, user } = await rig.signIn(claimsOf("eve", { email: "ada@example.com", ...differing }));
    expect(await rig.invitationsOf(token)).toEqual([]);
    expect(await accept(token, id)).toBe("not_found");
    expect(await failureKind(rig.answer("decline", token, id))).toBe("not_found");
    expect(await rig.page(token, id)).not.toContain("acme");
    expect(rig.rolesOf(user.id)).toEqual({});
    expect(rig.accounts.people.member(member.orgId, member.userId)).toEqual(member);
  });

  test("is possible with an address that nobody verified where the operator trusts addresses", async () => {
    const { id } = await rig.invite(await rig.org("acme"), "ada@example.com");
    rig.deps.trustsEmail = true;
    const { token } = await rig.signIn(claimsOf("ada", { isEmailVerified: false }));
    expect(await accept(token, id)).toBe("done");
  });

  test.each(["", "x", "ivt_00000000000000000000000000", "../..", "\u0000", "__proto__"])(
    "of what never was is not found: %j",
    async (id) => {
      await rig.invite(await rig.org("acme"), "ada@example.com");
      const { token } = await rig.signIn(claimsOf("ada"));
      expect(await accept(token, id)).toBe("not_found");
    },
  );

  test("needs a session that has not ended, of a person who is not disabled", async () => {
    const { id } = await rig.invite(await rig.org("acme"), "ada@example.com");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    await rig.accounts.act(() => rig.accounts.people.putUser({ ...user, status: "disabled" }));
    expect(await accept(token, id)).toBe("session_expired");
    expect(await accept("A".repeat(43), id)).toBe("session_expired");
  });

  test("joins the org of the invitation and no other that waits", async () => {
    const [acme, globex] = [await rig.org("acme"), await rig.org("globex")];
    await rig.invite(acme, "ada@example.com", "admin");
    const { id } = await rig.invite(globex, "ada@example.com", "viewer");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    expect(await accept(token, id)).toBe("done");
    expect(rig.rolesOf(user.id)).toEqual({ globex: "viewer" });
    expect((await rig.invitationsOf(token)).map(({ org_slug }) => org_slug)).toEqual(["acme"]);
  });

  test("changes no role of a person who is a member already", async () => {
    const org = await rig.org("acme");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    await rig.own(org, user, "viewer");
    const { id } = await rig.invite(org, "ada@example.com", "admin");
    expect(await rig.answer("accept", token, id)).toMatchObject({ role: "viewer" });
    expect(rig.rolesOf(user.id)).toEqual({ acme: "viewer" });
    expect(await rig.invitationsOf(token)).toEqual([]);
  });
});

describe("S6: what is accepted must still be valid", () => {
  test("not after fourteen days; until then it is", async () => {
    const { org, inviter } = await orgWith("acme");
    const { id } = await rig.invite(org, "ada@example.com", "member", inviter);
    rig.clock.advance(INVITATION_DAYS * DAY_MS - 1);
    const { token } = await rig.signIn(claimsOf("ada"));
    expect(await rig.invitationsOf(token)).toHaveLength(1);
    rig.clock.advance(1);
    expect(await rig.invitationsOf(token)).toEqual([]);
    expect(await accept(token, id)).toBe("state");
    expect(await rig.page(token, id)).toContain("has ended");
    expect(await failureKind(rig.answer("decline", token, id))).toBe("done");
  });

  test("those of 0.1.0, which have no end, wait until they are accepted", async () => {
    const { id } = await rig.invite(await rig.org("acme"), "ada@example.com");
    rig.clock.advance(1000 * DAY_MS);
    const { token } = await rig.signIn(claimsOf("ada"));
    expect(await accept(token, id)).toBe("done");
  });

  test("not once it was taken back, nor once somebody was invited anew", async () => {
    const org = await rig.org("acme");
    const { member, id } = await rig.invite(org, "ada@example.com");
    const { token } = await rig.signIn(claimsOf("ada"));
    await rig.accounts.act(() => rig.accounts.people.removeMember(member));
    expect(await accept(token, id)).toBe("not_found");
    rig.clock.advance(1);
    const again = await rig.invite(org, "ada@example.com", "admin");
    expect(again.id).not.toBe(id);
    expect(await accept(token, id)).toBe("not_found");
    expect(await accept(token, again.id)).toBe("done");
  });

  test.each([
    ["closed", "not_found"],
    ["suspended", "org_suspended"],
  ] as const)("not while the org is %s", async (status, expected) => {
    const org = await rig.org("acme");
    const { id } = await rig.invite(org, "ada@example.com");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    await rig.accounts.act(() => rig.accounts.replaceOrg({ ...org, status }));
    expect(await accept(token, id)).toBe(expected);
    expect(rig.rolesOf(user.id)).toEqual({});
  });

  test("only where the org's settings let the session in", async () => {
    const security = { sessionHours: 2, consoleIpAllow: ["198.51.100.0/24"], require2fa: true };
    const { id } = await rig.invite(await rig.org("acme", security), "ada@example.com");
    const weak = await rig.signIn(claimsOf("ada"));
    expect(await accept(weak.token, id)).toBe("ip_not_allowed");
    expect(await accept(weak.token, id, "198.51.100.7")).toBe("two_factor_required");
    const strong = await rig.signIn(claimsOf("ada", { amr: ["pwd", "otp"] }));
    rig.clock.advance(2 * HOUR_MS);
    expect(await accept(strong.token, id, "198.51.100.7")).toBe("session_expired");
    const fresh = await rig.signIn(claimsOf("ada", { amr: ["otp"] }));
    expect(await accept(fresh.token, id, "198.51.100.7")).toBe("done");
  });

  const LOSES: readonly [string, Role, Role | undefined, Role, string][] = [
    ["an admin who is a member now", "admin", "member", "viewer", "state"],
    ["an admin who has left", "admin", undefined, "viewer", "state"],
    ["an owner who is an admin now, as an owner", "owner", "admin", "owner", "state"],
    ["an owner who is an admin now, as an admin", "owner", "admin", "admin", "done"],
  ];
  test.each(LOSES)("not from %s", async (_, was, is, role, expected) => {
    const { org, inviter } = await orgWith("acme", {}, was);
    const { id } = await rig.invite(org, "ada@example.com", role, inviter);
    const { token } = await rig.signIn(claimsOf("ada"));
    const { people } = rig.accounts;
    if (is === undefined)
      await rig.accounts.act(() => people.removeMember({ orgId: org.id, userId: inviter.id }));
    else await rig.own(org, inviter, is);
    expect(await accept(token, id)).toBe(expected);
  });

  const NO_LONGER: readonly [string, Partial<KeyRow>, string][] = [
    ["was revoked", { isRevoked: true }, "state"],
    ["was rotated, once its grace is over", { revokedAtMs: HOUR_MS }, "state"],
    ["may not change the org any more", { scopes: ["inference", "write:keys"] }, "state"],
    ["works", {}, "done"],
    ["ended by itself", { expiresAtMs: HOUR_MS }, "done"],
  ];
  test.each(NO_LONGER)("from a key that %s: %o", async (_, { revokedAtMs, expiresAtMs, ...is }, expected) => {
    const { accounts, clock, first } = rig;
    const [key] = accounts.keysByAge(first.id);
    if (key === undefined) throw new Error("no key");
    const { member, id } = await rig.invite(first, "ada@example.com", "viewer");
    const at = (after: number | null | undefined) => (after == null ? null : clock.now() + after);
    const terms = invitationTerms({ kind: "key", id: key.id }, clock.now());
    const changed = { ...key, scopes: FIRST_KEY_SCOPES, ...is, environment: "live" } as const;
    await accounts.act(() => {
      accounts.people.putMember({ ...member, invitation: terms });
      accounts.replaceKey({ ...changed, revokedAtMs: at(revokedAtMs), expiresAtMs: at(expiresAtMs) });
    });
    clock.advance(HOUR_MS);
    const { token } = await rig.signIn(claimsOf("ada"));
    expect(await accept(token, id)).toBe(expected);
  });

  test("as an owner only within the orgs that one person may own", async () => {
    const { token, user } = await rig.signIn(claimsOf("ada"));
    for (const slug of ["one", "two"]) await rig.own(await rig.org(slug), user, "owner");
    const [third, fourth] = [await rig.org("three"), await rig.org("four")];
    const { id } = await rig.invite(third, "ada@example.com", "owner");
    expect(await accept(token, id)).toBe("plan_limit");
    expect(await accept(token, (await rig.invite(fourth, "ada@example.com", "admin")).id)).toBe("done");
  });
});

describe("S6: declining", () => {
  test("takes the invitation away, and the org sees it", async () => {
    const org = await rig.org("acme");
    const { member, id } = await rig.invite(org, "ada@example.com");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    expect(await failureKind(rig.answer("decline", token, id))).toBe("done");
    expect([actsOf(org.id), eventsOf(org.id)]).toEqual([["member.decline"], ["member.removed"]]);
    expect(rig.accounts.people.membersOf(org.id)).toEqual([]);
    expect(rig.accounts.people.user(member.userId)).toBeUndefined();
    expect(rig.accounts.people.user(user.id)?.status).toBe("active");
    expect(await accept(token, id)).toBe("not_found");
    expect(await failureKind(rig.answer("decline", token, id))).toBe("not_found");
  });

  test("and accepting at once end in one of the two", async () => {
    const org = await rig.org("acme");
    const { id } = await rig.invite(org, "ada@example.com");
    const { token, user } = await rig.signIn(claimsOf("ada"));
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => failureKind(rig.answer(i % 2 ? "accept" : "decline", token, id))),
    );
    const hasJoined = rig.rolesOf(user.id).acme !== undefined;
    expect(actsOf(org.id)).toEqual([hasJoined ? "member.join" : "member.decline"]);
    expect(outcomes).toContain("done");
  });
});

describe("S6: the page", () => {
  const HOSTILE = `</p><script>alert(1)</script><img src=x onerror="alert(1)">' data-act='`;

  test("shows who invites to what as text, whatever the org calls itself", async () => {
    const org = await rig.org("acme");
    await rig.accounts.act(() => rig.accounts.replaceOrg({ ...org, name: HOSTILE }));
    const { id } = await rig.invite(org, "ada@example.com");
    const { token } = await rig.signIn(claimsOf("ada"));
    const page = await rig.page(token, id);
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page).not.toContain("<img");
    expect(page.match(/data-act="/g)).toHaveLength(3);
    expect(page).toContain("&lt;script&gt;alert(1)");
  });

  test("says what the role may do, and until when one may accept, as long as one may", async () => {
    const { org, inviter } = await orgWith("acme");
    const { id } = await rig.invite(org, "ada@example.com", "viewer", inviter);
    const { token } = await rig.signIn(claimsOf("ada"));
    const open = await rig.page(token, id);
    expect(open).toContain("reads usage, requests, keys, policies and credit, and changes nothing");
    expect(open).toContain("<dt>Open until</dt><dd>23 September 2026</dd>");
    await rig.own(org, inviter, "member");
    expect(await rig.page(token, id)).toContain("can no longer give the role");
    rig.clock.advance(INVITATION_DAYS * DAY_MS);
    const { token: later } = await rig.signIn(claimsOf("ada"));
    expect(await rig.page(later, id)).toContain("Its time is over.");
  });

  test("asks a browser that has no session to sign in, and tells it nothing", async () => {
    const { id } = await rig.invite(await rig.org("acme"), "ada@example.com");
    const page = await rig.page("A".repeat(43), id);
    expect(page).toContain(`href="/auth/login?return_to=${encodeURIComponent(`/auth/invitations/${id}`)}"`);
    expect(page).not.toContain("acme");
    expect(await rig.page("A".repeat(43), "none")).toBe(page.replace(id, "none"));
  });

  test("says that the person has joined once they have", async () => {
    const { id, member } = await rig.invite(await rig.org("acme"), "ada@example.com");
    expect(invitationId(member)).toBe(id);
    const { token } = await rig.signIn(claimsOf("ada"));
    expect(await rig.page(token, id)).toContain("You are invited");
    await rig.answer("accept", token, id);
    expect(await rig.page(token, id)).toContain("You are a member");
  });
});
