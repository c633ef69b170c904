/**
 * A cell in a process of its own, which a test kills: calls spend credit until standard input ends.
 * Arguments: folder, cell, dataset, socket of Redis, orgs, seed. It appends to `<folder>.told` what a client would hold in full, before
 * which the charge is durable, and to `<folder>.rows` each numbered entry. WEIR_KILL_AT: it kills itself when all leases are given back
 * ("returned"), or when Redis knows that it left ("left").
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { openCell } from "../../../src/cells/cell.ts";
import { CreditView } from "../../../src/cells/credit/credit-view.ts";
import { openLeasedPurse } from "../../../src/cells/credit/leased-purse.ts";
import { seededRandom, systemClock } from "../../../src/clock.ts";
import { openStore } from "../../../src/store/store.ts";

const [folder = "", name = "", datasetId = "", redisUrl = "", orgList = "", seed = "0"] =
  process.argv.slice(2);
const orgs = orgList.split(",");
const random = seededRandom(Number(seed));
mkdirSync(folder, { recursive: true });

const local = openStore(folder);
if (process.env.WEIR_KILL_AT === "left") local.close = async () => void process.kill(process.pid, "SIGKILL");
const cell = await openCell({
  ...{ cell: name, datasetId, redisUrl, clock: systemClock, log: { warn() {} } },
  local,
  isShared: (table) => !table.startsWith("local."),
  onOutdated() {},
  onEnd: (reason) => {
    console.error(reason);
    process.exit(3);
  },
});
const { life } = cell.entered;
const purse = await openLeasedPurse({
  ...{ store: cell.store, life, lane: cell.lane("credit"), clock: systemClock, idleMs: 300 },
  view: new CreditView({ lane: cell.lane("credit_view"), inAct: () => cell.store.creditInAct() }),
  restates: cell.restates,
  onNumbered: (rows) =>
    appendFileSync(`${folder}.rows`, rows.map((row) => `${JSON.stringify(row)}\n`).join("")),
  onUncharged: () => process.exit(4),
  onEnd: () => process.exit(3),
});
await cell.opened();

let isOver = false;
let calls = 0;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();
console.log("ready");

await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const org = orgs[Math.floor(random() * orgs.length)] as string;
      const hold = await Promise.resolve(purse.hold(org, 1000)).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, random() * 4));
      if (hold === undefined) continue;
      if (random() < 0.1) {
        purse.release(hold);
        continue;
      }
      const requestId = `req_${name}_${life}_${++calls}`;
      const charge = { requestId, amountMicroUsd: 1 + Math.floor(random() * 1000), atMs: systemClock.now() };
      await cell.store.act(() => void purse.settle(hold, charge), { isOwed: true });
      appendFileSync(`${folder}.told`, `${requestId}\n`);
    }
  }),
);
await purse.close();
if (process.env.WEIR_KILL_AT === "returned") process.kill(process.pid, "SIGKILL");
await cell.store.close();
process.exit(0);
