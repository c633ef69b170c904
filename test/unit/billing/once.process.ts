/**
 * The gateway's process under a schedule: the real rooms of money over a real store. Each answer of the payment service and the end
 * of each act is a step of the schedule, and the process can die at any write: before it is made, or after it and before anybody
 * knows of it.
 */

import { AccountTables } from "../../../src/account/tables.ts";
import type { Tickets } from "../../../src/account/tickets/tickets.ts";
import { cursors } from "../../../src/base/operation/cursor.ts";
import { USUAL_QUOTAS } from "../../../src/base/quota.ts";
import { autoTopupHook, openAutoTopup } from "../../../src/billing/auto-topups/open.ts";
import { DisputeTable } from "../../../src/billing/disputes/dispute.ts";
import { type InvoicesOptions, openInvoices } from "../../../src/billing/invoices/invoices.ts";
import { parseSupplier } from "../../../src/billing/invoices/supplier.ts";
import { type NoticeDeps, onNotice } from "../../../src/billing/notices/notices.ts";
import { ParkedPayments } from "../../../src/billing/parked.ts";
import { openInbound } from "../../../src/billing/payments/inbound.ts";
import type { SimulatedService } from "../../../src/billing/payments/simulated/client.ts";
import { SimulatedGateway } from "../../../src/billing/payments/simulated/gateway.ts";
import { FxTable } from "../../../src/billing/rates/fx-table.ts";
import { refunder, sendRefund } from "../../../src/billing/refunds/acts.ts";
import { refundOperations } from "../../../src/billing/refunds/refund-operations.ts";
import { RefundTables } from "../../../src/billing/refunds/tables.ts";
import { openPlanRoom } from "../../../src/billing/subscriptions/open.ts";
import { returnPageOperations } from "../../../src/billing/topups/return-page.ts";
import { TopupTables } from "../../../src/billing/topups/tables.ts";
import { topupOperations } from "../../../src/billing/topups/topup-operations.ts";
import { topupWatcher, watchTopup } from "../../../src/billing/topups/watch.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import { Audit } from "../../../src/store/events/audit.ts";
import { Events } from "../../../src/store/events/events.ts";
import { JobTables } from "../../../src/store/jobs/job-tables.ts";
import { Jobs } from "../../../src/store/jobs/jobs.ts";
import type { Store } from "../../../src/store/store.ts";
import { PLANS, SUPPLIER } from "../../support/billing/plans.fixtures.ts";
import { storeWithActs } from "../../support/store/acts.ts";
import { TERMS } from "./fixtures.ts";
import type { Schedule } from "./schedule.ts";

/** At which write a process dies. */
export interface Death {
  /** Its number in the life of the process, from 1. */
  readonly write: number;
  /** It was made, and nobody was told. */
  readonly isMade: boolean;
  /** Only such writes are counted: a part of `act`, or of a request's `METHOD /path`. Default: all. */
  readonly of?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  text(): Promise<string>;
}

export interface ProcessGround {
  readonly raw: Store;
  readonly schedule: Schedule;
  readonly service: SimulatedService;
  /** Plays a call at the payment service. Undefined: it never answers. */
  readonly play: (url: string, init: RequestInit) => Reply | undefined;
  /** Sweeps orgs with automatic top-ups, from its start on. */
  readonly sweeps: boolean;
  /** Undefined: it lives on. */
  readonly death: Death | undefined;
  readonly onDeath: () => void;
  /** What should never happen. */
  readonly onFailure: (error: unknown) => void;
}

const never = <T>(): Promise<T> => new Promise(() => {});
const CURSORS = cursors(Buffer.alloc(32, 7));

export class PayProcess {
  readonly #ground: ProcessGround;
  readonly rooms: ReturnType<PayProcess["open"]>;
  /** Ends connections of others to it. */
  readonly died = Promise.withResolvers<"died">();
  isDead = false;
  #writes = 0;
  /** Acts whose end is not known yet, and all of them. */
  #open = 0;
  #acts = 0;

  constructor(ground: ProcessGround) {
    this.#ground = ground;
    this.rooms = this.open();
    void this.rooms.gateway.reach();
    const { jobs, autoTopup } = this.rooms;
    void (ground.sweeps ? autoTopup.start().then(() => jobs.start()) : jobs.start());
  }

  /** What it began has come as far as it comes without a step. */
  async settled(): Promise<void> {
    for (let before = -1; before !== this.#acts || this.#open > 0; ) {
      before = this.#acts;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** As after kill -9: what is committed stays, and nothing else comes back. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#ground.schedule.trace.push("-- dies --");
    this.died.resolve("died");
    this.#ground.onDeath();
  }

  close(): void {
    this.isDead = true;
    this.rooms.close();
  }

  /** Makes a write, unless it dies before. @returns false where it dies, before or after */
  #write(what: string, make: () => void): boolean {
    const { death } = this.#ground;
    if (what.includes(death?.of ?? "")) this.#writes += 1;
    const isLast = what.includes(death?.of ?? "") && this.#writes === death?.write;
    if (isLast && !death?.isMade) {
      this.kill();
      return false;
    }
    make();
    if (isLast) this.kill();
    return !isLast;
  }

  #act<T>(run: () => Promise<T>): Promise<T> {
    if (this.isDead) return never();
    this.#acts++;
    let made: Promise<T> | undefined;
    this.#write("act", () => {
      made = run();
    });
    if (made === undefined) return never();
    this.#open++;
    const ran = made.then(
      (value) => () => value,
      (error: unknown) => (): T => {
        throw error;
      },
    );
    return new Promise((resolve, reject) => {
      void ran.then((end) => {
        this.#open--;
        if (this.isDead) return;
        this.#ground.schedule.add("an act is committed", () => {
          if (this.isDead) return;
          try {
            resolve(end());
          } catch (error) {
            reject(error as Error);
          }
        });
      });
    });
  }

  /** A request that is on its way arrives though its sender has died. */
  #send(url: string, init: RequestInit): Promise<Reply> {
    if (this.isDead) return never();
    const { schedule, play } = this.#ground;
    const what = `${init.method} ${new URL(url).pathname}`;
    return new Promise((resolve, reject) => {
      const arrive = () => {
        let reply: Reply | undefined;
        const make = () => {
          reply = play(url, init);
        };
        if (this.isDead || init.method !== "POST") make();
        else if (!this.#write(what, make)) return;
        schedule.add(`answer to ${what}`, () => {
          if (this.isDead) return;
          if (reply !== undefined) return resolve(reply);
          reject(Object.assign(new Error("timeout"), { code: "timeout", name: "TimeoutError" }));
        });
      };
      schedule.add(what, arrive);
    });
  }

  #store(): Store {
    return storeWithActs(this.#ground.raw, (act) => this.#act(act));
  }

  open() {
    const { schedule, service } = this.#ground;
    const store = this.#store();
    const clock = { now: schedule.now, monotonic: schedule.monotonic };
    const onFailure = (error: unknown) => this.isDead || this.#ground.onFailure(error);
    const timers = {
      after: (delayMs: number, act: () => void) => schedule.after(delayMs, () => this.isDead || act()),
    };
    const jobs = new Jobs({ store, clock, timers, holder: "cell", onFailure, random: () => 0.5 });
    const events = new Events({ store, clock, onFailure });
    const audit = new Audit({ store, clock, onFailure });
    const trail = { events, audit };
    const hook = autoTopupHook(store);
    const credits = openCredits({ store, clock, bounds: hook, onFall: hook.onFall });
    const { book, purse, lots } = credits;
    const accounts = new AccountTables(store);
    const supplier = parseSupplier(SUPPLIER, "supplier.yaml");
    const mails = store.table<number>("test.mails");
    const invoices = openInvoices({
      store,
      clock,
      trail,
      jobs,
      accounts,
      onFailure,
      supplier,
      cursors: CURSORS,
      quotas: USUAL_QUOTAS,
      tickets: {} as Tickets,
      draw: {} as InvoicesOptions["draw"],
      mails: { put: ({ id }) => mails.put([id], (mails.get([id]) ?? 0) + 1), putTo() {} },
      portal: async () => undefined,
      onOverdue() {},
    });
    const gateway = new SimulatedGateway({
      service: async () => service,
      send: (url, init) => this.#send(url, init),
    });
    const gatewayOf = (id: string) => (id === "simulated" ? gateway : undefined);
    const inbound = openInbound({ store, clock, jobs, gatewayOf, onFailure, isErased: () => false });
    const fx = new FxTable({ store, clock, listed: [], always: "88.50000000" });
    const terms = TERMS;
    const tables = { topups: new TopupTables(store), refunds: new RefundTables(store) };
    const shared = {
      ...tables,
      store,
      clock,
      book,
      purse,
      lots,
      jobs,
      events,
      gatewayOf,
      disputes: new DisputeTable(store),
      parked: new ParkedPayments(store),
      looks: new Map(),
      invoices: invoices.issuer,
    };
    const offering = {
      ...shared,
      accounts,
      trail,
      cursors: CURSORS,
      fx,
      terms,

      gatewayFor: () => gateway,
      ownAddress: () => "http://gateway",
      settled: async () => {},
      seenEverywhere: async () => {},
      quotas: USUAL_QUOTAS,
    };
    const { boundsChanged } = credits;
    const autoTopup = openAutoTopup({ ...offering, timers, boundsChanged, onFailure }, hook);
    const { onMandate, onDispute } = autoTopup;
    const deps: NoticeDeps = { ...shared, onMandate, onDispute };
    jobs.handle(watchTopup, topupWatcher(deps));
    jobs.handle(sendRefund, refunder(deps));
    inbound.onNotice((id, notice, { signal }) => onNotice(deps, id, notice, signal));
    const planRoom = openPlanRoom(
      { plans: PLANS, defaultPlan: "local", byokFee: { bps: 0, microUsdPerRequest: 0 } },
      {
        store,
        clock,
        trail,
        jobs,
        book,
        purse,
        lots,
        fx,
        terms,
        accounts,
        supplier,
        events: trail.events,
        invoices: invoices.issuer,
        markups: () => [],
      },
    );
    return {
      ...deps,
      store,
      book,
      accounts,
      fx,
      inbound,
      gateway,
      jobs,
      mails,
      jobTables: new JobTables(store),
      invoiceTables: invoices.tables,
      subscriptions: planRoom.subscriptions,
      autoTopup,
      ...hook.tables,
      eventsOf: (orgId: string) => [...events.of(orgId)],
      operations: {
        ...topupOperations(offering),
        ...refundOperations(offering),
        ...returnPageOperations({ ...deps, invoices: invoices.issuer }),
        ...planRoom.operations,
        ...autoTopup.operations,
      },
      close() {
        autoTopup.stop();
        inbound.close();
        invoices.close();
        events.close();
        audit.close();
      },
    };
  }
}

export type PayRooms = PayProcess["rooms"];
