/**
 * Mandates and automatic top-ups over a real store, ledger, issuer of invoices and jobs, which can die and start again over
 * one scripted payment gateway.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { OrgRow } from "../../../src/account/org.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { newId } from "../../../src/base/ids.ts";
import type { HttpHead } from "../../../src/base/operation/http-head.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { USUAL_QUOTAS } from "../../../src/base/quota.ts";
import { autoTopupHook, openAutoTopup } from "../../../src/billing/auto-topups/open.ts";
import { DisputeTable } from "../../../src/billing/disputes/dispute.ts";
import { Issuer } from "../../../src/billing/invoices/issuer.ts";
import { Series } from "../../../src/billing/invoices/series.ts";
import { parseSupplier } from "../../../src/billing/invoices/supplier.ts";
import { InvoiceTables } from "../../../src/billing/invoices/tables.ts";
import { ParkedPayments } from "../../../src/billing/parked.ts";
import { FxTable } from "../../../src/billing/rates/fx-table.ts";
import { RefundTables } from "../../../src/billing/refunds/tables.ts";
import { TopupTables } from "../../../src/billing/topups/tables.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import { Audit } from "../../../src/store/events/audit.ts";
import { Events } from "../../../src/store/events/events.ts";
import type { JobRow } from "../../../src/store/jobs/job.ts";
import { Jobs } from "../../../src/store/jobs/jobs.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { ManualTime } from "../../support/jobs/fixtures.ts";
import { ORIGIN } from "../../support/trail.fixtures.ts";
import { SUPPLIER, someOrg, TERMS } from "./fixtures.ts";
import { ScriptedGateway } from "./scripted-gateway.fixtures.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** 06:00 in India, where no peak hours of UPI are near. */
export const START = Date.parse("2026-11-23T00:30:00Z");

/** The process dies at an act that a test names: before it, after it, or never. */
class Mortal {
  isDead = false;
  /** Acts until it dies. */
  left = Number.POSITIVE_INFINITY;

  gate(store: Store): Store {
    const never = new Promise<never>(() => {});
    return new Proxy(store, {
      get: (target, name) => {
        if (name !== "act") {
          const value = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        }
        return (...given: Parameters<Store["act"]>) => {
          if (this.isDead) return never;
          const acted = target.act(...given);
          this.left -= 1;
          if (this.left <= 0) this.isDead = true;
          return acted.then(
            (value) => (this.isDead ? never : value),
            (error) => (this.isDead ? never : Promise.reject(error)),
          );
        };
      },
    });
  }
}

const HEAD: HttpHead = { header: () => "", cookie: () => undefined, address: "127.0.0.1" };
export const headWith = (key: string): HttpHead => ({ ...HEAD, header: () => key });

const CALLER: Omit<Caller, "orgId"> = {
  requestId: "req",
  actor: { kind: "key", id: "key_1" },
  origin: ORIGIN,
  projectId: "",
  environment: "live",
  scopes: new Set<string>(),
};
export const callerOf = (orgId: string): Caller => ({ ...CALLER, orgId });

/** Opens everything over a folder, as a start of the process does. */
function openProcess(folder: string, time: ManualTime, gateway: ScriptedGateway) {
  const real = openStore(folder, { actsTwice: true });
  const mortal = new Mortal();
  const store = mortal.gate(real);
  const clock = time;
  const timers = {
    after: (ms: number, act: () => void) => time.after(ms, () => void (mortal.isDead || act())),
  };
  const onFailure = () => {};
  const events = new Events({ store, clock, onFailure });
  const audit = new Audit({ store, clock, onFailure });
  const jobs = new Jobs({ store, clock, timers, random: () => 0.5, holder: "tests", onFailure });
  const hook = autoTopupHook(store);
  const credits = openCredits({ store, clock, bounds: hook, onFall: hook.onFall });
  const invoices = new Issuer({
    clock,
    tables: new InvoiceTables(store),
    series: new Series(store),
    events,
    jobs,
    supplier: parseSupplier(SUPPLIER, "supplier.yaml"),
    putMail: () => {},
  });
  const fx = new FxTable({ store, clock, listed: [], always: "88.50000000" });
  const accounts = new AccountTables(store);
  const tables = { topups: new TopupTables(store), refunds: new RefundTables(store) };
  const ground = {
    store,
    clock,
    timers,
    jobs,
    events,
    trail: { events, audit },
    accounts,
    fx,
    invoices,
    terms: TERMS,
    ...credits,
    ...tables,
    parked: new ParkedPayments(store),
    looks: new Map(),
    gatewayOf: () => gateway.port,
    gatewayFor: () => gateway.port,
    ownAddress: () => "http://127.0.0.1",
    quotas: USUAL_QUOTAS,
    onFailure: (error: unknown) => {
      // A table that a test left open sweeps on after its store was closed.
      if (!String(error).includes("closed database")) throw error;
    },
  };
  const room = openAutoTopup(ground, hook);
  const notices = {
    ...ground,
    disputes: new DisputeTable(store),
    onMandate: room.onMandate,
    onDispute: room.onDispute,
  };
  return { ...ground, ...hook.tables, real, mortal, audit, room, notices };
}

export class AutoTopupWorld {
  readonly time = new ManualTime();
  readonly gateway: ScriptedGateway;
  readonly folder = mkdtempSync(join(tmpdir(), "weir-auto-topup-"));
  now: ReturnType<typeof openProcess>;
  /** Deaths so far. */
  deaths = 0;

  constructor() {
    this.time.set(START);
    this.gateway = new ScriptedGateway(this.time.now);
    this.gateway.around = () => {};
    this.now = openProcess(this.folder, this.time, this.gateway);
  }

  async start(): Promise<this> {
    await this.now.room.start();
    await this.now.jobs.start();
    await this.quiet();
    return this;
  }

  /** Kills the process where it is, and starts another. */
  async restart(): Promise<void> {
    this.now.mortal.isDead = true;
    this.deaths += 1;
    // What had reached the store is there.
    for (let i = 0; i < 5; i++) await nextTurn();
    this.now.events.close();
    this.now.audit.close();
    await this.now.real.close();
    this.now = openProcess(this.folder, this.time, this.gateway);
    await this.start();
  }

  /** Waits until no job runs and none is due, or the process has died. */
  async quiet(): Promise<void> {
    for (;;) {
      await this.#flushed();
      if (this.now.mortal.isDead) return await this.restart();
      if (!this.#isBusy()) {
        await nextTurn();
        if (!this.#isBusy() && !this.now.mortal.isDead) return;
      }
      await nextTurn();
      this.time.fire();
    }
  }

  /** A dead process flushes for ever. */
  async #flushed(): Promise<void> {
    let isDone = false;
    void this.now.room.watch.flush().then(() => {
      isDone = true;
    });
    while (!isDone && !this.now.mortal.isDead) await nextTurn();
  }

  #isBusy(): boolean {
    const nowMs = this.time.now();
    // The issuer's own jobs have no handler here.
    for (const { value } of this.now.real.table<JobRow>("jobs.rows").range())
      if (
        value.kind.startsWith("billing.") &&
        value.state !== "given_up" &&
        (value.state === "running" || value.dueMs <= nowMs)
      )
        return true;
    return false;
  }

  /** Moves time in steps, so that each job runs about when it is due. */
  async pass(ms: number, stepMs = Math.min(ms, 30 * MINUTE)): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      this.time.advance(Math.min(stepMs, leftMs));
      await this.quiet();
    }
  }

  async org(row: OrgRow): Promise<string> {
    await this.now.store.act(() => this.now.accounts.replaceOrg(row));
    return row.id;
  }

  /** Registers a mandate and approves it. @returns its id */
  async mandate(orgId: string, method: "upi" | "card" | "emandate" = "card"): Promise<string> {
    const { mandate } = await this.create(orgId, method);
    this.gateway.move(mandate.mandate_ref, "active");
    await this.tell(mandate.mandate_ref);
    return mandate.id;
  }

  create = (orgId: string, method: "upi" | "card" | "emandate", key = "") =>
    this.now.room.operations.createMandate.run(
      { body: { method }, params: undefined, query: undefined },
      callerOf(orgId),
      headWith(key),
    ) as Promise<{
      mandate: { id: string; mandate_ref: string; hosted_url?: string; status: string };
      url: string;
    }>;

  /** A webhook about a mandate. */
  async tell(ref: string): Promise<void> {
    const { room, store } = this.now;
    const ended = await room.onMandate(this.gateway.port, ref, AbortSignal.timeout(5000));
    await store.act(() => ended?.act?.());
    await this.quiet();
  }

  cancel = (orgId: string) =>
    this.now.room.operations.cancelMandate.run(
      { body: undefined, params: undefined, query: undefined },
      callerOf(orgId),
      HEAD,
    ) as Promise<{ mandate: { id: string; status: string } }>;

  async put(orgId: string, amount_minor: number, threshold_micro = 5_000_000, enabled = true): Promise<void> {
    const body = { enabled, threshold_micro, amount_minor };
    await this.now.room.operations.setAutoTopup.run(
      { body, params: undefined, query: undefined },
      callerOf(orgId),
      HEAD,
    );
  }

  view = (orgId: string) =>
    this.now.room.operations.getAutoTopup.run(
      { body: undefined, params: undefined, query: undefined },
      callerOf(orgId),
      HEAD,
    ) as { mandate: Record<string, unknown> | null; config: object; [more: string]: unknown };

  /** Credit that nobody paid for. */
  async grant(orgId: string, amountMicroUsd: number): Promise<void> {
    const gift = {
      kind: "grant",
      amountMicroUsd,
      refType: "grant",
      refId: newId("job", this.time.now()),
    } as const;
    await this.now.store.act(() => this.now.book.post(orgId, gift));
  }

  async spend(orgId: string, amountMicroUsd: number): Promise<void> {
    const charge = { requestId: newId("job", this.time.now()), amountMicroUsd, atMs: this.time.now() };
    await this.now.store.act(() => this.now.book.charge(orgId, charge));
  }

  balance = (orgId: string): number => this.now.book.balance(orgId).balanceMicroUsd;
  events = (orgId: string): string[] => [...this.now.events.of(orgId)].map(({ type }) => type).reverse();
  eventData = (orgId: string, type: string): Record<string, unknown>[] =>
    [...this.now.events.of(orgId)].filter((event) => event.type === type).map(({ data }) => data as never);
  topups = (orgId: string) => [...this.now.topups.of(orgId)];
  status = (orgId: string) => this.now.mandates.shown(orgId)?.status;

  async dispose(): Promise<void> {
    this.now.mortal.isDead = true;
    for (let i = 0; i < 5; i++) await nextTurn();
    this.now.events.close();
    this.now.audit.close();
    await this.now.real.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** An org that tops up 10 dollars below a balance of 5, by card, with 20 dollars of credit. */
  async american(): Promise<string> {
    const orgId = await this.org(someOrg("US"));
    await this.mandate(orgId);
    await this.grant(orgId, 20_000_000);
    await this.put(orgId, 1_000);
    await this.quiet();
    return orgId;
  }

  /** An org that tops up 1,000 rupees, announced first. */
  async indian(method: "upi" | "card" = "upi"): Promise<string> {
    const orgId = await this.org(someOrg());
    await this.mandate(orgId, method);
    await this.grant(orgId, 20_000_000);
    await this.put(orgId, 100_000);
    await this.quiet();
    return orgId;
  }
}
