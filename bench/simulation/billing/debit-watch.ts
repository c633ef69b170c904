/**
 * Each debit in the instant in which the payment service is asked to take the money, against rules that are written down here once
 * more: announced where it must be, within mandate and ceilings, at an hour of its method, alone, and of a mandate that nothing stops.
 */

import type { SimPayment } from "../../../simulator/payments/state.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { AutoTopupRow } from "../../../src/billing/auto-topups/auto-topup.ts";
import type { DisputeRow } from "../../../src/billing/disputes/dispute.ts";
import type { MandateRow } from "../../../src/billing/mandates/mandate.ts";
import { UPI_OPEN_MS } from "./bank-debits.ts";
import { must } from "./figures.ts";
import { CAP_MINOR } from "./mandate-life.ts";
import type { GatewayProcess } from "./process.ts";
import type { World } from "./world.ts";

/** An announcement, as its event told it. */
interface Announced {
  readonly orgId: string;
  readonly mandateId: string;
  readonly totalMinor: number;
  readonly dueMs: number;
  readonly atMs: number;
  /** Top-up that it was used for. */
  usedFor?: string;
}

interface Debited {
  readonly payment: SimPayment;
  readonly mandateId: string;
  readonly atMs: number;
  readonly orderedAtMs: number;
}

const IST_MS = 5.5 * HOUR_MS;
/** Hours of India in which no debit by UPI begins. */
const UPI_CLOSED = [
  [10, 13],
  [17, 21.5],
] as const;
/** From the decision that it is time until the service has the request. */
const ON_ITS_WAY_MS = 60_000;
const MOST_A_DAY = 3;
const MOST_CAPS_A_DAY = 2;
const MOST_FAILURES = 3;
/** An announcement holds for a day after its time, and an order that it led to for another. */
const KEPT_MS = 2 * DAY_MS + HOUR_MS;

export class DebitWatch {
  readonly rows = new Map<string, AutoTopupRow>();
  readonly mandates = new Map<string, MandateRow>();
  readonly #resumedAt = new Map<string, number>();
  readonly #orderedAt = new Map<string, number>();
  readonly #begunAt = new Map<string, number>();
  /** Org → when its last debit ended. */
  readonly #endedAt = new Map<string, number>();
  readonly #announced = new Map<string, Announced[]>();
  readonly #debits = new Map<string, Debited[]>();
  readonly #known = new Set<string>();
  /** Org → when the gateway first knew of each dispute. */
  readonly #disputed = new Map<string, number[]>();
  readonly #disputes = new Set<string>();

  /** Follows what a process commits. Each process is followed before its jobs start. */
  follow({ store, rooms }: GatewayProcess, world: World): void {
    const { time } = world.parts;
    const announced = store.table<Announced>("simulation.announced");
    rooms.trail.events.listen(({ type, orgId, data }) => {
      if (type !== "auto_topup.notified") return;
      const told = data as { mandate_id: string; total_minor: number; due_at: string };
      announced.put([orgId, String(time.now())], {
        orgId,
        mandateId: told.mandate_id,
        totalMinor: told.total_minor,
        atMs: time.now(),
        dueMs: Date.parse(told.due_at),
      });
    });
    announced.watch((_key, row) => row && this.#announcements(row.orgId).push({ ...row }));
    store.table<AutoTopupRow>("billing.auto_topups").watch((_key, row) => row && this.#row(world, row));
    store.table<MandateRow>("billing.mandates").watch((_key, row) => row && this.#mandate(world, row));
    store.table<DisputeRow>("billing.disputes").watch((_key, row) => {
      const orgId = rooms.topups.find(row?.topupId ?? "")?.orgId;
      if (row === undefined || orgId === undefined || this.#disputes.has(row.ref)) return;
      this.#disputes.add(row.ref);
      this.#disputed.set(orgId, [...(this.#disputed.get(orgId) ?? []), time.now()]);
    });
  }

  #announcements(orgId: string): Announced[] {
    const list = this.#announced.get(orgId) ?? [];
    this.#announced.set(orgId, list);
    return list;
  }

  #row({ parts }: World, row: AutoTopupRow): void {
    const { debit, orgId } = row;
    const before = this.rows.get(orgId);
    this.rows.set(orgId, row);
    if (debit === null) {
      if (before?.debit) this.#endedAt.set(orgId, parts.time.now());
      return;
    }
    if (before?.debit?.phase !== debit.phase || before.debit.topupId !== debit.topupId)
      parts.figures.add(`debits: ${debit.phase}`);
    const nowMs = parts.time.now();
    if (debit.topupId !== "" && !this.#orderedAt.has(debit.topupId))
      this.#orderedAt.set(debit.topupId, nowMs);
    if (debit.phase === "confirming" && !this.#begunAt.has(debit.topupId))
      this.#begunAt.set(debit.topupId, nowMs);
  }

  #mandate({ parts }: World, row: MandateRow): void {
    const before = this.mandates.get(row.id)?.status ?? "none";
    this.mandates.set(row.id, row);
    if (before === row.status) return;
    const why = row.status === "paused" ? `, ${row.pauseReason}` : "";
    parts.figures.add(`mandates: ${before} to ${row.status}${why}`);
    if (row.status === "active") this.#resumedAt.set(row.id, parts.time.now());
  }

  /** A payment of a mandate changed at the service; the first change is the debit itself. @throws Deviation */
  changed(world: World, payment: SimPayment): void {
    if (payment.mandateId === "" || this.#known.has(payment.id)) return;
    this.#known.add(payment.id);
    const { service, figures, time } = world.parts;
    const mandateId = service.engine.mandate("simulated", payment.mandateId).reference;
    const mandate = this.mandates.get(mandateId);
    must(mandate !== undefined, () => `${payment.id} was debited of ${mandateId}, which we do not know`);
    const debits = this.#debits.get(mandate.orgId) ?? [];
    const orderedAtMs = this.#orderedAt.get(payment.reference) ?? 0;
    const debit: Debited = { payment, mandateId, atMs: time.now(), orderedAtMs };
    figures.add(`debits: ${payment.currency}, ${payment.method.replaceAll("_", " ")}`);
    figures.add(`debits: at first ${payment.failure?.code.replaceAll("_", " ") ?? payment.state}`);
    const what = `${payment.reference}, ${payment.id} of ${mandate.orgId}, at ${new Date(debit.atMs).toISOString()},`;
    this.#mustBeOurs(what, mandate, debit);
    this.#mustBeAnnounced(what, mandate, debit, service.askedMinor.get(payment.id) ?? payment.amount);
    if (payment.method === "upi") mustBeOpen(what, debit.atMs);
    this.#mustBeWithin(what, mandate, debit, debits);
    this.#mustBeAlone(what, debit, debits);
    const isOther = debits.some(
      (one) =>
        one.mandateId === mandateId &&
        one.payment.state === "paid" &&
        service.askedMinor.has(one.payment.id) &&
        one.atMs >= (this.#resumedAt.get(mandateId) ?? 0),
    );
    must(!isOther, () => `${what} follows a debit of another amount`);
    this.#mustNotBeStopped(what, mandate, debit, debits);
    this.#debits.set(mandate.orgId, [...debits, debit]);
  }

  /** It is the one debit of the org's row, of a mandate that was active when it was begun. */
  #mustBeOurs(what: string, mandate: MandateRow, { payment, mandateId }: Debited): void {
    const debit = this.rows.get(mandate.orgId)?.debit;
    must(
      debit?.phase === "confirming" && debit.topupId === payment.reference && debit.mandateId === mandateId,
      () => `${what} was debited, and ours is ${JSON.stringify(debit)}`,
    );
    const begunAtMs = this.#begunAt.get(payment.reference) ?? 0;
    const wasActive = mandate.status === "active" || mandate.status === "paused" || mandate.cancelledAtMs;
    must(
      Boolean(wasActive) && (mandate.cancelledAtMs ?? Infinity) >= begunAtMs,
      () => `${what} was begun of a mandate that is ${mandate.status}`,
    );
  }

  #mustBeAnnounced(what: string, mandate: MandateRow, debit: Debited, askedMinor: number): void {
    const { payment, atMs } = debit;
    if (payment.currency !== "INR") return;
    const found = this.#announcements(mandate.orgId).findLast(
      (one) => one.usedFor === undefined && one.mandateId === mandate.id && one.totalMinor === askedMinor,
    );
    must(found !== undefined, () => `${what} was not announced`);
    must(
      found.atMs + DAY_MS <= atMs && found.dueMs <= atMs && found.dueMs - found.atMs >= 25 * HOUR_MS,
      () => `${what} was announced at ${new Date(found.atMs).toISOString()}`,
    );
    must(atMs <= found.dueMs + KEPT_MS, () => `${what} was due ${new Date(found.dueMs).toISOString()}`);
    found.usedFor = payment.reference;
  }

  #mustBeWithin(what: string, { capMinor, currency }: MandateRow, debit: Debited, debits: Debited[]): void {
    const { payment, atMs } = debit;
    must(
      payment.amount <= Math.min(capMinor, CAP_MINOR[currency]),
      () => `${what} is of ${payment.amount}, at most ${capMinor} may be debited`,
    );
    // The gateway counts from when it asks, the service from when it hears.
    const day = debits.filter((one) => one.atMs + DAY_MS - ON_ITS_WAY_MS > atMs);
    const times = () =>
      [...day, debit].map((one) => {
        const begunAtMs = this.#begunAt.get(one.payment.reference) ?? 0;
        return `${new Date(begunAtMs).toISOString()}/${new Date(one.atMs).toISOString()} ${one.payment.state}`;
      });
    must(
      day.length < MOST_A_DAY,
      () => `${what} is debit ${day.length + 1} in 24 hours, begun and debited: ${times()}`,
    );
    const taken = day.filter(({ payment: one }) => one.state !== "failed");
    const sum = taken.reduce((all, one) => all + one.payment.amount, payment.amount);
    must(sum <= MOST_CAPS_A_DAY * capMinor, () => `${what} makes ${sum} in 24 hours, the cap is ${capMinor}`);
  }

  /** Nothing is under way of the debits before. */
  #mustBeAlone(what: string, { atMs }: Debited, debits: readonly Debited[]): void {
    for (const { payment, orderedAtMs } of debits) {
      const { state, failure, method } = payment;
      const isOpen = method === "upi" && failure?.kind === "soft" && atMs < orderedAtMs + UPI_OPEN_MS;
      must(
        state !== "processing" && !(state === "failed" && isOpen),
        () => `${what} was debited while ${payment.id} is ${state} ${failure?.code ?? ""}`,
      );
    }
  }

  /** Since it became active: not three failures in a row, no hard one, no dispute. */
  #mustNotBeStopped(what: string, { id, orgId }: MandateRow, debit: Debited, debits: readonly Debited[]) {
    const sinceMs = this.#resumedAt.get(id) ?? 0;
    const begunAtMs = this.#begunAt.get(debit.payment.reference) ?? 0;
    const since = debits.filter((one) => one.mandateId === id && one.atMs >= sinceMs);
    const kinds = since.map(({ payment }) => (payment.state === "failed" ? payment.failure?.kind : "paid"));
    must(!kinds.includes("hard"), () => `${what} follows a hard decline: ${kinds}`);
    const counted = kinds.filter((kind) => kind !== "opt_out");
    const last = counted.slice(-MOST_FAILURES);
    must(
      last.length < MOST_FAILURES || last.includes("paid"),
      () => `${what} follows ${MOST_FAILURES} failures in a row: ${kinds}`,
    );
    const disputedMs = this.#disputed.get(orgId)?.find((ms) => ms > sinceMs && ms < begunAtMs);
    must(
      disputedMs === undefined,
      () => `${what} was begun after a dispute of ${new Date(disputedMs ?? 0).toISOString()}`,
    );
  }

  /** When the org's last debit ended. */
  endedAt(orgId: string): number {
    return this.#endedAt.get(orgId) ?? 0;
  }

  /** Debits of all orgs. */
  *all(): Generator<SimPayment> {
    for (const debits of this.#debits.values()) for (const { payment } of debits) yield payment;
  }
}

function mustBeOpen(what: string, atMs: number): void {
  const hour = (((atMs + IST_MS) % DAY_MS) + DAY_MS) % DAY_MS;
  const closed = UPI_CLOSED.find(([from, to]) => hour >= from * HOUR_MS && hour < to * HOUR_MS);
  must(
    closed === undefined || hour < closed[0] * HOUR_MS + ON_ITS_WAY_MS,
    () => `${what} was debited by UPI between ${closed?.[0]} and ${closed?.[1]} h in India`,
  );
}
