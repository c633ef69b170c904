/** Opens what sells credit: rates, top-ups, refunds, automatic top-ups, and what follows that payment gateways tell of them. */
import type { Logger } from "pino";
import { knownAddress } from "../account/identity/addresses.ts";
import { systemTimers, type Timers } from "../base/clock.ts";
import type { Currency } from "../base/currency.ts";
import { fail } from "../base/errors.ts";
import type { HttpHead } from "../base/operation/http-head.ts";
import type { Quotas } from "../base/quota.ts";
import type { Book } from "../credits/ledger/book.ts";
import type { Events } from "../store/events/events.ts";
import type { Jobs } from "../store/jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import { type AutoTopupHook, type OpenAutoTopups, openAutoTopup } from "./auto-topups/open.ts";
import { DisputeTable } from "./disputes/dispute.ts";
import type { InvoiceIssuer } from "./invoices/invoice.ts";
import { type NoticeDeps, onNotice } from "./notices/notices.ts";
import type { BillingDeps } from "./operations.ts";
import { ParkedPayments } from "./parked.ts";
import type { PaymentGateways } from "./payments/gateways.ts";
import type { Inbound } from "./payments/inbound.ts";
import { openRates, type RateSettings } from "./rates/open.ts";
import { openRefunds } from "./refunds/open.ts";
import { openTopups } from "./topups/open.ts";

export interface SalesSettings extends RateSettings {
  readonly quotas: Quotas;
  /** Where payers reach the gateway. Undefined: on this machine only. */
  readonly publicUrl: string | undefined;
}

export interface SalesPorts
  extends Pick<
    BillingDeps,
    "clock" | "trail" | "purse" | "lots" | "accounts" | "cursors" | "seenEverywhere"
  > {
  readonly store: Store;
  readonly book: Book;
  readonly jobs: Jobs;
  readonly events: Pick<Events, "emit" | "listen">;
  /** For the moments between a fall of credit and its job. */
  readonly timers?: Timers;
  /** Tells the ledger that an org's automatic top-up has other bounds. */
  readonly boundsChanged: (orgId: string) => void;
  /** What the ledger was opened with. */
  readonly topUpHook: AutoTopupHook;
  readonly invoices: InvoiceIssuer;
  readonly gateways: Pick<PaymentGateways, "byId" | "forCurrency">;
  /** Where webhooks of payment gateways come in. */
  readonly inbound: Pick<Inbound, "onNotice">;
  readonly log: Logger;
}

export interface OpenSales {
  /** With what operations work. */
  readonly offered: BillingDeps;
  /** The tables and ports that handlers of a payment gateway's notices work with. */
  readonly followed: NoticeDeps;
  readonly autoTopups: OpenAutoTopups;
}

/** Call before the first event and before jobs start. */
export async function openSales(settings: SalesSettings, ports: SalesPorts): Promise<OpenSales> {
  const { store, gateways, log } = ports;
  const { begin, ...rates } = openRates(settings, ports);
  const ground = {
    ...ports,
    ...rates,
    quotas: settings.quotas,
    disputes: new DisputeTable(store),
    parked: new ParkedPayments(store),
    gatewayOf: gateways.byId,
    /** Without a supplier nothing is sold. */
    gatewayFor: (currency: Currency) => settings.supplier && gateways.forCurrency(currency),
    ownAddress: (head: HttpHead) => payersAddress(settings, head),
  };
  const topups = openTopups(ground);
  const refunds = openRefunds({ ...ground, ...topups });
  const offered = { ...ground, ...topups, ...refunds };
  const onFailure = (err: unknown) =>
    log.error({ err }, "an automatic top-up could not be begun; it is tried again");
  const timers = ports.timers ?? systemTimers;
  const autoTopups = openAutoTopup({ ...offered, timers, onFailure }, ports.topUpHook);
  const followed: NoticeDeps = {
    ...offered,
    onMandate: autoTopups.onMandate,
    onDispute(orgId) {
      log.error({ orgId }, "a payment is disputed, or may be fraud: see /v1/operator/payments");
      autoTopups.onDispute(orgId);
    },
  };
  ports.inbound.onNotice((id, notice, { signal }) => onNotice(followed, id, notice, signal));
  await begin();
  return { offered, followed, autoTopups };
}

/** Where the payment service sends payers back to. @throws WeirError 503 where it is not known */
function payersAddress({ publicUrl }: SalesSettings, head: HttpHead): string {
  const known = knownAddress(publicUrl, head.header("host"));
  if (known !== undefined) return known;
  const message = "Payers must find their way back: set PUBLIC_URL, or open the gateway as http://localhost.";
  throw fail("gateway_unavailable", message, { retryable: false });
}
