/** Mandates and automatic top-ups: what orgs, payers and banks do about them, and what every night must hold of them. */

import type { SimMandate, SimPayment } from "../../../simulator/payments/state.ts";
import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { AutoTopupRow } from "../../../src/billing/auto-topups/auto-topup.ts";
import type { MandateRow } from "../../../src/billing/mandates/mandate.ts";
import { isPaid } from "../../../src/billing/topups/topup.ts";
import { finishDebits } from "./bank-debits.ts";
import type { Customer } from "./customers.ts";
import { DebitWatch } from "./debit-watch.ts";
import { must } from "./figures.ts";
import { decide, switchOff } from "./mandate-life.ts";
import type { SimulationModule } from "./module.ts";
import type { GatewayProcess } from "./process.ts";
import { isStale } from "./rates-check.ts";
import type { World } from "./world.ts";

/** Every so manyeth org has automatic top-ups. */
const EVERY = 3;
/** Time that the gateway has to do a job that is due, while both the gateway and the payment service run. */
const SLACK_MS = 4 * HOUR_MS;
/** A registration that nobody finishes is given up by then. */
const REGISTRATION_MS = 7 * DAY_MS;

export class MandateModule implements SimulationModule {
  readonly name = "mandates";
  readonly #watch = new DebitWatch();
  #isBegun = false;
  /** Org → its row in the night before, where its balance was too low and nothing was under way. */
  readonly #idle = new Map<string, AutoTopupRow>();
  /** Paid debits that were checked. */
  readonly #charged = new Set<string>();
  #staleAtMs = 0;

  open(process: GatewayProcess, world: World): void {
    this.#watch.follow(process, world);
    if (this.#isBegun) return;
    this.#isBegun = true;
    finishDebits(world);
    world.parts.service.listen((change) => {
      if (change.kind !== "payment") return;
      try {
        this.#watch.changed(world, change.payment);
      } catch (error) {
        world.blame(error);
      }
    });
  }

  #debited({ parts }: World): Customer[] {
    return parts.customers.filter((_, i) => i % EVERY === 0);
  }

  day(world: World): void {
    for (const customer of this.#debited(world))
      world.later(world.parts.dice.between(0, DAY_MS), () => decide(world, customer));
  }

  /** In the end nothing new begins. */
  async dusk(world: World): Promise<void> {
    if (!world.isEnding) return;
    for (const customer of this.#debited(world)) await switchOff(world, customer);
  }

  /** @throws Deviation */
  night(world: World, isLast: boolean): void {
    const { process } = world;
    if (process === undefined) return;
    if (isStale(world)) this.#staleAtMs = world.parts.time.now();
    for (const { state, reference, id } of world.parts.service.engine.state.all("mandates"))
      this.#checkService(world, { state, reference, id }, isLast);
    for (const mandate of this.#watch.mandates.values()) this.#checkOurs(world, mandate, isLast);
    for (const [orgId, row] of this.#watch.rows) this.#checkRow(world, process, orgId, row, isLast);
    for (const payment of this.#watch.all()) this.#checkDebit(world, process, payment, isLast);
    this.#checkOneInForce();
  }

  /** The gateway's row of a mandate follows the payment service's, and a mandate that the gateway ended has ended there too. */
  #checkService(
    world: World,
    { state, reference, id }: Pick<SimMandate, "state" | "reference" | "id">,
    isLast: boolean,
  ): void {
    const { service } = world.parts;
    const ours = this.#watch.mandates.get(reference);
    must(ours !== undefined, () => `${id} is of ${reference}, which we do not know`);
    const what = () => `${reference} of ${ours.orgId} is ${ours.status}, at the service ${state}`;
    const toldAtMs = service.toldAt(ours.ref);
    const isKnown = isLast || (toldAtMs !== undefined && this.#isDue(world, toldAtMs));
    if (isKnown && state !== "active") must(ours.status !== "active", what);
    if (isKnown && (state === "cancelled" || state === "failed"))
      must(ours.status === "cancelled" || ours.status === "failed", what);
    if (state === "cancelled" || state === "failed") return;
    if (isKnown) must(ours.status !== "pending" && (state === "paused" || ours.pauseReason !== "bank"), what);
    if (ours.status !== "cancelled" && ours.status !== "failed") return;
    const debit = this.#watch.rows.get(ours.orgId)?.debit;
    const isWaitedFor = debit?.mandateId === ours.id && debit.phase === "confirming";
    const sinceMs = Math.max(
      ours.cancelledAtMs ?? 0,
      service.changedAt(ours.ref),
      this.#watch.endedAt(ours.orgId),
    );
    // A registration that was given up and approved after it is ended once the gateway was told.
    const isEnded = ours.status === "cancelled" || isKnown;
    must(isWaitedFor || !isEnded || !(isLast || this.#isDue(world, sinceMs)), what);
  }

  #checkOurs(world: World, { id, orgId, status, createdAtMs }: MandateRow, isLast: boolean): void {
    const isOld = this.#isDue(world, createdAtMs + REGISTRATION_MS);
    must(
      status !== "pending" || !(isOld || isLast),
      () => `${id} of ${orgId} is pending since ${createdAtMs}`,
    );
  }

  /** An org below its threshold whose mandate may be debited has a debit within a day. */
  #checkRow(
    world: World,
    { rooms }: GatewayProcess,
    orgId: string,
    row: AutoTopupRow,
    isLast: boolean,
  ): void {
    const { time } = world.parts;
    const nowMs = time.now();
    must(!isLast || row.debit === null, () => `at the end ${orgId} has a debit that is ${row.debit?.phase}`);
    const mandate = rooms.topUps.mandates.inForce(orgId);
    const isLow = rooms.book.balance(orgId).balanceMicroUsd < row.thresholdMicroUsd;
    const isFree = [row.notBeforeMs, ...row.recent.map(({ atMs }) => atMs + DAY_MS)].every(
      (ms) => ms < nowMs - DAY_MS - SLACK_MS,
    );
    const isIdle = row.enabled && row.debit === null && mandate?.status === "active" && isLow && isFree;
    const wasIdle = this.#idle.get(orgId) === row;
    const hasRate = mandate?.currency !== "INR" || nowMs - this.#staleAtMs > 2 * DAY_MS;
    must(
      !(isIdle && wasIdle && hasRate) || !world.hasBeenQuiet(SLACK_MS),
      () => `${orgId} has too little credit since a day, and no debit is under way`,
    );
    if (isIdle) this.#idle.set(orgId, row);
    else this.#idle.delete(orgId);
  }

  /** A debit that was paid is credited and told of once; that it has one entry and one invoice is checked with its top-up. */
  #checkDebit(world: World, { rooms }: GatewayProcess, payment: SimPayment, isLast: boolean): void {
    if (payment.state !== "paid" || this.#charged.has(payment.id)) return;
    const topup = rooms.topups.find(payment.reference);
    if (world.parts.service.askedMinor.has(payment.id)) {
      must(topup === undefined || !isPaid(topup), () => `${payment.id} is of another amount, and credited`);
      return;
    }
    const isCredited = topup !== undefined && isPaid(topup) && topup.paymentRef === payment.id;
    const isDue = this.#isDue(world, payment.paidAtMs ?? 0);
    // While it is under way it is read at least once an hour.
    const isRead = this.#watch.rows.get(topup?.orgId ?? "")?.debit?.topupId === topup?.id;
    const isTold = world.parts.service.toldAt(payment.id);
    must(
      isCredited || !(isLast || (isDue && (isRead || (isTold !== undefined && this.#isDue(world, isTold))))),
      () => `${payment.id} of ${payment.reference} is paid, and ours is ${topup?.status}`,
    );
    if (!isCredited) return;
    const told = rooms.tallies.of("auto_topup.charged", topup.id);
    must(told === 1, () => `${topup.id}: ${told} events say that it was charged`);
    must(topup.source === "auto_topup", () => `${topup.id} is of ${topup.source}`);
    this.#charged.add(payment.id);
    const { figures } = world.parts;
    figures.add("debits: paid and credited");
    figures.add("debits: credited, micro-USD", topup.quote.creditsMicroUsd);
  }

  #checkOneInForce(): void {
    const inForce = new Map<string, string>();
    for (const { id, orgId, status } of this.#watch.mandates.values()) {
      if (status !== "active" && status !== "paused") continue;
      const other = inForce.get(orgId);
      must(other === undefined, () => `${orgId} has two mandates in force: ${other} and ${id}`);
      inForce.set(orgId, id);
    }
  }

  #isDue(world: World, sinceMs: number): boolean {
    return world.parts.time.now() > Math.max(sinceMs, world.quietSinceMs) + SLACK_MS;
  }
}
