/** Reconciliation over a real billing room; the payment gateway is a list of lines that each test plants faults in. */

import type { OrgRow } from "../../../../src/account/org.ts";
import type { NoticeDeps } from "../../../../src/billing/notices/notices.ts";
import {
  type DayLine,
  type Dispute,
  GatewayError,
  type GatewayRefund,
  type Payment,
  type PaymentGateway,
} from "../../../../src/billing/payments/gateway.ts";
import type { OwnBooks } from "../../../../src/billing/reconciliation/books.ts";
import type { Finding, ReconciliationReport } from "../../../../src/billing/reconciliation/finding.ts";
import { followNow } from "../../../../src/billing/reconciliation/job.ts";
import { Reconciliation } from "../../../../src/billing/reconciliation/reconciliation.ts";
import { askRefund, settleRefund } from "../../../../src/billing/refunds/acts.ts";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import { TopupTables } from "../../../../src/billing/topups/tables.ts";
import type { TopupRow } from "../../../../src/billing/topups/topup.ts";
import { checkout, openBilling, payment } from "../fixtures.ts";

export type Books = ReturnType<typeof openBooks>;

/** What the payment gateway has; a test takes things away from it, or changes them. */
class Told {
  readonly payments = new Map<string, Payment>();
  readonly refunds = new Map<string, GatewayRefund>();
  readonly disputes = new Map<string, Dispute>();
  readonly lines: DayLine[] = [];
  /** Calls fail with this. */
  failure: GatewayError | undefined;
  /** References at which it says that it is busy. */
  readonly busy = new Set<string>();
}

function gatewayOver(told: Told): PaymentGateway {
  const known = <T>(map: Map<string, T>, ref: string): T => {
    if (told.failure !== undefined) throw told.failure;
    if (told.busy.has(ref)) throw new GatewayError("busy", "ask again");
    const value = map.get(ref);
    if (value === undefined) throw new GatewayError("missing", `there is no ${ref}`);
    return value;
  };
  const part: Partial<PaymentGateway> = {
    id: "simulated",
    readPayment: async (ref) => known(told.payments, ref),
    readCheckout: async (ref) => {
      const id = ref.replace("cs_", "");
      const payments = [...told.payments.values()].filter(({ reference }) => reference === id);
      return { ref, state: "complete", payments };
    },
    refundsOf: async (paymentRef) =>
      [...told.refunds.values()].filter((refund) => refund.paymentRef === paymentRef),
    readRefund: async (ref) => known(told.refunds, ref),
    readDispute: async (ref) => known(told.disputes, ref),
    async *linesOf({ fromMs, toMs }) {
      if (told.failure !== undefined) throw told.failure;
      yield* told.lines.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    },
    async *settlementsOf() {},
  };
  return part as PaymentGateway;
}

/** @param over what the ledger is read through */
export function openBooks(
  orgs: readonly OrgRow[],
  over: (ledger: OwnBooks["ledger"]) => OwnBooks["ledger"] = (ledger) => ledger,
) {
  const billing = openBilling();
  const { deps, store, clock } = billing;
  const told = new Told();
  const gateway = gatewayOver(told);
  const ledger: OwnBooks["ledger"] = {
    list: (orgId, page) => billing.book.list(orgId, page),
    byReference: (orgId, refType, refId) => billing.book.byReference(orgId, refType, refId),
  };
  const notices: NoticeDeps = { ...deps, gatewayOf: (id) => (id === "simulated" ? gateway : undefined) };
  const alarms: string[] = [];
  const reconciliation = new Reconciliation({
    store,
    clock,
    ledger: over(ledger),
    invoices: billing.invoiceTables,
    topups: deps.topups,
    refunds: deps.refunds,
    disputes: deps.disputes,
    parked: deps.parked,
    gateways: () => [gateway],
    follow: followNow(notices),
    orgIds: function* (after) {
      for (const { id } of orgs) if (after === undefined || id > after) yield id;
    },
    onFaults: ({ day }, faults) => alarms.push(`${day}: ${faults.map(({ kind }) => kind)}`),
    onFailure: () => {},
  });

  /** The payment gateway has a payment; our books know of it or not. */
  async function pay(row: TopupRow, changes: Partial<Payment> = {}): Promise<Payment> {
    const made = payment(row, { paidAtMs: clock.now(), ...changes });
    told.payments.set(made.ref, made);
    lineOf("payment", { ref: made.ref, paymentRef: made.ref, reference: row.id }, made.total, made.feeMinor);
    return made;
  }
  function lineOf(
    kind: DayLine["kind"],
    ids: Pick<DayLine, "ref" | "paymentRef" | "reference">,
    amount: DayLine["amount"],
    feeMinor = 0,
  ): void {
    told.lines.push({ kind, ...ids, amount, feeMinor, atMs: clock.now() });
  }
  const settled = (row: TopupRow, made: Payment) =>
    store.act(() => settle(deps, row.id, checkout(row, "complete", made)));

  return {
    ...billing,
    told,
    notices,
    reconciliation,
    alarms,
    pay,
    settled,
    lineOf,
    orgs,
    /** A top-up that went as it should. */
    async bought(org: OrgRow, amountMinor: number): Promise<TopupRow> {
      const row = await billing.topup(org, amountMinor);
      await settled(row, await pay(row));
      return new TopupTables(store).find(row.id) as TopupRow;
    },
    /** A refund that went as it should. */
    async refunded(row: TopupRow, amountMinor: number) {
      const asked = { amountMinor, reason: "a test", idempotencyKey: `k${row.id}${amountMinor}` };
      const { refund } = await store.act(() => askRefund(deps, row.orgId, row.id, asked));
      const made = refundAt(row, `re_${refund.id}`, refund.id, refund.totalMinor);
      await store.act(() => settleRefund(deps, refund.id, made.ref));
      return refund;
    },
    refundAt,
    compare: (day: string) => reconciliation.compare(day, AbortSignal.timeout(60_000)),
    run: (day: string) => reconciliation.run(day, AbortSignal.timeout(60_000)),
    async close() {
      reconciliation.close();
      await billing.dispose();
    },
  };

  /** A refund at the payment gateway. */
  function refundAt(row: TopupRow, ref: string, reference: string, totalMinor: number): GatewayRefund {
    const made: GatewayRefund = {
      ref,
      reference,
      paymentRef: row.paymentRef || `pay_${row.id}`,
      createdAtMs: clock.now(),
      state: "refunded",
      failure: null,
      total: { currency: row.quote.currency, minor: totalMinor },
    };
    told.refunds.set(ref, made);
    lineOf("refund", { ref, paymentRef: made.paymentRef, reference }, made.total);
    const paid = told.payments.get(made.paymentRef);
    if (paid !== undefined)
      told.payments.set(paid.ref, { ...paid, refundedMinor: paid.refundedMinor + totalMinor });
    return made;
  }
}

export const kindsOf = ({ findings }: Pick<ReconciliationReport, "findings">): string[] =>
  findings.map(({ kind, state }: Finding) => `${kind} ${state}`).sort();
