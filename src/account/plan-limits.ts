/**
 * Ports: what an org's plan allows, by the installation's settings, and what a project has spent, by its budgets.
 */

import type { MaybePromise } from "../base/maybe-promise.ts";
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

/** What a project has spent in the current local day and month, in micro-USD. */
export type ProjectSpendPort = (projectId: string) => MaybePromise<{
  readonly todayMicroUsd: number;
  readonly monthMicroUsd: number;
}>;

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
