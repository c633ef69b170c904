/** Plans of the settings, as orgs have them. */
import { expect, test } from "vitest";
import { accountPlans } from "../../../src/account/plan-limits.ts";
import { LOCAL_PLAN } from "../../../src/base/plan.ts";

test("an org whose plan is not in the settings has the default plan", () => {
  const plans = accountPlans({ plans: [LOCAL_PLAN, { ...LOCAL_PLAN, id: "other" }], defaultId: "other" });
  expect(plans.inForce("gone")).toBe(plans.inForce("other"));
  expect(plans.inForce(LOCAL_PLAN.id)).toMatchObject({ id: LOCAL_PLAN.id, isDefault: false });
});

test("without the default plan there are no plans: an org would have no limits", () => {
  expect(() => accountPlans({ plans: [LOCAL_PLAN], defaultId: "gone" })).toThrow("there is no plan gone");
});
