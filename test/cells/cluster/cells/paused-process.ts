/**
 * A cell in a process of its own, which a test stops and lets go on. Arguments: folder, cell, dataset, socket of Redis. Its clocks are as
 * many milliseconds ahead as `<folder>.ahead` says. Lines of standard input: "hold N", "release", "charge" of the oldest hold; each is
 * answered by a line, a charge once it is durable. It also says "uncharged ID", and "ended REASON"; it ends with standard input.
 */
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Clock, systemClock } from "../../../../src/base/clock.ts";
import { openCell } from "../../../../src/cluster/cells/cell.ts";
import { CreditView } from "../../../../src/cluster/cells/credit/credit-view.ts";
import { openLeasedPurse } from "../../../../src/cluster/cells/credit/leased-purse.ts";
import type { Hold } from "../../../../src/credits/ledger/purse.ts";
import { openStore } from "../../../../src/store/store.ts";

const [folder = "", name = "", datasetId = "", redisUrl = ""] = process.argv.slice(2);
const aheadMs = () => (existsSync(`${folder}.ahead`) ? Number(readFileSync(`${folder}.ahead`, "utf8")) : 0);
const clock: Clock = {
  now: () => systemClock.now() + aheadMs(),
  monotonic: () => systemClock.monotonic() + aheadMs(),
};
const cell = await openCell({
  cell: name,
  datasetId,
  redisUrl,
  clock,
  log: { warn() {} },
  local: openStore(folder),
  isShared: (table) => !table.startsWith("local."),
  onOutdated() {},
  onEnd: (reason) => console.log(`ended ${reason.message}`),
});
const { life } = cell.entered;
const purse = await openLeasedPurse({
  // What is idle stays leased.
  store: cell.store,
  life,
  lane: cell.lane("credit"),
  clock,
  time: cell.clock,
  staleMs: cell.staleMs,
  idleMs: 3_600_000,
  waitMs: 5000,
  view: new CreditView({ lane: cell.lane("credit_view"), inAct: () => cell.store.creditInAct() }),
  restates: cell.restates,
  onNumbered() {},
  onUncharged: (rows) => {
    for (const { requestId } of rows) console.log(`uncharged ${requestId}`);
  },
  onEnd() {},
});
await cell.opened();

const holds: Hold[] = [];
let calls = 0;

async function hold(microUsd: number): Promise<string> {
  const taken = await Promise.resolve(purse.hold("org", microUsd)).catch((error: Error) => error.message);
  if (typeof taken === "string") return `refused ${taken}`;
  if (taken === undefined) return "no credit";
  holds.push(taken);
  return "held";
}

async function charge(taken: Hold, amountMicroUsd: number): Promise<string> {
  const requestId = `req_${name}_${life}_${++calls}`;
  const entry = { requestId, amountMicroUsd, atMs: clock.now() };
  await cell.store.act(() => void purse.settle(taken, entry), { isOwed: true });
  return `charged ${requestId}`;
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [what, number] = line.split(" ");
  if (what === "hold") {
    console.log(await hold(Number(number)));
    continue;
  }
  const taken = holds.shift() as Hold;
  if (what === "charge") console.log(await charge(taken, Number(number)));
  else {
    purse.release(taken);
    console.log("released");
  }
}
process.exit(0);
