/**
 * Subscriptions over a real store, ledger, issuer and queue of jobs. Jobs run when a test says so, at the time of its clock; an act
 * can be dropped at its end, and the store closed and opened again, as a process does that dies.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orgClosed } from "../../../src/account/account-events.ts";
import { closingWire } from "../../../src/account/credit-left.ts";
import type { OrgRow } from "../../../src/account/org.ts";
import { orgWire } from "../../../src/account/org-wire.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { newId } from "../../../src/base/ids.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import type { Plan } from "../../../src/base/plan.ts";
import { Issuer } from "../../../src/billing/invoices/issuer.ts";
import { Series } from "../../../src/billing/invoices/series.ts";
import { parseSupplier } from "../../../src/billing/invoices/supplier.ts";
import { InvoiceTables } from "../../../src/billing/invoices/tables.ts";
import { FxTable } from "../../../src/billing/rates/fx-table.ts";
import { expireIncluded, expiryHandler } from "../../../src/billing/subscriptions/included-credit.ts";
import { PlanList } from "../../../src/billing/subscriptions/plan-list.ts";
import {
  planOperations,
  type SubscriptionChange,
} from "../../../src/billing/subscriptions/plan-operations.ts";
import {
  closingListener,
  renewalHandler,
  renewSubscription,
} from "../../../src/billing/subscriptions/renewal.ts";
import { SubscriptionTables } from "../../../src/billing/subscriptions/tables.ts";
import { openCredits } from "../../../src/credits/ledger/credits.ts";
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import type { JobEnding, JobHandler, JobRow, JobRun } from "../../../src/store/jobs/job.ts";
import { JobTables } from "../../../src/store/jobs/job-tables.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { ManualClock, wholeLedger } from "../credits/fixtures.ts";
import { ORIGIN, trailOn } from "../trail.fixtures.ts";

export const SUPPLIER = `
legal_name: Weir Example Private Limited
address: { line1: 12 Residency Road, city: Bengaluru, postal_code: "560025" }
state_code: "29"
country: IN
gstin: 29AAWCE1234F1ZG
`;

export const DAY = 86_400_000;

const plan = (id: string, usd: number, includedMicroUsd: number, differing: Partial<Plan> = {}): Plan => ({
  id,
  name: id[0]?.toUpperCase() + id.slice(1),
  description: "",
  public: true,
  sort: usd,
  limits: { rpm: usd, tpm: 0, concurrency: 0, keys: 5, projects: 5, auto_approve: 2 },
  features: { sso: false, priority_support: false },
  included_micro: includedMicroUsd,
  monthly_minor: { INR: usd * 90, USD: usd },
  ...differing,
});

/** The closing of an org that has none left. */
export const NO_CREDIT = closingWire(
  { by: "owner", ticketId: "", refundRequested: false },
  { paidMicroUsd: 0, grantedMicroUsd: 0, refunds: [] },
);

/** 20, 100 and 500 USD a month. */
export const PLANS: readonly Plan[] = [
  plan("local", 0, 0),
  plan("starter", 2_000, 5_000_000),
  plan("team", 10_000, 30_000_000),
  plan("business", 50_000, 0),
  plan("secret", 100, 0, { public: false }),
];

export interface PlansOptions {
  readonly folder?: string;
  readonly plans?: readonly Plan[];
  /** Fixed rate of INR; empty: there is none. */
  readonly rate?: string;
  /** Around the store of each opening. */
  readonly around?: (store: Store) => Store;
  /** Runs each act twice, and drops the first run. */
  readonly actsTwice?: boolean;
}

class Dropped extends Error {}

export function openPlans(options: PlansOptions = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "weir-plans-"));
  const clock = new ManualClock("2026-01-31T10:00:00Z");
  let rooms = openRooms(folder, clock, options);
  const rig = {
    clock,
    get rooms() {
      return rooms;
    },
    /** As a restart does. */
    async reopen(changes: PlansOptions = {}) {
      await rooms.close();
      rooms = openRooms(folder, clock, { ...options, ...changes });
    },
    async addOrg(org: OrgRow, microUsd = 0, owner?: string): Promise<OrgRow> {
      const { accounts, store, book } = rooms;
      await store.act(() => {
        accounts.addOrg(org);
        const topup = { kind: "topup", amountMicroUsd: microUsd, refType: "topup", refId: "first" } as const;
        if (microUsd > 0) book.post(org.id, topup);
        if (owner !== undefined) {
          const member = { orgId: org.id, userId: owner, role: "owner", source: "creation" } as const;
          accounts.people.putMember({ ...member, addedAtMs: clock.now() });
        }
      });
      return org;
    },
    /** The operation as people call it; the caller may be any member. */
    async choose(org: Pick<OrgRow, "id">, planId: string, effective?: "now" | "period_end", key = "") {
      const body = { plan_id: planId, ...(effective !== undefined && { effective }) };
      const head = { header: () => key, cookie: () => undefined, address: "127.0.0.1" };
      const input = { params: undefined, query: undefined, body };
      return (await rooms.operations.changeSubscription.run(
        input,
        callerOf(org.id),
        head,
      )) as SubscriptionChange;
    },
    /** What the org is told of its subscription. */
    async shown(orgId: string): Promise<{ readonly plan_id: string; readonly status: string }> {
      const head = { header: () => "", cookie: () => undefined, address: "127.0.0.1" };
      const none = { params: undefined, query: undefined, body: undefined };
      const answer = await rooms.operations.getSubscription.run(none, callerOf(orgId), head);
      return (answer as Pick<SubscriptionChange, "subscription">).subscription;
    },
    async spend(orgId: string, amountMicroUsd: number) {
      const charge = { requestId: newId("job", clock.now()), amountMicroUsd, atMs: clock.now() };
      await rooms.store.act(() => rooms.book.charge(orgId, charge));
    },
    row: (orgId: string) => rooms.subscriptions.get(orgId),
    balance: (orgId: string) => rooms.book.balance(orgId).balanceMicroUsd,
    ledger: (orgId: string): LedgerEntry[] => wholeLedger(rooms.book, orgId),
    /** `[kind, amount]`, oldest first. */
    entries: (orgId: string) => wholeLedger(rooms.book, orgId).map((e) => [e.kind, e.amountMicroUsd]),
    /** Oldest first. */
    eventTypes: (orgId: string) =>
      rooms
        .eventsOf(orgId)
        .map(({ type }) => type)
        .reverse(),
    statements: (orgId: string) => [...rooms.invoiceTables.of(orgId)].reverse(),
    due: (orgId: string): JobRow[] =>
      [...rooms.jobTables.after()]
        .filter((job) => job.orgId === orgId && job.dueMs <= clock.now() && job.kind.startsWith("billing."))
        .sort((a, b) => a.dueMs - b.dueMs),
    /** Runs what is due, until nothing is. @param drops asked before each act; true: its run is lost, and the job stays */
    async runJobs(orgId: string, drops: () => boolean = () => false) {
      for (let round = 0; round < 100; round++) {
        const [job] = rig.due(orgId);
        if (job === undefined) return;
        const ending = await rooms.run(job);
        const isDropped = drops();
        await rooms.store
          .act(() => {
            ending?.act?.();
            const { againAtMs } = ending ?? {};
            rooms.jobTables.remove(job);
            if (againAtMs !== undefined) rooms.jobTables.put({ ...job, dueMs: againAtMs });
            if (isDropped) throw new Dropped();
          })
          .catch((error: unknown) => {
            if (!(error instanceof Dropped)) throw error;
          });
        if (isDropped) await rig.reopen();
      }
      throw new Error("jobs do not end");
    },
    /** Moves the clock day by day and runs what is due. */
    async pass(orgId: string, days: number) {
      for (let day = 0; day < days; day++) {
        clock.advance(DAY);
        await rig.runJobs(orgId);
      }
    },
    async dispose() {
      await rooms.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  return rig;
}

export type TestPlans = ReturnType<typeof openPlans>;

function openRooms(folder: string, clock: ManualClock, options: PlansOptions) {
  const { around = (own) => own, actsTwice = true } = options;
  const store = around(openStore(folder, { actsTwice }));
  const { trail, events, eventsOf, auditOf, jobs, close } = trailOn(store, clock);
  const { book, purse, lots } = openCredits({ store, clock });
  const accounts = new AccountTables(store);
  const invoiceTables = new InvoiceTables(store);
  const invoices = new Issuer({
    clock,
    tables: invoiceTables,
    series: new Series(store),
    events: trail.events,
    jobs,
    supplier: parseSupplier(SUPPLIER, "supplier.yaml"),
    putMail: () => {},
  });
  const subscriptions = new SubscriptionTables(store);
  const deps = {
    store,
    clock,
    book,
    purse,
    lots,
    invoices,
    jobs,
    accounts,
    subscriptions,
    events: trail.events,
    audit: trail.audit,
    fx: new FxTable({ store, clock, listed: [], always: options.rate ?? "88.50000000" }),
    terms: { spreadBps: 200 },
    plans: new PlanList(options.plans ?? PLANS, "local"),
    ownersOf: (orgId: string) =>
      accounts.people
        .membersOf(orgId)
        .filter(({ role }) => role === "owner")
        .map(({ userId }) => userId),
  };
  events.listen(closingListener(deps));
  const handlers = new Map<string, JobHandler<never>>([
    [renewSubscription.name, renewalHandler(deps)],
    [expireIncluded.name, expiryHandler(deps)],
  ]);
  return {
    store,
    book,
    purse,
    lots,
    accounts,
    subscriptions,
    invoiceTables,
    eventsOf,
    auditOf,
    deps,
    jobTables: new JobTables(store),
    operations: planOperations(deps),
    /** Only in an act: the org was closed. */
    closed(orgId: string): void {
      const org = accounts.org(orgId);
      if (org !== undefined) events.emit(orgClosed, orgId, { ...orgWire(org), closing: NO_CREDIT });
    },
    async run({ kind, payload, key, orgId }: JobRow): Promise<JobEnding | undefined> {
      const job: JobRun = { key, orgId, createdAtMs: 0, attempt: 1, signal: new AbortController().signal };
      const { payload: schema } = kind === renewSubscription.name ? renewSubscription : expireIncluded;
      return await handlers.get(kind)?.run(schema.parse(payload) as never, job);
    },
    async close() {
      close();
      await store.close();
    },
  };
}

export const callerOf = (orgId: string): Caller => ({
  requestId: "01J00000000000000000000000",
  actor: { kind: "person", id: "usr_a" },
  origin: ORIGIN,
  orgId,
  projectId: "",
  environment: "live",
  scopes: new Set<string>(),
});
