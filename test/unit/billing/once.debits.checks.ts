/**
 * What must hold of debits: seen as the payment service is asked to take money, and counted in its books at the end. Each that it says
 * is paid is credited once; never are two under way, above the cap, above the ceilings, or before the time that was announced.
 */
import { expect } from "vitest";
import type { SimPayment } from "../../../simulator/payments/state.ts";
import { DEBIT_RULES } from "../../../src/billing/auto-topups/auto-topup.ts";
import { isPaid, type TopupRow } from "../../../src/billing/topups/topup.ts";
import { checkOrg } from "./once.checks.ts";
import type { PayWorld } from "./once.world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The service was asked to take the money. */
interface Taking {
  readonly payment: SimPayment;
  readonly atMs: number;
}

/** So that schedules are known to reach what they are for. */
export const reached = { takings: 0, paid: 0, failed: 0, notices: 0, disputes: 0, refunds: 0, orgs: 0 };

export class DebitLog {
  readonly orgId: string;
  readonly #world: PayWorld;
  readonly takings: Taking[] = [];
  /** What was wrong at that moment. */
  readonly wrongs: string[] = [];
  /** Keys with which a mandate was asked for. */
  registrations = 0;

  constructor(world: PayWorld, orgId: string) {
    this.#world = world;
    this.orgId = orgId;
  }

  /** A debit changed at the payment service; that it is seen first is when it was asked for. */
  see(payment: SimPayment): void {
    if (this.takings.some((taking) => taking.payment === payment)) return;
    const others = this.takings.filter((taking) => taking.payment.state === "processing");
    if (others.length > 0) this.wrongs.push(`${payment.id} is taken while ${others[0]?.payment.id} is`);
    this.takings.push({ payment, atMs: this.#world.schedule.now() });
    const { autoTopups, mandates, topups } = this.#world.lastRooms;
    const { debit } = autoTopups.of(this.orgId);
    if (debit?.topupId !== payment.reference || debit.phase !== "confirming")
      this.wrongs.push(`${payment.id} is taken, and ours is ${debit?.topupId} ${debit?.phase}`);
    const pending = [...topups.of(this.orgId)].filter(isUnderWay);
    if (pending.some(({ id }) => id !== payment.reference))
      this.wrongs.push(`${payment.id} is taken while ours are under way: ${pending.map(({ id }) => id)}`);
    if (topups.get(this.orgId, payment.reference)?.gatewayRef !== payment.id)
      this.wrongs.push(`${payment.id} is taken, and not what was prepared last`);
    const mandate = mandates.get(this.orgId, debit?.mandateId ?? "");
    if (mandate?.tokenRef !== payment.mandateId || payment.amount > mandate.capMinor)
      this.wrongs.push(`${payment.id} is above the cap, or of another mandate`);
  }
}

const isUnderWay = ({ source, status }: TopupRow): boolean => source === "auto_topup" && status === "pending";

/** @throws AssertionError */
export function checkDebits(world: PayWorld, log: DebitLog): void {
  const { rooms } = world;
  const { orgId } = log;
  expect(log.wrongs).toEqual([]);
  const { ledger } = checkOrg(world, orgId);
  const { enabled, debit } = rooms.autoTopups.of(orgId);
  expect({ enabled, debit }).toEqual({ enabled: false, debit: null });
  const topups = [...rooms.topups.of(orgId)];
  // Nothing is posted without money: of each top-up `checkOrg` has asked the service.
  const posted = ledger.filter(({ kind }) => kind === "topup").map(({ refId }) => refId);
  expect(posted.sort()).toEqual(
    topups
      .filter((row) => isPaid(row))
      .map(({ id }) => id)
      .sort(),
  );
  for (const { payment } of log.takings) checkTaken(world, log, payment);
  for (const row of topups) if (row.source === "auto_topup") checkTold(world, row);
  checkMandates(world, log);
  checkCeilings(log.takings);
  checkAnnounced(world, log);
  count(world, log, topups);
}

const dataOf = (world: PayWorld, orgId: string, type: string) =>
  world.rooms
    .eventsOf(orgId)
    .filter((event) => event.type === type)
    .map(({ data, createdAtMs }) => ({ data: data as Record<string, unknown>, createdAtMs }));

/** One payment of a top-up was asked for, and ended as ours did. */
function checkTaken({ rooms }: PayWorld, { orgId, takings }: DebitLog, payment: SimPayment): void {
  const { id, reference, state } = payment;
  expect(takings.filter((taking) => taking.payment.reference === reference)).toHaveLength(1);
  const row = rooms.topups.get(orgId, reference);
  const isOurs = row !== undefined && isPaid(row) && row.paymentRef === id;
  expect([id, state, isOurs, row?.source]).toEqual([
    id,
    expect.stringMatching(/^(paid|failed)$/),
    state === "paid",
    "auto_topup",
  ]);
  expect([id, rooms.parked.of("simulated", id)]).toEqual([id, []]);
}

/** Told once how it ended. */
function checkTold(world: PayWorld, row: TopupRow): void {
  const charged = dataOf(world, row.orgId, "auto_topup.charged").filter(({ data }) => data.id === row.id);
  expect([row.id, charged.length]).toEqual([row.id, isPaid(row) ? 1 : 0]);
  const failed = dataOf(world, row.orgId, "auto_topup.failed").filter(({ data }) => data.topup_id === row.id);
  expect([row.id, failed.length]).toEqual([row.id, row.status === "failed" ? 1 : 0]);
}

/** One a key, one page that is known, and none is left that could be debited. */
function checkMandates(world: PayWorld, { orgId, registrations }: DebitLog): void {
  const { engine, rooms } = world;
  const rows = [...rooms.mandates.of(orgId)];
  expect(rows.length).toBeLessThanOrEqual(registrations);
  const pages = [...engine.state.all("checkouts")].filter(
    ({ mode, customerId }) => mode === "mandate" && customerId === orgId,
  );
  for (const { id, status, ref } of rows) {
    // A page whose answer was lost is known to nobody.
    const answered = pages.filter(({ reference, mandateId }) => reference === id && mandateId !== "");
    expect([id, answered.filter((page) => page.id !== ref)]).toEqual([id, []]);
    expect([id, status]).toEqual([id, expect.stringMatching(/^(cancelled|failed)$/)]);
    for (const type of ["mandate.cancelled", "mandate.failed"]) {
      const told = dataOf(world, orgId, type).filter(({ data }) => data.id === id);
      expect([id, type, told.length <= 1]).toEqual([id, type, true]);
    }
  }
  const left = [...engine.state.all("mandates")].filter(
    ({ customerId, state }) => customerId === orgId && state !== "cancelled" && state !== "failed",
  );
  expect(left).toEqual([]);
}

/** In any 24 hours, as the payment service sees them. */
function checkCeilings(takings: readonly Taking[]): void {
  for (const { atMs, payment } of takings) {
    const { mostADay, mostCapsADay, capMinor } = DEBIT_RULES[payment.currency as "INR" | "USD"];
    const near = takings.filter((other) => other.atMs <= atMs && other.atMs > atMs - DAY);
    const minor = near
      .filter((other) => other.payment.state === "paid")
      .reduce((sum, other) => sum + other.payment.amount, 0);
    expect([payment.id, near.length <= mostADay, minor <= mostCapsADay * capMinor]).toEqual([
      payment.id,
      true,
      true,
    ]);
  }
}

/** Each debit in INR has a notice of its own: of its amount, a day before it, and not long ago. */
function checkAnnounced(world: PayWorld, { orgId, takings }: DebitLog): void {
  const { autoTopups } = world.rooms;
  const notices = dataOf(world, orgId, "auto_topup.notified").sort((a, b) => a.createdAtMs - b.createdAtMs);
  for (const { atMs, payment } of takings) {
    if (payment.currency !== "INR") continue;
    const mandateId = autoTopups.mandateOf(payment.reference);
    const i = notices.findIndex(({ data, createdAtMs }) => {
      const dueMs = Date.parse(String(data.due_at));
      const isOf = data.mandate_id === mandateId && data.total_minor === payment.amount;
      return isOf && createdAtMs + DAY <= atMs && dueMs <= atMs && atMs <= dueMs + 2 * DAY;
    });
    expect([payment.id, i >= 0 ? "announced" : notices]).toEqual([payment.id, "announced"]);
    notices.splice(i, 1);
  }
}

function count(world: PayWorld, { orgId, takings }: DebitLog, topups: readonly TopupRow[]): void {
  reached.orgs += 1;
  reached.takings += takings.length;
  reached.paid += takings.filter(({ payment }) => payment.state === "paid").length;
  reached.failed += takings.filter(({ payment }) => payment.state === "failed").length;
  reached.notices += dataOf(world, orgId, "auto_topup.notified").length;
  const debited = topups.filter(({ source }) => source === "auto_topup");
  reached.disputes += debited.flatMap(({ id }) => world.rooms.disputes.of(id)).length;
  reached.refunds += debited.flatMap(({ id }) => [...world.rooms.refunds.ofTopup(id)]).length;
}
