/** Quotes of a change of plan: each says what the change then does, and puts nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlanQuote } from "../../../../src/billing/subscriptions/plan-quote.ts";
import { callerOf, DAY, openPlans, type TestPlans } from "../../../support/billing/plans.fixtures.ts";
import { someOrg } from "../fixtures.ts";

let plans: TestPlans;
beforeAll(() => {
  plans = openPlans();
});
afterAll(() => plans.dispose());

type Effective = "now" | "period_end";

async function quote(org: { readonly id: string }, planId: string, effective?: Effective) {
  const query = { plan_id: planId, ...(effective !== undefined && { effective }) };
  const input = { params: undefined, query, body: undefined };
  const head = { header: () => "", cookie: () => undefined, address: "127.0.0.1" };
  return (await plans.rooms.operations.quoteSubscription.run(input, callerOf(org.id), head)) as PlanQuote;
}

const stored = (orgId: string) => ({
  row: plans.row(orgId),
  ledger: plans.ledger(orgId),
  events: plans.eventTypes(orgId),
  statements: plans.statements(orgId),
  audit: plans.rooms.auditOf(orgId),
  plan: plans.rooms.accounts.org(orgId)?.planId,
});

describe.each(["US", "IN"] as const)("an org in %s", (country) => {
  test("is told what each change takes, grants and leaves, and nothing is put", async () => {
    const org = await plans.addOrg(someOrg(country), 5_000_000_000);
    const steps: readonly (readonly [planId: string, effective?: Effective])[] = [
      ["starter"],
      ["business"],
      ["team"],
      ["business"],
      ["starter", "now"],
      ["team", "now"],
      ["local"],
      ["team"],
      ["local", "now"],
      ["starter", "now"],
    ];
    for (const [planId, effective] of steps) {
      const before = stored(org.id);
      const said = await quote(org, planId, effective);
      expect(stored(org.id)).toEqual(before);
      const made = await plans.choose(org, planId, effective);
      expect(said).toMatchObject({
        changes: true,
        plan: made.plan,
        subscription: made.subscription,
        fee_micro: made.fee_micro,
        included_micro: made.included_micro,
        prorated_bps: made.prorated_bps,
        effective: made.effective,
        fee_minor: made.invoice?.total_minor ?? 0,
        missing_micro: 0,
      });
      expect(said.lines.map(({ description }) => description)).toEqual(
        (made.invoice?.lines ?? []).map(({ description }) => description),
      );
      expect(said.lines.reduce((sum, line) => sum + line.amount_minor, 0)).toBe(said.fee_minor);
      expect(said.available_micro - said.fee_micro + said.included_micro).toBe(said.available_after_micro);
      expect(plans.balance(org.id)).toBe(said.available_after_micro);
      plans.clock.advance(DAY + 12_345_000);
    }
  });

  test("is told what is missing, where the change is refused", async () => {
    const org = await plans.addOrg(someOrg(country), 1_000_000);
    const said = await quote(org, "team");
    expect(said.missing_micro).toBe(said.fee_micro - 1_000_000);
    expect(said).toMatchObject({ available_micro: 1_000_000, effective: "now", prorated_bps: 10_000 });
    expect(said.available_after_micro).toBe(1_000_000 - said.fee_micro + said.included_micro);
    await expect(plans.choose(org, "team")).rejects.toMatchObject({
      status: 402,
      details: { required_micro: said.fee_micro, missing_micro: said.missing_micro },
    });
    expect(plans.balance(org.id)).toBe(1_000_000);
  });
});

test("the plan that an org has changes nothing, also where it was just paid for", async () => {
  const org = await plans.addOrg(someOrg("US"), 500_000_000);
  await plans.choose(org, "team");
  const { available_micro, ...said } = await quote(org, "team");
  expect(said).toMatchObject({
    changes: false,
    fee_micro: 0,
    included_micro: 0,
    lines: [],
    missing_micro: 0,
  });
  expect([said.available_after_micro, available_micro]).toEqual([430_000_000, 430_000_000]);
});

test("a cheaper plan takes over when the month ends, and taking it back costs nothing", async () => {
  const org = await plans.addOrg(someOrg("US"), 500_000_000);
  const { subscription } = await plans.choose(org, "team");
  const down = await quote(org, "starter");
  expect(down).toMatchObject({
    effective: "period_end",
    effective_at: subscription.period_end,
    fee_micro: 0,
    changes: true,
    subscription: { plan_id: "team", next_plan_id: "starter" },
  });
  await plans.choose(org, "starter");
  expect(await quote(org, "team")).toMatchObject({ changes: true, fee_micro: 0, effective: "now" });
});

test("what is past due is paid with the choice, and the quote says so", async () => {
  const org = await plans.addOrg(someOrg("US"), 100_000_000);
  await plans.choose(org, "team");
  await plans.spend(org.id, 30_000_000);
  await plans.pass(org.id, 32);
  expect((await plans.shown(org.id)).status).toBe("past_due");
  const said = await quote(org, "team");
  expect(said).toMatchObject({ changes: true, fee_micro: 100_000_000, missing_micro: 100_000_000 });
  expect(said.subscription.status).toBe("active");
  expect((await plans.shown(org.id)).status).toBe("past_due");
});

test.each([
  ["gold", undefined, 400, "/plan_id"],
  ["team", "period_end", 400, "/effective"],
] as const)("%s at %s is refused as the change is", async (planId, effective, status, param) => {
  const org = await plans.addOrg(someOrg("US"), 500_000_000);
  await expect(quote(org, planId, effective)).rejects.toMatchObject({ status, param });
});

test("a change that costs more than was said is refused, and nothing is put", async () => {
  const org = await plans.addOrg(someOrg("US"), 500_000_000);
  const { fee_micro: fee } = await quote(org, "team");
  const body = (most: number) => ({ plan_id: "team", max_fee_micro: most });
  const head = { header: () => "", cookie: () => undefined, address: "127.0.0.1" };
  const choose = (most: number) =>
    plans.rooms.operations.changeSubscription.run(
      { params: undefined, query: undefined, body: body(most) },
      callerOf(org.id),
      head,
    );
  const before = stored(org.id);
  await expect(choose(fee - 1)).rejects.toMatchObject({
    status: 409,
    code: "state",
    details: { fee_micro: fee },
  });
  expect(stored(org.id)).toEqual(before);
  const made = await choose(fee);
  expect(made).toMatchObject({ fee_micro: fee });
  // Asked for again, it is the same change, which is paid for.
  expect(await choose(0)).toEqual(made);
});
