/**
 * A cell in a process of its own, which a test kills: calls spend credit until standard input ends. Its own argument (`process-cell.ts`):
 * orgs. It tells `told` the requests that a client would hold in full, before which the charge is durable, and `rows` each numbered
 * entry. WEIR_KILL_AT: it kills itself when all leases are given back ("returned"), or when Redis knows that it left ("left").
 */

import { systemClock } from "../../../../../src/base/clock.ts";
import { CreditView } from "../../../../../src/cluster/cells/credit/credit-view.ts";
import { openLeasedPurse } from "../../../../../src/cluster/cells/credit/leased-purse.ts";
import {
  append,
  callUntilOver,
  local,
  name,
  openProcessCell,
  own,
  random,
  whileCalled,
} from "../process-cell.ts";

const orgs = own[0]?.split(",") ?? [];
if (process.env.WEIR_KILL_AT === "left") local.close = async () => void process.kill(process.pid, "SIGKILL");
const cell = await openProcessCell();
const { life } = cell.entered;
const purse = await openLeasedPurse({
  store: cell.store,
  life,
  lane: cell.lane("credit"),
  clock: systemClock,
  time: cell.clock,
  staleMs: cell.staleMs,
  idleMs: 300,
  view: new CreditView({ lane: cell.lane("credit_view"), inAct: () => cell.store.creditInAct() }),
  restates: cell.restates,
  onNumbered: (rows) => append("rows", rows),
  onUncharged: () => process.exit(4),
  onEnd: () => process.exit(3),
});
await cell.opened();

let calls = 0;
await callUntilOver(async () => {
  const org = orgs[Math.floor(random() * orgs.length)] as string;
  const hold = await Promise.resolve(purse.hold(org, 1000)).catch(() => undefined);
  await whileCalled(random() * 4);
  if (hold === undefined) return;
  if (random() < 0.1) {
    purse.release(hold);
    return;
  }
  const requestId = `req_${name}_${life}_${++calls}`;
  const charge = { requestId, amountMicroUsd: 1 + Math.floor(random() * 1000), atMs: systemClock.now() };
  await cell.store.act(() => void purse.settle(hold, charge), { isOwed: true });
  append("told", [requestId]);
});
await purse.close();
if (process.env.WEIR_KILL_AT === "returned") process.kill(process.pid, "SIGKILL");
await cell.store.close();
process.exit(0);
