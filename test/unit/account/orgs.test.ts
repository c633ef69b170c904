/** Orgs: making, changing, closing, erasure, transfer; and what the audit and the events tell of it. */

import { describe, expect, test } from "vitest";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { accountRig, failure, NO_MARS } from "./fixtures.ts";

const rig = accountRig();

const acme = { slug: "acme", name: "Acme", billing_country: "US" };
const create = (by: Caller, body: object = acme) => rig.call("createOrg", by, { body });
const actsOf = (orgId: string) => rig.trail.auditOf(orgId).map(({ act }) => act);
const eventsOf = (orgId: string) => rig.trail.eventsOf(orgId).map(({ type }) => type);

describe("a new org", () => {
  test("has an owner, a first project, the free plan and its country's defaults", async () => {
    const maker = await rig.person("viewer");
    const made = await create(maker, { ...acme, billing_country: "IN" });
    expect(made).toMatchObject({
      slug: "acme",
      name: "Acme",
      kind: "team",
      status: "active",
      role: "owner",
      plan_id: "free",
      billing_country: "IN",
      billing_currency: "INR",
      tax_status: "unregistered",
      settings: { timezone: "Asia/Kolkata" },
    });
    expect(rig.accounts.projectsOf(made.id).map(({ slug }) => slug)).toEqual(["default"]);
    expect(rig.accounts.people.member(made.id, maker.actor.id)?.role).toBe("owner");
    expect(actsOf(made.id)).toEqual(["org.create"]);
  });

  test("needs a slug of its own that is no reserved word", async () => {
    const maker = await rig.person("viewer");
    expect(await failure(create(maker, { ...acme, slug: "first" }))).toBe("slug_taken /slug");
    await create(maker);
    expect(await failure(create(maker))).toBe("slug_taken /slug");
    expect(() => rig.ops.createOrg.body?.parse({ ...acme, slug: "admin" })).toThrow("reserved");
  });

  test("a person owns five and no more; one that they only belong to does not count", async () => {
    const maker = await rig.person("admin");
    for (let i = 0; i < 5; i++) await create(maker, { ...acme, slug: `acme-${i}` });
    expect(await failure(create(maker, { ...acme, slug: "acme-6" }))).toBe("plan_limit");
  });
});

describe("a change", () => {
  const patch = (by: Caller, body: object) => rig.call("updateOrg", by, { body });

  test("refuses redaction patterns that are slow together, by the slowest, and tries only new ones", async () => {
    const owner = await rig.person("owner");
    const set = (...patterns: string[]) => patch(owner, { data_policy: { redact: { patterns } } });
    expect(await failure(set("EMP-[0-9]{6}", "a.*b|a"))).toBe("invalid_value /data_policy/redact/patterns/1");
    const quick = { data_policy: { redact: { patterns: ["EMP-[0-9]{6}", "[A-Z]{5}x"] } } };
    expect(await patch(owner, quick)).toMatchObject(quick);
    expect(await patch(owner, { name: "Other" })).toMatchObject(quick);
  });

  test("keeps what is left out, and is told with what was before", async () => {
    const admin = await rig.person("admin");
    const changed = await patch(admin, { name: "Renamed", settings: { security: { session_hours: 8 } } });
    expect(changed).toMatchObject({
      name: "Renamed",
      slug: "first",
      role: "admin",
      settings: { security: { session_hours: 8, require_2fa: false } },
    });
    const [row] = rig.trail.auditOf(admin.orgId);
    expect(row).toMatchObject({ act: "org.update", actor: { kind: "person", id: admin.actor.id } });
    expect(row?.changes.map(({ field }) => field)).toEqual(["name", "settings"]);
    expect(eventsOf(admin.orgId)).toEqual(["org.updated"]);
  });

  test("names the field that contradicts another", async () => {
    const body = { tax_status: "gst_registered" };
    expect(await failure(patch(rig.owner, body))).toMatch(/^invalid_value \//);
  });

  test("by which its author would lock themselves out is refused", async () => {
    const admin = await rig.person("admin");
    rig.locks = ["two_factor_required"];
    const twoFactor = { settings: { security: { require_2fa: true } } };
    expect(await failure(patch(admin, twoFactor))).toBe("invalid_value /settings/security/require_2fa");
    rig.locks = ["session_expired", "ip_not_allowed"];
    const address = { settings: { security: { console_ip_allow: ["203.0.113.0/24"] } } };
    expect(await failure(patch(admin, address))).toBe("invalid_value /settings/security/console_ip_allow");
    // Another setting is not held back by it, and a key has no session to lose.
    expect(await failure(patch(admin, { name: "x" }))).toBe("done");
    expect(await failure(patch(rig.owner, address))).toBe("done");
  });
});

test("C13: a data policy that the catalog cannot meet is accepted with a warning, and nothing else is warned about", async () => {
  const patch = (body: object) => rig.call<{ warnings?: object[] }>("updateOrg", rig.owner, { body });
  const mars = await patch({ data_policy: { regions: ["mars"] } });
  expect(mars).toMatchObject({ data_policy: { regions: ["mars"] }, warnings: [NO_MARS] });
  // Another change says nothing of it, and what is read has none.
  expect((await patch({ name: "First" })).warnings).toBeUndefined();
  expect(rig.trail.eventsOf(rig.owner.orgId)[0]?.data).not.toHaveProperty("warnings");
  expect((await patch({ data_policy: { regions: [] } })).warnings).toBeUndefined();
});

describe("closing", () => {
  const close = (by: Caller, body: object) => rig.call("closeOrg", by, { body });

  test("needs the slug, stops the keys with the same act, and opens one ticket", async () => {
    const owner = await rig.person("owner");
    expect(await failure(close(owner, { confirm: "First" }))).toBe("invalid_value /confirm");
    expect(rig.keyring.resolve(rig.secrets.live).orgId).toBe(owner.orgId);
    const closed = await close(owner, { confirm: "first", refund_requested: true });
    expect(closed).toMatchObject({ status: "closed", closed_at: "2026-09-09T00:00:00.000Z" });
    expect(await failure(() => rig.keyring.resolve(rig.secrets.live))).toBe("org_closed");
    // Closing it again changes nothing.
    rig.clock.advance(1000);
    expect(await close(owner, { confirm: "first" })).toEqual(closed);
    const tickets = await rig.call<{ data: { id: string }[] }>("listTickets", owner);
    expect(tickets.data).toEqual([
      expect.objectContaining({
        kind: "close_org",
        status: "open",
        created_by: "owner@example.com",
        body: { refund_requested: true, refundable_micro: 7 },
      }),
    ]);
    expect(eventsOf(owner.orgId)).toEqual(["org.closed"]);
    const [event] = rig.trail.eventsOf(owner.orgId);
    expect(event?.data).toMatchObject({
      status: "closed",
      closing: {
        by: "owner",
        refund_requested: true,
        ticket_id: tickets.data[0]?.id,
        paid_micro: 7,
        granted_micro: 3,
        refunds: [],
      },
    });
    expect(await failure(rig.call("createProject", owner, { body: { slug: "x", name: "x" } }))).toBe(
      "org_closed",
    );
    expect(await failure(rig.call("updateOrg", owner, { body: { name: "x" } }))).toBe("org_closed");
  });
});

describe("an erasure", () => {
  test("is due in 30 days, asked for once, and can be cancelled", async () => {
    const owner = await rig.person("owner");
    const asked = await rig.call("requestErasure", owner);
    expect(asked).toMatchObject({
      status: "active",
      erasure_requested_at: "2026-09-09T00:00:00.000Z",
      erasure_due_at: "2026-10-09T00:00:00.000Z",
    });
    expect(rig.trail.jobs.row("account.erase", owner.orgId)?.dueMs).toBe(rig.clock.now() + 30 * DAY_MS);
    rig.clock.advance(DAY_MS);
    expect(await rig.call("requestErasure", owner)).toEqual(asked);
    const kept = await rig.call("cancelErasure", owner);
    expect(kept).not.toHaveProperty("erasure_due_at");
    expect(rig.trail.jobs.row("account.erase", owner.orgId)).toBeUndefined();
    expect(await failure(rig.call("cancelErasure", owner))).toBe("done");
    expect(actsOf(owner.orgId)).toEqual(["org.cancel_erasure", "org.request_erasure"]);
    expect(eventsOf(owner.orgId)).toEqual(["erasure.requested"]);
  });

  test("cannot be cancelled once it has begun", async () => {
    const owner = await rig.person("owner");
    await rig.call("requestErasure", owner);
    const { accounts } = rig;
    const org = accounts.org(owner.orgId);
    if (org === undefined) throw new Error("there is no org");
    await accounts.act(() => accounts.replaceOrg({ ...org, erasureBegunAtMs: rig.clock.now() }));
    expect(await failure(rig.call("cancelErasure", owner))).toBe("state");
    expect(rig.trail.jobs.row("account.erase", owner.orgId)).toBeDefined();
  });
});

describe("a transfer", () => {
  const transfer = (by: Caller, userId: string) => rig.call("transferOrg", by, { body: { user_id: userId } });

  test("makes a member the owner and the owner an admin", async () => {
    const [owner, member] = [await rig.person("owner"), await rig.person("member")];
    expect(await transfer(owner, member.actor.id)).toEqual({
      owner: member.actor.id,
      previous_owner_role: "admin",
    });
    const roles = rig.accounts.people.membersOf(owner.orgId).map(({ userId, role }) => [userId, role]);
    expect(new Map(roles as [string, string][])).toEqual(
      new Map([
        [owner.actor.id, "admin"],
        [member.actor.id, "owner"],
      ]),
    );
  });

  test("needs a member who has signed in", async () => {
    const owner = await rig.person("owner");
    const stranger = await rig.person("owner", { orgId: "org_other", email: "x@example.com" });
    expect(await failure(transfer(owner, stranger.actor.id))).toBe("invalid_value /user_id");
    const invited = await rig.call<{ user_id: string }>("addMember", owner, {
      body: { email: "new@example.com" },
    });
    expect(await failure(transfer(owner, invited.user_id))).toBe("state /user_id");
    expect(await transfer(owner, owner.actor.id)).toMatchObject({ previous_owner_role: "owner" });
  });
});
