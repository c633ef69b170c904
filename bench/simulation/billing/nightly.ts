/**
 * The check of every night: the gateway's books against each other, against the payment service's state, and against rates and taxes
 * that are written down here independently. What is only under way has some hours; what must never be wrong has none.
 */

import type { SimDispute, SimPayment, SimRefund } from "../../../simulator/payments/state.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import type { DisputeRow } from "../../../src/billing/disputes/dispute.ts";
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import type { ParkedRow } from "../../../src/billing/parked.ts";
import type { DayRate } from "../../../src/billing/rates/fx-table.ts";
import type { RefundRow } from "../../../src/billing/refunds/refund.ts";
import type { TopupRow } from "../../../src/billing/topups/topup.ts";
import type { Customer } from "./customers.ts";
import { must } from "./figures.ts";
import { LedgerWatch } from "./ledger-watch.ts";
import type { SimulationModule } from "./module.ts";
import { checkParked, checkPlanted } from "./parked-check.ts";
import type { GatewayProcess } from "./process.ts";
import { SeriesWatch } from "./series-watch.ts";
import { checkTopup } from "./topup-check.ts";
import type { World } from "./world.ts";

/** What a side was told has so long to be done, while both sides are there. */
const SLACK_MS = 4 * HOUR_MS;

export class NightlyCheck {
  readonly customers: ReadonlyMap<string, Customer>;
  readonly #ledger = new LedgerWatch();
  readonly #series = new SeriesWatch();
  /** Reference → what the payment service has of it. */
  readonly #payments = new Map<string, SimPayment[]>();
  readonly #refunds = new Map<string, SimRefund[]>();
  readonly #disputes = new Map<string, SimDispute[]>();
  /** Ref → what is parked of it. */
  readonly #parked = new Map<string, ParkedRow[]>();
  readonly #newlyParked: ParkedRow[] = [];
  readonly #seen = new Set<string>();
  /** Top-ups, by reference, to be looked at tonight. */
  #dirty = new Set<string>();
  /** Top-up → what it gave its org, less what was taken back; micro-USD. */
  readonly #given = new Map<string, { readonly orgId: string; readonly microUsd: number }>();
  readonly #givenTo = new Map<string, number>();
  world!: World;

  readonly #modules: readonly SimulationModule[];

  constructor(customers: readonly Customer[], modules: readonly SimulationModule[]) {
    this.#modules = modules;
    this.customers = new Map(customers.map((customer) => [customer.org.id, customer]));
  }

  /** Follows what a process commits. Each process is followed before it runs. */
  follow({ store }: GatewayProcess): void {
    store.table<TopupRow>("billing.topups").watch((_key, row) => row && this.#dirty.add(row.id));
    store.table<RefundRow>("billing.refunds").watch((_key, row) => row && this.#dirty.add(row.topupId));
    store.table<DisputeRow>("billing.disputes").watch((_key, row) => row && this.#dirty.add(row.topupId));
    store
      .table<DayRate>("billing.fx_rates")
      .watch((_key, row) => row && this.world.rates.set(row.day, row.usdInr));
    store.table<ParkedRow>("billing.parked").watch((_key, row) => row && this.#park(row));
    store.table<InvoiceRow>("invoices.rows").watch((_key, row) => {
      if (row === undefined) return;
      this.#series.see(row);
      if (row.topupId !== undefined) this.#dirty.add(row.topupId);
    });
  }

  #park(row: ParkedRow): void {
    const known = this.#parked.get(row.ref) ?? [];
    this.#parked.set(row.ref, [...known.filter(({ id }) => id !== row.id), row]);
    if (known.length === 0) this.world.parts.figures.add(`parked: ${row.reason.replaceAll("_", " ")}`);
    this.#newlyParked.push(row);
    this.#dirty.add(row.topupId);
  }

  /** What of the payment service does not fit; what reconciliation found in our books is not of it. */
  parkedOf(ref: string): readonly ParkedRow[] {
    return (this.#parked.get(ref) ?? []).filter(({ reason }) => reason !== "reconciliation");
  }

  /** @throws Deviation @param isLast everything must be done, save what needs an operator */
  night(isLast = false): void {
    const { world } = this;
    const { process, parts } = world;
    must(process !== undefined, () => "there is no process to check");
    this.#meet();
    const open = new Map<string, string>();
    for (const reference of this.#dirty) {
      const payments = this.#payments.get(reference) ?? [];
      const outcome = checkTopup({
        check: this,
        world,
        rooms: process.rooms,
        store: process.store,
        reference,
        payments,
        refundsOf: (id) => this.#refunds.get(id) ?? [],
        disputesOf: (id) => this.#disputes.get(id) ?? [],
        isDue: (sinceMs) => isLast || this.#isDue(sinceMs),
      });
      if (!outcome.isDone) open.set(reference, outcome.waitsFor);
      if (outcome.orgId !== "") this.#give(reference, outcome.orgId, outcome.givenMicroUsd);
      if (outcome.isPaid) this.#series.paid(reference);
      for (const id of outcome.refunded) this.#series.refunded(id);
    }
    const [[left, waitsFor] = ["", ""]] = isLast ? open : [];
    must(
      left === "",
      () => `at the end ${left} is ${process.rooms.topups.find(left)?.status}, and waits for ${waitsFor}`,
    );
    this.#dirty = new Set(open.keys());
    this.#series.check(process.store);
    if (isLast) checkPlanted(world, (ref) => this.parkedOf(ref).length > 0);
    for (const row of this.#newlyParked.splice(0)) checkParked(world, row);
    for (const [orgId] of this.customers) {
      const ofModules = () => this.#modules.reduce((sum, one) => sum + (one.givenMicroUsd?.(orgId) ?? 0), 0);
      const given = () => (this.#givenTo.get(orgId) ?? 0) + ofModules();
      this.#ledger.check(process, orgId, given, isLast, (entry) => {
        for (const module of this.#modules) module.entry?.(world, orgId, entry);
      });
    }
    for (const job of process.rooms.jobs.givenUp())
      must(false, () => `the job ${job.kind} ${job.key} was given up: ${job.error}`);
    parts.figures.add("checks: nights");
    parts.figures.add("checks: top-ups looked at", this.#seenTonight);
  }

  #seenTonight = 0;

  #isDue(sinceMs: number): boolean {
    const { time } = this.world.parts;
    return time.now() > Math.max(sinceMs, this.world.quietSinceMs) + SLACK_MS;
  }

  /** Sorts what changed at the payment service by the top-up that it belongs to. */
  #meet(): void {
    const { service } = this.world.parts;
    const { state } = service.engine;
    for (const id of service.changed) {
      const payment = state.get("payments", id);
      const refund = state.get("refunds", id);
      const dispute = state.get("disputes", id);
      if (payment !== undefined) this.#file(this.#payments, payment.reference, payment);
      if (refund !== undefined) this.#file(this.#refunds, refund.paymentId, refund);
      if (dispute !== undefined) this.#file(this.#disputes, dispute.paymentId, dispute);
      const owner = payment ?? state.get("payments", refund?.paymentId ?? dispute?.paymentId ?? "");
      if (owner !== undefined) this.#dirty.add(owner.reference);
    }
    service.changed.clear();
    this.#seenTonight = this.#dirty.size;
  }

  #file<T extends { readonly id: string }>(map: Map<string, T[]>, key: string, entity: T): void {
    if (this.#seen.has(entity.id)) return;
    this.#seen.add(entity.id);
    const list = map.get(key);
    if (list === undefined) map.set(key, [entity]);
    else list.push(entity);
  }

  #give(reference: string, orgId: string, microUsd: number): void {
    const before = this.#given.get(reference)?.microUsd ?? 0;
    this.#given.set(reference, { orgId, microUsd });
    this.#givenTo.set(orgId, (this.#givenTo.get(orgId) ?? 0) + microUsd - before);
  }
}
