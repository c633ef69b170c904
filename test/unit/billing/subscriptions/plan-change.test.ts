/** Plans that people choose: what is taken, granted, stated and told, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY, openPlans, PLANS, type TestPlans } from "../../../support/billing/plans.fixtures.ts";
import { someOrg } from "../fixtures.ts";

let plans: TestPlans;
beforeAll(() => {
  plans = openPlans();
});
afterAll(() => plans.dispose());

const inUsd = (microUsd = 500_000_000) => plans.addOrg(someOrg("US"), microUsd);
const inInr = (microUsd = 500_000_000) => plans.addOrg(someOrg("IN"), microUsd);

describe("an org without a subscription", () => {
  test("has the default plan, in months from its creation", async () => {
    const org = await inUsd(0);
    const { operations } = plans.rooms;
    const input = { params: undefined, query: undefined, body: undefined };
    const caller = { orgId: org.id } as never;
    const found = await operations.getSubscription.run(input, caller, {} as never);
    expect(found).toMatchObject({
      subscription: {
        org_id: org.id,
        plan_id: "local",
        status: "active",
        started_at: "2026-11-01T00:00:00.000Z",
      },
      plan: { id: "local", currency: "", monthly_minor: 0 },
    });
    const listed = (await operations.listPlans.run(input, caller, {} as never)) as { data: object[] };
    expect(listed.data).toMatchObject([
      { id: "local" },
      { id: "starter", currency: "USD", monthly_minor: 2_000, included_micro: 5_000_000 },
      { id: "team" },
      { id: "business" },
    ]);
  });

  test("pays a whole month at once, and has the plan, its credit and a statement without tax", async () => {
    const org = await inUsd();
    const made = await plans.choose(org, "team");
    const nowMs = plans.clock.now();
    expect(made).toMatchObject({
      subscription: { plan_id: "team", status: "active", started_at: new Date(nowMs).toISOString() },
      plan: { id: "team" },
      invoice: {
        kind: "statement",
        taxable_minor: 10_000,
        total_minor: 10_000,
        plan_id: "team",
        cgst_minor: 0,
        sgst_minor: 0,
        igst_minor: 0,
        place_of_supply: "",
        irn_status: "not_required",
        lines: [{ kind: "plan", amount_minor: 10_000 }],
      },
      fee_micro: 100_000_000,
      included_micro: 30_000_000,
      prorated_bps: 10_000,
      effective: "now",
    });
    expect(made.invoice?.lines[0]?.description).toBe(
      "Plan Team, 2026-01-31 to 2026-02-28; includes $30.00 of credit, which expires on 2026-02-28 where it is not spent",
    );
    expect(plans.entries(org.id)).toEqual([
      ["topup", 500_000_000],
      ["subscription", -100_000_000],
      ["grant", 30_000_000],
    ]);
    expect(plans.rooms.accounts.org(org.id)?.planId).toBe("team");
    expect(plans.eventTypes(org.id)).toEqual(["invoice.issued", "subscription.changed"]);
    expect(plans.rooms.auditOf(org.id)).toMatchObject([{ act: "subscription.change", target: org.id }]);
    expect(plans.rooms.lots.of(org.id).grants).toMatchObject([
      { leftMicroUsd: 30_000_000, expiresAtMs: Date.parse("2026-02-28T10:00:00Z") },
    ]);
  });

  test("names the days of India on its statement's lines, as the statement's date and period do", async () => {
    // The last hours of the financial year, of which India has seen the end.
    plans.clock.set("2026-03-31T20:00:00Z");
    const org = await inUsd();
    const made = await plans.choose(org, "team");
    expect(made.invoice).toMatchObject({ fy: "2026-27" });
    expect(made.invoice?.lines[0]?.description).toContain("Plan Team, 2026-04-01 to 2026-05-01; includes");
    expect(made.invoice?.lines[0]?.description).toContain("which expires on 2026-05-01 ");
  });

  test("in INR pays what a top-up of the price buys today", async () => {
    const org = await inInr();
    // 900,000 paise at 88.50 + 2 % = 90.27 INR for a dollar.
    const { fee_micro, invoice } = await plans.choose(org, "team");
    expect(fee_micro).toBe(Math.floor((900_000 * 10_000) / 90.27));
    expect(invoice).toMatchObject({ currency: "INR", total_minor: 900_000, fx_rate: "88.50000000" });
  });

  test("is told what is missing, and nothing is put", async () => {
    const org = await inUsd(99_999_999);
    const asked = plans.choose(org, "team", undefined, "key-1");
    await expect(asked).rejects.toMatchObject({
      status: 402,
      code: "insufficient_credits",
      details: { required_micro: 100_000_000, available_micro: 99_999_999, missing_micro: 1 },
    });
    expect([plans.row(org.id), plans.entries(org.id).length, plans.eventTypes(org.id)]).toEqual([
      undefined,
      1,
      [],
    ]);
    expect(plans.rooms.accounts.org(org.id)?.planId).toBe("local");
  });

  test.each([
    ["a plan that does not exist", "gold", undefined, 400, "/plan_id"],
    ["a plan that is not offered", "secret", undefined, 400, "/plan_id"],
    ["the end of a month that it does not pay for", "team", "period_end", 400, "/effective"],
  ] as const)("cannot choose %s", async (_case, planId, effective, status, param) => {
    const org = await inUsd();
    await expect(plans.choose(org, planId, effective)).rejects.toMatchObject({ status, param });
  });

  test("200 requests at once, with and without a key, are one subscription", async () => {
    for (const key of ["", "same"]) {
      const org = await inUsd();
      const all = await Promise.all(Array.from({ length: 200 }, () => plans.choose(org, "team", "now", key)));
      expect(new Set(all.map((made) => JSON.stringify(made))).size).toBe(1);
      expect(plans.entries(org.id)).toHaveLength(3);
      expect(plans.statements(org.id)).toHaveLength(1);
      expect(plans.eventTypes(org.id)).toEqual(["invoice.issued", "subscription.changed"]);
      expect(plans.rooms.auditOf(org.id)).toHaveLength(1);
    }
  });

  test("200 requests of different plans at once pay each dearer one once", async () => {
    const org = await inUsd(5_000_000_000);
    const ids = Array.from({ length: 200 }, (_, i) => ["starter", "team", "business"][i % 3] as string);
    await Promise.allSettled(ids.map((id) => plans.choose(org, id)));
    // The whole month of the dearest, in three parts.
    expect(plans.entries(org.id).filter(([kind]) => kind === "subscription")).toEqual([
      ["subscription", -20_000_000],
      ["subscription", -80_000_000],
      ["subscription", -400_000_000],
    ]);
  });

  test("a key that was used for another change is a conflict", async () => {
    const org = await inUsd();
    await plans.choose(org, "team", undefined, "k");
    await expect(plans.choose(org, "starter", undefined, "k")).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    await expect(plans.choose(org, "team", "now", "k")).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
  });
});

describe("a change in the middle of a month", () => {
  /** Subscribed on 1 November, and 20 of 30 days are left. */
  async function midMonth(planId: string) {
    plans.clock.set("2026-11-01T00:00:00Z");
    const org = await inUsd(5_000_000_000);
    await plans.choose(org, planId);
    plans.clock.set("2026-11-11T00:00:00Z");
    return org;
  }

  test("to a dearer plan costs the difference of the parts that are left, and grants that of the credit", async () => {
    const org = await midMonth("starter");
    const made = await plans.choose(org, "team");
    expect(made).toMatchObject({
      // floor(10,000 × 0.6666) - floor(2,000 × 0.6666) cents; floor(25,000,000 × 0.6666) micro-USD
      fee_micro: 53_330_000,
      included_micro: 16_665_000,
      prorated_bps: 6_666,
      effective: "now",
      invoice: {
        total_minor: 5_333,
        lines: [{ kind: "proration", amount_minor: 6_666 }, { amount_minor: -1_333 }],
      },
      subscription: { period_start: "2026-11-01T00:00:00.000Z", period_end: "2026-12-01T00:00:00.000Z" },
    });
  });

  test("to a cheaper one waits for the month's end, and can be taken back", async () => {
    const org = await midMonth("team");
    const made = await plans.choose(org, "starter");
    expect(made).toMatchObject({
      subscription: { plan_id: "team", next_plan_id: "starter" },
      plan: { id: "starter" },
      invoice: null,
      fee_micro: 0,
      effective: "period_end",
    });
    expect((await plans.choose(org, "team")).subscription.next_plan_id).toBeUndefined();
    await plans.choose(org, "starter");
    await plans.choose(org, "starter");
    plans.clock.set("2026-12-01T00:00:00Z");
    await plans.runJobs(org.id);
    expect(plans.row(org.id)).toMatchObject({
      planId: "starter",
      month: 1,
      nextPlanId: "",
      paidMinor: 2_000,
    });
    expect(plans.rooms.accounts.org(org.id)?.planId).toBe("starter");
    const told = ["subscription.changed", "subscription.changed", "subscription.changed"];
    expect(plans.eventTypes(org.id).slice(2)).toEqual([
      ...told,
      "invoice.issued",
      "subscription.renewed",
      "subscription.changed",
    ]);
  });

  test("to a cheaper one now pays nothing back, and going back up costs nothing", async () => {
    const org = await midMonth("starter");
    await plans.choose(org, "team");
    const paid = plans.balance(org.id);
    expect(await plans.choose(org, "starter", "now")).toMatchObject({
      subscription: { plan_id: "starter" },
      invoice: null,
      fee_micro: 0,
      included_micro: 0,
      effective: "now",
    });
    expect(await plans.choose(org, "team")).toMatchObject({ fee_micro: 0, included_micro: 0, invoice: null });
    expect(plans.balance(org.id)).toBe(paid);
  });

  test("that cancels now leaves the credit until it expires, and the way back is paid for", async () => {
    const org = await midMonth("team");
    expect(await plans.choose(org, "local", "now")).toMatchObject({
      subscription: { plan_id: "local", status: "cancelled" },
    });
    expect(plans.rooms.lots.of(org.id).grants).toHaveLength(1);
    expect(await plans.choose(org, "team")).toMatchObject({
      subscription: { plan_id: "team", status: "active" },
      fee_micro: 0,
      included_micro: 0,
    });
    plans.clock.set("2026-12-01T00:00:00Z");
    await plans.runJobs(org.id);
    expect(plans.row(org.id)).toMatchObject({ planId: "team", month: 1 });
  });

  test("that cancels at the month's end lets the month run, and takes no other", async () => {
    const org = await midMonth("team");
    expect(await plans.choose(org, "local")).toMatchObject({ effective: "period_end" });
    plans.clock.set("2026-12-01T00:00:00Z");
    await plans.runJobs(org.id);
    expect(plans.row(org.id)).toMatchObject({ planId: "local", status: "cancelled", month: 0 });
    expect(plans.balance(org.id)).toBe(4_900_000_000);
    await plans.pass(org.id, 40);
    expect(plans.balance(org.id)).toBe(4_900_000_000);
    // A month of its own begins.
    expect(await plans.choose(org, "team")).toMatchObject({ prorated_bps: 10_000, fee_micro: 100_000_000 });
  });

  test("is refused after fifty of a month, save cancelling", async () => {
    const org = await midMonth("team");
    for (let i = 0; i < 25; i++) {
      await plans.choose(org, "starter", "now");
      await plans.choose(org, "team", "now");
    }
    await expect(plans.choose(org, "starter", "now")).rejects.toMatchObject({ code: "plan_limit" });
    await expect(plans.choose(org, "starter")).rejects.toMatchObject({ code: "plan_limit" });
    expect((await plans.choose(org, "local")).effective).toBe("period_end");
    await expect(plans.choose(org, "team")).rejects.toMatchObject({ code: "plan_limit" });
    expect((await plans.choose(org, "local", "now")).subscription.status).toBe("cancelled");
    await expect(plans.choose(org, "team")).rejects.toMatchObject({ code: "plan_limit" });
  });
});

describe("included credit", () => {
  test("is granted to one org of a person at a time", async () => {
    plans.clock.set("2026-11-01T00:00:00Z");
    const [first, second] = [someOrg("US"), someOrg("US")];
    for (const org of [first, second]) await plans.addOrg(org, 500_000_000, "usr_one");
    expect((await plans.choose(first, "team")).included_micro).toBe(30_000_000);
    const other = await plans.choose(second, "team");
    expect([other.included_micro, other.fee_micro]).toEqual([0, 100_000_000]);
    expect(other.invoice?.lines[0]?.description).toBe("Plan Team, 2026-11-01 to 2026-12-01");
    expect(plans.row(second.id)?.includedMicroUsd).toBe(0);
  });

  test("expires at the month's end, of what is left of it", async () => {
    plans.clock.set("2026-11-01T00:00:00Z");
    const org = await inUsd(100_000_000);
    await plans.choose(org, "team");
    await plans.spend(org.id, 10_000_000);
    await plans.choose(org, "local");
    plans.clock.set("2026-12-01T00:00:00Z");
    await plans.runJobs(org.id);
    expect(plans.entries(org.id).at(-1)).toEqual(["expiry", -20_000_000]);
    expect(plans.balance(org.id)).toBe(0);
  });

  test("that calls hold expires when they let go of it, as far as they did not spend it", async () => {
    plans.clock.set("2026-11-01T00:00:00Z");
    const org = await inUsd(100_000_000);
    await plans.choose(org, "team");
    await plans.choose(org, "local");
    const hold = plans.rooms.purse.hold(org.id, 12_000_000);
    plans.clock.set("2026-12-01T00:00:00Z");
    await plans.runJobs(org.id);
    expect([plans.balance(org.id), plans.rooms.purse.available(org.id)]).toEqual([12_000_000, 0]);
    const charge = { requestId: "r", amountMicroUsd: 7_000_000, atMs: plans.clock.now() };
    await plans.rooms.store.act(() => hold && plans.rooms.purse.settle(hold, charge));
    plans.clock.advance(60_000);
    await plans.runJobs(org.id);
    expect(plans.entries(org.id).slice(-3)).toEqual([
      ["expiry", -18_000_000],
      ["settle", -7_000_000],
      ["expiry", -5_000_000],
    ]);
    expect(plans.balance(org.id)).toBe(0);
    plans.clock.advance(DAY);
    expect(plans.due(org.id)).toEqual([]);
  });
});

test("limits of the plan in force are those of the file, and a plan that is gone is the default plan", async () => {
  const org = await inUsd();
  await plans.choose(org, "team");
  const { plans: list } = plans.rooms.deps;
  expect(list.inForce(plans.rooms.accounts.org(org.id)?.planId ?? "")).toBe(PLANS[2]);
  expect(list.inForce("gone").id).toBe("local");
});
