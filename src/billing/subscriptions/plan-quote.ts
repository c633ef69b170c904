/**
 * What a change of plan would cost and grant: the change itself, run in an act that puts nothing. So a quote says what the change does,
 * whatever the change takes into account. Where credit is too little, a change is refused; its quote says what is missing.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { isoTime } from "../../base/clock.ts";
import { CURRENCIES } from "../../base/currency.ts";
import type { Store } from "../../store/store.ts";
import type { InvoiceIssuer } from "../invoices/invoice.ts";
import { type ChangeRequest, changePlan, EFFECTIVE } from "./plan-change.ts";
import { planShape, planWire } from "./plan-list.ts";
import type { RenewalDeps } from "./renewal.ts";
import { shownSubscription, subscriptionShape } from "./subscription.ts";

export const planQuoteShape = z.object({
  plan: planShape.describe("The plan that was asked about"),
  subscription: subscriptionShape.describe("As it would be after the change"),
  changes: z
    .boolean()
    .describe("False: the subscription is as asked for already, and nothing would be taken"),
  effective: z.enum(EFFECTIVE).describe("When the plan would take over"),
  effective_at: z.string().describe("The same as a time; ISO 8601, UTC"),
  currency: z.enum(CURRENCIES).describe("Currency of `fee_minor` and of the lines"),
  fee_minor: z.int().describe("The fee of now, paise or cents; 0 where nothing is charged"),
  lines: z
    .array(
      z.object({
        description: z.string().describe("As the statement would word it"),
        amount_minor: z.int().describe("Paise or cents; what was paid for already is below zero"),
      }),
    )
    .describe("What the fee is made of; their sum is `fee_minor`"),
  fee_micro: z.int().describe("What would be taken from the credit now, micro-USD"),
  included_micro: z.int().describe("Credit that would be granted with it, micro-USD"),
  prorated_bps: z.int().describe("Share of the month that would be charged, basis points"),
  available_micro: z.int().describe("Credit that is available before it, micro-USD"),
  available_after_micro: z.int().describe("And after it, micro-USD; below zero where credit is missing"),
  missing_micro: z
    .int()
    .nonnegative()
    .describe("What is missing for the fee, micro-USD: with more than 0 the change is refused"),
});

export type PlanQuote = z.input<typeof planQuoteShape>;

export interface PlanQuoteDeps extends RenewalDeps {
  readonly store: Pick<Store, "act">;
  readonly invoices: Pick<InvoiceIssuer, "issue" | "get">;
}

/** Ends an act whose result is wanted and whose puts are not. */
class Rehearsed extends Error {
  readonly quote: PlanQuote;

  constructor(quote: PlanQuote) {
    super("a rehearsed change of plan");
    this.quote = quote;
  }
}

/** A quote is a read: a suspended or closed org is told too, whose plan cannot be changed. @throws as `changePlan`, but for too little credit */
export async function quoteChange(
  deps: PlanQuoteDeps,
  orgId: string,
  asked: Omit<ChangeRequest, "idempotencyKey">,
): Promise<PlanQuote> {
  try {
    return await deps.store.act(() => {
      throw new Rehearsed(rehearse(deps, deps.accounts.mustOrg(orgId), asked));
    });
  } catch (error) {
    if (error instanceof Rehearsed) return error.quote;
    throw error;
  }
}

/** Only in an act, which must be dropped. */
function rehearse(deps: PlanQuoteDeps, org: OrgRow, asked: Omit<ChangeRequest, "idempotencyKey">): PlanQuote {
  const { accounts, clock, plans, purse, invoices } = deps;
  const before = shownSubscription(deps, org);
  // Goes below zero where credit is too little, so that the rest of the change is seen too.
  const book: RenewalDeps["book"] = {
    post: (orgId, posting) => deps.book.post(orgId, { ...posting, mayOverdraw: true }),
  };
  const made = changePlan({ ...deps, book }, org, { ...asked, idempotencyKey: "" });
  const after = shownSubscription(deps, accounts.mustOrg(org.id));
  const changes = !isDeepStrictEqual(before, after);
  const invoice = changes ? invoices.get(org.id, made.invoiceId) : undefined;
  const feeMicro = changes ? made.feeMicroUsd : 0;
  const includedMicro = changes ? made.includedMicroUsd : 0;
  const left = purse.funds(org.id).availableMicroUsd;
  const availableMicro = left + feeMicro - includedMicro;
  return {
    plan: planWire(plans.inForce(asked.planId), org.billingCurrency),
    subscription: after,
    changes,
    effective: made.effective,
    effective_at: made.effective === "now" ? isoTime(clock.now()) : after.period_end,
    currency: org.billingCurrency,
    fee_minor: invoice?.totalMinor ?? 0,
    lines: (invoice?.lines ?? []).map(({ description, amountMinor }) => ({
      description,
      amount_minor: amountMinor,
    })),
    fee_micro: feeMicro,
    included_micro: includedMicro,
    prorated_bps: changes ? made.proratedBps : 0,
    available_micro: availableMicro,
    available_after_micro: left,
    missing_micro: Math.max(0, feeMicro - availableMicro),
  };
}
