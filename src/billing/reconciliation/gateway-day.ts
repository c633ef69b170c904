/**
 * Compares a day of the payment gateways with our books, both ways. What a payment gateway lists is looked up here by its id,
 * whatever day we wrote it on; what we have of the day and the list lacks is asked for by its id. So nothing depends on whether two
 * clocks agree on midnight.
 */
import { moneyText } from "../../base/currency.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { DisputeTable } from "../disputes/dispute.ts";
import type { ParkedPayments } from "../parked.ts";
import {
  type DayLine,
  type GatewayId,
  type GatewayRefund,
  type Notice,
  orMissing,
  type PaymentGateway,
} from "../payments/gateway.ts";
import type { RefundRow } from "../refunds/refund.ts";
import type { RefundTables } from "../refunds/tables.ts";
import type { TopupTables } from "../topups/tables.ts";
import { isPaid, type TopupRow } from "../topups/topup.ts";
import { aboutRefund, aboutTopup, eachRow, type Found, type Notes } from "./notes.ts";

export type Subject = Exclude<Notice["subject"], { kind: "none" }>;

export interface GatewayBooks {
  readonly topups: TopupTables;
  readonly refunds: RefundTables;
  readonly disputes: DisputeTable;
  readonly parked: ParkedPayments;
  readonly ledger: Pick<Book, "byReference">;
  /** Those that are configured. */
  readonly gateways: () => readonly PaymentGateway[];
  /** Reads what a payment gateway has of something, and follows it, as after a webhook. */
  readonly follow: (gateway: GatewayId, subject: Subject, signal: AbortSignal) => Promise<void>;
}

export interface DayOf {
  readonly day: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
}

/** Lines around the day are read too: what we wrote down shortly before or after midnight needs no question then. */
const MARGIN_MS = 2 * 3_600_000;

/** @throws GatewayError */
export async function compareGateways(books: GatewayBooks, day: DayOf, notes: Notes): Promise<void> {
  const seen = new Set<string>();
  for (const gateway of books.gateways()) {
    const span = { fromMs: day.fromMs - MARGIN_MS, toMs: day.toMs + MARGIN_MS };
    for await (const line of gateway.linesOf(span, { signal: day.signal })) {
      seen.add(`${gateway.id} ${line.kind} ${line.ref}`);
      if (line.atMs >= day.fromMs && line.atMs < day.toMs) {
        const ended = await endOf(books, gateway, line, day.signal, notes);
        lineOfDay({ books, gateway: gateway.id, notes }, line, ended);
      }
      await notes.rest();
    }
    for await (const { amount, feeMinor } of gateway.settlementsOf(day, { signal: day.signal }))
      notes.sum("gateway_settlements", amount, feeMinor);
  }
  await compareOurs(books, day, notes, seen);
}

/** How a refund ended. Its line is written when it begins, so it may still be pending, or have failed since. */
async function endOf(
  { topups, refunds }: GatewayBooks,
  gateway: PaymentGateway,
  { kind, ref, paymentRef }: DayLine,
  signal: AbortSignal,
  notes: Notes,
): Promise<GatewayRefund["state"]> {
  const isOurs = topups.ofPayment(gateway.id, paymentRef) !== undefined;
  const isSettled = refunds.ofRef(gateway.id, ref)?.status === "refunded";
  if (kind !== "refund" || !isOurs || isSettled || !notes.mayAsk()) return "refunded";
  return (await orMissing(gateway.readRefund(ref, { signal })))?.state ?? "refunded";
}

function lineOfDay(
  { books, gateway, notes }: { books: GatewayBooks; gateway: GatewayId; notes: Notes },
  given: DayLine,
  ended: GatewayRefund["state"],
): void {
  // Adapters may list what went back as negative.
  const line = { ...given, amount: { ...given.amount, minor: Math.abs(given.amount.minor) } };
  const { kind, ref, reference } = line;
  notes.sum(`gateway_${kind}s`, line.amount, line.feeMinor);
  const again = () => CHECKS[kind](books, gateway, line, ended);
  const subject: Subject = { kind, ref, reference };
  notes.add(again(), { again, heal: (signal) => books.follow(gateway, subject, signal) });
}

type Check = (
  books: GatewayBooks,
  gateway: GatewayId,
  line: DayLine,
  /** How a refund ended. */
  ended: GatewayRefund["state"],
) => Found | undefined;

const CHECKS: Readonly<Record<DayLine["kind"], Check>> = {
  payment: paymentOf,
  refund: refundOf,
  dispute: disputeOf,
};

/** A finding about a line. */
const found = (
  kind: Found["kind"],
  gateway: GatewayId,
  { ref, amount }: DayLine,
  detail: string,
  row?: Pick<TopupRow, "id" | "orgId">,
): Found => ({
  kind,
  gateway,
  ref,
  detail,
  currency: amount.currency,
  minor: amount.minor,
  orgId: row?.orgId ?? "",
  topupId: row?.id ?? "",
  subjectId: row?.id ?? "",
});

const isSame = (row: TopupRow, { amount }: DayLine): boolean =>
  row.quote.currency === amount.currency && row.quote.totalMinor === amount.minor;

const asked = ({ quote }: TopupRow): string => moneyText(quote.totalMinor, quote.currency);
const said = ({ amount }: DayLine): string => moneyText(amount.minor, amount.currency);

function paymentOf({ topups, parked }: GatewayBooks, gateway: GatewayId, line: DayLine): Found | undefined {
  const credited = topups.ofPayment(gateway, line.ref);
  if (credited !== undefined && isPaid(credited)) {
    const [kind, detail] = isSame(credited, line)
      ? (["fee_differs", `The fee is ${line.feeMinor}, and was ${credited.feeMinor}`] as const)
      : (["amount_differs", `Paid ${said(line)}, credited ${asked(credited)}`] as const);
    if (kind === "fee_differs" && !isOtherFee(credited, line)) return undefined;
    return found(kind, gateway, line, detail, credited);
  }
  const state = stateOf(parked, gateway, line.ref);
  if (state === "closed") return undefined;
  const row = line.reference === "" ? undefined : topups.find(line.reference);
  if (row !== undefined && !isPaid(row) && !isSame(row, line))
    return {
      ...found("amount_differs", gateway, line, `Paid ${said(line)}, asked for ${asked(row)}`, row),
      state,
    };
  const detail =
    row === undefined
      ? `A payment of ${said(line)} that no top-up asked for`
      : isPaid(row)
        ? `A second payment of ${said(line)}: the top-up was paid by ${row.paymentRef}`
        : `A payment of ${said(line)}: the top-up is ${row.status}`;
  return { ...found("paid_not_credited", gateway, line, detail, row), state };
}

/**
 * `closed`: an operator has said what became of it. What only an earlier reconciliation parked may be healed by now: it is `open`.
 */
function stateOf(parked: ParkedPayments, gateway: GatewayId, ref: string): "open" | "parked" | "closed" {
  const rows = parked.of(gateway, ref);
  const open = rows.filter(({ closedAtMs }) => closedAtMs === null);
  if (rows.length > 0 && open.length === 0) return "closed";
  return open.some(({ reason }) => reason !== "reconciliation") ? "parked" : "open";
}

/** Some fees are not known when the payment is credited. */
const isOtherFee = (row: TopupRow, { feeMinor }: DayLine): boolean =>
  row.feeMinor !== 0 && feeMinor !== 0 && row.feeMinor !== feeMinor;

function refundOf(
  { topups, refunds, parked }: GatewayBooks,
  gateway: GatewayId,
  line: DayLine,
  ended: GatewayRefund["state"],
): Found | undefined {
  const topup = topups.ofPayment(gateway, line.paymentRef);
  // What was never credited has no credit to take back.
  if (topup === undefined || !isPaid(topup)) return undefined;
  const byReference = line.reference === "" ? undefined : refunds.find(line.reference);
  const row = refunds.ofRef(gateway, line.ref) ?? byReference;
  if (row?.status !== "refunded") {
    // No money has gone back, or not yet.
    if (ended === "failed" || (ended === "pending" && row?.status === "pending")) return undefined;
    const state = stateOf(parked, gateway, line.ref);
    if (state === "closed") return undefined;
    const detail = `Refunded ${said(line)}; here it is ${row === undefined ? "not known" : row.status}`;
    return { ...found("refund_unknown", gateway, line, detail, topup), subjectId: row?.id ?? "", state };
  }
  if (row.totalMinor === line.amount.minor && row.currency === line.amount.currency) return undefined;
  const detail = `Refunded ${said(line)}, here ${moneyText(row.totalMinor, row.currency)}`;
  return { ...found("amount_differs", gateway, line, detail, topup), subjectId: row.id };
}

function disputeOf(
  { topups, disputes, ledger }: GatewayBooks,
  gateway: GatewayId,
  line: DayLine,
): Found | undefined {
  const topup = topups.ofPayment(gateway, line.paymentRef);
  if (topup === undefined || !isPaid(topup)) return undefined;
  const row = disputes.get(topup.id, line.ref);
  if (row === undefined) return found("dispute_unknown", gateway, line, `Disputed: ${said(line)}`, topup);
  if (row.minor !== line.amount.minor) {
    const detail = `Disputed ${said(line)}, here ${moneyText(row.minor, topup.quote.currency)}`;
    return found("amount_differs", gateway, line, detail, topup);
  }
  for (let move = 1; move <= row.moves; move++)
    if (ledger.byReference(topup.orgId, "dispute", `${line.ref}:${move}`) === undefined)
      return found(
        "no_ledger_entry",
        gateway,
        line,
        `Move ${move} of the dispute is not in the ledger`,
        topup,
      );
  return undefined;
}

/** Which of ours the payment gateways' lists lack. */
async function compareOurs(
  books: GatewayBooks,
  { day, signal }: DayOf,
  notes: Notes,
  seen: ReadonlySet<string>,
): Promise<void> {
  const byId = new Map(books.gateways().map((gateway) => [gateway.id as string, gateway]));
  const toAsk = (row: { gateway: string }, key: string): PaymentGateway | undefined => {
    if (row.gateway === "offline" || seen.has(key)) return undefined;
    const gateway = byId.get(row.gateway);
    if (gateway === undefined) notes.isComplete = false;
    return gateway !== undefined && notes.mayAsk() ? gateway : undefined;
  };
  await eachRow<TopupRow>(
    notes,
    (last) => books.topups.paidOn(day, last?.id),
    async (row) => {
      const gateway = toAsk(row, `${row.gateway} payment ${row.paymentRef}`);
      if (gateway !== undefined) notes.add(await isThere(gateway, row, signal));
    },
  );
  await eachRow<RefundRow>(
    notes,
    (last) => books.refunds.settledOn(day, last?.id),
    async (row) => {
      const gateway = toAsk(row, `${row.gateway} refund ${row.gatewayRef}`);
      if (gateway !== undefined) notes.add(await isRefunded(gateway, row, signal));
    },
  );
}

async function isThere(
  gateway: PaymentGateway,
  row: TopupRow,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const { currency, totalMinor: minor } = row.quote;
  const of = aboutTopup(row);
  const payment = await orMissing(gateway.readPayment(row.paymentRef, { signal }));
  if (payment === undefined) return of("credited_not_paid", "The payment gateway does not know the payment");
  const { state, total } = payment;
  if (state !== "paid") return of("credited_not_paid", `The payment gateway says that it is ${state}`);
  if (total.currency === currency && total.minor === minor) return undefined;
  return of("amount_differs", `Paid ${moneyText(total.minor, total.currency)}, credited ${asked(row)}`);
}

async function isRefunded(
  gateway: PaymentGateway,
  row: RefundRow,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const made = await orMissing(gateway.refundsOf(row.paymentRef, { signal }));
  const one = made?.find(({ ref }) => ref === row.gatewayRef);
  const of = aboutRefund(row);
  if (one?.state !== "refunded") {
    const state = one === undefined ? "does not know it" : `says that it is ${one.state}`;
    return of("refund_missing", `The payment gateway ${state}`);
  }
  if (one.total.minor === row.totalMinor && one.total.currency === row.currency) return undefined;
  return of("amount_differs", `Refunded ${moneyText(one.total.minor, one.total.currency)}`);
}
