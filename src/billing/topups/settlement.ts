/**
 * Credits a top-up, once, whoever tells first that it was paid: a webhook, the return page, or the poll. Everything here runs in
 * one act, which reads the rows again; so it may come from many sides at once, in any order, any number of times. What does not
 * match what was asked is parked for an operator, and never credited.
 */
import type { Clock } from "../../base/clock.ts";
import { moneyText } from "../../base/currency.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { CreditLots } from "../../credits/ledger/lots.ts";
import type { Trail } from "../../store/events/trail.ts";
import { type InvoiceIssuer, type InvoiceOrder, oneOf } from "../invoices/invoice.ts";
import { MISFITS, type ParkedPayments, type ParkedReason } from "../parked.ts";
import type { Checkout, Failure, GatewayId, Payment } from "../payments/gateway.ts";
import { isPossible } from "../state-moves.ts";
import { topupFailed, topupPaid } from "./events.ts";
import type { TopupTables } from "./tables.ts";
import { isPaid, TOPUP_MOVES, type TopupRow, topupWire } from "./topup.ts";

export interface SettlementDeps {
  readonly clock: Clock;
  readonly book: Pick<Book, "post">;
  readonly lots: Pick<CreditLots, "advance">;
  readonly topups: TopupTables;
  readonly invoices: Pick<InvoiceIssuer, "issue">;
  readonly parked: ParkedPayments;
  readonly events: Trail["events"];
}

/** What a checkout's state says, before its rows are read in the act. */
export type Verdict = "paid" | "failed" | "expired" | "under_way" | "open";

export function verdictOf({ state, payments }: Checkout): Verdict {
  if (payments.some((payment) => payment.state === "paid")) return "paid";
  if (payments.some(({ state }) => state === "processing" || state === "authorized")) return "under_way";
  if (state === "open") return "open";
  return state === "complete" || payments.some((payment) => payment.state === "failed")
    ? "failed"
    : "expired";
}

/** Only in an act. */
export function settle(deps: SettlementDeps, topupId: string, checkout: Checkout): void {
  for (const payment of checkout.payments) {
    const row = deps.topups.find(topupId);
    if (row !== undefined && payment.state === "paid") paid(deps, row, payment);
  }
  const row = deps.topups.find(topupId);
  if (row === undefined || isPaid(row)) return;
  const verdict = verdictOf(checkout);
  if (verdict === "failed") failed(deps, row, checkout.payments.at(-1)?.failure ?? null);
  if (verdict === "expired" && isPossible(TOPUP_MOVES.expire, row.status) === "now")
    deps.topups.put({ ...row, status: "expired" });
}

/** Only in an act. */
export function failed({ topups, events }: SettlementDeps, row: TopupRow, failure: Failure | null): void {
  if (isPossible(TOPUP_MOVES.fail, row.status) !== "now") return;
  const next: TopupRow = { ...row, status: "failed", failure: failure?.message ?? "" };
  topups.put(next);
  events.emit(topupFailed, row.orgId, topupWire(next));
}

function paid(deps: SettlementDeps, row: TopupRow, payment: Payment): void {
  if (isPaid(row) && row.paymentRef === payment.ref) return;
  const reason = misfit(deps, row, payment);
  if (reason === undefined) credit(deps, row, payment);
  else park(deps, row, payment, reason);
}

function misfit(
  { topups }: SettlementDeps,
  row: TopupRow,
  { ref, total }: Payment,
): ParkedReason | undefined {
  if (isPaid(row) || topups.ofPayment(row.gateway as GatewayId, ref) !== undefined) return "paid_twice";
  if (total.currency !== row.quote.currency) return "currency_differs";
  return total.minor === row.quote.totalMinor ? undefined : "amount_differs";
}

/** Only in an act: posts the credit and issues the invoice. The reference of both is the top-up, so neither happens twice. */
export function credit(
  { clock, book, lots, topups, invoices, events }: SettlementDeps,
  row: TopupRow,
  payment: Pick<Payment, "ref" | "method" | "feeMinor" | "paidAtMs">,
): TopupRow {
  const { id, orgId, quote } = row;
  // So that what is refundable is never computed from a long ledger.
  lots.advance(orgId);
  // A paisa may be worth less than a millionth of a dollar's credit; then there is nothing to post.
  if (quote.creditsMicroUsd > 0) {
    const amountMicroUsd = quote.creditsMicroUsd;
    const posted = book.post(orgId, { kind: "topup", amountMicroUsd, refType: "topup", refId: id });
    if (posted.outcome !== "posted") throw new Error(`top-up ${id} was credited with another amount`);
  }
  const invoice = invoices.issue(invoiceOrder(row));
  const next: TopupRow = {
    ...row,
    status: "paid",
    paymentRef: payment.ref,
    method: payment.method,
    feeMinor: payment.feeMinor,
    invoiceId: invoice.id,
    paidAtMs: payment.paidAtMs ?? clock.now(),
    failure: "",
  };
  topups.put(next);
  events.emit(topupPaid, orgId, topupWire(next, invoice.id));
  return next;
}

function invoiceOrder({ id, orgId, quote }: TopupRow): InvoiceOrder {
  const { currency, amountMinor, heads, treatment, recipient, rate, creditsMicroUsd } = quote;
  const credit = moneyText(Math.floor(creditsMicroUsd / 10_000), "USD");
  return {
    orgId,
    currency,
    heads,
    treatment,
    recipient,
    rate,
    reference: { type: "topup", id },
    kind: "payment",
    lines: [oneOf("credits", `Prepaid credit of ${credit} for AI model inference`, amountMinor)],
    taxableMinor: amountMinor,
    topupId: id,
  };
}

/** A payment keeps its first reason: that a wrong one is a second one too, once the right one has come, says nothing new. */
function park(
  { clock, parked }: SettlementDeps,
  { id, orgId, gateway, quote }: TopupRow,
  payment: Payment,
  reason: ParkedReason,
): void {
  if (parked.isParked(gateway, payment.ref, MISFITS)) return;
  const { currency, minor } = payment.total;
  const asked = moneyText(quote.totalMinor, quote.currency);
  const detail = `Paid ${moneyText(minor, currency)}; the top-up is of ${asked}`;
  parked.park(
    { reason, gateway, ref: payment.ref, orgId, topupId: id, currency, minor, detail },
    clock.now(),
  );
}
