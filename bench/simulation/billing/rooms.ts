/** The rooms of the gateway that money passes through, wired as src/billing/open.ts does. */
import type { Logger } from "pino";
import { AccountTables } from "../../../src/account/tables.ts";
import type { Tickets } from "../../../src/account/tickets/tickets.ts";
import type { Timers } from "../../../src/base/clock.ts";
import { cursors } from "../../../src/base/operation/cursor.ts";
import type { HttpHead } from "../../../src/base/operation/http-head.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../src/base/quota.ts";
import { autoTopupHook } from "../../../src/billing/auto-topups/open.ts";
import { openSales } from "../../../src/billing/credit-sales.ts";
import { type InvoicesOptions, openInvoices } from "../../../src/billing/invoices/invoices.ts";
import { parseSupplier } from "../../../src/billing/invoices/supplier.ts";
import { openInbound } from "../../../src/billing/payments/inbound.ts";
import type { Send } from "../../../src/billing/payments/simulated/client.ts";
import { SimulatedGateway } from "../../../src/billing/payments/simulated/gateway.ts";
import { refundOperations } from "../../../src/billing/refunds/refund-operations.ts";
import { topupOperations } from "../../../src/billing/topups/topup-operations.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import type { EventListener, Events } from "../../../src/store/events/events.ts";
import type { Trail } from "../../../src/store/events/trail.ts";
import type { Jobs } from "../../../src/store/jobs/jobs.ts";
import type { Store, Table } from "../../../src/store/store.ts";
import { SUPPLIER } from "./customers.ts";
import type { ProcessOptions } from "./process.ts";

export interface RoomsGround
  extends Pick<ProcessOptions, "time" | "figures" | "service" | "portal" | "onFailure"> {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly timers: Timers;
  readonly send: Send;
}

/** Call before `jobs.start`. */
export async function openRooms(given: RoomsGround) {
  const { store, jobs, time: clock, service, portal, figures, onFailure } = given;
  const tallies = new Tallies(store);
  const trail = tallies.trail();
  const topUpHook = autoTopupHook(store);
  const { boundsChanged, ...credits } = openCredits({
    store,
    clock,
    bounds: topUpHook,
    onFall: topUpHook.onFall,
  });
  const accounts = new AccountTables(store);
  const supplier = parseSupplier(SUPPLIER, "supplier.yaml");
  const invoices = openInvoices({
    store,
    clock,
    trail,
    jobs,
    accounts,
    tickets: {} as Tickets,
    onFailure,
    quotas: USUAL_QUOTAS,
    cursors: CURSORS,
    supplier,
    draw: {} as InvoicesOptions["draw"],
    mails: { put: ({ id }) => tallies.add("mail", id), putTo() {} },
    portal: async () => portal,
    onOverdue: () => figures.add("documents: tries at the portal after three days"),
  });
  const gateway = new SimulatedGateway({ service: async () => service.known, send: given.send });
  await gateway.reach();
  const gatewayOf = (id: string) => (id === "simulated" ? gateway : undefined);
  const inbound = openInbound({ store, clock, jobs, gatewayOf, onFailure, isErased: () => false });
  const ground = { store, clock, jobs, trail, ...credits };
  const sales = await openSales(
    { ...SETTINGS, supplier },
    {
      ...ground,
      timers: given.timers,
      accounts,
      cursors: CURSORS,
      boundsChanged,
      topUpHook,
      events: trail.events,
      invoices: invoices.issuer,
      gateways: { byId: gatewayOf, forCurrency: () => gateway },
      inbound,
      seenEverywhere: async () => {},
      log: logOf(onFailure),
    },
  );
  const offered = { ...sales.offered, settled: async () => {} };
  return {
    ...sales.offered,
    ...ground,
    followed: sales.followed,
    topUps: { ...sales.autoTopups, ...topUpHook.tables },
    accounts,
    inbound,
    tallies,
    gateway,
    supplier,
    issuer: invoices.issuer,
    invoiceTables: invoices.tables,
    operations: { ...topupOperations(offered), ...refundOperations(offered) },
    close() {
      sales.autoTopups.stop();
      inbound.close();
      invoices.close();
    },
  };
}

export type Rooms = Awaited<ReturnType<typeof openRooms>>;

const CURSORS = cursors(Buffer.alloc(32, 7));
/** No rates are listed: each day's is put. */
const SETTINGS = {
  rates: { listed: [], always: "" },
  quotas: USUAL_QUOTAS,
  fxUrl: undefined,
  publicUrl: "http://gateway",
};
export const NO_LOG = { error() {}, warn() {}, info() {} } as unknown as Logger;

/** Passes on errors of background work, which no caller gets. */
const logOf = (onFailure: (error: unknown) => void): Logger =>
  ({
    ...NO_LOG,
    error: ({ err }: { err?: unknown }) => err !== undefined && onFailure(err),
  }) as unknown as Logger;

/** Sums and counts of the simulation itself, put in the acts that they are about: as durable as these, and no more. */
export class Tallies {
  readonly #sums: Table<number>;

  constructor(store: Store) {
    this.#sums = store.table("simulation.tallies");
  }

  /** Only in an act. */
  add(name: string, id: string, by = 1): void {
    this.#sums.put([name, id], this.of(name, id) + by);
  }

  of(name: string, id: string): number {
    return this.#sums.get([name, id]) ?? 0;
  }

  /** Events are checked, counted by the id in their data, those of subscriptions by the org, and heard of. */
  trail(): Trail & { readonly events: Pick<Events, "emit" | "listen"> } {
    const listeners: EventListener[] = [];
    return {
      events: {
        emit: (type, orgId, data) => {
          const checked = type.data.parse(data) as { id?: string; org_id?: string };
          const about = checked.id ?? checked.org_id;
          if (about !== undefined) this.add(type.name, about);
          for (const listen of listeners)
            listen({ id: "", orgId, type: type.name, createdAtMs: 0, data: checked });
        },
        listen: (listener) => void listeners.push(listener),
      },
      audit: { note() {} },
    };
  }
}

/** A person who owns the org. */
export const callerOf = (orgId: string): Caller => ({
  requestId: "",
  actor: { kind: "person", id: "usr" },
  origin: { ipPrefix: "", userAgent: "" },
  orgId,
  projectId: "",
  environment: "live",
  scopes: new Set(),
});

export const headWith = (idempotencyKey: string): HttpHead => ({
  header: (name) => (name === "idempotency-key" ? idempotencyKey : ""),
  cookie: () => undefined,
  address: "127.0.0.1",
});
