/**
 * The page to which a payment gateway sends a payer back: `GET /billing/topups/{id}`. It is open to anyone who has its address,
 * so it says no more than how the payment stands. What the payment gateway adds to the address is not believed: the page
 * asks the payment gateway itself.
 */
import { z } from "zod";
import { moneyText } from "../../base/currency.ts";
import { mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import type { InvoiceIssuer, InvoiceRow } from "../invoices/invoice.ts";
import type { Checkout } from "../payments/gateway.ts";
import { type Outcome, RETURN_LOOK_MS, returnPage, type Way } from "../payments/return-page.ts";
import { verdictOf } from "./settlement.ts";
import { isPaid, type TopupRow } from "./topup.ts";
import { lookNow, type TopupWatchDeps } from "./watch.ts";

export interface ReturnPageDeps extends TopupWatchDeps {
  readonly invoices: TopupWatchDeps["invoices"] & Pick<InvoiceIssuer, "get" | "idOfTopup">;
}

export const returnPageOperations = (deps: ReturnPageDeps) => ({
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
      const checkout = isPaid(row) ? undefined : await lookNow(deps, row, RETURN_LOOK_MS);
      const now = deps.topups.find(params.id) ?? row;
      return topupPage(now, checkout, invoiceOf(deps, now));
    },
  }),
});

/** The one that is in force. */
const invoiceOf = ({ invoices }: ReturnPageDeps, row: TopupRow) =>
  isPaid(row) ? invoices.get(row.orgId, invoices.idOfTopup(row.orgId, row.id) ?? "") : undefined;

/** What the page says. @param checkout what the payment gateway said just now; undefined where it said nothing */
export function topupPage(
  row: Pick<TopupRow, "id" | "orgId" | "status" | "source"> & {
    readonly quote: Pick<TopupRow["quote"], "totalMinor" | "currency">;
  },
  checkout: Checkout | undefined,
  invoice: Pick<InvoiceRow, "id" | "number"> | undefined,
) {
  const { id, orgId, quote } = row;
  const toInvoice: Way[] =
    invoice === undefined
      ? []
      : [{ label: `Invoice ${invoice.number}`, to: ["billing", "invoices", invoice.id] }];
  return returnPage({
    outcome: OUTCOMES[outcomeOf(row, checkout)](["credits", "topups", id]),
    amount: moneyText(quote.totalMinor, quote.currency),
    id,
    orgId,
    others: [...toInvoice, { label: "Back to Credits", to: ["credits"] }],
  });
}

type Ending = "paid" | "failed" | "expired" | "declined" | "left" | "under_way" | "misfit" | "unknown";

function outcomeOf(row: Pick<TopupRow, "status" | "source">, checkout: Checkout | undefined): Ending {
  if (isPaid(row)) return "paid";
  if (row.status === "failed" || row.status === "expired") return row.status;
  if (checkout === undefined) return "unknown";
  const verdict = verdictOf(checkout);
  // Settled in the same look: what was paid and is not credited is parked.
  if (verdict === "paid") return "misfit";
  if (verdict !== "open" || row.source !== "checkout") return "under_way";
  return checkout.payments.at(-1)?.state === "failed" ? "declined" : "left";
}

type OutcomeFor = (topup: readonly string[]) => Outcome;

const NEW = ["credits", "topups", "new"];
const tryAgain = (to: readonly string[]): Way => ({ label: "Try again", to });
const startAgain: Way = { label: "Start a new top-up", to: NEW };
const lookAt = (to: readonly string[]): Way => ({ label: "Look at the top-up", to });

const OUTCOMES: Readonly<Record<Ending, OutcomeFor>> = {
  paid: (topup) => ({
    word: "Paid",
    tone: "good",
    title: "Thank you",
    text: "Your payment has arrived, and the credit is there. The invoice comes by mail, and is in the console.",
    main: lookAt(topup),
  }),
  declined: (topup) => ({
    word: "Declined",
    tone: "bad",
    title: "The payment was declined",
    text: "Nothing was charged. You can try again with the same or another card, bank or app; the way to pay stays open for half an hour after it was begun.",
    main: tryAgain(topup),
  }),
  left: (topup) => ({
    word: "Not paid",
    tone: "warn",
    title: "You left without paying",
    text: "Nothing was charged. You can go on where you left; the way to pay stays open for half an hour after it was begun.",
    main: tryAgain(topup),
  }),
  failed: () => ({
    word: "Declined",
    tone: "bad",
    title: "The payment was declined",
    text: "Nothing was charged, and no more tries are open. Start a new top-up to pay in another way.",
    main: startAgain,
  }),
  expired: () => ({
    word: "Not paid",
    tone: "warn",
    title: "The time for this payment is over",
    text: "Nothing was charged. Start a new top-up to try again.",
    main: startAgain,
  }),
  under_way: (topup) => ({
    word: "Under way",
    tone: "warn",
    title: "One moment",
    text: "Your bank is still at work on the payment; some take days. This page looks again by itself. You may also close it: the credit is there as soon as the money is.",
    main: lookAt(topup),
    isPending: true,
  }),
  misfit: (topup) => ({
    word: "Being looked at",
    tone: "warn",
    title: "The payment does not match",
    text: "Another amount came than was asked for, so no credit was added by itself. A person looks at it, and refunds or credits it.",
    main: lookAt(topup),
  }),
  unknown: (topup) => ({
    word: "Not known yet",
    tone: "warn",
    title: "One moment",
    text: "The payment service does not say yet whether you paid. This page looks again by itself. You may also close it: the credit is there as soon as the money is.",
    main: lookAt(topup),
    isPending: true,
  }),
};
