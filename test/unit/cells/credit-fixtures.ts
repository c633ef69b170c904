/** Purses of several cells at one Redis, and a ledger that hears what they charged. */
import { expect } from "vitest";
import type { NumberedCharge, UnchargedCall } from "../../../src/cells/credit/charges.ts";
import { type LeasedPurse, openLeasedPurse } from "../../../src/cells/credit/leased-purse.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Hold } from "../../../src/credits/purse.ts";
import type { Bench, TestCell } from "./fixtures.ts";

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

export async function openCreditCell(
  bench: Bench,
  name: string,
  ledger: HeardLedger,
  times: { readonly waitMs?: number; readonly idleMs?: number } = {},
): Promise<CreditCell> {
  const cell = await bench.cell(name);
  const purse = await openLeasedPurse({
    ...{ store: cell.store, life: cell.entered.life, lane: cell.lane("credit"), clock: systemClock },
    ...times,
    restates: (operations) => cell.restates(operations),
    onNumbered: (rows) => ledger.hear(rows),
    onUncharged: (rows) => void ledger.uncharged.push(...rows),
    onEnd: (reason) => void bench.log.push(`${name}: ${reason.message}`),
  });
  return {
    ...cell,
    purse,
    async stop() {
      await purse.close();
      await cell.stop();
    },
  };
}

let requests = 0;

/** Charges a hold, as the settlement of a call does. @returns the request's id, once that is durable */
export async function charge(cell: CreditCell, hold: Hold, amountMicroUsd: number): Promise<string> {
  const requestId = `req_${cell.name}_${++requests}`;
  const entry = { requestId, amountMicroUsd, atMs: systemClock.now() };
  await cell.store.act(() => void cell.purse.settle(hold, entry), { isOwed: true });
  return requestId;
}

/** A posting, as an act's script makes it. */
export async function post(
  cell: Pick<TestCell, "lane">,
  org: string,
  amount: number,
  mayOverdraw = 0,
): Promise<{ outcome: string; seq: number; balance: number }> {
  const [[outcome, seq, balance] = []] = await cell
    .lane("post")
    .send([["credit_post", org, amount, mayOverdraw]]);
  return { outcome: String(outcome), seq: Number(seq), balance: Number(balance) };
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
  await expect
    .poll(async () => (await creditOf(bench, org)).l ?? 0, { timeout: 20_000, interval: 20 })
    .toBe(0);
  const { n, b, h = 0, l = 0, ...rest } = await creditOf(bench, org);
  expect({ h, l, rest }).toEqual({ h: 0, l: 0, rest: {} });
  await expect
    .poll(() => ledger.of(org).length, { timeout: 20_000, interval: 20 })
    .toBe(Number(n) - postings);
  const rows = ledger.of(org);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1 + postings));
  if (rows.length > 0) expect(rows.at(-1)?.balanceMicroUsd).toBe(b);
}
