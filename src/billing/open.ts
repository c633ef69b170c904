/** Opens the wing: what money from people passes through, and the books that must balance. */
import type { Logger } from "pino";
import type { CreditLeft } from "../account/credit-left.ts";
import type { ErasureStep } from "../account/erasure/erasure-steps.ts";
import type { OrgRow } from "../account/org.ts";
import type { AccountTables } from "../account/tables.ts";
import type { Tickets } from "../account/tickets/tickets.ts";
import type { Clock } from "../base/clock.ts";
import type { Cursors } from "../base/operation/cursor.ts";
import type { AnyOperation, Caller } from "../base/operation/operation.ts";
import type { Book } from "../credits/ledger/book.ts";
import type { CreditLots } from "../credits/ledger/lots.ts";
import type { Purse } from "../credits/ledger/purse.ts";
import type { Events } from "../store/events/events.ts";
import type { Trail } from "../store/events/trail.ts";
import type { Jobs } from "../store/jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import type { AutoTopupHook, OpenAutoTopups } from "./auto-topups/open.ts";
import { openSales, type SalesSettings } from "./credit-sales.ts";
import {
  type InvoicePorts,
  type InvoiceSettings,
  type OpenInvoices,
  openInvoiceRoom,
} from "./invoices/open.ts";
import { endingOfMandates, moneyErasure } from "./money-erasure.ts";
import { billingOperations } from "./operations.ts";
import { type OpenPayments, openPaymentRoom, type SimulatedPayments } from "./payments/open.ts";
import type { PaymentSettings } from "./payments/settings.ts";
import type { FxTable } from "./rates/fx-table.ts";
import type { BillingTerms } from "./rates/terms.ts";
import { followNow } from "./reconciliation/job.ts";
import { type OpenReconciliation, openReconciliation } from "./reconciliation/open.ts";
import { creditLeft } from "./refunds/acts.ts";
import { refundByTicket } from "./refunds/refund-operations.ts";
import { openPlanRoom, type PlanSettings } from "./subscriptions/open.ts";
import type { TopupTables } from "./topups/tables.ts";

export interface BillingSettings extends InvoiceSettings, SalesSettings, PlanSettings {
  /** By which payment gateways orgs pay. */
  readonly payments: PaymentSettings;
}

export interface BillingPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** Positions in lists, as clients hold them. */
  readonly cursors: Cursors;
  /** What changes of money put in the org's events and audit. */
  readonly trail: Trail;
  /** The same events, heard too: of orgs that close, of mandates that become active. */
  readonly events: Pick<Events, "emit" | "listen">;
  /** Jobs that ask payment gateways, and those that are due later. */
  readonly jobs: Jobs;
  readonly accounts: AccountTables;
  /** Requests to the operator: a correction of an invoice is one. */
  readonly tickets: Tickets;
  /** Where credit is posted and read. */
  readonly book: Book;
  /** The credit of each org that its calls hold. */
  readonly purse: Purse;
  /** How much of each org's credit was paid for, and how much was granted. */
  readonly lots: CreditLots;
  /** Tells the ledger that an org's automatic top-up has other bounds. */
  readonly boundsChanged: (orgId: string) => void;
  /** What the ledger was opened with, and tells of balances that fell. */
  readonly topUpHook: AutoTopupHook;
  /** Sends documents, and asks for their files. */
  readonly mail: InvoicePorts["mail"];
  /** The machine's own simulated payment service. */
  readonly simulatedPayments: SimulatedPayments;
  /** Base URL of the machine's own simulated portal of e-invoices, which it starts; undefined where the machine has none. */
  readonly simulatedPortal: () => Promise<string | undefined>;
  /** Resolves when every cell reads what this one reads now; at once at a gateway alone. */
  readonly seenEverywhere: () => Promise<void>;
  /** Markups of the models that can be called, basis points. */
  readonly markups: () => Iterable<number>;
  readonly log: Logger;
}

export interface Billing {
  /** Rates of exchange, by day. */
  readonly fx: FxTable;
  /** On which terms credit is sold. */
  readonly terms: BillingTerms;
  readonly topups: Pick<TopupTables, "hasPaid">;
  readonly invoices: OpenInvoices;
  readonly payments: OpenPayments;
  readonly autoTopups: OpenAutoTopups;
  readonly books: OpenReconciliation;
  /** What an org pays and was billed, in the order of the reference. */
  readonly operations: Readonly<Record<string, AnyOperation>>;
  /** In an act: the refund that an operator grants with a ticket. @throws WeirError 404, 409 */
  refundByTicket(
    caller: Caller,
    ticket: { readonly id: string; readonly orgId: string },
    asked: { readonly topupId: string; readonly amountMinor: number },
  ): void;
  /** What a closing leaves of an org's credit, by the rows as they are now. */
  creditLeft(orgId: string): CreditLeft;
  /** The first of all steps of an erasure; what follows waits an hour for it at most. */
  readonly endingOfMandates: ErasureStep;
  /** Steps behind {@link endingOfMandates}. */
  readonly erasure: readonly ErasureStep[];
  /**
   * After the jobs have stopped.
   * @param wait bounds the time of a part that is named
   */
  close(wait: (part: string, ended: Promise<unknown>) => Promise<void>): Promise<void>;
}

/** Call before the first event and before jobs start. */
export async function openBilling(settings: BillingSettings, ports: BillingPorts): Promise<Billing> {
  const { accounts, clock, jobs, topUpHook } = ports;
  const invoices = openInvoiceRoom(settings, ports);
  const payments = await openPaymentRoom(settings.payments, {
    ...ports,
    isErased: (orgId) => isErased(accounts.org(orgId), clock.now()),
  });
  const { offered, followed, autoTopups } = await openSales(settings, {
    ...ports,
    ...payments,
    invoices: invoices.issuer,
  });
  const { fx, terms, topups, refunds, disputes, parked } = offered;
  const { supplier } = settings;
  const plans = openPlanRoom(settings, { ...ports, fx, terms, supplier, invoices: invoices.issuer });
  const books = openReconciliation({
    ...ports,
    topups,
    refunds,
    disputes,
    parked,
    invoices: invoices.tables,
    gateways: () => payments.gateways.all,
    follow: followNow(followed),
  });
  const { subscriptions } = plans;
  const erased = { ...followed, ...topUpHook.tables, accounts, jobs, refunds, subscriptions };
  return {
    fx,
    terms,
    topups,
    invoices,
    payments,
    autoTopups,
    books,
    operations: {
      ...billingOperations(offered),
      ...autoTopups.operations,
      ...plans.operations,
      ...invoices.operations,
    },
    refundByTicket: (caller, ticket, asked) =>
      refundByTicket({ ...ports, ...offered }, caller, ticket, asked),
    creditLeft: (orgId) => creditLeft(offered, orgId),
    endingOfMandates: endingOfMandates(erased),
    erasure: [
      { name: "events of payments", erase: (orgId, most) => payments.inbound.erase(orgId, most) },
      ...moneyErasure(erased),
    ],
    async close(wait) {
      autoTopups.stop();
      await wait("invoices", invoices.close());
      payments.close();
      books.close();
    },
  };
}

/** Also from the day on which the erasure is due: its job may be anywhere. */
const isErased = (org: OrgRow | undefined, nowMs: number): boolean =>
  org !== undefined &&
  (org.erasedAtMs !== undefined || (org.erasureDueAtMs !== null && org.erasureDueAtMs <= nowMs));
