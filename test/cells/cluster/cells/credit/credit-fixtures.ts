/** Purses of several cells at one Redis, and a ledger that hears what they charged. */
import { expect } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { CreditView } from "../../../../../src/cluster/cells/credit/credit-view.ts";
import { type LeasedPurse, openLeasedPurse } from "../../../../../src/cluster/cells/credit/leased-purse.ts";
import type { NumberedCharge } from "../../../../../src/cluster/cells/leases/charges.ts";
import type { ActCredit } from "../../../../../src/cluster/cells/replica/act-credit.ts";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import type { UnchargedCall } from "../../../../../src/credits/ledger/uncharged.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell, type TestCellOptions } from "../fixtures.ts";

export interface CreditCell extends TestCell {
  readonly purse: LeasedPurse;
}

/** What all cells told of: an entry that comes twice must be the same. */
export class HeardLedger {
  readonly #orgs = new Map<string, Map<number, NumberedCharge>>();
  readonly uncharged: UnchargedCall[] = [];
  readonly requests = new Map<string, number>();

  hear(rows: readonly NumberedCharge[]): void {
    for (const row of rows) {
      const org = this.#orgs.get(row.orgId) ?? new Map<number, NumberedCharge>();
      this.#orgs.set(row.orgId, org);
      const earlier = org.get(row.seq);
      if (earlier !== undefined) expect(row).toEqual(earlier);
      else this.requests.set(row.requestId, (this.requests.get(row.requestId) ?? 0) + 1);
      org.set(row.seq, row);
    }
  }

  of(orgId: string): NumberedCharge[] {
    return [...(this.#orgs.get(orgId)?.values() ?? [])].sort((a, b) => a.seq - b.seq);
  }
}

interface CreditCellOptions extends TestCellOptions {
  readonly waitMs?: number;
  readonly idleMs?: number;
}

export async function openCreditCell(
  bench: Bench,
  name: string,
  ledger: HeardLedger,
  { waitMs, idleMs, ...options }: CreditCellOptions = {},
): Promise<CreditCell> {
  const cell = await bench.cell(name, { ...options, hasParts: true });
  const { clock = systemClock } = options;
  const purse = await openLeasedPurse({
    store: cell.store,
    life: cell.entered.life,
    lane: cell.lane("credit"),
    clock,
    time: cell.clock,
    staleMs: cell.staleMs,
    ...(waitMs !== undefined && { waitMs }),
    ...(idleMs !== undefined && { idleMs }),
    view: new CreditView({ lane: cell.lane("credit_view"), inAct: () => cell.store.creditInAct() }),
    restates: cell.restates,
    onNumbered: (rows) => ledger.hear(rows),
    onUncharged: (rows) => void ledger.uncharged.push(...rows),
    onEnd: (reason) => void bench.log.push(`${name}: ${reason.message}`),
  });
  await cell.opened();
  return {
    ...cell,
    purse,
    async stop() {
      await purse.close();
      await cell.stop();
    },
  };
}

/** A Redis with its dataset, and cells of it whose charges one ledger hears. */
export interface CreditBench extends Bench {
  readonly ledger: HeardLedger;
  open(name: string, options?: CreditCellOptions): Promise<CreditCell>;
  /** See the function of the name. */
  creditOf(org: string): Promise<Record<string, number>>;
  settled(org: string, postings?: number): Promise<void>;
}

/** @param usual options of its cells where `open` is given no others */
export async function openCreditBench(usual: CreditCellOptions): Promise<CreditBench> {
  const bench = await openBench();
  const ledger = new HeardLedger();
  return {
    ...bench,
    ledger,
    open: (name, options) => openCreditCell(bench, name, ledger, { ...usual, ...options }),
    creditOf: (org) => creditOf(bench, org),
    settled: (org, postings) => settled(bench, ledger, org, postings),
  };
}

/** Holds credit that is there. A cell that cannot know so in time, because Redis is late, is asked again, as its clients would. */
export async function holdOf(
  { purse }: Pick<CreditCell, "purse">,
  org: string,
  microUsd: number,
): Promise<Hold> {
  const ask = async () => ({ hold: await purse.hold(org, microUsd) });
  const { hold } = await until("it is known whether the credit is there", ask);
  expect(hold).toBeDefined();
  return hold as Hold;
}

let requests = 0;

/** Charges a hold, as the settlement of a call does. @returns the request's id, once that is durable */
export async function charge(cell: CreditCell, hold: Hold, amountMicroUsd: number): Promise<string> {
  const requestId = `req_${cell.name}_${++requests}`;
  const entry = { requestId, amountMicroUsd, atMs: systemClock.now() };
  await cell.store.act(() => void cell.purse.settle(hold, entry), { isOwed: true });
  return requestId;
}

/** An act that posts, if the org's credit allows it. */
export function post(
  { store }: Pick<TestCell, "store">,
  org: string,
  amount: number,
  mayOverdraw = false,
): Promise<{ outcome: string; seq: number; balance: number }> {
  return store.act(() => {
    const credit = store.creditInAct() as ActCredit;
    const { seq, balanceMicroUsd: balance, heldMicroUsd } = credit.of(org);
    if (!mayOverdraw && balance - heldMicroUsd < -amount) return { outcome: "insufficient", seq, balance };
    credit.post(org, amount, mayOverdraw);
    return { outcome: "posted", seq: seq + 1, balance: balance + amount };
  });
}

/** An org's credit in Redis. */
export async function creditOf(bench: Bench, org: string): Promise<Record<string, number>> {
  const found = (await bench.link.call("HGETALL", `{weir}:credit:${org}`)) as Buffer[];
  const values: Record<string, number> = {};
  for (let at = 0; at < found.length; at += 2) values[String(found[at])] = Number(String(found[at + 1]));
  return values;
}

/** Waits until nothing is leased or held, and all charges were told of. */
export async function settled(bench: Bench, ledger: HeardLedger, org: string, postings = 1): Promise<void> {
  await until("no credit is leased", async () => (await creditOf(bench, org)).l ?? 0, equals(0));
  const { n, b, h = 0, l = 0, ...rest } = await creditOf(bench, org);
  expect({ h, l, rest }).toEqual({ h: 0, l: 0, rest: {} });
  await until("all charges are heard", () => ledger.of(org).length, equals(Number(n) - postings));
  const rows = ledger.of(org);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1 + postings));
  if (rows.length > 0) expect(rows.at(-1)?.balanceMicroUsd).toBe(b);
}
