/** Orgs on plans: their room, what they do, and what every night must hold of them. */

import { DAY_MS, HOUR_MS } from "../../../src/base/time.ts";
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import { type OpenPlans, openPlanRoom } from "../../../src/billing/subscriptions/open.ts";
import type { SubscriptionRow } from "../../../src/billing/subscriptions/subscription.ts";
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import { CreditWatch } from "./credit-watch.ts";
import type { Customer } from "./customers.ts";
import { must } from "./figures.ts";
import type { SimulationModule } from "./module.ts";
import { FREE_PLAN, PLANS } from "./plans.ts";
import type { GatewayProcess } from "./process.ts";
import { isStale } from "./rates-check.ts";
import { SubscriptionBooks } from "./subscription-books.ts";
import { decide } from "./subscription-life.ts";
import type { World } from "./world.ts";

/** After the first failure, as documented. */
const RETRIES_MS = [DAY_MS, 3 * DAY_MS, 7 * DAY_MS];
/** What is due has so long to be done, while the process runs. */
const SLACK_MS = 4 * HOUR_MS;
/** Every so manyeth org belongs to whom the one before belongs to. */
const SHARED = 10;

export class SubscriptionModule implements SimulationModule {
  readonly name = "subscriptions";
  room: OpenPlans | undefined;
  readonly #owners = new Map<string, readonly string[]>();
  readonly #customers = new Map<string, Customer>();
  readonly #books = new SubscriptionBooks((orgId) => this.#owners.get(orgId) ?? [orgId]);
  readonly #credit = new CreditWatch();
  readonly #statusOf = new Map<string, SubscriptionRow["status"]>();
  #staleAtMs = 0;

  async open({ rooms, store }: GatewayProcess, world: World): Promise<void> {
    const { accounts, trail, jobs, supplier } = rooms;
    this.room = openPlanRoom(SETTINGS, {
      store,
      trail,
      events: trail.events,
      jobs,
      accounts,
      supplier,
      markups: () => [],
      clock: rooms.clock,
      book: rooms.book,
      purse: rooms.purse,
      lots: rooms.lots,
      fx: rooms.fx,
      terms: rooms.terms,
      invoices: rooms.issuer,
    });
    store.table<InvoiceRow>("invoices.rows").watch((_key, row) => row && this.#books.see(row));
    store.table<SubscriptionRow>("billing.subscriptions").watch((_key, row) => row && this.#move(world, row));
    if (this.#owners.size > 0) return;
    world.parts.customers.forEach((customer, i) => {
      const { id } = customer.org;
      this.#customers.set(id, customer);
      this.#owners.set(id, [`usr_${i % SHARED === SHARED - 1 ? i - 1 : i}`]);
    });
    await store.act(() => {
      for (const [orgId, owners] of this.#owners)
        for (const userId of owners)
          accounts.people.putMember({
            orgId,
            userId,
            role: "owner",
            source: "creation",
            addedAtMs: rooms.clock.now(),
          });
    });
  }

  #move({ parts }: World, row: SubscriptionRow): void {
    const { orgId, status, missed } = row;
    const { id, month, changes, lastChange } = row;
    // One that only says that the plan stays has no share of the month.
    if (changes > 0 && lastChange !== null && lastChange.proratedBps > 0 && lastChange.feeMicroUsd === 0)
      this.#books.freeChange(this.#customers.get(orgId) as Customer, {
        refId: `${id}/${month}/${changes}`,
        planId: lastChange.planId,
        atMs: parts.time.now(),
      });
    const before = this.#statusOf.get(orgId) ?? "none";
    if (before === status) return;
    this.#statusOf.set(orgId, status);
    const after =
      missed > 3 || (before === "past_due" && missed >= 3 && status === "cancelled")
        ? ", tries are over"
        : "";
    parts.figures.add(`subscriptions: ${before.replace("_", " ")} to ${status.replace("_", " ")}${after}`);
  }

  day(world: World): void {
    const { dice, customers } = world.parts;
    for (const customer of customers)
      world.later(dice.between(0, DAY_MS), () => decide(this, world, customer));
  }

  entry(world: World, orgId: string, entry: LedgerEntry): void {
    this.#books.entry(this.#customers.get(orgId) as Customer, entry);
    this.#credit.entry(world, orgId, entry);
  }

  givenMicroUsd(orgId: string): number {
    return this.#books.sumOf(orgId);
  }

  /** @throws Deviation */
  night(world: World, isLast: boolean): void {
    const { process } = world;
    if (process === undefined) return;
    this.#books.check(world);
    if (isStale(world)) this.#staleAtMs = world.parts.time.now();
    for (const { org } of world.parts.customers) this.#checkOrg(world, process, org.id);
    for (const [refId, given] of this.#books.included) {
      if (!isDue(world, given.expiresAtMs)) continue;
      const left = this.#credit.leftOf(given.orgId, refId);
      must(left === 0, () => `${left} of the included credit ${refId} has not expired`);
      this.#books.included.delete(refId);
    }
    if (isLast) world.parts.figures.add("subscriptions: under way at the end", this.#active());
  }

  #active(): number {
    return [...this.#statusOf.values()].filter((status) => status !== "cancelled").length;
  }

  #checkOrg(world: World, { rooms }: GatewayProcess, orgId: string): void {
    const paid = rooms.lots.of(orgId).paidMicroUsd;
    must(
      paid === this.#credit.paidOf(orgId),
      () => `${orgId}: ${paid} was paid in, not ${this.#credit.paidOf(orgId)}`,
    );
    const row = this.room?.subscriptions.get(orgId);
    if (row === undefined) return;
    const planId = rooms.accounts.org(orgId)?.planId;
    must(planId === row.planId, () => `${orgId} has the plan ${planId}, its subscription ${row.planId}`);
    const renewed = this.#books.renewals.get(orgId) ?? 0;
    const told = rooms.tallies.of("subscription.renewed", orgId);
    must(told === renewed, () => `${orgId}: ${renewed} months were renewed, ${told} events say so`);
    if (row.status === "cancelled") {
      must(planId === FREE_PLAN, () => `${orgId} is cancelled, and has ${planId}`);
      return;
    }
    const { missed, missedAtMs, periodEndMs } = row;
    const dueMs = missed === 0 ? periodEndMs : (missedAtMs ?? 0) + (RETRIES_MS[missed - 1] ?? 0);
    must(
      (row.status === "past_due") === missed > 0,
      () => `${orgId} is ${row.status} after ${missed} failures`,
    );
    // In rupees it waits for a rate.
    const waits = row.currency === "INR" && world.parts.time.now() - this.#staleAtMs < 2 * DAY_MS;
    must(
      waits || !isDue(world, dueMs),
      () => `${orgId} is ${row.status}, and was due ${new Date(dueMs).toISOString()}`,
    );
  }
}

const isDue = (world: World, sinceMs: number): boolean =>
  world.parts.time.now() > Math.max(sinceMs, world.upSinceMs) + SLACK_MS;

const SETTINGS = { plans: PLANS, defaultPlan: FREE_PLAN, byokFee: { bps: 0, microUsdPerRequest: 0 } };
