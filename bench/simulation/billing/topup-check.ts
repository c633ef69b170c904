/** One top-up: what the payment service has of it, against what the gateway made of it. */

import type { SimDispute, SimPayment, SimRefund } from "../../../simulator/payments/state.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { DisputeRow } from "../../../src/billing/disputes/dispute.ts";
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import type { ParkedReason } from "../../../src/billing/parked.ts";
import type { RefundRow } from "../../../src/billing/refunds/refund.ts";
import { isPaid, type TopupRow } from "../../../src/billing/topups/topup.ts";
import { openLedger } from "../../../src/credits/ledger/ledger.ts";
import type { Store } from "../../../src/store/store.ts";
import { type Customer, taxDue } from "./customers.ts";
import { must } from "./figures.ts";
import type { NightlyCheck } from "./nightly.ts";
import { checkConverted } from "./rates-check.ts";
import type { Rooms } from "./rooms.ts";
import type { World } from "./world.ts";

export interface TopupFacts {
  readonly check: NightlyCheck;
  readonly world: World;
  readonly rooms: Rooms;
  readonly store: Store;
  readonly reference: string;
  readonly payments: readonly SimPayment[];
  refundsOf(paymentId: string): readonly SimRefund[];
  disputesOf(paymentId: string): readonly SimDispute[];
  /** Whether what one side knew then must be done by now. */
  isDue(sinceMs: number): boolean;
}

export interface TopupOutcome {
  /** Nothing is under way: it is looked at again when something changes. */
  readonly isDone: boolean;
  /** For the end, when nothing may be under way any more. */
  readonly waitsFor: string;
  /** Empty where there is no top-up. */
  readonly orgId: string;
  readonly givenMicroUsd: number;
  readonly isPaid: boolean;
  /** Refunds of ours that have ended with the money gone back. */
  readonly refunded: readonly string[];
}

/** The job looks at a checkout at least this often until it is over. */
const POLL_MS = 3 * HOUR_MS;

/** @throws Deviation */
export function checkTopup(facts: TopupFacts): TopupOutcome {
  const { rooms, reference, payments } = facts;
  const row = rooms.topups.find(reference);
  const waits = payments.filter((payment) => !checkPayment(facts, row, payment));
  const none = { orgId: "", givenMicroUsd: 0, isPaid: false, refunded: [], waitsFor: textOf(waits) };
  if (row === undefined) return { ...none, isDone: waits.length === 0 };
  const { id, orgId } = row;
  if (!isPaid(row)) {
    checkUnpaid(facts, row);
    // With a parked payment it waits for an operator.
    const isParked = payments.some((payment) => facts.check.parkedOf(payment.id).length > 0);
    return { ...none, isDone: waits.length === 0 && (row.status !== "pending" || isParked), orgId };
  }
  const payment = payments.find((one) => one.id === row.paymentRef);
  must(payment?.state === "paid", () => `${id} is ${row.status}, but ${row.paymentRef} is ${payment?.state}`);
  checkCredited(facts, row, payment);
  const refunds = [...rooms.refunds.ofTopup(id)];
  const isRefundsDone = checkRefunds(facts, row, payment, refunds);
  const disputed = disputeRows(facts, id);
  const isDisputesDone = checkDisputes(facts, payment, disputed);
  const takenMicroUsd = disputed.reduce((sum, one) => sum + one.takenMicroUsd, 0);
  const givenMicroUsd = row.quote.creditsMicroUsd - row.refundedMicroUsd - takenMicroUsd;
  const isSettled = waits.length === 0 && isRefundsDone && isDisputesDone;
  if (isSettled) checkKept(facts, row, payment, givenMicroUsd);
  return {
    isDone: isSettled,
    orgId,
    givenMicroUsd,
    isPaid: true,
    waitsFor: isRefundsDone ? (isDisputesDone ? textOf(waits) : "a dispute") : "a refund",
    refunded: refunds.filter(({ status }) => status === "refunded").map((refund) => refund.id),
  };
}

const textOf = (payments: readonly SimPayment[]): string =>
  payments.map(({ id, state }) => `payment ${id}, ${state}`).join("; ");

/** @returns whether it is credited or parked, or nothing came of it */
function checkPayment(facts: TopupFacts, row: TopupRow | undefined, payment: SimPayment): boolean {
  const { check, world, isDue } = facts;
  const parked = check.parkedOf(payment.id);
  const what = () => `payment ${payment.id} of ${facts.reference}`;
  must(parked.length <= 1, () => `${what()} is parked twice: ${parked.map(({ reason }) => reason)}`);
  if (payment.state === "authorized") return !isFit(row, payment) || mustBeTaken(facts, row, payment);
  if (payment.state !== "paid") {
    must(parked.length === 0, () => `${what()} is ${payment.state}, and parked`);
    return payment.state !== "processing";
  }
  if (row?.paymentRef === payment.id) {
    must(parked.length === 0, () => `${what()} is credited, and parked: ${parked[0]?.reason}`);
    return true;
  }
  const [one] = parked;
  if (one === undefined) {
    const toldAtMs = world.parts.service.toldAt(payment.id);
    must(
      toldAtMs === undefined || !isDue(toldAtMs),
      () => `${what()} is paid, told, and neither credited nor parked`,
    );
    const isPolled = isFirst(facts, payment) && row !== undefined && payment.createdAtMs < row.expiresAtMs;
    must(
      !isPolled || !isDue((payment.paidAtMs ?? 0) + POLL_MS),
      () => `${what()} is paid, and no poll found it`,
    );
    return false;
  }
  const reasons = expectedReasons(row, payment);
  must(reasons.includes(one.reason), () => `${what()} is parked as ${one.reason}, not as ${reasons}`);
  return true;
}

const isFirst = ({ payments }: TopupFacts, payment: SimPayment): boolean =>
  payments.find(({ state }) => state === "paid") === payment;

const isFit = (row: TopupRow | undefined, { amount, currency }: SimPayment): boolean =>
  row !== undefined && row.quote.totalMinor === amount && row.quote.currency === currency;

/** An authorization that fits is taken, unless the top-up was paid meanwhile. */
function mustBeTaken({ isDue }: TopupFacts, row: TopupRow | undefined, payment: SimPayment): boolean {
  const isLate = row !== undefined && !isPaid(row) && isDue(payment.createdAtMs + DAY_MS);
  must(!isLate, () => `${payment.id} of ${row?.id} is authorized since long, and was not taken`);
  return row !== undefined && isPaid(row);
}

function expectedReasons(row: TopupRow | undefined, payment: SimPayment): ParkedReason[] {
  if (row === undefined) return ["unknown_payment"];
  const reasons: ParkedReason[] = isPaid(row) ? ["paid_twice"] : [];
  if (payment.currency !== row.quote.currency) return [...reasons, "currency_differs"];
  return payment.amount === row.quote.totalMinor ? reasons : [...reasons, "amount_differs"];
}

function checkUnpaid({ rooms, store }: TopupFacts, { id, orgId }: TopupRow): void {
  const entry = openLedger(store).byReference(orgId, "topup", id);
  must(entry === undefined, () => `${id} is not paid, but the ledger has it`);
  must(rooms.invoiceTables.idOfTopup(orgId, id) === undefined, () => `${id} is not paid, but has an invoice`);
  must(rooms.tallies.of("topup.paid", id) === 0, () => `${id} is not paid, but an event says so`);
}

/** Amounts, credit, invoice, event and mail of a paid top-up. */
function checkCredited(facts: TopupFacts, row: TopupRow, payment: SimPayment): void {
  const { rooms, store, check } = facts;
  const { id, orgId, quote, createdAtMs } = row;
  must(isFit(row, payment), () => `${id} was credited for ${payment.amount} ${payment.currency}`);
  const entry = openLedger(store).byReference(orgId, "topup", id);
  must(
    entry?.amountMicroUsd === quote.creditsMicroUsd,
    () => `${id}: the ledger has ${entry?.amountMicroUsd}`,
  );
  checkConverted(facts.world, id, quote.creditsMicroUsd, {
    minor: quote.amountMinor,
    currency: quote.currency,
    fxDay: quote.fxDay,
    atMs: createdAtMs,
  });
  const customer = check.customers.get(orgId) as Customer;
  const invoice = rooms.invoiceTables.byReference(orgId, { type: "topup", id });
  must(
    invoice !== undefined && invoice.totalMinor === payment.amount,
    () => `${id}: invoice ${invoice?.totalMinor}`,
  );
  const due = taxDue(customer, quote.amountMinor, createdAtMs);
  must(
    isSame(due, invoice.heads),
    () => `${id}: tax ${JSON.stringify(invoice.heads)}, due ${JSON.stringify(due)}`,
  );
  must(rooms.tallies.of("topup.paid", id) === 1, () => `${id}: ${rooms.tallies.of("topup.paid", id)} events`);
  checkMail(facts, invoice);
}

const isSame = (one: InvoiceRow["heads"], other: InvoiceRow["heads"]): boolean =>
  one.cgstMinor === other.cgstMinor && one.sgstMinor === other.sgstMinor && one.igstMinor === other.igstMinor;

/** A document goes out once: at its issue, or when it is registered. */
function checkMail({ rooms, isDue }: TopupFacts, row: InvoiceRow): void {
  const mails = rooms.tallies.of("mail", row.id);
  const isRegistered = row.irnStatus === "generated" || row.irnStatus === "not_required";
  must(mails === (isRegistered ? 1 : 0), () => `${row.number} is ${row.irnStatus}, and has ${mails} mails`);
  must(row.irnStatus !== "failed", () => `${row.number} was refused by the portal`);
  must(isRegistered || !isDue(row.issuedAtMs + DAY_MS), () => `${row.number} is not registered since a day`);
}

/** @returns whether nothing is under way */
function checkRefunds(
  facts: TopupFacts,
  row: TopupRow,
  payment: SimPayment,
  refunds: readonly RefundRow[],
): boolean {
  const { rooms, check, isDue, world } = facts;
  const live = refunds.filter(({ status }) => status !== "failed");
  const sum = (of: (refund: RefundRow) => number) => live.reduce((total, refund) => total + of(refund), 0);
  must(
    sum((one) => one.amountMinor) === row.refundedMinor,
    () => `${row.id}: refunds are not ${row.refundedMinor}`,
  );
  must(
    row.refundedMinor <= row.quote.amountMinor,
    () => `${row.id}: refunded ${row.refundedMinor} before tax`,
  );
  must(sum((one) => one.totalMinor) <= payment.amount, () => `${row.id}: refunds exceed ${payment.amount}`);
  const credit = sum((one) => one.creditsMicroUsd);
  must(
    credit === row.refundedMicroUsd && credit <= row.quote.creditsMicroUsd,
    () => `${row.id}: refunds took ${credit}`,
  );
  checkNotes(facts, row, refunds);
  let isDone = refunds.every(({ status }) => status !== "pending");
  for (const made of facts.refundsOf(payment.id)) {
    const ours =
      made.reference === ""
        ? refunds.find(({ gatewayRef }) => gatewayRef === made.id)
        : rooms.refunds.find(made.reference);
    const parked = check.parkedOf(made.id);
    if (parked.length > 0) {
      world.parts.figures.add("checks: refunds seen parked");
      continue;
    }
    const isOk =
      ours === undefined
        ? made.state === "failed"
        : made.state === "failed"
          ? ours.status === "failed" || ours.gatewayRef !== made.id
          : ours.status === made.state && ours.totalMinor === made.amount;
    if (isOk) continue;
    isDone = false;
    const toldAtMs = world.parts.service.toldAt(made.id);
    must(
      toldAtMs === undefined || !isDue(toldAtMs),
      () =>
        `refund ${made.id} (${made.reference}) of ${row.id} is ${made.state} of ${made.amount}, ours ${describe(ours)}`,
    );
  }
  return isDone;
}

const describe = (row: RefundRow | undefined): string =>
  row === undefined ? "is not there" : `${row.id} is ${row.status} of ${row.totalMinor}`;

function checkNotes(
  { rooms }: TopupFacts,
  { id, orgId, quote }: TopupRow,
  refunds: readonly RefundRow[],
): void {
  const heads = { cgstMinor: 0, sgstMinor: 0, igstMinor: 0 };
  for (const refund of refunds) {
    const note = rooms.invoiceTables.byReference(orgId, { type: "refund", id: refund.id });
    must(
      (note !== undefined) === (refund.status === "refunded"),
      () => `${refund.id} is ${refund.status}: ${note?.number}`,
    );
    if (note === undefined) continue;
    must(
      note.totalMinor === refund.totalMinor,
      () => `${note.number} is of ${note.totalMinor}, ${refund.id} of ${refund.totalMinor}`,
    );
    must(rooms.tallies.of("refund.settled", refund.id) === 1, () => `${refund.id} has no event, or more`);
    for (const head of ["cgstMinor", "sgstMinor", "igstMinor"] as const) heads[head] += note.heads[head];
  }
  for (const head of ["cgstMinor", "sgstMinor", "igstMinor"] as const)
    must(heads[head] <= quote.heads[head], () => `${id}: ${head} of the notes exceeds the invoice`);
}

function disputeRows({ store }: TopupFacts, topupId: string): DisputeRow[] {
  const range = { start: [topupId], end: [topupId, "~"] };
  return Array.from(store.table<DisputeRow>("billing.disputes").range(range), ({ value }) => value);
}

/** @returns whether nothing is under way */
function checkDisputes(facts: TopupFacts, payment: SimPayment, rows: readonly DisputeRow[]): boolean {
  const { world, isDue, check } = facts;
  let isDone = true;
  for (const dispute of facts.disputesOf(payment.id)) {
    const ours = rows.find(({ ref }) => ref === dispute.id);
    if (ours?.state !== dispute.state) {
      isDone = false;
      const toldAtMs = world.parts.service.toldAt(dispute.id);
      must(
        toldAtMs === undefined || !isDue(toldAtMs),
        () => `dispute ${dispute.id} of ${payment.reference} is ${dispute.state}, ours ${ours?.state}`,
      );
    }
    const isWarned = ours?.state === "warning";
    must(
      !isWarned || check.parkedOf(dispute.id).length === 1,
      () => `the warning ${dispute.id} is not parked`,
    );
    for (const { reason } of check.parkedOf(dispute.id))
      must(reason === "fraud_warning", () => `dispute ${dispute.id} is parked as ${reason}`);
  }
  return isDone;
}

/** Money that stayed has its credit, and no more than that. */
function checkKept(facts: TopupFacts, row: TopupRow, payment: SimPayment, keptMicroUsd: number): void {
  const { check } = facts;
  const refunds = facts.refundsOf(payment.id);
  if (refunds.some(({ id }) => check.parkedOf(id).length > 0)) return;
  const away = facts
    .disputesOf(payment.id)
    .filter(({ state }) => state === "withdrawn" || state === "lost")
    .reduce((sum, { amount }) => sum + amount, 0);
  const moneyMinor = Math.max(0, payment.amount - payment.refundedMinor - away);
  const { creditsMicroUsd } = row.quote;
  const exact = Number((BigInt(creditsMicroUsd) * BigInt(moneyMinor)) / BigInt(payment.amount));
  // For each refund and dispute the credit is rounded to a minor unit, up to two of tax.
  const roundings = 1 + refunds.length + facts.disputesOf(payment.id).length;
  const most = Math.ceil((creditsMicroUsd / payment.amount) * 3 * roundings) + roundings;
  must(
    Math.abs(keptMicroUsd - exact) <= most,
    () =>
      `${row.id} keeps ${keptMicroUsd} micro-USD of ${creditsMicroUsd}, its money ${moneyMinor} of ${payment.amount}: ${exact}`,
  );
}
