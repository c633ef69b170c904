/** Operations on plans and the org's subscription. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { assertMayChange } from "../../account/scopes.ts";
import { fail } from "../../base/errors.ts";
import { checkedIdempotencyKey, type HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import type { InvoiceIssuer } from "../invoices/invoice.ts";
import { invoiceShape, invoiceWire } from "../invoices/wire.ts";
import { changePlan, EFFECTIVE } from "./plan-change.ts";
import { planShape, planWire } from "./plan-list.ts";
import { planQuoteShape, quoteChange } from "./plan-quote.ts";
import type { RenewalDeps } from "./renewal.ts";
import { shownSubscription, subscriptionShape } from "./subscription.ts";

export interface PlanOperationDeps extends RenewalDeps {
  readonly store: Pick<Store, "act">;
  readonly invoices: Pick<InvoiceIssuer, "issue" | "get">;
  readonly audit: Trail["audit"];
}

const chosenPlan = {
  plan_id: z.string().min(1).max(64).describe("One of `GET /v1/plans`; a free one cancels"),
  effective: z
    .enum(EFFECTIVE)
    .optional()
    .describe(
      "When it takes over. Default: a dearer plan `now`, for the difference; a cheaper one at `period_end`. Asked for `now`, a cheaper one pays nothing back",
    ),
};

const changeBody = z.strictObject({
  ...chosenPlan,
  max_fee_micro: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      "What a quote said: where more would be taken, micro-USD, the change is refused with 409 `state`. Absent: whatever it costs",
    ),
});

const changeShape = z.object({
  subscription: subscriptionShape.describe("As it is after the change"),
  plan: planShape.describe("The plan that was chosen"),
  invoice: invoiceShape.nullable().describe("The statement of the fee; null where nothing was charged"),
  fee_micro: z.int().describe("Taken from the credit, micro-USD"),
  included_micro: z
    .int()
    .describe("Credit that was granted with it, micro-USD; it expires at the period's end"),
  prorated_bps: z
    .int()
    .describe(
      "Share of the month that was charged, basis points: seconds left by seconds of the month, rounded down",
    ),
  effective: z.enum(EFFECTIVE).describe("When the plan takes over"),
});

export type SubscriptionChange = z.input<typeof changeShape>;

export function planOperations(deps: PlanOperationDeps) {
  return {
    listPlans: operation({
      summary: "The plans that can be chosen, with prices in the org's currency",
      method: "GET",
      path: "/v1/plans",
      access: "read:billing / billing",
      group: "Plans",
      output: z.object({ data: z.array(planShape).describe("What is listed.") }),
      run(_input, { orgId }) {
        const { billingCurrency } = deps.accounts.mustOrg(orgId);
        return { data: deps.plans.offered().map((plan) => planWire(plan, billingCurrency)) };
      },
    }),
    getSubscription: operation({
      summary: "The org's plan and its month",
      method: "GET",
      path: "/v1/billing/subscription",
      access: "read:billing / billing",
      group: "Plans",
      output: z.object({
        subscription: subscriptionShape.describe("The plan in force and its month"),
        plan: planShape.describe("The plan in force"),
      }),
      run(_input, { orgId }) {
        const org = deps.accounts.mustOrg(orgId);
        return {
          subscription: shownSubscription(deps, org),
          plan: planWire(deps.plans.inForce(org.planId), org.billingCurrency),
        };
      },
    }),
    quoteSubscription: operation({
      summary: "What a change of plan would take from the credit, grant, and when it would take over",
      method: "GET",
      path: "/v1/billing/subscription/quote",
      access: "read:billing / billing",
      group: "Plans",
      query: z.object(chosenPlan),
      output: planQuoteShape,
      errors: ["plan_limit", "fx_stale"],
      run: ({ query }, { orgId }) =>
        quoteChange(deps, orgId, {
          planId: query.plan_id,
          effective: query.effective,
        }),
    }),
    changeSubscription: operation({
      summary: "Choose a plan: its fee is taken from the credit; a free plan cancels",
      method: "POST",
      path: "/v1/billing/subscription",
      access: "write:billing / billing",
      group: "Plans",
      body: changeBody,
      output: changeShape,
      errors: [
        "insufficient_credits",
        "state",
        "plan_limit",
        "fx_stale",
        "org_closed",
        "org_suspended",
        "scope",
        "idempotency_key_invalid",
        "idempotency_mismatch",
      ],
      run: ({ body }, caller, head) => change(deps, caller, body, head),
    }),
  };
}

async function change(
  deps: PlanOperationDeps,
  caller: Caller,
  { plan_id: planId, effective, max_fee_micro: most }: z.output<typeof changeBody>,
  head: HttpHead,
) {
  const idempotencyKey = checkedIdempotencyKey(head.header("idempotency-key"));
  const { store, plans, invoices, audit } = deps;
  return await store.act(() => {
    assertMayChange(caller, "live");
    const org = mustChange(deps, caller.orgId);
    const before = shownSubscription(deps, org);
    const made = changePlan(deps, org, { planId, effective, idempotencyKey });
    const after = shownSubscription(deps, deps.accounts.mustOrg(org.id));
    // Asked for again, it changes nothing.
    const isChange = !isDeepStrictEqual(before, after);
    if (isChange) assertAtMost(made.feeMicroUsd, most);
    if (isChange) audit.note(caller, { act: "subscription.change", target: org.id, before, after });
    const invoice = invoices.get(org.id, made.invoiceId);
    return {
      subscription: after,
      plan: planWire(plans.inForce(made.planId), org.billingCurrency),
      invoice: invoice === undefined ? null : invoiceWire(invoice),
      fee_micro: made.feeMicroUsd,
      included_micro: made.includedMicroUsd,
      prorated_bps: made.proratedBps,
      effective: made.effective,
    };
  });
}

/** The org, where its plan may be changed. @throws WeirError 403 */
function mustChange({ accounts }: PlanOperationDeps, orgId: string): OrgRow {
  const org = accounts.mustOpenOrg(orgId);
  if (org.status !== "suspended") return org;
  throw fail("org_suspended", "The operator has suspended the organisation.");
}

/** What was shown to whoever said yes: rates and prices may have moved since. @throws WeirError 409 `state` */
function assertAtMost(feeMicroUsd: number, mostMicroUsd = feeMicroUsd): void {
  if (feeMicroUsd <= mostMicroUsd) return;
  throw fail("state", "The change costs more than was said: look at what it costs now.", {
    param: "/max_fee_micro",
    details: { fee_micro: feeMicroUsd },
  });
}
