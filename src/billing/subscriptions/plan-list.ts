/** The plans that are offered, and how the API shows them. A plan that was removed from the file is the default plan. */
import { z } from "zod";
import type { Currency } from "../../base/currency.ts";
import { isFree, monthlyMinor, type Plan } from "../../base/plan.ts";

export class PlanList {
  readonly #plans: ReadonlyMap<string, Plan>;
  /** New orgs have it, and those whose subscription ended. */
  readonly free: Plan;

  /** @throws Error where the default plan is not among them */
  constructor(plans: readonly Plan[], defaultId: string) {
    const free = plans.find(({ id }) => id === defaultId);
    if (free === undefined) throw new Error(`there is no plan "${defaultId}"`);
    this.#plans = new Map(plans.map((plan) => [plan.id, plan]));
    this.free = free;
  }

  find(id: string): Plan | undefined {
    return this.#plans.get(id);
  }

  /** The plan by which an org is treated. */
  inForce(id: string): Plan {
    return this.#plans.get(id) ?? this.free;
  }

  /** In the order in which they are shown. */
  offered(): Plan[] {
    return [...this.#plans.values()]
      .filter((plan) => plan.public)
      .sort((a, b) => a.sort - b.sort || (a.id < b.id ? -1 : 1));
  }
}

const count = z.int().nonnegative();

export const planShape = z.object({
  id: z.string().describe("What `plan_id` of orgs and subscriptions names"),
  name: z.string().describe("For people"),
  monthly_minor: count.describe("Price of a month without tax, paise or cents"),
  currency: z.string().describe("Currency of the price: `INR` or `USD`; empty where the plan is free"),
  included_micro: count.describe(
    "Credit for each month, micro-USD; what is left of it expires at the month's end",
  ),
  limits: z
    .object({
      rpm: count.describe("Requests a minute of each key; 0: unlimited"),
      tpm: count.describe("Tokens a minute of each key; 0: unlimited"),
      concurrency: count.describe("Calls at once of each key; 0: unlimited"),
      keys: count.describe("Keys that may work at once"),
      projects: count.describe("Projects that may exist"),
    })
    .describe("What the org may do; rpm, tpm and concurrency hold for keys without limits of their own"),
  features: z
    .object({
      sso: z.boolean().describe("Provisioning by a directory (SCIM)"),
      priority_support: z.boolean().describe("Tickets are answered first"),
    })
    .describe("What the plan has besides"),
  description: z.string().describe("For people"),
  public: z.boolean().describe("Whether it can be chosen"),
  sort: count.describe("Its place in the list, smallest first"),
});

export function planWire(plan: Plan, currency: Currency): z.input<typeof planShape> {
  const { id, name, included_micro, features, description, sort } = plan;
  const { rpm, tpm, concurrency, keys, projects } = plan.limits;
  return {
    id,
    name,
    monthly_minor: monthlyMinor(plan, currency),
    currency: isFree(plan) ? "" : currency,
    included_micro,
    limits: { rpm, tpm, concurrency, keys, projects },
    features: { ...features },
    description,
    public: plan.public,
    sort,
  };
}
