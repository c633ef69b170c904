/**
 * Copies the ledger of a folder to the list of the analytics in a process that a test kills. Arguments: folder, and the number of entries
 * at which it kills itself, where the test is late. The engine is away, so what was put stays in the folder's queue. It says in a line how
 * many entries it has put since its start, and last "done" with their number, or "listed" where nothing was left to do.
 */

import { queryBudget } from "../../../../src/analytics/clickhouse/query-budget.ts";
import { openAnalyticsLedger } from "../../../../src/analytics/outbox/ledger.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { FormerLedger, isFormerListed } from "../../../../src/cluster/cells/credit/former-ledger.ts";
import { openStore } from "../../../../src/store/store.ts";
import { FakeEngine } from "../../../support/analytics/ledger.fixtures.ts";
import { say } from "../../../support/say.ts";

const [folder = "", most] = process.argv.slice(2);
const store = openStore(folder);
const engine = new FakeEngine();
engine.away = true;
const ledger = openAnalyticsLedger({
  store,
  clickhouse: engine,
  budget: queryBudget(engine),
  clock: systemClock,
  log: { warn() {} },
  ageMs: 1_000_000,
});
const end = async (word: string): Promise<never> => {
  await ledger.stop(0);
  await store.close();
  say(word);
  process.exit(0);
};
let entries = 0;
const former = new FormerLedger({
  name: "a",
  store,
  list: {
    put(some) {
      ledger.put(some);
      entries += some.length;
      say(String(entries));
      if (entries > Number(most)) process.kill(process.pid, "SIGKILL");
    },
    flush: async () => true,
  },
  onFailure: (error) => {
    console.error(error);
    process.exit(3);
  },
  onDone: (all) => void end(`done ${all}`),
});
// The process before was killed behind its last act.
if (isFormerListed(store)) await end("listed");
former.start();
