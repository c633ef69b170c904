/** Reads the plans of the settings: what each plan allows its orgs, and which plan is in force where an org names one that is gone. */
import type { Plan } from "../base/plan.ts";
import type { AccountPlan, AccountPlans } from "./plan-limits.ts";

export interface SoldPlans {
  /** Those of `plans.yaml`. */
  readonly plans: readonly Plan[];
  /** New orgs have it. The settings have it, or the start is refused. */
  readonly defaultId: string;
}

/** An org whose plan was removed from plans.yaml gets the default plan. */
export function planList({ plans, defaultId }: SoldPlans): AccountPlans {
  const all = plans.map(
    ({ id, features, limits: { rpm, tpm, concurrency, keys, projects, ...more } }): AccountPlan => ({
      id,
      rpm,
      tpm,
      concurrency,
      keys,
      projects,
      autoApprove: more.auto_approve,
      keptBytes: { live: more.kept_bytes, test: more.kept_test_bytes },
      features: { sso: features.sso, prioritySupport: features.priority_support },
      isDefault: id === defaultId,
    }),
  );
  const byId = new Map(all.map((plan) => [plan.id, plan]));
  const usual = byId.get(defaultId) as AccountPlan;
  return { all, inForce: (planId) => byId.get(planId) ?? usual };
}
