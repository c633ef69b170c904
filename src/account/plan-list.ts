/** Reads the plans of the settings: what each plan allows its orgs, and which plan is in force where an org names one that is gone. */
import type { Plan as SoldPlan } from "../base/plan.ts";
import type { Plan, PlanFeaturesPort, PlanList, PlanPort } from "./plan.ts";

export interface SoldPlans {
  /** Those of `plans.yaml`. */
  readonly plans: readonly SoldPlan[];
  /** New orgs have it. The settings have it, or the start is refused. */
  readonly defaultId: string;
}

/** An org whose plan was removed from plans.yaml gets the default plan. */
export function planPort({ plans, defaultId }: SoldPlans): PlanPort {
  const limits = new Map(
    plans.map(({ id, limits: { auto_approve: autoApprove, ...rest } }) => [id, { ...rest, autoApprove }]),
  );
  return (id) => limits.get(id) ?? limits.get(defaultId) ?? NO_PLAN;
}

export function featuresPort({ plans, defaultId }: SoldPlans): PlanFeaturesPort {
  const known = new Map(plans.map(({ id, features }) => [id, features]));
  return (id) => {
    const { sso = false, priority_support: prioritySupport = false } =
      known.get(id) ?? known.get(defaultId) ?? {};
    return { sso, prioritySupport };
  };
}

/** Bytes that an org's plan lets it keep of its live and its test calls; undefined where the plan says nothing of them. */
export type KeptBytesPort = (planId: string) => {
  readonly live: number | undefined;
  readonly test: number | undefined;
};

export function keptBytesPort({ plans, defaultId }: SoldPlans): KeptBytesPort {
  const known = new Map(
    plans.map(({ id, limits: { kept_bytes: live, kept_test_bytes: test } }) => [id, { live, test }]),
  );
  return (id) => known.get(id) ?? known.get(defaultId) ?? NOTHING_SAID;
}

/** The settings have a default plan, or the start is refused. */
export function planList(sold: SoldPlans): PlanList {
  const { defaultId } = sold;
  const [limitsOf, featuresOf] = [planPort(sold), featuresPort(sold)];
  const all = sold.plans.map(
    ({ id }): Plan => ({ ...limitsOf(id), id, features: featuresOf(id), isDefault: id === defaultId }),
  );
  const byId = new Map(all.map((plan) => [plan.id, plan]));
  const usual = byId.get(defaultId) as Plan;
  return { all, inForce: (planId) => byId.get(planId) ?? usual };
}

const NOTHING_SAID = { live: undefined, test: undefined };
const NO_PLAN = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0, autoApprove: 1 };
