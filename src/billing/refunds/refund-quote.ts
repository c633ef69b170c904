/** What a refund would give back and take, before it is asked for: reckoned by the functions that make one. */
import { z } from "zod";
import { CURRENCIES } from "../../base/currency.ts";
import { taxOf } from "../invoices/tax.ts";
import type { TopupRow } from "../topups/topup.ts";
import { assertRefundable, newRefund, type RefundDeps, refundableOf, refundBar } from "./acts.ts";

export const refundQuoteShape = z.object({
  currency: z.enum(CURRENCIES).describe("The top-up's currency"),
  refundable_minor: z.int().nonnegative().describe("The most that can be refunded now, before tax"),
  bar: z
    .string()
    .optional()
    .describe(
      "Why nothing can be refunded now, whatever credit there is; absent where nothing is in the way",
    ),
  amount_minor: z.int().describe("What was asked about, before tax"),
  tax_minor: z.int().describe("Tax that would go back with it"),
  total_minor: z.int().describe("What would go back: amount and tax"),
  credits_micro: z.int().describe("Credit that it would take, micro-USD"),
});

/** @param amountMinor undefined: all that can be refunded. @throws WeirError 409 `not_refundable` where it is too much */
export function quoteRefund(
  deps: RefundDeps,
  topup: TopupRow,
  amountMinor: number | undefined,
): z.input<typeof refundQuoteShape> {
  const bar = refundBar(deps, topup);
  const refundable = bar === undefined ? refundableOf(deps, topup).minor : 0;
  const asked = amountMinor ?? refundable;
  if (amountMinor !== undefined) assertRefundable(deps, topup, amountMinor);
  const known = {
    currency: topup.quote.currency,
    refundable_minor: refundable,
    ...(bar !== undefined && { bar }),
    amount_minor: asked,
  };
  if (asked === 0) return { ...known, tax_minor: 0, total_minor: 0, credits_micro: 0 };
  const request = { amountMinor: asked, reason: "", idempotencyKey: "" };
  const { heads, totalMinor, creditsMicroUsd } = newRefund(deps, topup, request);
  return { ...known, tax_minor: taxOf(heads), total_minor: totalMinor, credits_micro: creditsMicroUsd };
}
