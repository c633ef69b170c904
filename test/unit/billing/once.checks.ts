/** What must hold once nothing is under way any more: everything happened as often as the payment service says, and no oftener. */
import { expect } from "vitest";
import type { SimPayment, SimRefund } from "../../../simulator/payments/state.ts";
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import type { RefundRow } from "../../../src/billing/refunds/refund.ts";
import { isPaid, settledStatus, type TopupRow } from "../../../src/billing/topups/topup.ts";
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import { audit, wholeLedger } from "../../support/credits/fixtures.ts";
import { HOUSE, type PayWorld } from "./once.world.ts";

/** Jobs that are there as long as what they are for. */
const ENDLESS = new Set(["billing.renew", "billing.expire_included", "billing.auto_topup_sweep"]);

/** Charges for calls are written together, and have no reference. */
type Entry = LedgerEntry & { readonly refId?: string };

export interface Books {
  readonly ledger: readonly Entry[];
  readonly events: readonly { readonly type: string; readonly id: string }[];
}

/** @returns its entries and events @throws AssertionError */
export function checkOrg(world: PayWorld, orgId: string): Books {
  const { rooms } = world;
  if (world.failures.length > 0) throw world.failures[0];
  const ledger: readonly Entry[] = wholeLedger(rooms.book, orgId);
  expect(audit(ledger)).toBe(rooms.book.balance(orgId).balanceMicroUsd);
  const invoices = [...rooms.invoiceTables.of(orgId)];
  for (const { id, number, kind } of invoices)
    expect([number, rooms.mails.get([id]) ?? 0]).toEqual([
      number,
      kind === "statement" ? expect.any(Number) : 1,
    ]);
  const events = rooms
    .eventsOf(orgId)
    .map(({ type, data }) => ({ type, id: (data as { id?: string }).id ?? "" }));
  const books = { ledger, events };
  for (const row of rooms.topups.of(orgId)) checkTopup(world, books, row);
  // A document is of a payment, a refund or a month, and of each once.
  const references = invoices.map(({ reference }) => `${reference.type} ${reference.id}`);
  expect(references).toEqual([...new Set(references)]);
  const ofBilling = [...rooms.jobTables.after()].filter(({ kind }) => !ENDLESS.has(kind));
  expect(ofBilling).toEqual([]);
  return books;
}

/** Numbers of documents of the whole world: from one on, without a gap. */
export function checkSeries({ rooms }: PayWorld): void {
  const rows = rooms.store.table<InvoiceRow>("invoices.rows").range({});
  const numbers = Array.from(rows, ({ value }) => value.number);
  expect(numbers.length).toBe(new Set(numbers).size);
  const heads = Map.groupBy(numbers, (number) => number.slice(0, number.lastIndexOf("/")));
  for (const [head, of] of heads)
    expect([head, Math.max(...of.map((number) => Number(number.slice(head.length + 1))))]).toEqual([
      head,
      of.length,
    ]);
}

const sumOf = (ledger: readonly Entry[], isOf: (entry: Entry) => boolean): number =>
  ledger.filter(isOf).reduce((sum, { amountMicroUsd }) => sum + amountMicroUsd, 0);

const countOf = ({ events }: Books, type: string, id: string): number =>
  events.filter((event) => event.type === type && event.id === id).length;

const parkedAs = ({ rooms }: PayWorld, ref: string): string[] =>
  rooms.parked.of(HOUSE, ref).map(({ reason }) => reason);

function checkTopup(world: PayWorld, books: Books, row: TopupRow): void {
  const { rooms, engine } = world;
  const { id, orgId, quote } = row;
  const payments = [...engine.state.all("payments")].filter(({ reference }) => reference === id);
  const paid = payments.filter(({ state }) => state === "paid");
  const once = paid.length > 0 ? 1 : 0;
  const credited = books.ledger.filter(({ kind, refId }) => kind === "topup" && refId === id);
  expect([id, credited.map(({ amountMicroUsd }) => amountMicroUsd)]).toEqual([
    id,
    once === 1 ? [quote.creditsMicroUsd] : [],
  ]);
  expect([id, "paid", isPaid(row)]).toEqual([id, "paid", once === 1]);
  const invoice = rooms.invoiceTables.byReference(orgId, { type: "topup", id });
  expect(invoice?.totalMinor).toBe(once === 1 ? quote.totalMinor : undefined);
  expect([id, "topup.paid", countOf(books, "topup.paid", id)]).toEqual([id, "topup.paid", once]);
  expect(countOf(books, "topup.failed", id)).toBeLessThanOrEqual(1);
  // The job that watches it may have been given up by nobody: it is paid, or its time is over.
  expect(row.status).not.toBe("pending");
  if (once === 0) return;
  const first = paid.find((payment) => payment.id === row.paymentRef) as SimPayment;
  expect(first).toBeDefined();
  for (const payment of paid)
    expect(parkedAs(world, payment.id)).toEqual(payment === first ? [] : ["paid_twice"]);
  checkRefunds(world, books, row, first);
  checkDisputes(world, books, row, first);
}

function checkRefunds(world: PayWorld, books: Books, row: TopupRow, payment: SimPayment): void {
  const { rooms, engine } = world;
  const ours = [...rooms.refunds.ofTopup(row.id)];
  const live = ours.filter(({ status }) => status !== "failed");
  expect(live.reduce((sum, { amountMinor }) => sum + amountMinor, 0)).toBe(row.refundedMinor);
  expect(live.reduce((sum, { creditsMicroUsd }) => sum + creditsMicroUsd, 0)).toBe(row.refundedMicroUsd);
  expect(row.refundedMinor).toBeLessThanOrEqual(row.quote.amountMinor);
  expect(row.refundedMicroUsd).toBeLessThanOrEqual(row.quote.creditsMicroUsd);
  const keys = ours.map(({ idempotencyKey }) => idempotencyKey).filter((key) => key !== "");
  expect(keys).toEqual([...new Set(keys)]);
  for (const refund of ours) checkRefund(world, books, refund);
  const made = engine.refundsOf(payment.id);
  for (const one of made)
    expect([one.id, one.state, endOf(world, ours, one)]).toEqual([one.id, one.state, "as ours"]);
  // The money of each refund of ours went back once at most.
  for (const { id } of ours) {
    const gone = made.filter(({ reference, state }) => reference === id && state !== "failed");
    expect([id, gone.length <= 1]).toEqual([id, true]);
  }
}

/** Once each: what a refund takes, gives back, documents and tells. */
function checkRefund({ rooms }: PayWorld, books: Books, { id, orgId, status, ...row }: RefundRow): void {
  const isDone = status === "refunded" ? 1 : 0;
  expect([id, status]).not.toEqual([id, "pending"]);
  const taken = books.ledger.filter(({ kind, refId }) => kind === "refund" && refId === id);
  expect([id, taken.map(({ amountMicroUsd }) => amountMicroUsd)]).toEqual([
    id,
    row.creditsMicroUsd > 0 ? [-row.creditsMicroUsd] : [],
  ]);
  const kept = sumOf(books.ledger, ({ refId }) => refId === id);
  expect([id, Math.abs(kept)]).toEqual([id, isDone * row.creditsMicroUsd]);
  const note = rooms.invoiceTables.byReference(orgId, { type: "refund", id });
  expect([id, note?.taxableMinor]).toEqual([id, isDone === 1 ? row.amountMinor : undefined]);
  expect([id, countOf(books, "refund.settled", id)]).toEqual([id, isDone]);
  expect([id, countOf(books, "refund.failed", id)]).toEqual([id, 1 - isDone]);
}

/** @returns how a refund of the service fits what we have of it */
function endOf(world: PayWorld, ours: readonly RefundRow[], made: SimRefund): string {
  const parked = parkedAs(world, made.id);
  const row = ours.find(({ id, gatewayRef }) => id === made.reference || gatewayRef === made.id);
  if (parked.length > 1) return `parked ${parked.length} times`;
  const isOurs = row?.gatewayRef === made.id;
  if (made.state === "pending") return "pending";
  // It was done and documented before it failed, or it never was.
  if (made.state === "failed" && isOurs && row.status === "refunded")
    return parked[0] === "refund_failed_late" ? "as ours" : "done, and failed later without a note of it";
  if (made.state === "failed")
    return parked.length === 0 || !isOurs ? "as ours" : `failed, parked: ${parked}`;
  if (isOurs && parked.length === 0) return row.status === "refunded" ? "as ours" : `ours is ${row.status}`;
  return parked[0] === "refund_does_not_fit" ? "as ours" : `is not known; parked: ${parked}`;
}

function checkDisputes(world: PayWorld, books: Books, row: TopupRow, payment: SimPayment): void {
  const { rooms, engine } = world;
  const made = [...engine.state.all("disputes")].filter(({ paymentId }) => paymentId === payment.id);
  const ours = rooms.disputes.of(row.id);
  expect(ours.map(({ ref, state }) => [ref, state]).sort()).toEqual(
    made.map(({ id, state }) => [id, state]).sort(),
  );
  const isOpen = (state: string) => state === "open" || state === "withdrawn" || state === "lost";
  expect([...row.openDisputes].sort()).toEqual(
    ours
      .filter(({ state }) => isOpen(state))
      .map(({ ref }) => ref)
      .sort(),
  );
  expect(row.status).toBe(settledStatus(row));
  let takenMicroUsd = 0;
  for (const { ref, takenMicroUsd: taken, state } of ours) {
    const posted = sumOf(books.ledger, ({ refId }) => refId?.startsWith(`${ref}:`) === true);
    expect([ref, Math.abs(posted)]).toEqual([ref, taken]);
    if (state !== "withdrawn" && state !== "lost") expect([ref, taken]).toEqual([ref, 0]);
    takenMicroUsd += taken;
  }
  // A warning alone is parked, and no dispute.
  const told = books.events.filter(({ type, id }) => type === "topup.disputed" && id === row.id).length;
  expect(told).toBe(ours.filter(({ state }) => state !== "warning").length);
  checkKept(world, row, payment, takenMicroUsd);
}

/** Money that stayed has its credit, and no more than that, but for roundings. */
function checkKept(world: PayWorld, row: TopupRow, payment: SimPayment, takenMicroUsd: number): void {
  const { engine } = world;
  const refunds = engine.refundsOf(payment.id);
  if (refunds.some(({ id }) => parkedAs(world, id).length > 0)) return;
  const disputes = [...engine.state.all("disputes")].filter(({ paymentId }) => paymentId === payment.id);
  const away = disputes
    .filter(({ state }) => state === "withdrawn" || state === "lost")
    .reduce((sum, { amount }) => sum + amount, 0);
  const { creditsMicroUsd } = row.quote;
  const keptMicroUsd = creditsMicroUsd - row.refundedMicroUsd - takenMicroUsd;
  const moneyMinor = Math.max(0, payment.amount - payment.refundedMinor - away);
  const exact = (creditsMicroUsd * moneyMinor) / payment.amount;
  const most = (creditsMicroUsd / payment.amount + 1) * 3 * (1 + refunds.length + disputes.length);
  expect([row.id, keptMicroUsd, Math.abs(keptMicroUsd - exact) <= most]).toEqual([
    row.id,
    keptMicroUsd,
    true,
  ]);
}
