/**
 * The credits of a cell among several, and the list of the ledger's entries in the analytics: charges get there once they have numbers,
 * postings by a job, so that none is missing there.
 */
import type { Logger } from "pino";
import { z } from "zod";
import type { AccountTables } from "../../../account/tables.ts";
import type { Way } from "../../../analytics/clickhouse/inserted-until.ts";
import type { AnalyticsLedger } from "../../../analytics/outbox/ledger.ts";
import type { Clock } from "../../../base/clock.ts";
import { sliced } from "../../../base/lists.ts";
import { type LedgerEntry, settleEntry } from "../../../credits/ledger/entry.ts";
import { openLedger } from "../../../credits/ledger/ledger.ts";
import { UnchargedCalls } from "../../../credits/ledger/uncharged.ts";
import { A_BUDGET_IS_USED_UP, type Money, type MoneyTellers } from "../../../credits/open.ts";
import { jobKind } from "../../../store/jobs/job.ts";
import type { Jobs } from "../../../store/jobs/jobs.ts";
import { LeasedBudgets } from "../budgets/leased-budgets.ts";
import { SharedSpend } from "../budgets/shared-spend.ts";
import type { Cell } from "../cell.ts";
import { FormerLedger, type FormerList, isFormerOver } from "../credit/former-ledger.ts";
import { openSharedCredits, POSTED_LEDGER } from "../credit/shared-credits.ts";
import type { NumberedCharge } from "../leases/charges.ts";
import { Flush, type Flushed } from "../messages/flush.ts";
import { budgetsOfKey, crossedTeller, joinSpendOfLineages } from "./budgets.ts";

const listPosting = jobKind({
  name: "credits.list_posting",
  payload: z.object({ orgId: z.string(), seq: z.int() }),
  tries: 1000,
  backoff: { firstMs: 1000, mostMs: 600_000 },
  atOnce: 8,
  atOncePerLane: 2,
  leaseMs: 30_000,
  isKeptOnErasure: true,
});

/** Where a cell's charges are listed: a table of the analytics, which opens later than the money. */
export interface ListedCharges extends FormerList, Pick<AnalyticsLedger, "entriesOf" | "holesOf"> {
  /** Resolves once the entries of all cells so far are listed, or after a moment. */
  allListed(): Promise<Flushed>;
}

export interface MoneyOfCell extends Money {
  /** Before the first call. */
  connect(charges: ListedCharges): void;
  /** Resolves true once the charges so far are on their way to the list; false where that takes longer. */
  flushCharges(withinMs: number): Promise<boolean>;
  /** This cell's charges on their way to the list. */
  readonly charges: Way;
}

export interface MoneyOfCellPorts {
  readonly cell: Cell;
  readonly clock: Clock;
  readonly jobs: Jobs;
  readonly accounts: AccountTables;
  readonly tellers: MoneyTellers;
  readonly log: Logger;
}

/** @throws Error with a line for the operator, where the cell's folder is a copy of an older state */
export async function openMoneyOfCell({
  cell,
  clock,
  jobs,
  accounts,
  tellers: { exceeded, near, ...tellers },
  log,
}: MoneyOfCellPorts): Promise<MoneyOfCell> {
  const { store } = cell;
  const listed = Promise.withResolvers<ListedCharges>();
  const charging = new Flush(cell.signals, "charges");
  const uncharged = new UnchargedCalls(store);
  await joinSpendOfLineages(cell, accounts);
  const credits = await openSharedCredits({
    cell,
    clock,
    ...tellers,
    async onNumbered(charges) {
      const list = await listed.promise;
      await store.act(() => list.put(charges.map(entryOf)), { isOwed: true });
    },
    async onUncharged(calls) {
      log.error(
        { calls: calls.length },
        "calls of a life of this cell that was retired are charged to nobody",
      );
      for (const some of sliced(calls, SLICE)) {
        const act = () => {
          for (const call of some) uncharged.put(call);
        };
        await store.act(act, { isOwed: true });
      }
    },
    onNotPassed: notPassedTeller(log),
    onPosted: (orgId, { seq }) => jobs.enqueue(listPosting, { orgId, payload: { orgId, seq } }),
    charges: async (orgId, page) =>
      await (await listed.promise).entriesOf(orgId, { ...page, kind: "settle" }),
    holes: async (orgId, page) => await (await listed.promise).holesOf(orgId, page),
    isFormerOver: () => isFormerOver(cell),
    allCharged: async () => void (await Promise.all([charged(CHARGED_MS), charging.others(CHARGED_MS)])),
    allListed: async () => await (await listed.promise).allListed(),
    onCrossed: crossedTeller(store, exceeded, log),
    scopeOf: (keyId) => budgetsOfKey(accounts, keyId, clock.now()),
    lineageOf: accounts.lineageOfId,
    noteNear: near.note,
    onEnd: (reason) => cell.end(reason),
  });
  let former: FormerLedger | undefined;
  const charged = (withinMs: number) => credits.purse.passed(withinMs);
  charging.onFlush(charged);
  const { lane: credit } = credits.purse;
  return {
    ...credits,
    budgets: new LeasedBudgets({
      store,
      clock,
      credit,
      putExceeded: exceeded.put,
      spend: new SharedSpend({ lane: cell.lane("spend"), scopes: credit.scopes }),
      onBudgetExceeded: (event) => log.warn({ event }, A_BUDGET_IS_USED_UP),
    }),
    connect(list) {
      const posted = openLedger(store, POSTED_LEDGER);
      jobs.handle(listPosting, {
        async run({ orgId, seq }) {
          const [entry] = posted.page(orgId, { before: seq + 1, limit: 1 });
          if (entry?.seq !== seq) throw new Error(`posting ${seq} of ${orgId} is not there`);
          await store.act(() => list.put([{ ...entry, orgId }]), { isOwed: true });
          return undefined;
        },
      });
      former = copyFormer(cell, list, log);
      listed.resolve(list);
    },
    flushCharges: charged,
    charges: credits.purse.passing,
    leased: () => credits.purse.leased(),
    async close() {
      await former?.stop();
      await credits.purse.close();
    },
  };
}

/** Lists the former charges of a cell on the folder of a gateway that was alone. */
function copyFormer({ name, store }: Cell, list: ListedCharges, log: Logger): FormerLedger {
  const former = new FormerLedger({
    name,
    store,
    list,
    onFailure: (err) =>
      log.error({ err }, "charges of before there were cells could not be listed; it is tried again"),
    onDone: (entries) => log.info({ entries }, "all charges of before there were cells are listed"),
  });
  former.start();
  return former;
}

/** A balance waits so long for the charges of all cells. */
const CHARGED_MS = 1000;
/** Rows of one act. */
const SLICE = 1000;

const entryOf = (charge: NumberedCharge): LedgerEntry & { readonly orgId: string } => ({
  ...settleEntry(charge, charge.seq, charge.balanceMicroUsd),
  orgId: charge.orgId,
});

/** Each reason once, however often it is tried. */
function notPassedTeller(log: Logger): (error: unknown) => void {
  let told = "";
  return (err) => {
    if (String(err) === told) return;
    told = String(err);
    log.error({ err }, "charges are not passed on to the list of the ledger; it is tried again");
  };
}
