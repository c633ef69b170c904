/** Words for plans and their changes. Pure. */
import type { Operations } from "../../api/operations.ts";
import type { Format } from "../../text/format.ts";

export type Plan = Operations["listPlans"]["answer"]["data"][number];
export type Subscription = Operations["getSubscription"]["answer"]["subscription"];
export type PlanQuote = Operations["quoteSubscription"]["answer"];

export const isFree = (plan: Plan): boolean => plan.monthly_minor === 0;

export const feeText = (plan: Plan, { minor }: Pick<Format, "minor">): string =>
  isFree(plan) ? "Free" : minor(plan.monthly_minor, plan.currency);

const most = (limit: number, { shortCount }: Pick<Format, "shortCount">): string =>
  limit === 0 ? "no limit" : shortCount(limit);

interface Limit {
  readonly name: string;
  /** 0: unlimited. */
  readonly of: (plan: Plan) => number;
}

/** What a plan bounds, in the order in which it is shown. */
export const LIMITS: readonly Limit[] = [
  { name: "Requests a minute", of: ({ limits }) => limits.rpm },
  { name: "Tokens a minute", of: ({ limits }) => limits.tpm },
  { name: "Calls at once", of: ({ limits }) => limits.concurrency },
  { name: "Keys", of: ({ limits }) => limits.keys },
  { name: "Projects", of: ({ limits }) => limits.projects },
];

export const limitText = (limit: Limit, plan: Plan, format: Pick<Format, "shortCount">): string =>
  most(limit.of(plan), format);

const FEATURES: readonly (readonly [name: string, has: (plan: Plan) => boolean])[] = [
  ["Provisioning by a directory", ({ features }) => features.sso],
  ["Tickets answered first", ({ features }) => features.priority_support],
];

export const featuresOf = (plan: Plan): readonly string[] =>
  FEATURES.filter(([, has]) => has(plan)).map(([name]) => name);

export interface Difference {
  readonly name: string;
  readonly now: string;
  readonly next: string;
  readonly isLess: boolean;
}

const lessThan = (then: number, now: number): boolean => then !== 0 && (now === 0 || then < now);

/** What another plan gives differently, limits before features; empty where it gives the same. */
export function differences(
  now: Plan,
  then: Plan,
  format: Pick<Format, "shortCount" | "money">,
): readonly Difference[] {
  const limits = LIMITS.map((limit) => ({
    name: limit.name,
    now: limitText(limit, now, format),
    next: limitText(limit, then, format),
    isLess: lessThan(limit.of(then), limit.of(now)),
  }));
  const yes = (has: boolean) => (has ? "yes" : "no");
  const features = FEATURES.map(([name, has]) => ({
    name,
    now: yes(has(now)),
    next: yes(has(then)),
    isLess: has(now) && !has(then),
  }));
  const included = {
    name: "Credit included a month",
    now: includedText(now, format),
    next: includedText(then, format),
    isLess: then.included_micro < now.included_micro,
  };
  return [included, ...limits, ...features].filter((each) => each.now !== each.next);
}

export const includedText = (plan: Plan, { money }: Pick<Format, "money">): string =>
  plan.included_micro === 0 ? "none" : money(plan.included_micro);

/** Verb and plan of the button that changes it. @param now the plan in force */
export function actText(quote: PlanQuote, now: Plan, { minor }: Pick<Format, "minor">): string {
  const { plan, fee_minor: fee, currency, effective } = quote;
  const stays = plan.id === now.id;
  if (fee > 0) return `Pay ${minor(fee, currency)} and ${stays ? "keep" : "change to"} ${plan.name}`;
  if (stays) return `Keep ${plan.name}`;
  if (effective === "now") return `Change to ${plan.name} now`;
  return isFree(plan) ? `Cancel ${now.name}` : `Change to ${plan.name} when the month ends`;
}

/** What is asked for must be asked once, from where the subscription is: the same words from another place are another intent. */
export const intentOfChange = (quote: PlanQuote, effective: string, now: Subscription): string =>
  [quote.plan.id, effective, now.plan_id, now.next_plan_id ?? "", now.status, now.period_start].join(" ");

/** What a top-up must be of, before tax, for the fee to be there: in minor units, rounded up. */
export const missingMinor = ({
  fee_minor: fee,
  fee_micro: micro,
  missing_micro: missing,
}: PlanQuote): number => (micro === 0 ? 0 : Math.ceil((fee * missing) / micro));
