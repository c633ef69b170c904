/** Plans of the simulation. Each that costs more includes more. */
import type { Plan } from "../../../src/base/plan.ts";

const plan = (id: string, usd: number, includedMicroUsd: number): Plan => ({
  id,
  name: id,
  description: "",
  public: true,
  sort: usd,
  limits: { rpm: 60, tpm: 0, concurrency: 0, keys: 5, projects: 5, auto_approve: 2 },
  features: { sso: false, priority_support: false },
  included_micro: includedMicroUsd,
  monthly_minor: { INR: usd * 90, USD: usd },
});

export const FREE_PLAN = "local";
/** 0, 19, 99 and 299 USD a month. */
export const PLANS: readonly Plan[] = [
  plan(FREE_PLAN, 0, 0),
  plan("starter", 1_900, 5_000_000),
  plan("team", 9_900, 30_000_000),
  plan("business", 29_900, 100_000_000),
];
