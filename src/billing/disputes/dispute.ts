/**
 * Disputes: a payer asks the bank for the money back. While the money is withdrawn its credit is too, below zero if it was spent
 * already, so that billed calls stop; it comes back with the money.
 */
import type { Clock } from "../../base/clock.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { Trail } from "../../store/events/trail.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import type { ParkedPayments } from "../parked.ts";
import type { Dispute } from "../payments/gateway.ts";
import { shareUp } from "../rates/rate.ts";
import type { TopupTables } from "../topups/tables.ts";
import { isPaid, settledStatus, type TopupRow, topupWire } from "../topups/topup.ts";
import { topupDisputed } from "./events.ts";

export interface DisputeRow {
  readonly ref: string;
  readonly topupId: string;
  readonly state: Dispute["state"];
  readonly minor: number;
  /** Credit that is withdrawn now. */
  readonly takenMicroUsd: number;
  /** Counts withdrawals and returns: each is an entry of the ledger with a reference of its own. */
  readonly moves: number;
  readonly updatedAtMs: number;
}

export interface DisputeDeps {
  readonly clock: Clock;
  readonly book: Pick<Book, "post">;
  readonly topups: TopupTables;
  readonly disputes: DisputeTable;
  readonly parked: ParkedPayments;
  readonly events: Trail["events"];
  /** Port, in the act: the first dispute or fraud warning stops automatic top-ups. */
  readonly onDispute: (orgId: string) => void;
}

export class DisputeTable extends StoreTables {
  /** [top-up id, the payment gateway's id of the dispute]. */
  readonly #rows = this.store.table<DisputeRow>("billing.disputes");

  get(topupId: string, ref: string): DisputeRow | undefined {
    return this.#rows.get([topupId, ref]);
  }

  of(topupId: string): DisputeRow[] {
    const range = { start: [topupId], end: [topupId, PAST_IDS] };
    return Array.from(this.#rows.range(range), ({ value }) => value);
  }

  /** Only in an act. */
  put(row: DisputeRow): void {
    this.#rows.put([row.topupId, row.ref], row);
  }
}

/** Whether the money is away in a state of a dispute. */
const isWithdrawn = (state: Dispute["state"]): boolean => state === "withdrawn" || state === "lost";

/** Only in an act: makes credit agree with a dispute that was read. The same reading twice changes nothing. */
export function followDispute(deps: DisputeDeps, topupId: string, dispute: Dispute): void {
  const { clock, topups, disputes, events } = deps;
  const topup = topups.find(topupId);
  if (topup === undefined || !isPaid(topup)) return;
  const before = disputes.get(topupId, dispute.ref);
  if (before?.state === dispute.state) return;
  if (before === undefined) deps.onDispute(topup.orgId);
  if (dispute.state === "warning") parkWarning(deps, topup, dispute);
  const row: DisputeRow = before ?? {
    ref: dispute.ref,
    topupId,
    state: dispute.state,
    minor: dispute.amount.minor,
    takenMicroUsd: 0,
    moves: 0,
    updatedAtMs: 0,
  };
  const isAway = isWithdrawn(dispute.state);
  const moved = isAway === row.takenMicroUsd > 0 ? row : move(deps, topup, row, isAway);
  disputes.put({ ...moved, state: dispute.state, updatedAtMs: clock.now() });
  if (dispute.state === "warning") return;
  const next = withDispute(topup, dispute);
  topups.put(next);
  // What this one gave back another one may have a claim to.
  if (!isAway && moved !== row) takeDisputed(deps, topupId);
  if (before === undefined || before.state === "warning") {
    const { ref, state, reason } = dispute;
    const disputed = { ...topupWire(next, next.invoiceId), dispute: { ref, state, reason } };
    events.emit(topupDisputed, topup.orgId, disputed);
  }
}

/** A dispute that is lost stays: the top-up is never refunded any more. */
function withDispute(topup: TopupRow, { ref, state }: Dispute): TopupRow {
  const others = topup.openDisputes.filter((open) => open !== ref);
  const openDisputes = state === "won" || state === "reinstated" ? others : [...others, ref];
  const next = { ...topup, openDisputes };
  return { ...next, status: settledStatus(next) };
}

/** Only in an act, after credit came back from a refund that failed or from a dispute: what a dispute still has a claim to is taken. */
export function takeDisputed(deps: Claiming & Pick<DisputeDeps, "topups">, topupId: string): void {
  const topup = deps.topups.find(topupId);
  if (topup === undefined) return;
  for (const row of deps.disputes.of(topupId))
    if (isWithdrawn(row.state)) deps.disputes.put(claim(deps, topup, row));
}

/**
 * Only in an act, after a refund that was made at the payment gateway took its credit: disputes keep no more than it left, as if it
 * had been told before them.
 */
export function leaveToRefunds(
  { book, disputes, topups }: Claiming & Pick<DisputeDeps, "topups">,
  topupId: string,
): void {
  const topup = topups.find(topupId);
  if (topup === undefined) return;
  const rows = disputes.of(topupId).filter(({ takenMicroUsd }) => takenMicroUsd > 0);
  let over = rows.reduce((sum, { takenMicroUsd }) => sum + takenMicroUsd, topup.refundedMicroUsd);
  over -= topup.quote.creditsMicroUsd;
  for (const row of rows) {
    const amountMicroUsd = Math.min(over, row.takenMicroUsd);
    if (amountMicroUsd <= 0) return;
    over -= amountMicroUsd;
    disputes.put(giveBack({ book }, topup, row, amountMicroUsd));
  }
}

type Claiming = Pick<DisputeDeps, "book" | "disputes">;

/** Posts the withdrawal of credit: all that the dispute is over, as far as refunds and other disputes have left it. */
function claim({ book, disputes }: Claiming, topup: TopupRow, row: DisputeRow): DisputeRow {
  const { id, orgId, quote, refundedMicroUsd } = topup;
  const disputed = shareUp(quote.creditsMicroUsd, Math.min(row.minor, quote.totalMinor), quote.totalMinor);
  const taken = disputes.of(id).reduce((sum, { takenMicroUsd }) => sum + takenMicroUsd, 0);
  const left = quote.creditsMicroUsd - refundedMicroUsd - taken;
  const more = Math.min(disputed - row.takenMicroUsd, left);
  if (more <= 0) return row;
  const moves = row.moves + 1;
  const refId = `${row.ref}:${moves}`;
  book.post(orgId, { kind: "dispute", amountMicroUsd: -more, refType: "dispute", refId, mayOverdraw: true });
  return { ...row, moves, takenMicroUsd: row.takenMicroUsd + more };
}

/** Posts the return of credit. */
function giveBack(
  { book }: Pick<DisputeDeps, "book">,
  { orgId }: TopupRow,
  row: DisputeRow,
  amountMicroUsd: number,
): DisputeRow {
  const moves = row.moves + 1;
  const refId = `${row.ref}:${moves}`;
  book.post(orgId, { kind: "dispute_reversal", amountMicroUsd, refType: "dispute", refId });
  return { ...row, moves, takenMicroUsd: row.takenMicroUsd - amountMicroUsd };
}

/** Posts the withdrawal of credit, or its return. */
const move = (deps: DisputeDeps, topup: TopupRow, row: DisputeRow, isAway: boolean): DisputeRow =>
  isAway ? claim(deps, topup, row) : giveBack(deps, topup, row, row.takenMicroUsd);

function parkWarning(
  { parked, clock }: DisputeDeps,
  { id, orgId, gateway }: TopupRow,
  dispute: Dispute,
): void {
  const { currency, minor } = dispute.amount;
  const detail = `The payment gateway warns of fraud: ${dispute.reason}`.slice(0, 500);
  const given = { gateway, ref: dispute.ref, orgId, topupId: id, currency, minor, detail };
  parked.park({ ...given, reason: "fraud_warning" }, clock.now());
}
