/** Budgets of several cells at one Redis: each call holds credit and budgets, and charges both in one act, as the exchange does. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpack } from "msgpackr";
import { type Clock, systemClock } from "../../../../../src/base/clock.ts";
import { LeasedBudgets } from "../../../../../src/cluster/cells/budgets/leased-budgets.ts";
import { SharedSpend } from "../../../../../src/cluster/cells/budgets/shared-spend.ts";
import type { Cell } from "../../../../../src/cluster/cells/cell.ts";
import { SharedClock } from "../../../../../src/cluster/cells/clock/shared-clock.ts";
import { CreditView } from "../../../../../src/cluster/cells/credit/credit-view.ts";
import { type LeasedPurse, openLeasedPurse } from "../../../../../src/cluster/cells/credit/leased-purse.ts";
import { datasetId } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { type Lane, Session } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import type { Crossed } from "../../../../../src/cluster/cells/leases/scopes.ts";
import { connectRedis, Script } from "../../../../../src/cluster/cells/redis/redis.ts";
import { SCRIPTS } from "../../../../../src/cluster/cells/scripts/scripts.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import type {
  Budget,
  BudgetExceeded,
  BudgetRefusal,
  BudgetScope,
} from "../../../../../src/credits/budgets/budget.ts";
import type { BudgetHold } from "../../../../../src/credits/budgets/budgets.ts";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import { openStore, type Store } from "../../../../../src/store/store.ts";
import { createDataset } from "../../../../support/cells/dataset.ts";
import { startRedis } from "../../../../support/redis-server.ts";
import type { Bench } from "../fixtures.ts";

export interface BudgetCell {
  readonly name: string;
  readonly store: Pick<Store, "act">;
  readonly purse: LeasedPurse;
  readonly budgets: LeasedBudgets;
  /** What this cell told, in its order. */
  readonly crossed: Crossed[];
  readonly refusals: BudgetExceeded[];
  /** Ids of keys and projects of which this cell noted that half of the budget is used. */
  readonly near: string[];
  stop(): Promise<void>;
}

/** More credit than any test spends. */
export const ENOUGH = 1_000_000_000_000;

interface Parts {
  readonly name: string;
  readonly store: Store;
  readonly life: string;
  readonly lane: (name: string) => Lane;
  readonly restates: Cell["restates"];
  readonly clock: Clock;
  readonly time?: SharedClock;
  readonly idleMs?: number;
  /** A call waits so long for Redis; by default long enough for a busy machine. */
  readonly waitMs?: number;
  readonly scopeOf?: (keyId: string) => BudgetScope | undefined;
  readonly stop: () => Promise<void>;
}

async function openParts(parts: Parts): Promise<BudgetCell> {
  const {
    name,
    store,
    life,
    lane,
    restates,
    clock,
    time = new SharedClock(clock),
    idleMs = 200,
    waitMs = 5000,
    scopeOf,
    stop,
  } = parts;
  const crossed: Crossed[] = [];
  const refusals: BudgetExceeded[] = [];
  const near: string[] = [];
  const purse = await openLeasedPurse({
    store,
    life,
    lane: lane("credit"),
    clock,
    time,
    idleMs,
    waitMs,
    restates,
    scopeOf,
    staleMs: STALE_MS,
    view: new CreditView({ lane: lane("credit_view"), inAct: () => undefined }),
    onNumbered() {},
    onUncharged() {},
    noteNear: ({ ownerId }) => void near.push(ownerId),
    onCrossed: (rows) => void crossed.push(...rows),
    onEnd(reason) {
      throw reason;
    },
  });
  const { lane: credit } = purse;
  const spend = new SharedSpend({ lane: lane("spend"), scopes: credit.scopes });
  const onBudgetExceeded = (event: BudgetExceeded) => void refusals.push(event);
  const budgets = new LeasedBudgets({ store, clock, credit, spend, onBudgetExceeded });
  const closed = async () => {
    await purse.close();
    await stop();
  };
  return { name, store, purse, budgets, crossed, refusals, near, stop: closed };
}

export async function openBudgetCell(
  bench: Bench,
  name: string,
  options: Pick<Parts, "scopeOf"> = {},
): Promise<BudgetCell & { cut(): void }> {
  const cell = await bench.cell(name, { hasParts: true });
  const { store } = cell;
  const made = await openParts({
    name,
    store,
    life: cell.entered.life,
    lane: cell.lane,
    restates: cell.restates,
    clock: systemClock,
    ...options,
    time: cell.clock,
    stop: () => cell.stop(),
  });
  await cell.opened();
  return { ...made, cut: () => cell.cut() };
}

export const hard = (limitMicroUsd: number): Budget => ({ limitMicroUsd, hard: true });
export const soft = (limitMicroUsd: number): Budget => ({ limitMicroUsd, hard: false });

/** A key of its own project and org. */
export const scopeOf = (id: string, budgets: Partial<BudgetScope> = {}): BudgetScope => ({
  keyId: `key_${id}`,
  projectId: `proj_${id}`,
  orgId: `org_${id}`,
  timeZone: "UTC",
  ...budgets,
});

export interface OpenCall {
  readonly cell: BudgetCell;
  readonly credit: Hold;
  readonly budget: BudgetHold;
}

/** Holds as a call does. @throws WeirError 503 */
export async function begin(
  cell: BudgetCell,
  scope: BudgetScope,
  microUsd: number,
): Promise<OpenCall | BudgetRefusal> {
  const budget = await cell.budgets.hold(scope, microUsd);
  if (!budget.admitted) return budget;
  try {
    const credit = await cell.purse.hold(scope.orgId, microUsd);
    if (credit === undefined) throw new Error("the test's org has no credit");
    return { cell, credit, budget };
  } catch (error) {
    cell.budgets.release(budget);
    throw error;
  }
}

export const isOpenCall = (call: OpenCall | BudgetRefusal): call is OpenCall => "credit" in call;

let requests = 0;

/** Charges a call, as its settlement does. @returns the day that it counts in, once it is durable */
export async function settle({ cell, credit, budget }: OpenCall, amountMicroUsd: number): Promise<string> {
  const charge = { requestId: `req_${cell.name}_${++requests}`, amountMicroUsd, atMs: systemClock.now() };
  const count = cell.budgets.charging(budget, amountMicroUsd);
  const act = () => {
    cell.purse.settle(credit, charge, budget.spend);
    count();
  };
  await cell.store.act(act, { isOwed: true });
  return budget.spend?.day ?? "";
}

export function giveUp({ cell, credit, budget }: OpenCall): void {
  cell.purse.release(credit);
  cell.budgets.release(budget);
}

/** A scope in Redis: texts. */
export async function spendRow(link: Bench["link"], scope: string): Promise<Record<string, string>> {
  const found = (await link.call("HGETALL", `{weir}:spend:${scope}`)) as Buffer[];
  const row: Record<string, string> = {};
  for (let at = 0; at < found.length; at += 2)
    row[String(found[at])] = (found[at + 1] as Buffer).toString("latin1");
  return row;
}

/** What a scope's row keeps of days, the newest last; see `60-budgets.lua`. */
export function partsOf({ n = "", p }: Record<string, string>): { day: string; microUsd: number }[] {
  const older = p === undefined ? [] : (unpack(Buffer.from(p, "latin1")) as (string | number)[]);
  const parts = [];
  for (let at = 0; at < older.length; at += 3)
    parts.push({ day: String(older[at]), microUsd: Number(older[at + 2]) });
  const [day = "", , microUsd] = n.split(" ");
  return [...parts, { day, microUsd: Number(microUsd) }];
}

type TimedCellOptions = Pick<Parts, "scopeOf" | "waitMs"> & {
  readonly clock?: Clock;
  /** Path of the socket of a proxy before Redis. */
  readonly url?: string;
};

export interface TimedBench {
  /** Path of the socket of Redis. */
  readonly url: string;
  readonly link: Bench["link"];
  /** The lane of a cell that only the test speaks for. */
  readonly lane: Lane;
  /** Sets Redis's time. */
  set(ms: number): Promise<void>;
  cell(name: string, options?: TimedCellOptions): Promise<BudgetCell>;
  close(): Promise<void>;
}

const CLOCK = "{weir}:test-clock";

/** Cells whose Redis has the time that the test sets. */
export async function openTimedBench(): Promise<TimedBench> {
  const redis = await startRedis(["--appendonly", "no"]);
  const link = connectRedis({ url: redis.url, log: { warn() {} } });
  await link.ready(5000);
  const id = datasetId();
  await createDataset(link, id);
  const folder = mkdtempSync(join(tmpdir(), "weir-budgets-"));
  const real = /local function wall_ms\(\)[\s\S]*?\nend\n/;
  if (!real.test(SCRIPTS.exchange.text)) throw new Error("wall_ms is written in another way");
  const virtual = `local function wall_ms() return tonumber(redis.call("GET", "${CLOCK}")) end\n`;
  const script = new Script(SCRIPTS.exchange.text.replace(real, virtual));
  const stops: (() => Promise<void>)[] = [];
  await link.call("SET", CLOCK, 0);
  const test = new Session({ link, datasetId: id, cell: "test", script, onEnd() {} });
  await test.start();
  await test.lane("term").send([["restate", 0, ""], ["restated"]]);
  return {
    url: redis.url,
    link,
    lane: test.lane("test"),
    async set(ms) {
      await link.call("SET", CLOCK, ms);
    },
    async cell(name, { clock = systemClock, url = redis.url, ...options } = {}) {
      const own = connectRedis({ url, log: { warn() {} } });
      await own.ready(5000);
      const store = openStore(join(folder, name));
      const session = new Session({
        link: own,
        datasetId: id,
        cell: name,
        script,
        onTerm: async (of) => void (await of.lane("term").send([["restate", 0, ""], ["restated"]])),
        onEnd() {},
      });
      await session.start();
      const cell = await openParts({
        name,
        store,
        clock,
        ...options,
        life: session.life,
        restates() {},
        lane: (lane) => session.lane(lane),
        async stop() {
          await store.close();
          own.close();
        },
      });
      stops.push(cell.stop);
      return cell;
    },
    async close() {
      for (const stop of stops) await stop();
      link.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
