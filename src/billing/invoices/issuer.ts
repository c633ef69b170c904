/**
 * Issues documents: invoices of payments, statements of what credit paid for, credit notes. All of a document happens in the
 * caller's act: number, row, event, the original's status, and the jobs of registration and mail.
 */
import { ABROAD } from "../../account/fields/gst-states.ts";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { financialYear } from "./financial-year.ts";
import type {
  InvoiceIssuer,
  InvoiceKind,
  InvoiceOrder,
  InvoiceRow,
  Recipient,
  TaxedAmount,
  TaxTreatment,
} from "./invoice.ts";
import { checkCredit, checkOrder } from "./order-check.ts";
import { registerInvoice } from "./portal/registration.ts";
import type { Series } from "./series.ts";
import { statusAfterCredit } from "./states.ts";
import { identityOf, type SupplierFile } from "./supplier.ts";
import type { InvoiceTables } from "./tables.ts";
import { eachHead, NO_AMOUNT, plus, shareOf, splitOf, totalOf, treatmentFor } from "./tax.ts";
import { invoiceIssued, invoiceWire } from "./wire.ts";

export interface IssuerDeps {
  readonly clock: Clock;
  readonly tables: InvoiceTables;
  readonly series: Series;
  readonly events: Trail["events"];
  readonly jobs: Pick<JobQueue, "enqueue">;
  /** Who sells; without a supplier nothing can be sold. */
  readonly supplier: SupplierFile | undefined;
  /** In the act: puts the mail with the document to those who answer for the org. */
  readonly putMail: (row: InvoiceRow) => void;
}

export class Issuer implements InvoiceIssuer {
  readonly #deps: IssuerDeps;

  constructor(deps: IssuerDeps) {
    this.#deps = deps;
  }

  /**
   * Only in an act. @throws RangeError where the order contradicts itself or its original, SeriesFull where the series has no
   * number left: nothing is put then
   */
  issue(order: InvoiceOrder): InvoiceRow {
    const { tables, events, jobs, putMail } = this.#deps;
    const earlier = tables.byReference(order.orgId, order.reference);
    if (earlier !== undefined) return earlier;
    checkOrder(order);
    const { orgId, originalId = "" } = order;
    const original = order.kind === "credit_note" ? this.#inForce(orgId, originalId) : undefined;
    if (original !== undefined) checkCredit(original, order);
    const row = this.#rowOf(order, original);
    tables.add(row);
    if (original !== undefined) tables.put(credited(original, row));
    events.emit(invoiceIssued, row.orgId, invoiceWire(row));
    if (row.irnStatus === "pending") {
      const payload = { orgId: row.orgId, id: row.id };
      // Not the org's: the duty outlives an org that is erased.
      jobs.enqueue(registerInvoice, { key: row.id, lane: row.orgId, orgId: "", payload });
    } else putMail(row);
    return row;
  }

  treatmentOf(recipient: Recipient, nowMs: number): TaxTreatment {
    const supplier = identityOf(this.#supplier(), financialYear(nowMs));
    if (supplier.gstin !== "" && supplier.gstin === recipient.gstin)
      throw fail(
        "billing_profile_incomplete",
        "The organisation's GSTIN is that of the supplier, who issues no invoices to itself: set your own.",
        { details: { missing: ["/gstin"] } },
      );
    return treatmentFor(supplier, recipient);
  }

  get(orgId: string, id: string): InvoiceRow | undefined {
    return this.#deps.tables.get(orgId, id);
  }

  idOfTopup(orgId: string, topupId: string): string | undefined {
    return this.#deps.tables.idOfTopup(orgId, topupId);
  }

  creditShare(orgId: string, originalId: string, partTaxableMinor: number, reserved = NO_AMOUNT) {
    const original = this.#inForce(orgId, originalId);
    const { id, treatment, recipient } = original;
    const heads = shareOf(original, takenOf(original, reserved), partTaxableMinor);
    return { originalId: id, treatment, recipient, heads };
  }

  creditSplit(orgId: string, originalId: string, partTotalMinor: number, reserved = NO_AMOUNT) {
    const original = this.#inForce(orgId, originalId);
    return splitOf(original, takenOf(original, reserved), partTotalMinor);
  }

  /** @throws Error where there is none */
  #supplier(): SupplierFile {
    const { supplier } = this.#deps;
    if (supplier === undefined) throw new Error("there is no supplier.yaml: no invoice can be issued");
    return supplier;
  }

  /** The invoice, or the one that took its place. @throws RangeError where there is none */
  #inForce(orgId: string, id: string): InvoiceRow {
    let row = this.#deps.tables.get(orgId, id);
    while (row?.replacedById !== undefined) row = this.#deps.tables.get(orgId, row.replacedById);
    if (row === undefined) throw new RangeError("there is no such invoice");
    return row;
  }

  #rowOf(order: InvoiceOrder, original: InvoiceRow | undefined): InvoiceRow {
    const { clock, series } = this.#deps;
    const supplier = this.#supplier();
    const nowMs = clock.now();
    const fy = financialYear(nowMs);
    const identity = identityOf(supplier, fy);
    const kind = original === undefined ? kindOf(order, identity.gstin !== "") : "credit_note";
    const prefix = prefixOf(supplier, kind);
    const isRegistered = supplier.e_invoice && needsIrn(kind, order, original);
    return {
      ...order,
      id: newId(kind === "credit_note" ? "cn" : "inv", nowMs),
      kind,
      number: series.next(prefix, fy),
      series: prefix,
      fy,
      totalMinor: totalOf(order),
      supplier: identity,
      status: "paid",
      creditedMinor: 0,
      credited: NO_AMOUNT,
      ...(original !== undefined && {
        originalId: original.id,
        original: { number: original.number, issuedAtMs: original.issuedAtMs },
      }),
      irnStatus: isRegistered ? "pending" : "not_required",
      irn: "",
      signedQr: "",
      ackNumber: "",
      ackAtMs: null,
      issuedAtMs: nowMs,
    };
  }
}

/** No head is more than the invoice's: what was reserved before a correction may have been of other heads. */
function takenOf({ heads, credited }: InvoiceRow, reserved: TaxedAmount): TaxedAmount {
  const sum = plus(credited, reserved);
  return {
    taxableMinor: sum.taxableMinor,
    heads: eachHead((head) => Math.min(heads[head], sum.heads[head])),
  };
}

function kindOf({ kind, treatment }: InvoiceOrder, isIndian: boolean): InvoiceKind {
  if (kind === "statement") return "statement";
  if (!isIndian) return "invoice";
  return treatment.placeOfSupply === ABROAD ? "export_invoice" : "tax_invoice";
}

function prefixOf({ series }: SupplierFile, kind: InvoiceKind): string {
  if (kind === "statement") return series.statements;
  return kind === "credit_note" ? series.credit_notes : series.invoices;
}

/** B2B, SEZ and exports, and their credit notes; not sales to the unregistered (Notification 13/2020-Central Tax). */
function needsIrn(kind: InvoiceKind, { recipient }: InvoiceOrder, original: InvoiceRow | undefined): boolean {
  const of = original?.kind ?? kind;
  return of === "export_invoice" || (of === "tax_invoice" && recipient.gstin !== "");
}

function credited(original: InvoiceRow, note: InvoiceRow): InvoiceRow {
  const creditedMinor = original.creditedMinor + note.totalMinor;
  const status = statusAfterCredit(original, creditedMinor);
  const creditNoteIds = [...(original.creditNoteIds ?? []), note.id];
  return { ...original, creditedMinor, status, credited: plus(original.credited, note), creditNoteIds };
}
