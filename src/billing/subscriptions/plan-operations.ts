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
import { changePlan } from "./plan-change.ts";
import { planShape, planWire } from "./plan-list.ts";
import type { RenewalDeps } from "./renewal.ts";
import { subscriptionShape, subscriptionWire, unpaidWire } from "./subscription.ts";

export interface PlanOperationDeps extends RenewalDeps {
  readonly store: Pick<Store, "act">;
  readonly invoices: Pick<InvoiceIssuer, "issue" | "get">;
  readonly audit: Trail["audit"];
}

const EFFECTIVE = ["now", "period_end"] as const;

const changeBody = z.strictObject({
  plan_id: z.string().min(1).max(64).describe("One of `GET /v1/plans`; a free one cancels"),
  effective: z
    .enum(EFFECTIVE)
    .optional()
    .describe(
      "When it takes over. Default: a dearer plan `now`, for the difference; a cheaper one at `period_end`. Asked for `now`, a cheaper one pays nothing back",
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
          subscription: show(deps, org),
          plan: planWire(deps.plans.inForce(org.planId), org.billingCurrency),
        };
      },
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
  { plan_id: planId, effective }: z.output<typeof changeBody>,
  head: HttpHead,
) {
  const idempotencyKey = checkedIdempotencyKey(head.header("idempotency-key"));
  const { store, plans, invoices, audit } = deps;
  return await store.act(() => {
    assertMayChange(caller, "live");
    const org = deps.accounts.mustOpenOrg(caller.orgId);
    if (org.status === "suspended")
      throw fail("org_suspended", "The operator has suspended the organisation.");
    const before = show(deps, org);
    const made = changePlan(deps, org, { planId, effective, idempotencyKey });
    const after = show(deps, deps.accounts.mustOrg(org.id));
    // Asked for again, it changes nothing.
    if (!isDeepStrictEqual(before, after))
      audit.note(caller, { act: "subscription.change", target: org.id, before, after });
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

function show({ subscriptions, clock, plans }: PlanOperationDeps, org: OrgRow) {
  const row = subscriptions.get(org.id);
  return row === undefined
    ? unpaidWire(org, plans.inForce(org.planId).id, clock.now())
    : subscriptionWire(row);
}
