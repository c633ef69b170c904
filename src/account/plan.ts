/**
 * Ports that others fill: what an org's plan allows (catalog) and what a project has spent (limits).
 */

/** Limits of a plan: defaults and ceilings of a key, and how many keys and projects an org may have. */
export interface PlanLimits {
  /** Requests a minute, tokens a minute, calls open at once; each for one key. */
  readonly rpm: number;
  readonly tpm: number;
  readonly concurrency: number;
  /** Keys that work at the same time. */
  readonly keys: number;
  readonly projects: number;
}

/** Never fails: for a plan that is gone it answers with the default plan. Synchronous and cheap. */
export type PlanPort = (planId: string) => PlanLimits;

/** What a project spent on the running local day and in the running local month, in micro-USD. */
export type ProjectSpendPort = (projectId: string) => {
  readonly todayMicroUsd: number;
  readonly monthMicroUsd: number;
};
