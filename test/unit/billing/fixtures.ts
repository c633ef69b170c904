/** Billing over a real store, ledger and issuer of invoices; what a payment gateway says is given by each test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newOrg, type OrgRow } from "../../../src/account/org.ts";
import { newId } from "../../../src/base/ids.ts";
import { DisputeTable } from "../../../src/billing/disputes/dispute.ts";
import { Issuer } from "../../../src/billing/invoices/issuer.ts";
import { Series } from "../../../src/billing/invoices/series.ts";
import { parseSupplier } from "../../../src/billing/invoices/supplier.ts";
import { InvoiceTables } from "../../../src/billing/invoices/tables.ts";
import type { NoticeDeps } from "../../../src/billing/notices/notices.ts";
import { ParkedPayments } from "../../../src/billing/parked.ts";
import type { Checkout, GatewayId, GatewayRefund, Payment } from "../../../src/billing/payments/gateway.ts";
import { FxTable } from "../../../src/billing/rates/fx-table.ts";
import { quoteFor } from "../../../src/billing/rates/quote.ts";
import { RefundTables } from "../../../src/billing/refunds/tables.ts";
import { TopupTables } from "../../../src/billing/topups/tables.ts";
import type { TopupRow } from "../../../src/billing/topups/topup.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import { openStore } from "../../../src/store/store.ts";
import { ManualClock } from "../../support/credits/fixtures.ts";
import { trailOn } from "../../support/trail.fixtures.ts";

export const SUPPLIER = `
legal_name: Weir Example Private Limited
address: { line1: 12 Residency Road, city: Bengaluru, postal_code: "560025" }
state_code: "29"
country: IN
gstin: 29AAWCE1234F1ZG
lut: { 2026-27: AD290426001234X }
`;

export const TERMS = { minimumsMinor: { INR: 10_000, USD: 500 }, rails: [], spreadBps: 200 };

/** A room of billing in a folder of its own, where each act runs twice and the first run is dropped. */
export function openBilling() {
  const folder = mkdtempSync(join(tmpdir(), "weir-billing-"));
  const store = openStore(folder, { actsTwice: true });
  const clock = new ManualClock("2026-11-23T10:00:00Z");
  const { trail, eventsOf, jobs, close } = trailOn(store, clock);
  const { book, purse, lots } = openCredits({ store, clock });
  const invoiceTables = new InvoiceTables(store);
  const invoices = new Issuer({
    clock,
    tables: invoiceTables,
    series: new Series(store),
    events: trail.events,
    jobs,
    supplier: parseSupplier(SUPPLIER, "supplier.yaml"),
    putMail: () => {},
  });
  const fx = new FxTable({ store, clock, listed: [], always: "88.50000000" });
  const disputed: string[] = [];
  const deps: NoticeDeps = {
    store,
    clock,
    book,
    purse,
    lots,
    invoices,
    jobs,
    events: trail.events,
    topups: new TopupTables(store),
    refunds: new RefundTables(store),
    disputes: new DisputeTable(store),
    parked: new ParkedPayments(store),
    looks: new Map(),
    gatewayOf: () => undefined,
    onMandate: async () => undefined,
    onDispute: (orgId) => disputed.push(orgId),
  };
  return {
    deps,
    clock,
    store,
    book,
    purse,
    lots,
    fx,
    invoices,
    invoiceTables,
    eventsOf,
    disputed,
    jobs,
    balance: (orgId: string) => book.balance(orgId).balanceMicroUsd,
    ledger: (orgId: string) =>
      book.entries(orgId, { limit: 500 }).map(({ kind, amountMicroUsd }) => [kind, amountMicroUsd]),
    invoicesOf: (orgId: string) => [...invoiceTables.of(orgId)],
    /** A top-up whose checkout is open. */
    async topup(org: OrgRow, amountMinor: number): Promise<TopupRow> {
      const nowMs = clock.now();
      const id = newId("tup", nowMs);
      const row: TopupRow = {
        id,
        orgId: org.id,
        status: "pending",
        source: "checkout",
        gateway: "simulated",

        gatewayRef: `cs_${id}`,
        checkoutUrl: "http://127.0.0.1/",
        paymentRef: "",
        method: "",
        feeMinor: 0,
        quote: quoteFor({ fx, terms: TERMS, invoices }, org, amountMinor, nowMs),
        invoiceId: "",
        refundedMinor: 0,
        refundedMicroUsd: 0,
        openDisputes: [],
        createdAtMs: nowMs,
        expiresAtMs: nowMs + 1_800_000,
        paidAtMs: null,
        idempotencyKey: "",
        failure: "",
      };
      await store.act(() => deps.topups.put(row));
      return row;
    },
    async spend(orgId: string, amountMicroUsd: number) {
      const charge = { requestId: newId("job", clock.now()), amountMicroUsd, atMs: clock.now() };
      await store.act(() => book.charge(orgId, charge));
    },
    async dispose() {
      close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type TestBilling = Awaited<ReturnType<typeof openBilling>>;

let orgs = 0;

/** An org in Karnataka, the supplier's State; `US` makes it one abroad. */
export function someOrg(country: "IN" | "US" = "IN", changes: Partial<OrgRow> = {}): OrgRow {
  const given = {
    slug: `o${++orgs}`,
    name: `Org ${orgs}`,
    kind: "team",
    billingCountry: country,
    planId: "local",
  } as const;
  const org = newOrg(given, Date.parse("2026-11-01T00:00:00Z"));
  const stateCode = country === "IN" ? "29" : "CA";
  const billingAddress = { line1: "1 Road", city: "Town", stateCode, postalCode: "560001", country };
  return { ...org, billingAddress, ...changes };
}

/** What the payment gateway says of a payment of a top-up; the right one unless changed. */
export const payment = (row: TopupRow, changes: Partial<Payment> = {}): Payment => ({
  ref: `pay_${row.id}`,
  reference: row.id,
  state: "paid",
  total: { currency: row.quote.currency, minor: row.quote.totalMinor },
  feeMinor: 12,
  method: "upi",
  paidAtMs: null,
  failure: null,
  refundedMinor: 0,
  ...changes,
});

export const checkout = (row: TopupRow, state: Checkout["state"], ...payments: Payment[]): Checkout => ({
  ref: row.gatewayRef,
  state,
  payments,
});

export const gatewayRefund = (row: TopupRow, changes: Partial<GatewayRefund> = {}): GatewayRefund => ({
  ref: `re_${row.id}`,
  reference: "",
  paymentRef: `pay_${row.id}`,
  total: { currency: row.quote.currency, minor: row.quote.totalMinor },
  state: "refunded",
  failure: null,
  createdAtMs: row.createdAtMs,
  ...changes,
});

export const SIMULATED: GatewayId = "simulated";
