/** Plans, as `plans.yaml` has them: what a plan allows its orgs. An org whose plan was removed there has the default plan. */
import type { Plan } from "../base/plan.ts";
import type { KeyLimits } from "./key.ts";

/** Limits of a plan: defaults and ceilings of a key, and how many keys and projects an org may have. 0: unlimited, see `mostOf`. */
export interface PlanLimits extends KeyLimits {
  /** Maximum number of working keys. */
  readonly keys: number;
  readonly projects: number;
  /** Requests for more requests a minute are approved at once up to this multiple of `rpm`. */
  readonly autoApprove: number;
}

/** The most that a limit of a plan or a key allows: its 0 is no limit. */
export const mostOf = (limit: number): number => (limit === 0 ? Number.POSITIVE_INFINITY : limit);

/** Never fails: an unknown plan gets the default plan. Synchronous and cheap. */
export type PlanPort = (planId: string) => PlanLimits;

/** A plan of the settings. */
export interface AccountPlan extends PlanLimits {
  readonly id: string;
  /** `sso`: provisioning by a directory (SCIM). */
  readonly features: { readonly sso: boolean; readonly prioritySupport: boolean };
  /** Bytes that an org may keep of its live and its test calls; undefined where the plan says nothing of them. */
  readonly keptBytes: { readonly live: number | undefined; readonly test: number | undefined };
  /** New orgs have it, and those whose plan was removed from the settings. */
  readonly isDefault: boolean;
}

/** All plans. */
export interface AccountPlans {
  /** In the order of the settings. */
  readonly all: readonly AccountPlan[];
  /** Never fails: for an unknown plan, the default plan. */
  inForce(planId: string): AccountPlan;
}

export interface SoldPlans {
  /** Those of `plans.yaml`. */
  readonly plans: readonly Plan[];
  /** New orgs have it. The settings have it, or the start is refused. */
  readonly defaultId: string;
}

/** @throws Error without the default plan, which the settings refuse before */
export function accountPlans({ plans, defaultId }: SoldPlans): AccountPlans {
  const all = plans.map(({ id, features, limits }): AccountPlan => {
    const { auto_approve: autoApprove, kept_bytes: live, kept_test_bytes: test, ...more } = limits;
    const { sso, priority_support: prioritySupport } = features;
    const isDefault = id === defaultId;
    return {
      ...more,
      id,
      autoApprove,
      keptBytes: { live, test },
      features: { sso, prioritySupport },
      isDefault,
    };
  });
  const byId = new Map(all.map((plan) => [plan.id, plan]));
  const usual = byId.get(defaultId);
  if (usual === undefined) throw new Error(`there is no plan ${defaultId}, which new orgs have`);
  return { all, inForce: (planId) => byId.get(planId) ?? usual };
}
