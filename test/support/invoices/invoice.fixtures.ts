/** Invoices in a data folder before a gateway starts on it: no route makes one without a payment. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AccountTables } from "../../../src/account/tables.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { InvoiceOrder, InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import { Issuer } from "../../../src/billing/invoices/issuer.ts";
import { Series } from "../../../src/billing/invoices/series.ts";
import { InvoiceTables } from "../../../src/billing/invoices/tables.ts";
import { openStore } from "../../../src/store/store.ts";
import { trailOn } from "../trail.fixtures.ts";
import { orderOf, SUPPLIER, UNREGISTERED } from "./rows.ts";

/** Issues orders to the first org of a folder that `seededFolder` made. Mails are not put. */
export async function seedInvoices(
  folder: string,
  orders: readonly Partial<InvoiceOrder>[] = [{}],
): Promise<InvoiceRow[]> {
  const dataDir = join(folder, "data");
  if (readdirSync(dataDir).length === 0) throw new Error("the folder has no data");
  const store = openStore(dataDir);
  const org = new AccountTables(store).oldestOrg();
  const { events, jobs, close } = trailOn(store, systemClock);
  const issuer = new Issuer({
    clock: systemClock,
    tables: new InvoiceTables(store),
    series: new Series(store),
    events,
    jobs,
    supplier: SUPPLIER,
    putMail: () => {},
  });
  const nowMs = systemClock.now();
  const rows = await store.act(() =>
    orders.map((order) =>
      issuer.issue({
        ...orderOf({ recipient: UNREGISTERED, atMs: nowMs, order }),
        orgId: org?.id ?? "",
      }),
    ),
  );
  close();
  await store.close();
  return rows;
}
