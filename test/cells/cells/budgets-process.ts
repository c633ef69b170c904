/**
 * A cell in a process of its own, which a test kills: calls of several keys of one org spend hard budgets until standard input ends.
 * Arguments: folder, cell, dataset, socket of Redis, keys, a key's budget, the org's soft one, seed. It appends to `<folder>.told` what a
 * client would hold in full, to `<folder>.rows` each numbered entry, and to `<folder>.crossed` what budgets told.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { LeasedBudgets } from "../../../src/cells/budgets/leased-budgets.ts";
import { SharedSpend } from "../../../src/cells/budgets/shared-spend.ts";
import { openCell } from "../../../src/cells/cell.ts";
import { CreditView } from "../../../src/cells/credit/credit-view.ts";
import { openLeasedPurse } from "../../../src/cells/credit/leased-purse.ts";
import { seededRandom, systemClock } from "../../../src/clock.ts";
import type { BudgetScope } from "../../../src/limits/budget.ts";
import { openStore } from "../../../src/store/store.ts";

const [folder = "", name = "", datasetId = "", redisUrl = "", keyList = "", ...numbers] =
  process.argv.slice(2);
const [keyMicroUsd = 0, orgMicroUsd = 0, seed = 0] = numbers.map(Number);
const keys = keyList.split(",");
const random = seededRandom(seed);
mkdirSync(folder, { recursive: true });

const scopes = new Map<string, BudgetScope>(
  keys.map((keyId) => [
    keyId,
    {
      ...{ keyId, projectId: "proj", orgId: "org", timeZone: "UTC" },
      keyDaily: { limitMicroUsd: keyMicroUsd, hard: true },
      orgMonthly: { limitMicroUsd: orgMicroUsd, hard: false },
    },
  ]),
);
const append = (kind: string, rows: readonly unknown[]) =>
  appendFileSync(`${folder}.${kind}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

const clock = systemClock;
const cell = await openCell({
  ...{ cell: name, datasetId, redisUrl, clock, log: { warn() {} }, local: openStore(folder) },
  isShared: (table) => !table.startsWith("local."),
  onOutdated() {},
  onEnd: (reason) => {
    console.error(reason);
    process.exit(3);
  },
});
const { store, restates } = cell;
const { life } = cell.entered;
const purse = await openLeasedPurse({
  ...{ store, life, lane: cell.lane("credit"), clock, idleMs: 300, restates },
  view: new CreditView({ lane: cell.lane("credit_view"), inAct: () => store.creditInAct() }),
  scopeOf: (keyId) => scopes.get(keyId),
  onNumbered: (rows) => append("rows", rows),
  onUncharged: () => process.exit(4),
  onCrossed: (rows) => append("crossed", rows),
  onEnd: () => process.exit(3),
});
const { lane: credit } = purse;
const spend = new SharedSpend({ lane: cell.lane("spend"), scopes: credit.scopes });
const budgets = new LeasedBudgets({ store, clock, credit, spend });
await cell.opened();

let isOver = false;
let calls = 0;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();
console.log("ready");

async function call(keyId: string): Promise<void> {
  const budget = await budgets.hold(scopes.get(keyId) as BudgetScope, 1000);
  if (!budget.admitted) return;
  const hold = await Promise.resolve(purse.hold("org", 1000)).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, random() * 4));
  if (hold === undefined || random() < 0.1) {
    if (hold !== undefined) purse.release(hold);
    budgets.release(budget);
    return;
  }
  const requestId = `${keyId}:${name}_${life}_${++calls}`;
  const charge = { requestId, amountMicroUsd: 1 + Math.floor(random() * 1000), atMs: clock.now() };
  const count = budgets.charging(budget, charge.amountMicroUsd);
  const act = () => {
    purse.settle(hold, charge, budget.spend);
    count();
  };
  await store.act(act, { isOwed: true });
  append("told", [requestId]);
}

await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (!isOver) {
      await call(keys[Math.floor(random() * keys.length)] as string).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }),
);
await purse.close();
await store.close();
process.exit(0);
