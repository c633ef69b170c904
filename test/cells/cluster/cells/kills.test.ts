/** Cells in processes of their own, killed and paused at any moment, with a Redis that is killed too: money is counted once, and holds. */
import { describe, expect, test } from "vitest";
import type { NumberedCharge } from "../../../../src/cluster/cells/leases/charges.ts";
import { amount } from "../../../support/effort.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { ENOUGH, spendRow } from "./budgets/budgets-fixtures.ts";
import { creditOf, HeardLedger } from "./credit/credit-fixtures.ts";
import { type KilledCells, openKilledCells } from "./killed-cells.ts";

const missing = missingRedis();
const ORGS = ["org_1", "org_2", "org_3", "org_4"];
const KEYS = ["k1", "k2", "k3", "k4"];
/** Soon spent: most rounds are about the last of it. */
const PAID = amount(3_000_000, 400_000);
const KEY_BUDGET = amount(3_000_000, 300_000);
const ORG_BUDGET = KEY_BUDGET;

interface Money {
  readonly title: string;
  /** The program of a cell's process, and its own arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** Kills in `npm test`. */
  readonly rounds: number;
  /** Orgs whose credit is there before the first cell, and how much. */
  readonly orgs: readonly string[];
  readonly paid: number;
  /** What must hold at the end. */
  check(cells: KilledCells): Promise<void>;
}

const MONEY: readonly Money[] = [
  {
    title: "charge what clients hold, once, and never more than was paid",
    program: "credit/credit-process.ts",
    args: [ORGS.join(",")],
    rounds: 5,
    orgs: ORGS,
    paid: PAID,
    check: creditAddsUp,
  },
  {
    title: "spend no more than a key's budget, and count what clients hold once",
    program: "budgets/budgets-process.ts",
    args: [KEYS.join(","), String(KEY_BUDGET), String(ORG_BUDGET)],
    rounds: 6,
    orgs: ["org"],
    paid: ENOUGH,
    check: budgetsHold,
  },
];

describe.skipIf(missing !== undefined)(`killed cells${missing === undefined ? "" : `: ${missing}`}`, () => {
  test.each(MONEY)("$title", { timeout: 900_000 }, async ({ program, args, rounds, orgs, paid, check }) => {
    const cells = await openKilledCells(program, args);
    try {
      const { link } = cells.bench;
      for (const org of orgs) await link.call("HSET", `{weir}:credit:${org}`, "n", 0, "b", paid);
      await cells.run(amount(200, rounds));
      await check(cells);
    } finally {
      await cells.close();
    }
  });
});

async function creditAddsUp({ bench, seed, lines }: KilledCells): Promise<void> {
  const ledger = new HeardLedger();
  ledger.hear(lines<NumberedCharge>("rows"));
  for (const org of ORGS) {
    const { b = 0, n, l, h, ...rest } = await creditOf(bench, org);
    expect({ l, h, rest }, `seed ${seed}`).toEqual({ l: 0, h: 0, rest: {} });
    expect(b, `seed ${seed}`).toBeGreaterThanOrEqual(0);
    const rows = ledger.of(org);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: Number(n) }, (_, at) => at + 1));
    let balance = PAID;
    for (const row of rows) {
      balance -= row.amountMicroUsd;
      expect(row.balanceMicroUsd).toBe(balance);
    }
    expect(b).toBe(balance);
  }
  const told = lines<string>("told");
  expect(told.length).toBeGreaterThan(100);
  for (const request of told) expect(ledger.requests.get(request), `seed ${seed}: ${request}`).toBe(1);
  expect([...ledger.requests.values()].every((times) => times === 1)).toBe(true);
  if (process.env.WEIR_THOROUGH !== undefined) console.log(`${told.length} charges, seed ${seed}`);
}

async function budgetsHold({ bench, seed, lines }: KilledCells): Promise<void> {
  const charged = new Map<string, number>();
  for (const { requestId, amountMicroUsd } of lines<NumberedCharge>("rows"))
    charged.set(requestId, amountMicroUsd);
  const told = lines<string>("told");
  expect(told.length).toBeGreaterThan(100);
  for (const requestId of told) expect(charged.has(requestId), `seed ${seed}: ${requestId}`).toBe(true);
  let all = 0;
  for (const key of KEYS) {
    let spent = 0;
    for (const [requestId, microUsd] of charged) if (requestId.startsWith(`${key}:`)) spent += microUsd;
    all += spent;
    expect(spent, `seed ${seed}`).toBeLessThanOrEqual(KEY_BUDGET);
    const { m, l = "0", h = "0" } = await spendRow(bench.link, `k:${key}`);
    expect({ m: Number(m), l, h }, `seed ${seed}`).toEqual({ m: spent, l: "0", h: "0" });
  }
  for (const scope of ["p:proj", "o:org"])
    expect(Number((await spendRow(bench.link, scope)).m), `seed ${seed}`).toBe(all);
  expect((await creditOf(bench, "org")).b).toBe(ENOUGH - all);
  // Whichever process made the charge that exceeded it, and whatever became of that process.
  const crossed = new Set(lines<object>("crossed").map((row) => JSON.stringify(row)));
  expect(crossed.size, `seed ${seed}`).toBe(all > ORG_BUDGET ? 1 : 0);
  if (process.env.WEIR_THOROUGH !== undefined) console.log(`${charged.size} charges, seed ${seed}`);
}
