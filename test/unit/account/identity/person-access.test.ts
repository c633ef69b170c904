/** In which org a person acts, and what a session opens: beyond what the walk over the route table can show. */

import { describe, expect, test } from "vitest";
import { locksOf, personOf } from "../../../../src/account/identity/person-access.ts";
import type { OrgRow } from "../../../../src/account/org.ts";
import type { Role } from "../../../../src/account/roles.ts";
import type { PersonRequest } from "../../../../src/base/operation/operation.ts";
import { HOUR_MS } from "../../../../src/base/time.ts";
import { ORIGIN } from "../../../support/trail.fixtures.ts";
import { failureKind } from "../fixtures.ts";
import { claimsOf, identityRig } from "./fixtures.ts";

const rig = identityRig();
const OPERATOR = "operator@example.com";

const access = (given: Partial<PersonRequest>) =>
  personOf(
    {
      accounts: rig.accounts,
      sessions: rig.sessions,
      clock: rig.clock,
      isOperator: ({ email, isEmailVerified }) => isEmailVerified && email === OPERATOR,
    },
    {
      requestId: "",
      origin: ORIGIN,
      token: "",
      csrf: "",
      isSafe: true,
      org: "",
      address: "192.0.2.7",
      needs: "everyone",
      isForClosed: false,
      ...given,
    },
  );
const outcome = (given: Partial<PersonRequest>) => failureKind(() => access(given));

async function memberOf(orgs: readonly OrgRow[], differing = {}, role: Role = "owner") {
  const { user } = await rig.signIn(claimsOf("ada", differing));
  for (const org of orgs) {
    await rig.own(org, user, role);
    rig.clock.advance(1000);
  }
  return await rig.signIn(claimsOf("ada", differing));
}

describe("the org", () => {
  test("is the one that the request names, else the chosen one, else the oldest", async () => {
    const [acme, globex, initech] = [
      await rig.org("acme"),
      await rig.org("globex"),
      await rig.org("initech"),
    ];
    const { token, session } = await memberOf([acme, globex, initech]);
    expect(access({ token }).orgId).toBe(acme.id);
    await rig.accounts.act(() => rig.sessions.setActiveOrg(session, globex.id));
    expect(access({ token }).orgId).toBe(globex.id);
    expect(access({ token, org: "initech" }).orgId).toBe(initech.id);
    expect(access({ token, org: acme.id }).orgId).toBe(acme.id);
  });

  test("that was chosen and left is no longer the one", async () => {
    const [acme, globex] = [await rig.org("acme"), await rig.org("globex")];
    const { token, session, user } = await memberOf([acme, globex]);
    await rig.accounts.act(() => rig.sessions.setActiveOrg(session, globex.id));
    const { people } = rig.accounts;
    const leave = async ({ id }: OrgRow) => {
      const member = people.member(id, user.id);
      if (member !== undefined) await rig.accounts.act(() => people.removeMember(member));
    };
    await leave(globex);
    expect(access({ token }).orgId).toBe(acme.id);
    expect(await outcome({ token, org: "globex" })).toBe("not_found");
    await leave(acme);
    expect(await outcome({ token })).toBe("not_found");
    expect(access({ token, needs: "signed in" }).orgId).toBe("");
  });

  test.each(["nowhere", "x".repeat(5000), "\u0000", "__proto__", "~", "org_", "first/../acme", "ä"])(
    "that is none of the person's is not found: %j",
    async (org) => {
      const { token } = await memberOf([await rig.org("acme")]);
      expect(await outcome({ token, org })).toBe("not_found");
    },
  );
});

describe("a change takes effect with the next request", () => {
  test("of a role, of its scopes with it", async () => {
    const { token, user } = await memberOf([await rig.org("acme")]);
    const { people } = rig.accounts;
    const [member] = people.membershipsOf(user.id);
    if (member === undefined) throw new Error("no member");
    expect(await outcome({ token, needs: "owner" })).toBe("done");
    await rig.accounts.act(() => people.putMember({ ...member, role: "viewer" }));
    expect(await outcome({ token, needs: "owner" })).toBe("role");
    expect([...access({ token }).scopes].filter((scope) => scope.startsWith("write:"))).toEqual([]);
  });

  test("of the org's security settings", async () => {
    const acme = await rig.org("acme");
    const { token } = await memberOf([acme]);
    const secure = (security: Partial<OrgRow["security"]>) =>
      rig.accounts.act(() => {
        rig.accounts.replaceOrg({ ...acme, security: { ...acme.security, ...security } });
      });
    await secure({ consoleIpAllow: ["192.0.2.0/24"] });
    expect(await outcome({ token })).toBe("done");
    expect(await outcome({ token, address: "198.51.100.7" })).toBe("ip_not_allowed");
    expect(await outcome({ token, address: "" })).toBe("ip_not_allowed");
    await secure({ require2fa: true });
    expect(await outcome({ token })).toBe("two_factor_required");
    await secure({ sessionHours: 1 });
    rig.clock.advance(HOUR_MS - 1);
    expect(await outcome({ token })).toBe("done");
    rig.clock.advance(1);
    expect(await outcome({ token })).toBe("session_expired");
  });

  test("of who is disabled, and of an address that makes an operator", async () => {
    const { token, user } = await rig.signIn(claimsOf("ada", { email: OPERATOR }));
    expect(access({ token, needs: "operator" }).actor).toEqual({ kind: "operator", id: user.id });
    await rig.accounts.act(() => rig.accounts.people.putUser({ ...user, isEmailVerified: false }));
    expect(await outcome({ token, needs: "operator" })).toBe("role");
    await rig.accounts.act(() => rig.accounts.people.putUser({ ...user, status: "disabled" }));
    expect(await outcome({ token, needs: "operator" })).toBe("session_expired");
  });
});

test("a session is refused for what it lacks in the order of its locks, and a list shows the same first one", () => {
  const security = {
    sessionHours: 1,
    consoleIpAllow: ["192.0.2.0/24"],
    require2fa: true,
    keyDefaultExpiryDays: 0,
  };
  const locks = (amr: string[], address: string, ageMs: number) =>
    locksOf(security, { createdAtMs: 0, amr, acr: "" }, address, ageMs);
  expect(locks(["otp"], "192.0.2.7", HOUR_MS - 1)).toEqual([]);
  expect(locks(["pwd"], "192.0.2.7", 0)).toEqual(["two_factor_required"]);
  expect(locks(["pwd"], "198.51.100.7", 0)).toEqual(["ip_not_allowed", "two_factor_required"]);
  expect(locks(["pwd"], "", HOUR_MS)).toEqual(["session_expired", "ip_not_allowed", "two_factor_required"]);
});

describe("an operator", () => {
  test("changes nothing without the CSRF token, and belongs to no org by that", async () => {
    const { token, session } = await rig.signIn(claimsOf("ada", { email: OPERATOR }));
    const request = { token, needs: "operator", isSafe: false } as const;
    expect(await outcome(request)).toBe("csrf");
    expect(await outcome({ ...request, csrf: rig.sessions.csrfOf(session) })).toBe("done");
    await rig.org("acme");
    expect(await outcome({ token, org: "acme" })).toBe("not_found");
  });
});

test.each([
  [{ amr: ["pwd"] }, "two_factor_required"],
  [{ amr: [] }, "two_factor_required"],
  [{ amr: ["pwd", "otp"] }, "done"],
  [{ amr: ["hwk"] }, "done"],
  [{ acr: "https://refeds.org/profile/mfa" }, "done"],
  [{ acr: "https://refeds.org/profile/sfa" }, "two_factor_required"],
  [{ acr: "mfa" }, "two_factor_required"],
  [{ amr: ["MFA"] }, "two_factor_required"],
])("an org that asks for a second factor answers %j with %s", async (claims, expected) => {
  const { token } = await memberOf([await rig.org("acme", { require2fa: true })], claims);
  expect(await outcome({ token })).toBe(expected);
});
