/** What the tests of sign-in stand on: the rows of people and sessions in a folder of their own, time set by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { FirstOwner } from "../../../src/account/first-owner.ts";
import { firstStart } from "../../../src/account/first-start.ts";
import { Invitations } from "../../../src/account/invitations.ts";
import { newOrg, type OrgRow } from "../../../src/account/org.ts";
import { invitedUser, type MemberRow, type UserRow } from "../../../src/account/person.ts";
import type { Role } from "../../../src/account/roles.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import type { Claims } from "../../../src/identity/relying-party.ts";
import type { LiveSession } from "../../../src/identity/sessions.ts";
import { Sessions } from "../../../src/identity/sessions.ts";
import { type SignIn, type SignInDeps, signIn } from "../../../src/identity/sign-in.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { ORIGIN, type TestTrail, trailOn } from "../../support/trail.fixtures.ts";
import { ManualClock } from "../credits/fixtures.ts";

export const START = Date.UTC(2026, 8, 9);
const ISSUER = "https://id.example.com";
const failing = (error: unknown): never => {
  throw error;
};

/** What a provider says of somebody; verified unless told. */
export const claimsOf = (sub: string, differing: Partial<Claims> = {}): Claims => ({
  ...{ iss: ISSUER, sub, email: `${sub}@example.com`, isEmailVerified: true, name: sub },
  ...{ amr: ["pwd"], acr: "", sid: "", idToken: "" },
  ...differing,
});

export interface IdentityRig {
  readonly clock: ManualClock;
  readonly accounts: AccountTables;
  readonly sessions: Sessions;
  readonly invitations: Invitations;
  readonly trail: TestTrail;
  /** Made at the first start, without an owner. */
  readonly first: OrgRow;
  /** For the next sign-ins: who the operator trusts, and where the gateway listens. */
  readonly deps: SignInDeps & { trustsEmail: boolean };
  signIn(
    claims: Claims,
    given?: Partial<SignIn>,
  ): Promise<{ token: string; session: LiveSession; user: UserRow }>;
  /** Puts an org with an owner of its own. */
  org(slug: string, security?: Partial<OrgRow["security"]>): Promise<OrgRow>;
  /** @returns the row, and the secret of the link */
  invite(org: OrgRow, email: string, role?: Role): Promise<{ member: MemberRow; secret: string }>;
  /** Roles by slug of a person's orgs. */
  rolesOf(userId: string): Record<string, Role>;
  /** @param shared of a cell */
  firstOwner(isLoopback: boolean, operators?: readonly string[], shared?: Uint8Array): FirstOwner;
  readonly dataDir: string;
}

/** For the top of a test file: everything anew for each test; read what changes from the rig. */
export function identityRig(): IdentityRig {
  let rig: IdentityRig & { close: () => Promise<void> };
  beforeEach(async () => {
    rig = await open();
  });
  afterEach(() => rig.close());
  return new Proxy({} as IdentityRig, { get: (_, name) => Reflect.get(rig, name) });
}

async function open(): Promise<IdentityRig & { close: () => Promise<void> }> {
  const clock = new ManualClock(new Date(START).toISOString());
  const dataDir = mkdtempSync(join(tmpdir(), "weir-identity-"));
  // Each act runs twice, so that a test sees one that does more than read and put.
  const store: Store = openStore(dataDir, { actsTwice: true });
  const accounts = new AccountTables(store);
  const trail = trailOn(store, clock);
  const sessions = new Sessions({ store, clock, csrfSecret: Buffer.alloc(32, 7), onFailure: failing });
  const invitations = new Invitations({ store, clock, people: accounts.people, onFailure: failing });
  const { people } = accounts;
  await firstStart({ accounts, clock, dataDir, planId: "free" });
  const first = accounts.oldestOrg() as OrgRow;
  const firstOwner = (isLoopback: boolean, operators: readonly string[] = [], shared?: Uint8Array) =>
    new FirstOwner({
      ...{ accounts, clock, trail: trail.trail, dataDir, isLoopback, shared },
      isOperator: ({ email, isEmailVerified }) => isEmailVerified && operators.includes(email),
    });
  const deps = {
    ...{ accounts, sessions, invitations, clock, trail: trail.trail },
    ...{ firstOwner: firstOwner(false), trustsEmail: false },
    directories: { waitingFor: () => [], moved() {} },
  };
  return {
    ...{ clock, accounts, sessions, invitations, trail, first, deps, firstOwner, dataDir },
    async signIn(claims, given = {}) {
      const request = { invitation: "", firstOwner: "", requestId: "", origin: ORIGIN, before: "" };
      const { token } = await signIn(deps, { claims, ...request, ...given });
      const session = sessions.find(token) as LiveSession;
      return { token, session, user: people.user(session.row.userId) as UserRow };
    },
    async org(slug, security = {}) {
      const made = newOrg(
        { slug, name: slug, kind: "team", billingCountry: "US", planId: "free" },
        clock.now(),
      );
      const org = { ...made, security: { ...made.security, ...security } };
      await accounts.act(() => accounts.addOrg(org));
      return org;
    },
    async invite({ id: orgId }, email, role = "member") {
      return await accounts.act(() => {
        const user = people.invitedByEmail(email) ?? invitedUser(email, clock.now());
        people.putUser(user);
        const member: MemberRow = {
          ...{ orgId, userId: user.id, role, addedAtMs: clock.now() },
          source: "invitation",
        };
        people.putMember(member);
        return { member, secret: invitations.add(member) };
      });
    },
    rolesOf: (userId) =>
      Object.fromEntries(
        people.membershipsOf(userId).map(({ orgId, role }) => [accounts.org(orgId)?.slug ?? "", role]),
      ),
    async close() {
      for (const table of [sessions, invitations, trail]) table.close();
      await store.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}
