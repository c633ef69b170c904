/** What an org and a person may have and make: of 200 who ask at once as many are admitted as fit, and the refusal names the quota. */

import { describe, expect, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { accountRig } from "./fixtures.ts";

const rig = accountRig();
const MANY = 200;

/** `done`, or the kind of the error with the quota that it names. */
async function outcome(act: Promise<unknown>): Promise<string> {
  try {
    await act;
    return "done";
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    return `${error.kind} ${error.details?.quota ?? error.param ?? ""}`.trim();
  }
}
async function outcomes(act: (i: number) => Promise<unknown>, count = MANY): Promise<Record<string, number>> {
  const all = await Promise.all(Array.from({ length: count }, (_, i) => outcome(act(i))));
  return Object.fromEntries(
    [...new Set(all)].map((what) => [what, all.filter((one) => one === what).length]),
  );
}

describe("rows", () => {
  test("S7: keys count for good, also those that were revoked; rotating adds one", async () => {
    rig.quotas = { keys_ever: 12 };
    // Two of the first start, and the one that is rotated below.
    const first = await rig.create();
    expect(await outcomes(() => rig.create())).toEqual({ done: 9, "plan_limit keys_ever": 191 });
    await rig.revoke(first.id);
    expect(await outcome(rig.create())).toBe("plan_limit keys_ever");
    rig.quotas = { keys_ever: 13 };
    expect(await outcome(rig.create())).toBe("done");
  });

  test("S7: projects count for good, also those that were deleted", async () => {
    rig.plan = { ...rig.plan, projects: 0 };
    rig.quotas = { projects_ever: 8 };
    const create = (i: number) =>
      rig.call("createProject", rig.owner, { body: { slug: `p-${i}`, name: "P" } });
    const made = await create(1000);
    const before = 2;
    expect(await outcomes(create)).toEqual({ done: 8 - 1 - before + 1, "plan_limit projects_ever": 194 });
    await rig.call("deleteProject", rig.owner, { id: made.id }).catch(() => {});
    expect(await outcome(create(2000))).toBe("plan_limit projects_ever");
  });

  test("S7: open tickets are bounded; of many the oldest that is decided goes", async () => {
    rig.quotas = { open_tickets: 5, tickets: 8 };
    const body = { subject: "Help", message: "" };
    const open = () => rig.call("createTicket", rig.owner, { body });
    expect(await outcomes(open)).toEqual({ done: 5, "plan_limit open_tickets": 195 });
    const decided: string[] = [];
    for (let rpm = 61; rpm < 70; rpm++) {
      const key = await rig.create();
      const asked = await rig.call<{ ticket: { id: string } }>("requestLimits", rig.owner, {
        body: { key_id: key.id, rpm },
      });
      decided.push(asked.ticket.id);
    }
    const listed = await rig.call<{ data: { id: string }[] }>("listTickets", rig.owner, { query: {} });
    expect(listed.data).toHaveLength(8);
    expect(listed.data.slice(0, 3).map(({ id }) => id)).toEqual(decided.slice(-3).reverse());
  });

  test("S7: invitations of a day", async () => {
    const admin = await rig.person("admin");
    const invite = (i: number) =>
      rig.call("addMember", admin, { body: { email: `p${i}@example.com`, role: "member" } });
    expect(await outcomes(invite)).toEqual({ done: 50, "plan_limit invitations_per_day": 150 });
    rig.clock.advance(DAY_MS);
    expect(await outcome(invite(1000))).toBe("done");
  });
});

describe("changes", () => {
  const rename = (by: Caller) => (i: number) => rig.call("updateOrg", by, { body: { name: `Name ${i}` } });

  test("S7: as many as the quota of a day, by keys and by people apart; taking away is always possible", async () => {
    rig.quotas = { changes_per_day: 20 };
    const made = await rig.create();
    expect(await outcomes(rename(rig.owner))).toEqual({ done: 19, "plan_limit changes_per_day": 181 });
    // A key that got out keeps no person from acting.
    const person = await rig.person("owner");
    expect(await outcome(rename(person)(1))).toBe("done");
    expect(await outcome(rig.revoke(made.id))).toBe("done");
    expect(rig.trail.auditOf(rig.owner.orgId)).toHaveLength(22);
    rig.clock.advance(DAY_MS);
    expect(await outcome(rename(rig.owner)(1))).toBe("done");
  });

  test("S7: members who use theirs up keep neither owners nor admins from acting", async () => {
    rig.quotas = { changes_per_day: 5, changes_per_month: 7 };
    const [owner, admin] = [await rig.person("owner"), await rig.person("admin")];
    const member = await rig.person("member");
    const key = await rig.create({ project_id: rig.owner.projectId }, member);
    const rename = (i: number) => rig.call("updateKey", member, { id: key.id, body: { name: `Name ${i}` } });
    expect(await outcomes(rename)).toEqual({ done: 4, "plan_limit changes_per_day": 196 });
    rig.clock.advance(DAY_MS);
    expect(await outcomes(rename)).toEqual({ done: 2, "plan_limit changes_per_month": 198 });
    for (const by of [owner, admin])
      expect(await outcome(rig.call("updateKey", by, { id: key.id, body: { name: "Mended" } }))).toBe("done");
  });

  test("S7: tickets of members leave owners and admins half of those that may be open", async () => {
    rig.quotas = { open_tickets: 6 };
    const [owner, viewer] = [await rig.person("owner"), await rig.person("viewer")];
    const open = (by: Caller) => () =>
      rig.call("createTicket", by, { body: { subject: "Help", message: "" } });
    expect(await outcomes(open(viewer))).toEqual({ done: 3, "plan_limit open_tickets": 197 });
    expect(await outcomes(open(owner))).toEqual({ done: 3, "plan_limit open_tickets": 197 });
  });

  test("S7: as many as the quota of a month", async () => {
    rig.quotas = { changes_per_month: 10 };
    expect(await outcomes(rename(rig.owner))).toEqual({ done: 10, "plan_limit changes_per_month": 190 });
    rig.clock.advance(31 * DAY_MS);
    expect(await outcome(rename(rig.owner)(1))).toBe("done");
  });

  test("S7: a row of the audit is bounded, whatever changed", async () => {
    const person = await rig.person("owner");
    const patterns = Array.from({ length: 20 }, (_, i) => `EMP-${i}-${"x".repeat(80)}`);
    await rig.call("updateOrg", person, {
      body: { name: "N".repeat(200), data_policy: { redact: { patterns } } },
    });
    const [row] = rig.trail.auditOf(rig.owner.orgId);
    expect(JSON.stringify(row).length).toBeLessThan(20_000);
  });
});

describe("owners", () => {
  const newOrg = (slug: string) => ({ slug, name: "Acme", billing_country: "US" });
  const create = (by: Caller, slug: string) => rig.call("createOrg", by, { body: newOrg(slug) });
  const acting = (by: Caller, orgId: string): Caller => ({ ...by, orgId });
  const transfer = (by: Caller, to: Caller) =>
    rig.call("transferOrg", by, { body: { user_id: to.actor.id } });

  /** A person who owns this many orgs. */
  async function ownerOf(count: number, email: string): Promise<Caller> {
    const person = await rig.person("viewer", { email });
    for (let i = 0; i < count; i++) await rig.person("viewer", { email: `${i}-${email}` });
    const at = rig.clock.now();
    for (let i = 0; i < count; i++)
      await rig.accounts.act(() =>
        rig.accounts.people.putMember({
          orgId: `org_${email}_${i}`,
          userId: person.actor.id,
          role: "owner",
          addedAtMs: at,
          source: "creation",
        }),
      );
    return person;
  }
  const owned = ({ actor }: Caller) =>
    rig.accounts.people.membershipsOf(actor.id).filter(({ role }) => role === "owner").length;

  test("S10: of 200 orgs that a person makes at once five are made", async () => {
    const maker = await rig.person("viewer");
    expect(await outcomes((i) => create(maker, `acme-${i}`))).toEqual({
      done: 5,
      "plan_limit max_orgs_per_person": 195,
    });
  });

  test("S10: orgs that were handed over count for the day on which they were made", async () => {
    const maker = await rig.person("viewer", { email: "maker@example.com" });
    for (let i = 0; i < 5; i++) {
      const { id } = await create(maker, `acme-${i}`);
      const heir = await rig.person("member", { orgId: id, email: `heir-${i}@example.com` });
      await transfer(acting(maker, id), heir);
    }
    expect(owned(maker)).toBe(0);
    expect(await outcome(create(maker, "acme-5"))).toBe("plan_limit orgs_made_per_day");
    rig.clock.advance(DAY_MS);
    expect(await outcome(create(maker, "acme-5"))).toBe("done");
  });

  test("S10: no transfer makes a person own more than they may; of many at once as many are made as fit", async () => {
    const heir = await ownerOf(2, "heir@example.com");
    const makers = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const maker = await rig.person("viewer", { email: `maker-${i}@example.com` });
        const { id } = await create(maker, `acme-${i}`);
        await rig.accounts.act(() =>
          rig.accounts.people.putMember({
            orgId: id,
            userId: heir.actor.id,
            role: "member",
            addedAtMs: rig.clock.now(),
            source: "invitation",
          }),
        );
        return acting(maker, id);
      }),
    );
    expect(await outcomes((i) => transfer(makers[i] as Caller, heir), 10)).toEqual({
      done: 3,
      "plan_limit max_orgs_per_person": 7,
    });
    expect(owned(heir)).toBe(5);
  });

  test("S10: neither does a change of role", async () => {
    const owner = await rig.person("owner", { email: "owner@example.com" });
    const heir = await ownerOf(5, "heir@example.com");
    const roleOf = (role: string) => rig.call("updateMember", owner, { id: heir.actor.id, body: { role } });
    expect(await outcome(roleOf("owner"))).toBe("plan_limit max_orgs_per_person");
    expect(await outcome(roleOf("admin"))).toBe("done");
  });

  test("S10: invitations of strangers' orgs keep no org from inviting the same address as an owner", async () => {
    // They count when they are accepted, so what waits tells nothing about the address either.
    for (let i = 0; i < 7; i++) {
      const maker = await rig.person("viewer", { email: `maker-${i}@example.com` });
      const by = acting(maker, (await create(maker, `acme-${i}`)).id);
      const invite = rig.call<{ user_id: string }>("addMember", by, {
        body: { email: "new@example.com", role: i % 2 ? "owner" : "admin" },
      });
      const { user_id: id } = await invite;
      expect(await outcome(rig.call("updateMember", by, { id, body: { role: "owner" } }))).toBe("done");
    }
  });

  test("S10: who owns this org already may own it on, though by an older setting they own too many", async () => {
    const owner = await rig.person("owner", { email: "owner@example.com" });
    const heir = await ownerOf(5, "heir@example.com");
    await rig.accounts.act(() => {
      const member = rig.accounts.people.member(rig.owner.orgId, heir.actor.id);
      if (member !== undefined) rig.accounts.people.putMember({ ...member, role: "owner" });
    });
    expect(await outcome(transfer(owner, heir))).toBe("done");
  });
});
