/**
 * Tables of documents, with their indexes. Methods that write must be called in an act. Documents stay when their org is erased:
 * the law keeps them for 72 months (CGST Act, section 36).
 */
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import { indianMonth } from "./financial-year.ts";
import type { InvoiceOrder, InvoiceRow, IrnStatus } from "./invoice.ts";

/** A document that is not registered yet. */
export interface UnregisteredRow extends Pick<InvoiceRow, "orgId" | "id" | "issuedAtMs"> {
  readonly irnStatus: Extract<IrnStatus, "pending" | "failed">;
}

/** Ids of invoices and credit notes have other prefixes: what follows sorts by time. */
const sortOf = (id: string): string => id.slice(id.indexOf("_") + 1);

export class InvoiceTables extends StoreTables {
  /** [org id, id without its prefix]. */
  readonly #rows = this.store.table<InvoiceRow>("invoices.rows");
  /** [org id, type, id] of what it documents → id. */
  readonly #references = this.store.table<string>("invoices.references");
  /** [org id, top-up id] → id of the invoice in force. */
  readonly #topups = this.store.table<string>("invoices.of_topups");
  /** [`YYYY-MM` in India, org id, id without its prefix] → id. */
  readonly #months = this.store.table<string>("invoices.months");
  /** [time of issue, id] of those that the portal has not registered. */
  readonly #unregistered = this.store.table<UnregisteredRow>("invoices.unregistered");

  get(orgId: string, id: string): InvoiceRow | undefined {
    const row = this.#rows.get([orgId, sortOf(id)]);
    return row?.id === id ? row : undefined;
  }

  byReference(orgId: string, { type, id }: InvoiceOrder["reference"]): InvoiceRow | undefined {
    const found = this.#references.get([orgId, type, id]);
    return found === undefined ? undefined : this.get(orgId, found);
  }

  /** Id of the invoice in force, without reading it. */
  idOfTopup(orgId: string, topupId: string): string | undefined {
    return this.#topups.get([orgId, topupId]);
  }

  /** Newest first, strictly older than `before`, an id. Read lazily. */
  *of(orgId: string, before?: string): Generator<InvoiceRow> {
    const start = [orgId, before === undefined ? PAST_IDS : sortOf(before)];
    for (const { value } of this.#rows.range({ start, end: [orgId], reverse: true }))
      if (value.id !== before) yield value;
  }

  /** Oldest first of each org, strictly after one. Read lazily. @param orgId absent: of all orgs, one org after the other */
  *ofMonth(month: string, orgId?: string, after?: InvoiceRow): Generator<InvoiceRow> {
    const group = orgId === undefined ? [month] : [month, orgId];
    const start = after === undefined ? group : [month, after.orgId, sortOf(after.id)];
    for (const { key, value } of this.#months.range({ start, end: [...group, PAST_IDS] })) {
      const row = value === after?.id ? undefined : this.get((key as string[])[1] ?? "", value);
      if (row !== undefined) yield row;
    }
  }

  /** Oldest first, strictly after a position. Read lazily. */
  *unregistered(after?: readonly [number, string]): Generator<UnregisteredRow> {
    for (const { value } of this.#unregistered.range(after === undefined ? {} : { start: [...after] }))
      if (value.id !== after?.[1]) yield value;
  }

  /** A new document, with what finds it. */
  add(row: InvoiceRow): void {
    const { orgId, id, reference, topupId } = row;
    this.#references.put([orgId, reference.type, reference.id], id);
    if (topupId !== undefined && row.kind !== "credit_note" && row.kind !== "statement")
      this.#topups.put([orgId, topupId], id);
    this.#months.put([indianMonth(row.issuedAtMs), orgId, sortOf(id)], id);
    this.put(row);
  }

  /** Replaces a document: only its status, its registration and what was credited of it may differ. */
  put(row: InvoiceRow): void {
    const { orgId, id, issuedAtMs, irnStatus } = row;
    this.#rows.put([orgId, sortOf(id)], row);
    const key = [issuedAtMs, id];
    if (irnStatus === "pending" || irnStatus === "failed")
      this.#unregistered.put(key, { orgId, id, issuedAtMs, irnStatus });
    else if (this.#unregistered.get(key) !== undefined) this.#unregistered.remove(key);
  }
}
