/** Opens the room of billing: what is sold and on which terms, and what payment gateways tell of it. */
import type { Logger } from "pino";
import { knownAddress } from "../../account/identity/addresses.ts";
import type { AccountTables } from "../../account/tables.ts";
import { type Clock, systemTimers, type Timers } from "../../base/clock.ts";
import type { Currency } from "../../base/currency.ts";
import { fail } from "../../base/errors.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { DisputeTable } from "../../billing/disputes/dispute.ts";
import type { SupplierFile } from "../../billing/invoices/supplier.ts";
import { type NoticeDeps, onNotice } from "../../billing/notices/notices.ts";
import { ParkedPayments } from "../../billing/parked.ts";
import { beginToReadFx, fxReader, readFx } from "../../billing/rates/fx-source.ts";
import { FxTable } from "../../billing/rates/fx-table.ts";
import type { BillingTerms } from "../../billing/rates/terms.ts";
import { refunder, sendRefund } from "../../billing/refunds/acts.ts";
import { RefundTables } from "../../billing/refunds/tables.ts";
import { refundWaiter } from "../../billing/refunds/waiter.ts";
import { TopupTables } from "../../billing/topups/tables.ts";
import { topupWatcher, watchTopup } from "../../billing/topups/watch.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { CreditLots } from "../../credits/ledger/lots.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { ratesOf } from "../settings/billing-files.ts";
import type { Config } from "../settings/config.ts";
import { type AutoTopupHook, openAutoTopup } from "./auto-topup.ts";
import type { openInvoiceRoom } from "./invoices.ts";
import type { openPaymentRoom } from "./payments.ts";

interface BillingGround {
  readonly store: Store;
  /** Absent: of one process alone. */
  readonly cell?: Pick<Cell, "seenEverywhere"> | undefined;
  readonly clock: Clock;
  readonly jobs: Jobs;
  readonly trail: Trail;
  readonly book: Book;
  readonly purse: Purse;
  readonly lots: CreditLots;
  readonly accounts: AccountTables;
  readonly events: Pick<Events, "emit" | "listen">;
  /** Default: the system's. */
  readonly timers?: Timers;
  readonly boundsChanged: (orgId: string) => void;
  readonly topUpHook: AutoTopupHook;
  readonly invoices: ReturnType<typeof openInvoiceRoom>;
  readonly payments: Awaited<ReturnType<typeof openPaymentRoom>>;
}

/** @throws ConfigError where `fx.yaml` is not valid */
export async function openBillingRoom(config: Config, log: Logger, ground: BillingGround) {
  const { store, clock, jobs, payments } = ground;
  const fx = new FxTable({ store, clock, ...ratesOf(config) });
  const { invoices, trail } = ground;
  const deps = {
    store,
    clock,
    jobs,
    fx,
    trail,
    book: ground.book,
    purse: ground.purse,
    lots: ground.lots,
    quotas: config.settings.quotas,
    invoices: invoices.issuer,
    terms: termsOf(invoices.supplier),
    events: trail.events,
    topups: new TopupTables(store),
    refunds: new RefundTables(store),
    disputes: new DisputeTable(store),
    parked: new ParkedPayments(store),
    looks: new Map<string, Promise<void>>(),
    gatewayOf: payments.gateways.byId,
    /** Without a supplier nothing is sold. */
    gatewayFor: (currency: Currency) => invoices.supplier && payments.gateways.forCurrency(currency),
    ownAddress: (head: HttpHead) => payersAddress(config, head),
  };
  const topUps = openAutoTopup(
    {
      ...ground,
      ...deps,
      events: ground.events,
      timers: ground.timers ?? systemTimers,
      onFailure: (err) => log.error({ err }, "an automatic top-up could not be begun; it is tried again"),
    },
    ground.topUpHook,
  );
  const noticed: NoticeDeps = {
    ...deps,
    onMandate: topUps.onMandate,
    onDispute(orgId) {
      log.error({ orgId }, "a payment is disputed, or may be fraud: see /v1/operator/payments");
      topUps.onDispute(orgId);
    },
  };
  jobs.handle(watchTopup, topupWatcher(deps));
  jobs.handle(sendRefund, refunder(deps));
  payments.inbound.onNotice((id, notice, { signal }) => onNotice(noticed, id, notice, signal));
  if (config.fxUrl !== undefined) {
    jobs.handle(readFx, fxReader({ fx, clock, jobs, url: config.fxUrl }));
    await store.act(() => beginToReadFx(jobs));
  }
  const seenEverywhere = async () => await ground.cell?.seenEverywhere();
  return { ...noticed, ...deps, topUps, settled: refundWaiter(store), seenEverywhere };
}

/** Without a supplier nothing is sold; these are only shown. */
const termsOf = (supplier: SupplierFile | undefined): BillingTerms => ({
  minimumsMinor: supplier?.minimums_minor ?? { INR: 10_000, USD: 500 },
  rails: supplier?.rails ?? [],
  spreadBps: supplier?.fx.spread_bps ?? 0,
});

/** Where the payment service sends payers back to. @throws WeirError 503 where nobody knows */
function payersAddress({ publicUrl }: Config, head: HttpHead): string {
  const known = knownAddress(publicUrl, head.header("host"));
  if (known !== undefined) return known;
  const message = "Payers must find their way back: set PUBLIC_URL, or open the gateway as http://localhost.";
  throw fail("gateway_unavailable", message, { retryable: false });
}
