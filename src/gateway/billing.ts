/** Opens the room of billing: what is sold and on which terms, and what payment gateways tell of it. */
import type { Logger } from "pino";
import { DisputeTable } from "../billing/dispute.ts";
import { readFxRates } from "../billing/fx-config.ts";
import { beginToReadFx, fxReader, readFx } from "../billing/fx-reading.ts";
import { FxTable } from "../billing/fx-table.ts";
import { type NoticeDeps, onNotice } from "../billing/notices.ts";
import { ParkedPayments } from "../billing/parked.ts";
import { RefundTables } from "../billing/refund-tables.ts";
import { refunder, sendRefund } from "../billing/refunding.ts";
import type { BillingTerms } from "../billing/terms.ts";
import { TopupTables } from "../billing/topup-tables.ts";
import { refundWaiter } from "../billing/waiting.ts";
import { topupWatcher, watchTopup } from "../billing/watching.ts";
import type { Clock } from "../clock.ts";
import { type Config, ConfigError } from "../config.ts";
import type { Book } from "../credits/book.ts";
import type { CreditLots } from "../credits/lots.ts";
import type { Purse } from "../credits/purse.ts";
import type { Trail } from "../events/trail.ts";
import type { SupplierFile } from "../invoices/supplier.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import type { openInvoiceRoom } from "./invoices.ts";
import type { openPaymentRoom } from "./payments.ts";

interface BillingGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Jobs;
  readonly trail: Trail;
  readonly book: Book;
  readonly purse: Purse;
  readonly lots: CreditLots;
  readonly invoices: ReturnType<typeof openInvoiceRoom>;
  readonly payments: Awaited<ReturnType<typeof openPaymentRoom>>;
}

/** @throws ConfigError where `fx.yaml` is not valid */
export async function openBillingRoom(config: Config, log: Logger, ground: BillingGround) {
  const { store, clock, jobs, payments } = ground;
  const fx = new FxTable({ store, clock, ...ratesOf(config) });
  const deps: NoticeDeps = {
    ...{ store, clock, jobs, book: ground.book, purse: ground.purse, lots: ground.lots },
    invoices: ground.invoices.issuer,
    events: ground.trail.events,
    topups: new TopupTables(store),
    refunds: new RefundTables(store),
    disputes: new DisputeTable(store),
    parked: new ParkedPayments(store),
    looks: new Map(),
    gatewayOf: payments.gateways.byId,
    onDispute: (orgId) =>
      log.error({ orgId }, "a payment is disputed, or may be fraud: see /v1/operator/payments"),
    onMandate: async () => undefined,
  };
  jobs.handle(watchTopup, topupWatcher(deps));
  jobs.handle(sendRefund, refunder(deps));
  payments.inbound.onNotice((id, notice, { signal }) => onNotice(deps, id, notice, signal));
  if (config.fxUrl !== undefined) {
    jobs.handle(readFx, fxReader({ fx, clock, jobs, url: config.fxUrl }));
    await store.act(() => beginToReadFx(jobs));
  }
  return { ...deps, fx, terms: termsOf(ground.invoices.supplier), settled: refundWaiter(store) };
}

function ratesOf({ configDir }: Config) {
  try {
    return readFxRates(configDir);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** Without a supplier nothing is sold; these are only shown. */
const termsOf = (supplier: SupplierFile | undefined): BillingTerms => ({
  minimumsMinor: supplier?.minimums_minor ?? { INR: 10_000, USD: 500 },
  rails: supplier?.rails ?? [],
  spreadBps: supplier?.fx.spread_bps ?? 0,
});
