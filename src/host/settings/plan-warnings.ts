/**
 * What is wrong with the order of plans, told at a start and by `weir check`. A warning and no refusal: prices and limits are the
 * operator's to choose, and a start must not fail for a list that an earlier release took.
 */

import type { Logger } from "pino";
import { CURRENCIES } from "../../base/currency.ts";
import type { Plan } from "../../base/plan.ts";
import type { Config } from "./config.ts";

type PlanSettings = Pick<Config, "plans" | "settings" | "payments">;

/** Tells at a start what {@link planWarnings} finds. */
export function tellPlanWarnings(config: PlanSettings, log: Pick<Logger, "warn">): void {
  for (const line of planWarnings(config)) log.warn(line);
}

/** A line for each plan that costs more than another and gives less, and one for a demo's limits where real money is taken. */
export function planWarnings({ plans, settings, payments }: PlanSettings): string[] {
  // A plan that is not on offer any more is kept as it was for those who have it.
  const compared = plans.filter(
    ({ id, demo, public: isPublic }) => demo !== true && (isPublic || id === settings.default_plan),
  );
  const pairs = compared.flatMap((plan) => compared.map((cheaper) => ({ plan, cheaper })));
  const lines = pairs.flatMap(({ plan, cheaper }) => {
    const less = isDearer(plan, cheaper) ? lessOf(plan, cheaper, settings) : [];
    return less.length === 0
      ? []
      : `plans.yaml: the plan "${plan.id}" costs more than "${cheaper.id}" and gives less: ${less.join(", ")}`;
  });
  const isDemo = plans.some(({ id, demo }) => demo === true && id === settings.default_plan);
  const isReal = Object.values(payments.gateways).some((by) => by !== undefined && by !== "simulated");
  if (isDemo && isReal)
    lines.push(
      `weir.yaml: default_plan "${settings.default_plan}" has the limits of a demo, and payments are taken: name a free plan with less than what is sold`,
    );
  return lines;
}

/** For orgs of some currency. */
const isDearer = ({ monthly_minor: monthly }: Plan, { monthly_minor: other }: Plan): boolean =>
  CURRENCIES.some((currency) => monthly[currency] > other[currency]);

function lessOf(plan: Plan, cheaper: Plan, settings: PlanSettings["settings"]): string[] {
  const given = limitsOf(plan, settings);
  const other = limitsOf(cheaper, settings);
  const names = Object.keys(given) as (keyof typeof given)[];
  const amounts = names.filter((name) => isLess(given[name], other[name]));
  const features = (["sso", "priority_support"] as const).filter(
    (name) => cheaper.features[name] && !plan.features[name],
  );
  return [
    ...amounts.map((name) => `${name} ${given[name]} instead of ${other[name] || "unlimited"}`),
    ...features.map((name) => `no ${name}`),
  ];
}

const limitsOf = ({ limits }: Plan, { limits: usual }: PlanSettings["settings"]) => ({
  ...limits,
  kept_bytes: limits.kept_bytes ?? usual.max_kept_bytes,
  kept_test_bytes: limits.kept_test_bytes ?? usual.max_kept_test_bytes,
});

/** 0 is unlimited. */
const isLess = (limit: number, other: number): boolean => limit !== 0 && (other === 0 || limit < other);
