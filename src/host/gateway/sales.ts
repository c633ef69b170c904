/** Opens what money from people passes through: invoices, payment gateways, billing, plans, and the books that must balance. */
import type { Logger } from "pino";
import type { openMailRoom } from "../../account/mail/open.ts";
import type { AccountTables } from "../../account/tables.ts";
import type { Tickets } from "../../account/tickets/tickets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { followNow } from "../../billing/reconciliation/job.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { KnownServices } from "../../cluster/supervisor/services.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { CreditLots } from "../../credits/ledger/lots.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";
import { tellPlanWarnings } from "../settings/plan-warnings.ts";
import type { AutoTopupHook } from "./auto-topup.ts";
import { openBillingRoom } from "./billing.ts";
import { openInvoiceRoom } from "./invoices.ts";
import { openPaymentRoom } from "./payments.ts";
import { openPlanRoom } from "./plans.ts";
import { openReconciliation } from "./reconciliation.ts";
import type { StopTime } from "./stop-time.ts";

interface SalesGround {
  readonly store: Store;
  readonly cell: Cell | undefined;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly catalog: Catalog;
  readonly trail: Trail;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly accounts: AccountTables;
  readonly tickets: Tickets;
  readonly book: Book;
  readonly purse: Purse;
  readonly lots: CreditLots;
  readonly mail: ReturnType<typeof openMailRoom>;
  readonly boundsChanged: (orgId: string) => void;
  readonly topUpHook: AutoTopupHook;
  readonly services: KnownServices;
}

/** @throws ConfigError where a file of the settings is not valid */
export async function openSales(config: Config, log: Logger, ground: SalesGround) {
  const invoices = openInvoiceRoom(config, log, ground);
  const payments = await openPaymentRoom(config, log, ground);
  const billing = await openBillingRoom(config, log, { ...ground, invoices, payments });
  tellPlanWarnings(config, log);
  const planRoom = openPlanRoom(config, {
    ...ground,
    fx: billing.fx,
    terms: billing.terms,
    invoices: invoices.issuer,
    supplier: invoices.supplier,
  });
  const books = openReconciliation(log, ground, {
    gateways: () => payments.gateways.all,
    follow: followNow(billing),
  });
  return {
    billing,
    books,
    invoices,
    payments,
    planRoom,
    /** After the jobs have stopped. */
    async closeSales(stopTime: StopTime): Promise<void> {
      billing.topUps.stop();
      await stopTime.wait("invoices", invoices.close());
      payments.close();
      books.close();
    },
  };
}
