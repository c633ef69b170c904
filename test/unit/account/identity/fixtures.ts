/** What the tests of sign-in stand on: the rows of people and sessions in a folder of their own, time set by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { firstStart } from "../../../../src/account/first-start.ts";
import { consoleCookies } from "../../../../src/account/identity/cookies.ts";
import { invitationOperations } from "../../../../src/account/identity/invitation-operations.ts";
import type { Claims } from "../../../../src/account/identity/relying-party.ts";
import type { LiveSession } from "../../../../src/account/identity/sessions.ts";
import { Sessions } from "../../../../src/account/identity/sessions.ts";
import { type SignIn, type SignInDeps, signIn } from "../../../../src/account/identity/sign-in.ts";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import { FirstOwner } from "../../../../src/account/people/first-owner.ts";
import { invitationId, invitationTerms } from "../../../../src/account/people/invitations.ts";
import { invitedUser, type MemberRow, type UserRow } from "../../../../src/account/person.ts";
import type { Role } from "../../../../src/account/roles.ts";
import { AccountTables } from "../../../../src/account/tables.ts";
import { FullAnswer } from "../../../../src/base/operation/answer.ts";
import type { HttpHead } from "../../../../src/base/operation/http-head.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";
import { ORIGIN, type TestTrail, trailOn } from "../../../support/trail.fixtures.ts";

export const START = Date.UTC(2026, 8, 9);
const ISSUER = "https://id.example.com";
const failing = (error: unknown): never => {
  throw error;
};

/** What a provider says of somebody; verified unless told. */
export const claimsOf = (sub: string, differing: Partial<Claims> = {}): Claims => ({
  iss: ISSUER,
  sub,
  email: `${sub}@example.com`,
  isEmailVerified: true,
  name: sub,
  amr: ["pwd"],
  acr: "",
  sid: "",
  idToken: "",
  ...differing,
});

export interface IdentityRig {
  readonly clock: ManualClock;
  readonly accounts: AccountTables;
  readonly sessions: Sessions;
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
  /**
   * Puts an invitation by a person of the org.
   * @param by whoever answers for it; undefined: as a row of 0.1.0, which says nothing of that and has no end
   */
  invite(
    org: OrgRow,
    email: string,
    role?: Role,
    by?: UserRow | undefined,
  ): Promise<{ member: MemberRow; id: string }>;
  /** Makes the person a member as whoever made the org is. */
  own(org: OrgRow, user: UserRow, role?: Role): Promise<void>;
  /** Invitations that a session's person sees. */
  invitationsOf(token: string): Promise<readonly { readonly id: string; readonly org_slug: string }[]>;
  /** As with the session: the operations of the room. @param address of the client */
  answer(what: "accept" | "decline", token: string, id: string, address?: string): Promise<unknown>;
  /** Markup of the page. */
  page(token: string, id: string): Promise<string>;
  /** Signs in, and accepts all that waits. */
  comes(claims: Claims): Promise<{ token: string; session: LiveSession; user: UserRow }>;
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
  const { people } = accounts;
  await firstStart({ accounts, clock, dataDir, planId: "free" });
  const first = accounts.oldestOrg() as OrgRow;
  const firstOwner = (isLoopback: boolean, operators: readonly string[] = [], shared?: Uint8Array) =>
    new FirstOwner({
      accounts,
      clock,
      trail: trail.trail,
      dataDir,
      isLoopback,
      shared,
      isOperator: ({ email, isEmailVerified }) => isEmailVerified && operators.includes(email),
    });
  const deps = {
    accounts,
    sessions,
    clock,
    trail: trail.trail,
    firstOwner: firstOwner(false),
    trustsEmail: false,
    maxOrgsOfPerson: 5,
    directories: { waitingFor: () => [], moved() {} },
  };
  const come: IdentityRig["signIn"] = async (claims, given = {}) => {
    const request = { firstOwner: "", requestId: "", origin: ORIGIN, before: "" };
    const { token } = await signIn(deps, { claims, ...request, ...given });
    const session = sessions.find(token) as LiveSession;
    return { token, session, user: people.user(session.row.userId) as UserRow };
  };
  const invited = invitedActs(deps);
  return {
    clock,
    accounts,
    sessions,
    trail,
    first,
    deps,
    firstOwner,
    dataDir,
    ...invited,
    signIn: come,
    async comes(claims) {
      const person = await come(claims);
      for (const { id } of await invited.invitationsOf(person.token))
        await invited.answer("accept", person.token, id);
      return person;
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
    own: ({ id: orgId }, { id: userId }, role = "owner") =>
      accounts.act(() =>
        people.putMember({ orgId, userId, role, addedAtMs: clock.now(), source: "creation" }),
      ),
    async invite({ id: orgId }, email, role = "member", by) {
      return await accounts.act(() => {
        const user = people.invitedByEmail(email) ?? invitedUser(email, clock.now());
        people.putUser(user);
        const member: MemberRow = {
          orgId,
          userId: user.id,
          role,
          addedAtMs: clock.now(),
          source: "invitation",
          ...(by && { invitation: invitationTerms({ kind: "person", id: by.id }, clock.now()) }),
        };
        people.putMember(member);
        return { member, id: invitationId(member) };
      });
    },
    rolesOf: (userId) =>
      Object.fromEntries(
        people.membershipsOf(userId).map(({ orgId, role }) => [accounts.org(orgId)?.slug ?? "", role]),
      ),
    async close() {
      for (const table of [sessions, trail]) table.close();
      await store.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** The operations on invitations, called as the edge calls them for a browser that has a session. */
function invitedActs(deps: SignInDeps): Pick<IdentityRig, "invitationsOf" | "answer" | "page"> {
  const cookies = consoleCookies(false);
  const ops = invitationOperations({ ...deps, cookies, maxOrgsOfPerson: 2 });
  const headOf = (token: string, address = "192.0.2.7"): HttpHead => ({
    header: () => "",
    address,
    cookie: (name) => (name === cookies.sessionName ? token : undefined),
  });
  const callerOf = (token: string): Caller => ({
    requestId: "01J00000000000000000000000",
    origin: ORIGIN,
    orgId: "",
    projectId: "",
    environment: "live",
    scopes: new Set(),
    actor: { kind: "person", id: deps.sessions.find(token)?.row.userId ?? "" },
  });
  const input = { params: undefined, query: undefined, body: undefined };
  return {
    async invitationsOf(token) {
      const answer = await ops.listInvitations.run(input, callerOf(token), headOf(token));
      return ops.listInvitations.output.parse(answer).data;
    },
    async answer(what, token, id, address) {
      const op = what === "accept" ? ops.acceptInvitation : ops.declineInvitation;
      const answer = await op.run({ ...input, params: { id } }, callerOf(token), headOf(token, address));
      return op.output.parse(answer);
    },
    async page(token, id) {
      const answer = await ops.invitationPage.run(
        { ...input, params: { id } },
        callerOf(token),
        headOf(token),
      );
      return answer instanceof FullAnswer ? String(answer.content.bytes?.body) : "";
    },
  };
}
