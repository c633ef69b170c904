/**
 * The page to which a payment gateway sends a payer back: `GET /billing/topups/{id}`. It is open to anyone who has its address,
 * so it says no more than whether the money has come. What the payment gateway adds to the address is not believed: the page
 * asks the payment gateway itself.
 */
import { z } from "zod";
import { moneyText } from "../../base/currency.ts";
import { mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { RETURN_LOOK_MS, returnPage } from "../payments/return-page.ts";
import { isPaid, type TopupRow } from "./topup.ts";
import { lookNow, type TopupWatchDeps } from "./watch.ts";

export const returnPageOperations = (deps: TopupWatchDeps) => ({
  topupReturnPage: operation({
    summary: "Where a payer comes back to after the checkout",
    method: "GET",
    path: "/billing/topups/{id}",
    access: "public",
    group: "Credits",
    params: z.object({ id: field.pathId }),
    output: z.string(),
    otherTypes: ["text/html"],
    errors: ["not_found"],
    async run({ params }) {
      const row = mustExist(deps.topups.find(params.id), "top-up");
      if (!isPaid(row)) await lookNow(deps, row, RETURN_LOOK_MS);
      return page(deps.topups.find(params.id) ?? row);
    },
  }),
});

const SAYS: Readonly<Record<"paid" | "pending" | "failed" | "expired", readonly [string, string]>> = {
  paid: ["Thank you", "Your payment has arrived, and the credit is there. The invoice comes by mail."],
  pending: ["One moment", "Your payment is not confirmed yet. This page looks again; you may also close it."],
  failed: ["Not paid", "The payment failed, and nothing was charged. Start a new top-up to try again."],
  expired: ["Not paid", "The time for this payment is over. Start a new top-up to try again."],
};

function page(row: TopupRow) {
  const { id, status, quote } = row;
  const [title, text] = SAYS[isPaid(row) ? "paid" : (status as "pending" | "failed" | "expired")];
  const amount = moneyText(quote.totalMinor, quote.currency);
  return returnPage({ title, amount, text, id, isPending: status === "pending" });
}
