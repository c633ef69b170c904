/**
 * Plans as data: what an org may do, what it pays for that each month, and the credit that this includes. Written in
 * `plans.yaml` of the config folder, read at start. Prices are whole minor units (paise, cents) without tax.
 */
import { z } from "zod";
import { CURRENCIES, type Currency } from "./currency.ts";

const count = z.int().nonnegative();
/** Keeps products with basis points and rates exact. */
const price = count.max(10_000_000_000);

const planFields = z.strictObject({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z0-9_-]+$/, "use lower-case letters, digits, - and _"),
  /** For people; the id where it is left out. */
  name: z.string().min(1).max(100).optional(),
  description: z.string().max(500).default(""),
  /** False: not in `GET /v1/plans`, and nobody can choose it; orgs that are on it stay. */
  public: z.boolean().default(true),
  /** True: limits for trying out, which are not sold and not offered, and with which no plan is compared. */
  demo: z.boolean().optional(),
  /** Order of the list, smallest first. */
  sort: z.int().min(0).max(1_000_000).default(0),
  limits: z.strictObject({
    /** Defaults of each key; 0: unlimited. */
    rpm: count,
    tpm: count,
    concurrency: count,
    /** Working keys and projects of the org; 0: unlimited. */
    keys: count,
    projects: count,
    /** Requests for a higher `rpm` are approved at once up to this multiple; 1: an operator decides each. */
    auto_approve: z.number().min(1).max(1000).default(2),
    /** Quotas of what is kept of the org's live and test calls, bytes; 0: unlimited. Left out: those of `weir.yaml`. */
    kept_bytes: count.optional(),
    kept_test_bytes: count.optional(),
  }),
  features: z
    .strictObject({
      /** Provisioning by a directory (SCIM). */
      sso: z.boolean().default(false),
      priority_support: z.boolean().default(false),
    })
    .prefault({}),
  /** Credit for each month, micro-USD; it expires at the month's end. */
  included_micro: count.max(1_000_000_000_000).default(0),
  /** For each month, by billing currency; left out: the plan is free. */
  monthly_minor: z.strictObject({ INR: price, USD: price }).prefault({ INR: 0, USD: 0 }),
});

type PlanFields = z.output<typeof planFields>;
export interface Plan extends Omit<PlanFields, "name"> {
  readonly name: string;
}

/** Whether nothing is paid for it, in any currency. */
export const isFree = ({ monthly_minor: monthly }: Pick<Plan, "monthly_minor">): boolean =>
  CURRENCIES.every((currency) => monthly[currency] === 0);

export const monthlyMinor = (plan: Pick<Plan, "monthly_minor">, currency: Currency): number =>
  plan.monthly_minor[currency];

export const plansFile = z.strictObject({
  plans: z
    .array(
      planFields.transform(
        (plan): Plan => ({
          ...plan,
          name: plan.name ?? plan.id,
          public: plan.public && plan.demo !== true,
        }),
      ),
    )
    .min(1)
    .max(200),
});

/** Where there is no `plans.yaml`: one plan, for whoever runs the gateway for themselves. */
export const LOCAL_PLAN: Plan = {
  id: "local",
  name: "Local",
  description: "",
  public: true,
  sort: 0,
  limits: {
    rpm: 3_000_000,
    tpm: 3_000_000_000,
    concurrency: 10_000,
    keys: 1_000,
    projects: 100,
    auto_approve: 2,
  },
  features: { sso: true, priority_support: false },
  included_micro: 0,
  monthly_minor: { INR: 0, USD: 0 },
};

export interface PlanFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What depends on two fields or two plans. */
export function planFaults(plans: readonly Plan[]): PlanFault[] {
  const ids = plans.map(({ id }) => id);
  return plans.flatMap((plan, i) => {
    const at = (field: string, message: string): PlanFault => ({ path: ["plans", i, field], message });
    const faults: PlanFault[] = [];
    if (ids.indexOf(plan.id) !== i) faults.push(at("id", `there are two plans "${plan.id}"`));
    const isPriced = CURRENCIES.some((currency) => plan.monthly_minor[currency] > 0);
    if (isPriced && CURRENCIES.some((currency) => plan.monthly_minor[currency] === 0))
      faults.push(at("monthly_minor", "a plan is free in all currencies, or in none"));
    if (isPriced && plan.demo === true)
      faults.push(at("demo", "a demo's limits are not sold: leave out demo, or the price"));
    if (!isPriced && plan.included_micro > 0)
      faults.push(
        at("included_micro", "a free plan includes no credit: it would be given every month to everybody"),
      );
    return faults;
  });
}
