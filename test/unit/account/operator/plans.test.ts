/** Plans in force: which orgs count for which plan, and which keys have more than theirs gives. */
import { expect, test } from "vitest";
import { operatorPlanOperations } from "../../../../src/account/operator/plan-operations.ts";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import type { AccountPlan, AccountPlans } from "../../../../src/account/plan-limits.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { AnyOperation } from "../../../../src/base/operation/operation.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { accountRig } from "../fixtures.ts";

const rig = accountRig();

const planOf = (id: string, rpm: number, isDefault = false): AccountPlan => ({
  id,
  rpm,
  tpm: 10_000,
  concurrency: 5,
  keys: 500,
  projects: 5,
  autoApprove: 2,
  isDefault,
  features: { sso: false, prioritySupport: false },
  keptBytes: { live: undefined, test: undefined },
});
const FREE = planOf("free", 60, true);
const PLANS = [FREE, planOf("team", 600), planOf("unlimited", 0)];
const plans: AccountPlans = { all: PLANS, inForce: (id) => PLANS.find((plan) => plan.id === id) ?? FREE };

type Wire = Record<string, unknown> & { id: string; slug: string; orgs: number; raised: { rpm: number }[] };
function operations() {
  const { accounts, clock } = rig;
  const all = operatorPlanOperations({ accounts, clock, plans, cursors: cursors(Buffer.alloc(32, 1)) });
  return async (name: keyof typeof all, id = "", query: object = {}) => {
    const op = all[name] as AnyOperation;
    const input = { params: op.params?.parse({ id }), query: op.query?.parse(query), body: undefined };
    const answer = await op.run(input as never, rig.owner, NO_HEAD);
    return op.output.parse(answer) as { data: Wire[]; next_cursor: string };
  };
}
const putOrgs = (count: number, differing: Partial<OrgRow> & { planId: string }) =>
  rig.accounts.act(() => {
    for (let i = 0; i < count; i++) {
      const made = newOrg(
        { slug: `${differing.planId}-${i}`, name: "x", kind: "team", billingCountry: "US", planId: "" },
        rig.clock.now(),
      );
      rig.accounts.addOrg({ ...made, ...differing });
    }
  });

test("an org counts for the plan that applies to it, unless it is closed", async () => {
  await putOrgs(1_203, { planId: "team" });
  await putOrgs(2, { planId: "removed" });
  await putOrgs(3, { planId: "unlimited", status: "closed" });
  const call = operations();
  const answers = await Promise.all([call("operatorListPlans"), call("operatorListPlans")]);
  for (const { data } of answers)
    expect(data.map(({ id, orgs }) => [id, orgs])).toEqual([
      ["free", 3],
      ["team", 1_203],
      ["unlimited", 0],
    ]);
});

test("the orgs on a plan come in pages, each once", async () => {
  await putOrgs(25, { planId: "team" });
  const call = operations();
  const slugs: string[] = [];
  let cursor = "";
  do {
    const page = await call("operatorListPlanOrgs", "team", { limit: "10", cursor });
    slugs.push(...page.data.map(({ slug }) => slug));
    cursor = page.next_cursor;
  } while (cursor !== "");
  expect(new Set(slugs).size).toBe(25);
  expect(slugs).toHaveLength(25);
});

test("a key with more requests a minute than the plan gives is shown while it works", async () => {
  const { orgId } = rig.owner;
  const add = (name: string, limits: { rpm?: number }) => rig.addKey({ name, limits });
  await add("within", { rpm: 60 });
  await add("none of its own", {});
  const gone = await add("gone", { rpm: 61 });
  await add("raised", { rpm: 61 });
  await rig.revoke(rig.rowOf(gone).id);
  await putOrgs(2, { planId: "removed" });
  const call = operations();
  const { data } = await call("operatorListPlanOrgs", "free", { raised: "true" });
  expect(data).toMatchObject([{ id: orgId, raised: [{ name: "raised", rpm: 61 }] }]);
  expect((await call("operatorListPlanOrgs", "free")).data.map(({ raised }) => raised.length)).toEqual([
    0, 0, 1,
  ]);
});
