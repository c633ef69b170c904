/**
 * A cell in a process of its own, which a test kills: calls of several keys of one org spend hard budgets until standard input ends.
 * Its own arguments (`process-cell.ts`): keys, a key's budget, the org's soft one. It tells `told` the requests that a client would hold
 * in full, `rows` each numbered entry, and `crossed` what budgets told.
 */

import { systemClock as clock } from "../../../../../src/base/clock.ts";
import { LeasedBudgets } from "../../../../../src/cluster/cells/budgets/leased-budgets.ts";
import { SharedSpend } from "../../../../../src/cluster/cells/budgets/shared-spend.ts";
import { CreditView } from "../../../../../src/cluster/cells/credit/credit-view.ts";
import { openLeasedPurse } from "../../../../../src/cluster/cells/credit/leased-purse.ts";
import type { BudgetScope } from "../../../../../src/credits/budgets/budget.ts";
import { append, callUntilOver, name, openProcessCell, own, random, whileCalled } from "../process-cell.ts";

const [keyList = "", ...numbers] = own;
const [keyMicroUsd = 0, orgMicroUsd = 0] = numbers.map(Number);
const keys = keyList.split(",");

const scopes = new Map<string, BudgetScope>(
  keys.map((keyId) => [
    keyId,
    {
      keyId,
      projectId: "proj",
      orgId: "org",
      timeZone: "UTC",
      keyDaily: { limitMicroUsd: keyMicroUsd, hard: true },
      orgMonthly: { limitMicroUsd: orgMicroUsd, hard: false },
    },
  ]),
);

const cell = await openProcessCell();
const { store, restates } = cell;
const { life } = cell.entered;
const purse = await openLeasedPurse({
  store,
  life,
  lane: cell.lane("credit"),
  clock,
  time: cell.clock,
  idleMs: 300,
  restates,
  staleMs: cell.staleMs,
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

let calls = 0;
async function call(keyId: string): Promise<void> {
  const budget = await budgets.hold(scopes.get(keyId) as BudgetScope, 1000);
  if (!budget.admitted) return;
  const hold = await Promise.resolve(purse.hold("org", 1000)).catch(() => undefined);
  await whileCalled(random() * 4);
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

await callUntilOver(async () => {
  await call(keys[Math.floor(random() * keys.length)] as string).catch(() => {});
  // A refused call takes no time.
  await whileCalled(1);
});
await purse.close();
await store.close();
process.exit(0);
