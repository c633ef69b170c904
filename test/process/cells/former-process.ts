/**
 * Copies the ledger of a folder to the list of the analytics in a process that a test kills. Arguments: folder. The engine is away, so
 * what was put stays in the folder's queue. It writes a line with the number of entries that it has put since its start.
 */

import { openAnalyticsLedger } from "../../../src/analytics/ledger.ts";
import { queryBudget } from "../../../src/analytics/query-budget.ts";
import { FormerLedger } from "../../../src/cells/credit/former-ledger.ts";
import { systemClock } from "../../../src/clock.ts";
import { openStore } from "../../../src/store/store.ts";
import { FakeEngine } from "../../support/analytics/ledger.fixtures.ts";

const store = openStore(process.argv[2] ?? "");
const engine = new FakeEngine();
engine.away = true;
const ledger = openAnalyticsLedger({
  ...{ store, clickhouse: engine, budget: queryBudget(engine), clock: systemClock, log: { warn() {} } },
  ageMs: 1_000_000,
});
let entries = 0;
const former = new FormerLedger({
  store,
  list: {
    put(some) {
      ledger.put(some);
      entries += some.length;
      console.log(String(entries));
    },
    flush: async () => true,
  },
  onFailure: (error) => {
    console.error(error);
    process.exit(3);
  },
  async onDone(all) {
    await ledger.stop(0);
    await store.close();
    console.log(`done ${all}`);
    process.exit(0);
  },
});
former.start();
