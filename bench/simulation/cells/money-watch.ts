/**
 * What must be true of money: no cell holds or charges what is not there, a hard budget is never exceeded, and in the end the ledger has
 * each charge that a client was told of once, under numbers without gaps, and its sum is the balance.
 */
import { Packr } from "msgpackr";
import { POSTED_LEDGER } from "../../../src/cluster/cells/credit/shared-credits.ts";
import type { NumberedCharge } from "../../../src/cluster/cells/leases/charges.ts";
import { openLedger } from "../../../src/credits/ledger/ledger.ts";
import type { UnchargedCall } from "../../../src/credits/ledger/uncharged.ts";
import { contentOf } from "../../../src/store/journal/row-sum.ts";
import { must } from "./broken.ts";
import { unpack } from "./lua/msgpack.ts";
import { LuaTable } from "./lua/values.ts";
import { MemoryStore } from "./memory-store.ts";
import type { Plan, SimKey } from "./plan.ts";
import type { SimProcess } from "./process.ts";
import type { Server } from "./redis/server.ts";
import type { SimCell } from "./sim-cell.ts";

export interface WatchedCall {
  readonly process: SimProcess;
  readonly key: SimKey;
  readonly requestId: string;
  /** Held for it now, micro-USD. */
  amount: number;
}

interface Attempt {
  readonly call: WatchedCall;
  readonly amount: number;
  readonly day: string;
  /** The client was told. */
  isTold: boolean;
}

interface Entry {
  readonly seq: number;
  readonly amount: number;
  readonly balance: number;
  readonly name: string;
}

export interface MoneyWatchDeps {
  readonly plan: Plan;
  readonly server: Server;
  readonly cells: readonly SimCell[];
}

const PREFIX = "{weir}:";
const packr = new Packr({ useRecords: false });

/** A row of `cells.charges`: see `charges.ts`. */
type ChargeRow = [
  life: number,
  orgId: string,
  amount: number,
  requestId: string,
  atMs: number,
  keyId?: string,
  projectId?: string,
];

export class MoneyWatch {
  readonly #deps: MoneyWatchDeps;
  readonly #held = new Set<WatchedCall>();
  readonly #budgetHeld = new Set<WatchedCall>();
  readonly #attempts = new Map<string, Attempt>();
  readonly #uncharged = new Set<string>();
  /** By org: the entries that cells passed on, by their numbers. */
  readonly #heard = new Map<string, Map<number, NumberedCharge>>();
  /** Postings that somebody was told of: reference -> amount. */
  readonly #posted = new Map<string, { readonly orgId: string; readonly amount: number }>();
  /** A copy of a folder was used that lacks charges: leases do not cover them. */
  isCapUnsure = false;
  /** All clocks were set: a period has another sum than the one that calls were admitted by. */
  isPeriodUnsure = false;
  /** All clocks were set twice, or drifted: two different days may have had the same date, so the charges of a date are not one budget's. */
  isDayUnsure = false;
  readonly counts = { calls: 0, charges: 0, postings: 0, refusals: 0 };

  constructor(deps: MoneyWatchDeps) {
    this.#deps = deps;
  }

  budgetHeld(call: WatchedCall): void {
    this.#budgetHeld.add(call);
    this.#checkBudgets(call.key);
  }

  budgetFreed(call: WatchedCall): void {
    this.#budgetHeld.delete(call);
  }

  /** Credit was granted to a call, or more of it. */
  held(call: WatchedCall): void {
    this.#held.add(call);
    this.counts.calls++;
    this.#checkCap(call.key.orgId);
  }

  grew(call: WatchedCall, amount: number): void {
    call.amount += amount;
    this.#checkCap(call.key.orgId);
    this.#checkBudgets(call.key);
  }

  freed(call: WatchedCall): void {
    this.#held.delete(call);
    this.#budgetHeld.delete(call);
  }

  /** The charge is being stored: what was held beyond it is free. */
  attempted(call: WatchedCall, amount: number, day: string): void {
    call.amount = amount;
    this.#attempts.set(call.requestId, { call, amount, day, isTold: false });
  }

  /** The charge is durable at its cell, and the client has the answer. */
  told({ requestId }: WatchedCall): void {
    const attempt = this.#attempts.get(requestId) as Attempt;
    attempt.isTold = true;
    this.counts.charges++;
  }

  posted(orgId: string, refId: string, amount: number): void {
    this.#posted.set(refId, { orgId, amount });
    this.counts.postings++;
  }

  numbered(rows: readonly NumberedCharge[]): void {
    for (const row of rows) {
      const org = this.#heard.get(row.orgId) ?? new Map<number, NumberedCharge>();
      this.#heard.set(row.orgId, org);
      const earlier = org.get(row.seq);
      must(
        earlier === undefined ||
          (earlier.requestId === row.requestId && earlier.balanceMicroUsd === row.balanceMicroUsd),
        () => `entry ${row.seq} of ${row.orgId} is ${row.requestId}, and was ${earlier?.requestId}`,
      );
      org.set(row.seq, row);
    }
  }

  uncharged(calls: readonly UnchargedCall[]): void {
    for (const { requestId } of calls) this.#uncharged.add(requestId);
  }

  /** What Redis has adds up, after each exchange. */
  checkRedis(): void {
    const { plan, server } = this.#deps;
    for (const { orgId, isOverdrawn } of plan.orgs) {
      const credit = this.#numbers(`credit:${orgId}`);
      this.#checkSums(orgId, credit);
      const balance = credit.get("b") ?? 0;
      must(this.#mayBeBelow(isOverdrawn) || balance >= 0, () => `the balance of ${orgId} is ${balance}`);
      // In a new term cells restate what they knew: charges may be in of which they have no answer yet.
      const isUnsure = this.#mayBeBelow(isOverdrawn) || server.starts > 1;
      must(
        isUnsure || (credit.get("l") ?? 0) <= balance,
        () => `${orgId}: leases above the balance ${balance}`,
      );
    }
    for (const { scope } of plan.keys) {
      const name = `spend:k:${scope.keyId}`;
      if (server.database.has(PREFIX + name)) this.#checkSums(name, this.#numbers(name));
    }
  }

  /** At idle, with all cells running. */
  problemsAtIdle(): string | undefined {
    const { plan, server, cells } = this.#deps;
    for (const { orgId } of plan.orgs) {
      const credit = this.#numbers(`credit:${orgId}`);
      const more = [...credit.keys()].find((field) => /^[lh]:/.test(field));
      if (more !== undefined || credit.get("l") || credit.get("h"))
        return `${orgId} is leased or held: ${more}`;
      const heard = [...(this.#heard.get(orgId)?.keys() ?? [])].length;
      if (heard + this.#postings(orgId).length !== (credit.get("n") ?? 0))
        return `${orgId} has ${credit.get("n")} entries, of which ${heard} charges were passed on`;
    }
    const set = server.database.keys().find((key) => /:(?:budget_)?(?:leases|wanted):/.test(key));
    if (set !== undefined) return `${set} is left`;
    for (const { name, folder } of cells) {
      const log = folder.log("cells.charges");
      if (log.newest > log.trimmed) return `charges of ${name} are not passed on`;
    }
    return undefined;
  }

  /** The ledger, when all is over. */
  checkLedger(): void {
    for (const { orgId, isOverdrawn } of this.#deps.plan.orgs) {
      const entries = this.#entries(orgId);
      let balance = 0;
      for (const [at, entry] of entries.entries()) {
        must(entry.seq === at + 1, () => `${orgId}: entry ${entry.seq} (${entry.name}) is at ${at + 1}`);
        balance += entry.amount;
        must(
          entry.balance === balance,
          () => `${orgId}: entry ${entry.seq} leaves ${entry.balance}, not ${balance}`,
        );
        must(
          this.#mayBeBelow(isOverdrawn) || balance >= 0,
          () => `${orgId}: entry ${entry.seq} leaves ${balance}`,
        );
      }
      const stored = this.#numbers(`credit:${orgId}`).get("b") ?? 0;
      must(stored === balance, () => `the balance of ${orgId} is ${stored}, its ledger ${balance}`);
    }
    this.#checkCharges();
    this.#checkPostings();
    this.#checkDays();
  }

  #checkCharges(): void {
    const charged = new Set<string>();
    for (const rows of this.#heard.values()) {
      for (const { requestId, amountMicroUsd } of rows.values()) {
        must(!charged.has(requestId), () => `${requestId} was charged twice`);
        charged.add(requestId);
        const attempt = this.#attempts.get(requestId);
        must(
          attempt?.amount === amountMicroUsd,
          () => `${requestId} cost ${attempt?.amount}, not ${amountMicroUsd}`,
        );
      }
    }
    for (const [requestId, { isTold, amount }] of this.#attempts) {
      if (!isTold || amount === 0) continue;
      const times = Number(charged.has(requestId)) + Number(this.#uncharged.has(requestId));
      must(times === 1, () => `${requestId}, which the client has, is in the books ${times} times`);
    }
    const isEverRetired = this.#deps.cells.some((cell) => cell.wasRetired);
    must(isEverRetired || this.#uncharged.size === 0, () => "calls were charged to nobody");
  }

  #checkPostings(): void {
    for (const [refId, { orgId, amount }] of this.#posted) {
      const found = this.#postings(orgId).filter((entry) => entry.refId === refId);
      must(
        found.length === 1 && found[0]?.amountMicroUsd === amount,
        () => `posting ${refId} is there ${found.length} times`,
      );
    }
  }

  /** Hard budgets, by the days that the charges were counted on. */
  #checkDays(): void {
    for (const { keyId, scope } of this.#deps.plan.keys) {
      const { keyDaily } = scope;
      if (keyDaily?.hard !== true || this.isCapUnsure || this.isDayUnsure) continue;
      const days = new Map<string, number>();
      for (const [requestId, { call, amount, day, isTold }] of this.#attempts)
        if (isTold && call.key.keyId === keyId && !this.#uncharged.has(requestId))
          days.set(day, (days.get(day) ?? 0) + amount);
      for (const [day, sum] of days)
        must(
          sum <= keyDaily.limitMicroUsd,
          () => `${keyId} spent ${sum} of ${keyDaily.limitMicroUsd} on ${day}`,
        );
    }
  }

  #mayBeBelow(isOverdrawn: boolean): boolean {
    return isOverdrawn || this.isCapUnsure;
  }

  #checkCap(orgId: string): void {
    const { plan } = this.#deps;
    const org = plan.orgs.find((known) => known.orgId === orgId);
    if (this.#mayBeBelow(org?.isOverdrawn === true)) return;
    let used = 0;
    for (const { process, key, amount } of this.#held)
      if (key.orgId === orgId && !process.isDead && !process.isFenced) used += amount;
    const holds = used;
    for (const [, rowOrg, amount] of this.#unsent()) if (rowOrg === orgId) used += amount;
    const balance = this.#numbers(`credit:${orgId}`).get("b") ?? 0;
    must(used <= balance, () => `${orgId}: ${holds} held and ${used - holds} charged of ${balance}`);
  }

  #checkBudgets({ keyId, scope }: SimKey): void {
    if (this.#deps.plan.isAtMidnight || this.isPeriodUnsure || this.isCapUnsure) return;
    const { projectId, keyDaily, projectMonthly } = scope;
    if (keyDaily?.hard === true)
      this.#checkBudget(
        `k:${keyId}`,
        "t",
        keyDaily.limitMicroUsd,
        ({ key }) => key.keyId === keyId,
        (row) => row[5] === keyId,
      );
    if (projectMonthly?.hard === true)
      this.#checkBudget(
        `p:${projectId}`,
        "m",
        projectMonthly.limitMicroUsd,
        ({ key }) => key.scope.projectId === projectId,
        (row) => row[6] === projectId,
      );
  }

  #checkBudget(
    name: string,
    period: string,
    limit: number,
    isOf: (call: WatchedCall) => boolean,
    isRowOf: (row: ChargeRow) => boolean,
  ): void {
    const spent = this.#numbers(`spend:${name}`).get(period) ?? 0;
    let used = spent;
    for (const call of this.#budgetHeld)
      if (isOf(call) && !call.process.isDead && !call.process.isFenced) used += call.amount;
    for (const row of this.#unsent()) if (isRowOf(row)) used += row[2];
    must(used <= limit, () => `${name}: ${used - spent} held or charged beside ${spent} of ${limit}`);
  }

  /** Charges that are durable at a cell and not in Redis, but for those of lives that were retired. */
  *#unsent(): Generator<ChargeRow> {
    const { cells, server } = this.#deps;
    for (const { name, folder } of cells) {
      const settled = server.database.hash(`${PREFIX}settled`).get(name);
      const kept = settled === undefined ? undefined : unpack(settled);
      const last = kept instanceof LuaTable ? Number(kept.get(2)) : 0;
      const retired = Number(server.database.hash(`${PREFIX}retired`).get(name) ?? 0);
      for (const [number, bytes] of folder.log("cells.charges").rows) {
        const content = number > last ? contentOf(bytes) : undefined;
        const row = content && (packr.unpack(content) as ChargeRow);
        if (row !== undefined && row[0] > retired) yield row;
      }
    }
  }

  #checkSums(name: string, fields: ReadonlyMap<string, number>): void {
    let [leases, holds] = [0, 0];
    for (const [field, value] of fields) {
      if (field.startsWith("l:")) leases += value;
      if (field.startsWith("h:")) holds += value;
      must(!/^l/.test(field) || value >= 0, () => `${name}: ${field} is ${value}`);
    }
    must(
      leases === (fields.get("l") ?? 0),
      () => `${name}: leases of ${leases} add up to ${fields.get("l")}`,
    );
    must(holds === (fields.get("h") ?? 0), () => `${name}: holds of ${holds} add up to ${fields.get("h")}`);
  }

  #numbers(key: string): ReadonlyMap<string, number> {
    const fields = this.#deps.server.database.hash(PREFIX + key);
    return new Map([...fields].map(([field, value]) => [field, Number(value)]));
  }

  #postings(orgId: string) {
    const [first] = this.#deps.cells;
    if (first === undefined) return [];
    return openLedger(new MemoryStore(first.folder, () => false), POSTED_LEDGER).postedAfter(orgId, 0);
  }

  #entries(orgId: string): Entry[] {
    const charges = [...(this.#heard.get(orgId)?.values() ?? [])].map(
      ({ seq, amountMicroUsd, balanceMicroUsd, requestId }) => ({
        seq,
        amount: -amountMicroUsd,
        balance: balanceMicroUsd,
        name: requestId,
      }),
    );
    const postings = this.#postings(orgId).map(({ seq, amountMicroUsd, balanceMicroUsd, refId }) => ({
      seq,
      amount: amountMicroUsd,
      balance: balanceMicroUsd,
      name: refId,
    }));
    return [...charges, ...postings].sort((a, b) => a.seq - b.seq);
  }
}
