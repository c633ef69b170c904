/**
 * The job that registers a document with the portal. The mail with the document waits for it. What the portal refuses is `failed`
 * and stays on the operators' list; what it does not answer is tried on, and after three days an alarm is raised.
 */

import { z } from "zod";
import type { Clock } from "../../../base/clock.ts";
import { HOUR_MS } from "../../../base/time.ts";
import { FinalFailure, type JobHandler, jobKind } from "../../../store/jobs/job.ts";
import type { InvoiceRow } from "../invoice.ts";
import { mayFail, mayRegister } from "../states.ts";
import type { InvoiceTables } from "../tables.ts";
import { eInvoicePayload } from "./e-invoice.ts";
import { type EInvoicePortal, PortalError } from "./portal.ts";

/** From then on each try tells the operator. */
export const OVERDUE_MS = 72 * HOUR_MS;

const payload = z.object({ orgId: z.string(), id: z.string() });
type Payload = z.output<typeof payload>;

/** Ten waits from a minute to six hours, then four and a half hours on average: a month in all. */
export const registerInvoice = jobKind({
  name: "invoices.register",
  payload,
  tries: 170,
  backoff: { firstMs: 60_000, mostMs: 6 * HOUR_MS },
  atOnce: 4,
  atOncePerLane: 1,
  leaseMs: 60_000,
  // The law wants it registered, whatever becomes of the org.
  isKeptOnErasure: true,
});

export interface RegistrationDeps {
  readonly clock: Clock;
  readonly tables: InvoiceTables;
  /** The portal, which each registration asks for anew; undefined where none is configured. */
  readonly portal: () => Promise<EInvoicePortal | undefined>;
  /** In an act. */
  readonly putMail: (row: InvoiceRow) => void;
  /** For the operator's log. */
  readonly onOverdue: (row: InvoiceRow) => void;
}

export function invoiceRegistrar(deps: RegistrationDeps): JobHandler<Payload> {
  const { clock, tables, putMail, onOverdue } = deps;
  return {
    async run({ orgId, id }, { signal }) {
      const row = tables.get(orgId, id);
      if (row === undefined || !mayRegister(row)) return undefined;
      if (clock.now() - row.issuedAtMs > OVERDUE_MS) onOverdue(row);
      const registered = await register(deps, row, signal);
      return {
        act() {
          // A credit note may have changed it meanwhile.
          const now = tables.get(orgId, id);
          if (now === undefined || !mayRegister(now)) return;
          const next: InvoiceRow = { ...now, ...registered, irnStatus: "generated" };
          tables.put(next);
          putMail(next);
        },
      };
    },
    gaveUp({ orgId, id }) {
      const row = tables.get(orgId, id);
      if (row !== undefined && mayFail(row)) tables.put({ ...row, irnStatus: "failed" });
    },
  };
}

async function register({ portal }: RegistrationDeps, row: InvoiceRow, signal: AbortSignal) {
  const to = await portal();
  if (to === undefined) throw new Error("no portal of e-invoices is configured");
  try {
    return await to.register(eInvoicePayload(row), signal);
  } catch (error) {
    if (error instanceof PortalError && error.kind === "invalid") throw new FinalFailure(error.message);
    throw error;
  }
}
