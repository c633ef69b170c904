/** Invitations from the operation that asks for them to the link that opens them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEml } from "../../../../src/account/mail/eml.ts";
import { invitationId, invitationTerms } from "../../../../src/account/people/invitations.ts";
import { memberOperations, openInvitationCounts } from "../../../../src/account/people/member-operations.ts";
import type { MemberRow, UserRow } from "../../../../src/account/person.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import type { DayCounts } from "../../../../src/store/tables/day-counts.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { mailRig, writtenMails } from "./fixtures.ts";

const rig = mailRig();
let owner: UserRow;
let invitationCounts: DayCounts;
beforeEach(async () => {
  owner = await rig.member("owner@acme.example", "owner");
  invitationCounts = openInvitationCounts({ store: rig.store, clock: rig.clock, onFailure: () => {} });
});
afterEach(() => invitationCounts.close());

function operations(failsAfterMail = false) {
  const { accounts, clock, events, audit } = rig;
  return memberOperations({
    accounts,
    clock,
    invitationCounts,
    trail: { events, audit },
    quotas: USUAL_QUOTAS,
    maxOrgsOfPerson: 5,
    hasDirectory: () => false,
    sendInvitation(mail) {
      rig.mail.putInvitation(mail);
      if (failsAfterMail) throw new Error("the act fails");
    },
  });
}

const caller = (): Caller => ({
  requestId: "r",
  actor: { kind: "person", id: owner.id },
  origin: { ipPrefix: "", userAgent: "" },
  orgId: rig.org.id,
  projectId: "",
  environment: "live",
  scopes: new Set(),
});
const invite = async (email: string, ops = operations()) =>
  (await ops.addMember.run(
    { params: { org: "acme" }, query: undefined, body: { email, role: "admin" } },
    caller(),
    NO_HEAD,
  )) as { user_id: string };
const mails = async () => (await writtenMails(rig)).map((text) => readEml(Buffer.from(text, "latin1")));

describe("an invitation", () => {
  test("S6: is a mail whose link leads to its page, and which holds no secret", async () => {
    const { user_id: userId } = await invite("new@partner.example");
    const [mail] = await mails();
    expect(mail).toMatchObject({ to: "new@partner.example", subject: "Invitation to Acme" });
    expect(mail?.text).toContain(
      "owner@acme.example invites you to the organisation “Acme”, with the role “admin”.",
    );
    const member = rig.accounts.people.member(rig.org.id, userId) as MemberRow;
    const page = `https://gateway.example/auth/invitations/${invitationId(member)}`;
    expect(mail?.text).toContain(`${page}\n`);
    expect(mail?.html).toContain(`href="${page}"`);
  });

  test("of an act that fails sends nothing and invites nobody", async () => {
    await expect(invite("new@partner.example", operations(true))).rejects.toThrow("the act fails");
    expect(await mails()).toEqual([]);
    expect(rig.accounts.people.invitedByEmail("new@partner.example")).toBeUndefined();
  });

  test("that was taken back before its mail left sends nothing", async () => {
    const user = await rig.member("new@partner.example", "member", "invited");
    const { id: userId, email } = user;
    await rig.store.act(() => {
      rig.mail.putInvitation({
        orgId: rig.org.id,
        orgName: "Acme",
        userId,
        email,
        role: "member",
        invitedBy: "",
        inviterId: "",
      });
      const member = rig.accounts.people.member(rig.org.id, userId);
      if (member !== undefined) rig.accounts.people.removeMember(member);
    });
    expect(await mails()).toEqual([]);
    expect(rig.jobs.metrics().givenUp).toBe(0);
  });

  test("S6: that has ended before its mail left sends nothing", async () => {
    const user = await rig.member("new@partner.example", "member", "invited");
    const { id: userId, email } = user;
    await rig.store.act(() => {
      const row = rig.accounts.people.member(rig.org.id, userId) as MemberRow;
      const invitation = invitationTerms({ kind: "person", id: owner.id }, rig.clock.now());
      rig.accounts.people.putMember({ ...row, invitation: { ...invitation, endsAtMs: rig.clock.now() } });
      rig.mail.putInvitation({
        orgId: rig.org.id,
        orgName: "Acme",
        userId,
        email,
        role: "member",
        invitedBy: "",
        inviterId: "",
      });
    });
    expect(await mails()).toEqual([]);
  });

  test("shows an org's name as text, whatever it is", async () => {
    const name = 'A"><img src=x onerror=alert(1)>';
    await rig.store.act(() => rig.accounts.replaceOrg({ ...rig.org, name }));
    await invite("new@partner.example");
    const [mail] = await mails();
    expect(mail?.subject).toBe(`Invitation to ${name}`);
    expect(mail?.html).not.toContain("<img");
    expect(mail?.html).toContain("&lt;img src=x");
  });
});
