/**
 * What operators do about payments: look at those that are parked, say what became of them, and record payments that came by wire
 * or cheque. Each act on an org is a row of its audit.
 */
import { z } from "zod";
import { plainText } from "../../account/fields/text-field.ts";
import type { AccountTables } from "../../account/tables.ts";
import { fail, mustExist } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import type { InvoiceIssuer } from "../invoices/invoice.ts";
import { parkedShape, parkedWire } from "../parked.ts";
import { assertBillable, type QuoteDeps, quoteFor } from "../rates/quote.ts";
import { MOST_MINOR } from "../rates/terms.ts";
import { credit, type SettlementDeps } from "./settlement.ts";
import { NEW_TOPUP, type TopupRow, topupShape, topupWire } from "./topup.ts";

export interface OperatorPaymentDeps extends SettlementDeps, QuoteDeps {
  readonly invoices: SettlementDeps["invoices"] & Pick<InvoiceIssuer, "treatmentOf">;
  readonly store: Pick<Store, "act">;
  readonly accounts: AccountTables;
  readonly cursors: Cursors;
  readonly trail: Trail;
}

const reason = plainText(1000).min(1).describe("Shown to the org in its audit");
const recordedBody = z.strictObject({
  amount_minor: z.int().min(1).max(MOST_MINOR).describe("Before tax, in paise or cents"),
  reference: plainText(100).min(1).describe("The bank's reference: to record it twice changes nothing"),
  reason,
});
type Recorded = z.output<typeof recordedBody>;

const orgPath = z.object({ id: z.string().max(100).describe("Id or slug") });
export function operatorPaymentOperations(deps: OperatorPaymentDeps) {
  return {
    operatorListPayments: operation({
      summary: "Payments to look at, newest first: they did not match, and were not credited",
      method: "GET",
      path: "/v1/operator/payments",
      access: "operator",
      group: "Operator",
      query: z.object({
        status: z
          .enum(["open", "closed"])
          .default("open")
          .describe("`closed`: an operator said what became of them"),
        ...pageQuery(50, 200),
      }),
      output: pageOf(parkedShape),
      run({ query: { status, limit, cursor } }) {
        return pageById({
          cursors: deps.cursors,
          asked: { limit, cursor },
          list: "operator:payments",
          rows: (after) => deps.parked.all(after),
          matches: (row) => (row.closedAtMs === null) === (status === "open"),
          show: parkedWire,
        });
      },
    }),
    operatorClosePayment: operation({
      summary: "Say what became of a payment that was looked at",
      method: "POST",
      path: "/v1/operator/payments/{id}/close",
      access: "operator",
      group: "Operator",
      params: z.object({ id: field.pathId }),
      body: z.strictObject({ outcome: reason }),
      output: parkedShape,
      errors: ["not_found", "state"],
      run: ({ params, body }, caller) =>
        deps.store.act(() => closeParked(deps, caller, params.id, body.outcome)),
    }),
    operatorRecordPayment: operation({
      summary: "Record a payment that came by wire or cheque: credits it and issues the invoice",
      method: "POST",
      path: "/v1/operator/orgs/{id}/payments",
      access: "operator",
      group: "Operator",
      params: orgPath,
      body: recordedBody,
      output: topupShape,
      status: 201,
      errors: ["not_found", "billing_profile_incomplete", "fx_stale", "idempotency_mismatch"],
      run: ({ params, body }, caller) => deps.store.act(() => recordPayment(deps, caller, params.id, body)),
    }),
  };
}

function closeParked(
  { parked, clock, trail }: OperatorPaymentDeps,
  caller: Caller,
  id: string,
  outcome: string,
) {
  const row = mustExist(parked.get(id), "payment");
  if (row.closedAtMs !== null) throw fail("state", "It is closed already.");
  const closed = parked.close(row, outcome, clock.now());
  if (row.orgId !== "") {
    trail.audit.note(caller, { act: "payment.close", target: row.ref, orgId: row.orgId, reason: outcome });
  }
  return parkedWire(closed);
}

const usedReference = (how: string) =>
  fail("idempotency_mismatch", `This reference was recorded ${how}.`, { param: "/reference" });

/** The bank's reference is the payment's id, so it is credited once. */
function recordPayment(deps: OperatorPaymentDeps, caller: Caller, idOrSlug: string, given: Recorded) {
  const { accounts, clock, topups, trail } = deps;
  const org = mustExist(accounts.org(idOrSlug) ?? accounts.orgBySlug(idOrSlug), "organisation");
  // No key of a client has a space.
  const key = `offline ${given.reference}`;
  const earlier = topups.ofKey(org.id, key);
  if (earlier !== undefined) {
    if (earlier.quote.amountMinor === given.amount_minor) return topupWire(earlier, earlier.invoiceId);
    throw usedReference("with another amount");
  }
  // A transfer has one payer: two orgs with the same one would both be credited for it.
  if (topups.ofPayment("offline", given.reference) !== undefined)
    throw usedReference("for another organisation");
  assertBillable(org);
  const nowMs = clock.now();
  const row: TopupRow = {
    ...NEW_TOPUP,
    id: newId("tup", nowMs),
    orgId: org.id,
    source: "offline",
    gateway: "offline",
    gatewayRef: given.reference,
    quote: quoteFor(deps, org, given.amount_minor, nowMs),
    createdAtMs: nowMs,
    expiresAtMs: nowMs,
    idempotencyKey: key,
  };
  topups.put(row);
  const paid = credit(deps, row, { ref: given.reference, method: "", feeMinor: 0, paidAtMs: nowMs });
  const wire = topupWire(paid, paid.invoiceId);
  trail.audit.note(caller, {
    act: "payment.record",
    target: paid.id,
    orgId: org.id,
    reason: given.reason,
    after: wire,
  });
  return wire;
}
