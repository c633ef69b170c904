/** Those who use a cell: calls with limits, budgets and credit, postings, and acts on rows that all cells have. */
import type { BudgetHold } from "../../../src/credits/budgets/budgets.ts";
import type { Dice } from "../billing/dice.ts";
import { Broken } from "./broken.ts";
import {
  ACCOUNTS,
  type DocumentsWatch,
  LOCAL_RECEIPTS,
  RECEIPTS,
  type Receipt,
  weighed,
} from "./documents-watch.ts";
import type { LimitsWatch } from "./limits-watch.ts";
import type { MoneyWatch, WatchedCall } from "./money-watch.ts";
import type { Plan, SimKey } from "./plan.ts";
import type { CellParts, SimCell } from "./sim-cell.ts";

export interface ClientsDeps {
  readonly plan: Plan;
  readonly dice: Dice;
  readonly money: MoneyWatch;
  readonly limits: LimitsWatch;
  readonly documents: DocumentsWatch;
  readonly onBroken: (error: Broken) => void;
  /** False once nobody comes any more. */
  readonly isActive: () => boolean;
}

type Hold = NonNullable<Awaited<ReturnType<CellParts["purse"]["hold"]>>>;

const LONGEST_CALL_MS = 800;
const MOST_OF_CROWD = 150;
/** Codes with which a client may be refused; any other error is a fault. */
const REFUSALS = new Set(["storage_unavailable", "gateway_unavailable"]);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Clients {
  readonly #deps: ClientsDeps;
  #made = 0;

  constructor(deps: ClientsDeps) {
    this.#deps = deps;
  }

  /** Calls and acts come to the cell as long as its process runs. */
  come(cell: SimCell, parts: CellParts): void {
    const { plan } = this.#deps;
    this.#every(parts, plan.callEveryMs, () => this.#call(cell, parts));
    this.#every(parts, plan.callEveryMs * 3, () => this.#crowd(parts));
    this.#every(parts, plan.actEveryMs, () => this.#transfer(cell, parts));
    this.#every(parts, plan.actEveryMs * 3, () => this.#post(cell, parts));
  }

  /** The first credit of all orgs. */
  async begin(parts: CellParts): Promise<void> {
    const { plan, dice, money } = this.#deps;
    for (const { orgId } of plan.orgs) {
      const amountMicroUsd = dice.integer(5, 150) * 1000;
      const posting = { kind: "topup", refType: "topup", refId: `first_${orgId}`, amountMicroUsd } as const;
      await parts.cell.store.act(() => parts.book.post(orgId, posting), { isOwed: true });
      money.posted(orgId, posting.refId, amountMicroUsd);
    }
  }

  #every(parts: CellParts, meanMs: number, act: () => Promise<void>): void {
    const { dice, isActive, money, onBroken } = this.#deps;
    const next = () =>
      void parts.process.after(-meanMs * Math.log(1 - dice.random()), () => {
        if (!isActive()) return;
        act().catch((error: Error & { code?: string }) => {
          if (error instanceof Broken) onBroken(error);
          else if (REFUSALS.has(error.code ?? "")) money.counts.refusals++;
          else onBroken(new Broken(`a client was told ${error.stack ?? error.message}`));
        });
        next();
      });
    next();
  }

  async #call(cell: SimCell, parts: CellParts): Promise<void> {
    const { dice, plan } = this.#deps;
    const key = dice.pick(plan.keys);
    const end = await this.#admitted(parts, key, dice.integer(1, 400));
    if (end === undefined) return;
    try {
      await this.#inBudget(cell, parts, key);
    } finally {
      end();
    }
  }

  /** Many calls of one key at once: what they cost is of no interest. */
  async #crowd(parts: CellParts): Promise<void> {
    const { dice, plan } = this.#deps;
    const calls = Array.from({ length: dice.integer(1, MOST_OF_CROWD) }, () => dice.integer(1, 9));
    const ends = await Promise.allSettled(calls.map((tokens) => this.#admitted(parts, plan.crowded, tokens)));
    await pause(dice.random() * LONGEST_CALL_MS);
    for (const end of ends) if (end.status === "fulfilled") end.value?.();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  /** @returns what ends the call; undefined where it is refused */
  async #admitted({ process, limits: own }: CellParts, key: Plan["crowded"], tokens: number) {
    const { limits } = this.#deps;
    const askedMs = process.monotonic();
    const admission = await own.admit(key, tokens);
    if (!admission.admitted) return undefined;
    limits.admitted(process, key, { askedMs, tokens });
    return () => {
      limits.released(process, key);
      admission.release();
    };
  }

  async #inBudget(cell: SimCell, parts: CellParts, key: SimKey): Promise<void> {
    const { dice, money } = this.#deps;
    const { budgets, purse, process } = parts;
    const amount = dice.integer(1, 40) * 100;
    const budget = await budgets.hold(key.scope, amount);
    if (!budget.admitted) return;
    const call: WatchedCall = { process, key, amount, requestId: `req_${cell.name}_${++this.#made}` };
    money.budgetHeld(call);
    let hold: Hold | undefined;
    try {
      hold = await purse.hold(key.orgId, amount);
    } finally {
      if (hold === undefined) {
        budgets.release(budget);
        money.freed(call);
      }
    }
    if (hold === undefined) return;
    money.held(call);
    await this.#serve(parts, call, { budget, hold });
  }

  async #serve(
    parts: CellParts,
    call: WatchedCall,
    { budget, hold }: { budget: BudgetHold; hold: Hold },
  ): Promise<void> {
    const { dice, money } = this.#deps;
    const { budgets, purse, cell, process } = parts;
    await pause(dice.random() ** 3 * LONGEST_CALL_MS);
    if (dice.chance(0.15)) await this.#extend(parts, call, { budget, hold });
    if (dice.chance(0.15)) {
      budgets.release(budget);
      purse.release(hold);
      money.freed(call);
      return;
    }
    const cost = dice.chance(0.5) ? call.amount : dice.integer(0, call.amount);
    const { requestId } = call;
    const close = budgets.charging(budget, cost);
    money.attempted(call, cost, budget.spend?.day ?? "");
    const settle = () => {
      close();
      purse.settle(hold, { requestId, amountMicroUsd: cost, atMs: process.now() }, budget.spend);
    };
    await cell.store.act(settle, { isOwed: true });
    money.freed(call);
    money.told(call);
  }

  async #extend(
    { budgets, purse }: CellParts,
    call: WatchedCall,
    { budget, hold }: { budget: BudgetHold; hold: Hold },
  ): Promise<void> {
    const more = this.#deps.dice.integer(1, 10) * 100;
    const refused = () => false;
    if (!(await Promise.resolve(budgets.extend(budget, more)).catch(refused))) return;
    if (await Promise.resolve(purse.extend(hold, more)).catch(refused)) this.#deps.money.grew(call, more);
    else budgets.shrink(budget, more);
  }

  async #transfer(sim: SimCell, { cell: { store } }: CellParts): Promise<void> {
    const { dice, plan, documents } = this.#deps;
    const id = `act_${sim.name}_${++this.#made}`;
    const from = dice.integer(0, plan.accounts - 1);
    const to = (from + dice.integer(1, plan.accounts - 1)) % plan.accounts;
    const amount = dice.integer(1, 9);
    const [isOwn, isRange] = [dice.chance(0.3), dice.chance(0.2)];
    const accounts = store.table<number>(ACCOUNTS);
    const receipts = store.table<Receipt>(RECEIPTS);
    const own = store.table<true>(LOCAL_RECEIPTS);
    const act = () => {
      const fromHad = accounts.get(["all", from]) ?? 0;
      const toHad = accounts.get(["all", to]) ?? 0;
      let sum: number | undefined;
      if (isRange) {
        sum = 0;
        const range = { start: ["all", 0], end: ["all", plan.accounts] };
        for (const { key, value } of accounts.range(range))
          sum += weighed(Number((key as unknown[])[1]), value);
      }
      accounts.put(["all", from], fromHad - amount);
      accounts.put(["all", to], toHad + amount);
      receipts.put(id, { from, to, amount, fromHad, toHad, sum, cell: isOwn ? sim.name : undefined });
      if (isOwn) own.put(id, true);
    };
    await store.act(act, { isOwed: dice.chance(0.3) });
    documents.told(id);
  }

  async #post(sim: SimCell, { book, cell: { store } }: CellParts): Promise<void> {
    const { dice, plan, money } = this.#deps;
    const { orgId, isOverdrawn } = dice.pick(plan.orgs);
    const refId = `post_${sim.name}_${++this.#made}`;
    const kind = dice.weighted({ topup: 3, refund: 2, dispute: isOverdrawn ? 1 : 0 });
    const amountMicroUsd = dice.integer(1, 60) * 500 * (kind === "topup" ? 1 : -1);
    const mayOverdraw = kind === "dispute";
    const posting = { kind, amountMicroUsd, refType: kind, refId, mayOverdraw } as const;
    // Whoever does not know what became of it asks again.
    for (let tries = 0; tries < 3; tries++) {
      try {
        const posted = await store.act(() => book.post(orgId, posting), { isOwed: dice.chance(0.5) });
        if (posted.outcome === "posted") money.posted(orgId, refId, amountMicroUsd);
        return;
      } catch (error) {
        if (!REFUSALS.has((error as { code?: string }).code ?? "")) throw error;
      }
    }
  }
}
