/**
 * Compares our own books of a day with each other: top-ups and refunds with the ledger and the documents, the ledger with itself,
 * the numbers of documents, and what is parked.
 */

import { nextTurn } from "../../base/clock.ts";
import { moneyText } from "../../base/currency.ts";
import { WeirError } from "../../base/errors.ts";
import { firstIdAt } from "../../base/ids.ts";
import { type Book, firstSeqFrom } from "../../credits/ledger/book.ts";
import { pageEnd, type ShownEntry } from "../../credits/ledger/shown-list.ts";
import type { InvoiceRow } from "../invoices/invoice.ts";
import type { InvoiceTables } from "../invoices/tables.ts";
import { taxOf } from "../invoices/tax.ts";
import type { ParkedPayments, ParkedRow } from "../parked.ts";
import type { RefundRow } from "../refunds/refund.ts";
import type { RefundTables } from "../refunds/tables.ts";
import type { TopupTables } from "../topups/tables.ts";
import { isPaid, type TopupRow } from "../topups/topup.ts";
import type { DayOf } from "./gateway-day.ts";
import { aboutRefund, aboutTopup, eachRow, type Found, type Notes } from "./notes.ts";

export interface OwnBooks {
  readonly topups: TopupTables;
  readonly refunds: RefundTables;
  readonly parked: ParkedPayments;
  readonly invoices: Pick<InvoiceTables, "byReference" | "of">;
  readonly ledger: Pick<Book, "list" | "byReference">;
  /** All orgs, newest first, strictly after one. Read lazily. */
  readonly orgIds: (after: string | undefined) => Iterable<string>;
}

/** Ledger entries read at once. */
const ENTRIES = 200;
/** Ids of documents are made in the order of their times, unless the clock was corrected by so much. */
const CORRECTION_MS = 2_000;

/** @param endsBefore last numbers of the series at the end of the day before; undefined: that day was not reconciled */
export async function compareBooks(
  books: OwnBooks,
  day: DayOf,
  notes: Notes,
  endsBefore: Readonly<Record<string, number>> | undefined,
): Promise<void> {
  await eachRow<TopupRow>(
    notes,
    (last) => books.topups.paidOn(day.day, last?.id),
    (row) => topupOfDay(books, row, notes),
  );
  await eachRow<RefundRow>(
    notes,
    (last) => books.refunds.settledOn(day.day, last?.id),
    (row) => refundOfDay(books, row, notes),
  );
  const numbers = new Map<string, number[]>();
  await eachRow<string>(notes, books.orgIds, async (orgId) => {
    day.signal.throwIfAborted();
    await ledgerOf(books, orgId, day, notes).catch((error: unknown) => leaveOut(error, notes));
    await documentsOf(books, orgId, day, notes, numbers);
  });
  compareSeries(numbers, endsBefore, notes);
  await eachRow<ParkedRow>(
    notes,
    (last) => books.parked.all(last?.id),
    (row) => {
      if (row.closedAtMs === null && row.createdAtMs < day.toMs && !notes.has(row.gateway, row.ref))
        notes.add(parkedFound(row));
    },
  );
}

/** A ledger whose charges another process keeps may not be readable now; the report says that something was left out. */
function leaveOut(error: unknown, notes: Notes): void {
  if (!(error instanceof WeirError) || error.kind !== "analytics_unavailable") throw error;
  notes.isComplete = false;
}

const parkedFound = (row: ParkedRow): Found => ({
  kind: "parked_open",
  state: "parked",
  gateway: row.gateway,
  ref: row.ref,
  orgId: row.orgId,
  topupId: row.topupId,
  subjectId: row.topupId,
  currency: row.currency,
  minor: row.minor,
  detail: `${row.reason}: ${row.detail}`,
});

function topupOfDay({ ledger, invoices }: OwnBooks, row: TopupRow, notes: Notes): void {
  const { id, orgId, quote } = row;
  const total = { currency: quote.currency, minor: quote.totalMinor };
  notes.sum("topups", total, row.feeMinor);
  const of = aboutTopup(row);
  const entry = ledger.byReference(orgId, "topup", id);
  if (quote.creditsMicroUsd > 0 && entry === undefined)
    notes.add(of("no_ledger_entry", `${quote.creditsMicroUsd} micro-USD are not in the ledger`));
  else if (entry !== undefined && entry.amountMicroUsd !== quote.creditsMicroUsd)
    notes.add(of("amount_differs", `${entry.amountMicroUsd} micro-USD for ${quote.creditsMicroUsd}`));
  const invoice = invoices.byReference(orgId, { type: "topup", id });
  if (invoice === undefined)
    notes.add(of("no_invoice", `A top-up of ${moneyText(total.minor, total.currency)}`));
  else if (invoice.totalMinor !== total.minor || invoice.currency !== total.currency)
    notes.add(of("amount_differs", `The invoice is of ${moneyText(invoice.totalMinor, invoice.currency)}`));
}

function refundOfDay({ ledger, invoices }: OwnBooks, row: RefundRow, notes: Notes): void {
  const { id, orgId, currency, totalMinor: minor, creditsMicroUsd } = row;
  notes.sum("refunds", { currency, minor });
  const of = aboutRefund(row);
  const entry = ledger.byReference(orgId, "refund", id);
  if (creditsMicroUsd > 0 && entry === undefined)
    notes.add(of("no_ledger_entry", `${-creditsMicroUsd} micro-USD are not in the ledger`));
  else if (entry !== undefined && entry.amountMicroUsd !== -creditsMicroUsd)
    notes.add(of("amount_differs", `${entry.amountMicroUsd} micro-USD for ${-creditsMicroUsd}`));
  const note = invoices.byReference(orgId, { type: "refund", id });
  const parts = row.amountMinor + taxOf(row.heads);
  if (note === undefined) notes.add(of("no_credit_note", `A refund of ${moneyText(minor, currency)}`));
  else if (note.totalMinor !== parts || Math.abs(parts - minor) > ROUNDING_MINOR)
    notes.add(
      of(
        "amount_differs",
        `The credit note is of ${moneyText(note.totalMinor, note.currency)}, the refund of ${moneyText(minor, currency)}`,
      ),
    );
}

/**
 * A refund in a payment gateway's dashboard may be of any amount, and not every amount is a sum of a taxable amount and its tax,
 * each head rounded: its credit note may be off by so much.
 */
const ROUNDING_MINOR = 2;

/** A finding about an org's own books; no payment gateway knows it. */
const ownFound = (kind: Found["kind"], ref: string, orgId: string, detail: string): Found => ({
  kind,
  gateway: "",
  ref,
  orgId,
  topupId: "",
  subjectId: "",
  currency: "",
  minor: 0,
  detail,
});

/**
 * Each entry of the day follows the one before it, in number and in balance; so do all, if every day's do. A charge may have its number
 * later than entries that were made after it, where cells share a ledger: so much more than the day is read at both of its ends.
 */
async function ledgerOf(books: OwnBooks, orgId: string, day: DayOf, notes: Notes): Promise<void> {
  const { ledger } = books;
  const [newest] = (await ledger.list(orgId, { limit: 1 })).entries;
  if (newest === undefined || newest.createdAtMs < day.fromMs) return;
  let newer: ShownEntry | undefined;
  let before = Math.min(newest.seq + 1, (await firstSeqFrom(ledger, orgId, newest.seq, day.toMs)) + ENTRIES);
  notes.orgs++;
  for (;;) {
    const { entries: page, missingSinceMs } = await ledger.list(orgId, { before, limit: ENTRIES });
    // What is not listed yet is no fault of the books.
    if (missingSinceMs !== undefined) {
      notes.isComplete = false;
      return;
    }
    for (const entry of page) {
      if (newer !== undefined) linkOf(orgId, entry, newer, notes);
      newer = entry;
      if (entry.createdAtMs < day.fromMs || entry.createdAtMs >= day.toMs) continue;
      notes.entries++;
      notes.add(postingOf(books, orgId, entry));
    }
    if (newer === undefined || page.length < ENTRIES) break;
    if (page.every(({ createdAtMs }) => createdAtMs < day.fromMs)) return;
    before = pageEnd(newer);
    await nextTurn();
    day.signal.throwIfAborted();
  }
  const nothing = { seq: 0, balanceMicroUsd: 0 };
  if (newer !== undefined) linkOf(orgId, nothing, newer, notes);
}

type Balanced = Pick<ShownEntry, "seq" | "balanceMicroUsd">;

function linkOf(orgId: string, older: Balanced, newer: ShownEntry, notes: Notes): void {
  if (older.seq !== pageEnd(newer) - 1)
    notes.add(ownFound("balance_not_sum", orgId, orgId, `Entry ${newer.seq} follows ${older.seq}`));
  else if (older.balanceMicroUsd + newer.amountMicroUsd !== newer.balanceMicroUsd) {
    const sum = `${older.balanceMicroUsd} and ${newer.amountMicroUsd} micro-USD are not ${newer.balanceMicroUsd}`;
    notes.add(ownFound("balance_not_sum", orgId, orgId, `Entry ${newer.seq}: ${sum}`));
  }
}

function postingOf({ topups, refunds }: OwnBooks, orgId: string, entry: ShownEntry): Found | undefined {
  if (entry.kind !== "topup" && entry.kind !== "refund") return undefined;
  const { refId, refType, seq, amountMicroUsd } = entry;
  const detail = `Entry ${seq} of ${amountMicroUsd} micro-USD names ${refType} ${refId}`;
  if (entry.kind === "refund")
    return refunds.get(orgId, refId) === undefined
      ? { ...ownFound("ledger_without_refund", refId, orgId, detail), subjectId: refId }
      : undefined;
  const topup = topups.get(orgId, refId);
  if (topup !== undefined && isPaid(topup)) return undefined;
  return { ...ownFound("ledger_without_topup", refId, orgId, detail), subjectId: refId };
}

async function documentsOf(
  books: OwnBooks,
  orgId: string,
  { fromMs, toMs }: DayOf,
  notes: Notes,
  numbers: Map<string, number[]>,
): Promise<void> {
  const firstMs = fromMs - CORRECTION_MS;
  const start = firstIdAt("inv", toMs + CORRECTION_MS);
  await eachRow<InvoiceRow>(
    notes,
    (last) => until(books.invoices.of(orgId, last?.id ?? start), (row) => row.issuedAtMs < firstMs),
    (row) => {
      if (row.issuedAtMs < fromMs || row.issuedAtMs >= toMs) return;
      const key = `${row.series} ${row.fy}`;
      const list = numbers.get(key) ?? [];
      list.push(Number(row.number.slice(row.number.lastIndexOf("/") + 1)));
      numbers.set(key, list);
      const isNote = row.kind === "credit_note";
      notes.sum(isNote ? "credit_notes" : "invoices", { currency: row.currency, minor: row.totalMinor });
      notes.add(documentOf(books, row));
    },
  );
}

function* until<R>(rows: Iterable<R>, isOver: (row: R) => boolean): Generator<R> {
  for (const row of rows) {
    if (isOver(row)) return;
    yield row;
  }
}

function documentOf({ topups, refunds }: OwnBooks, row: InvoiceRow): Found | undefined {
  const { orgId, reference, number } = row;
  const topup = reference.type === "topup" ? topups.get(orgId, reference.id) : undefined;
  if (topup !== undefined && isPaid(topup)) return undefined;
  const isRefunded = refunds.get(orgId, reference.id)?.status === "refunded";
  if (reference.type === "refund" ? isRefunded : reference.type !== "topup") return undefined;
  const detail = `${number} documents ${reference.type} ${reference.id}`;
  return {
    ...ownFound("invoice_without_payment", row.id, orgId, detail),
    subjectId: row.id,
    currency: row.currency,
    minor: row.totalMinor,
  };
}

/** Numbers of one day follow each other, and those of the day before. */
function compareSeries(
  numbers: ReadonlyMap<string, number[]>,
  endsBefore: Readonly<Record<string, number>> | undefined,
  notes: Notes,
): void {
  Object.assign(notes.seriesEnds, endsBefore);
  for (const [key, list] of numbers) {
    list.sort((a, b) => a - b);
    let last = endsBefore === undefined ? (list[0] ?? 1) - 1 : (endsBefore[key] ?? 0);
    for (const number of list) {
      if (number !== last + 1) {
        const detail = number <= last ? `${number} was used before` : `${number} follows ${last}`;
        notes.add(ownFound("series_gap", `${key} ${number}`, "", `${key}: ${detail}`));
      }
      last = number;
    }
    notes.seriesEnds[key] = last;
  }
}
