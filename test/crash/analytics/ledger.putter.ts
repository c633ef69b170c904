/** A cell's ledger entries, put until the process is killed: tells its parent the number of each that is committed. */

import { openBench } from "../../support/analytics/bench.ts";
import { put, settle } from "../../support/analytics/ledger.fixtures.ts";
import { rest } from "../../support/pace.ts";

const [dataDir = "", clickhouseUrl = "", org = "", first = "1"] = process.argv.slice(2);
const { analytics, store } = openBench({ dataDir, clickhouseUrl, batchAgeMs: 5 });
for (let seq = Number(first); ; seq += 3) {
  await put(analytics.ledger, store, [settle(org, seq), settle(org, seq + 1), settle(org, seq + 2)]);
  // What waits in its memory for a late parent would be lost with a kill.
  await new Promise((resolve) => process.send?.(seq + 2, resolve));
  await rest(2);
}
