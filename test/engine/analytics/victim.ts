/** A gateway's storage half, to be killed: commits records, tells its parent which, and spools them. */
import { openBench } from "../../support/analytics/bench.ts";
import { recordsOf } from "../../support/analytics/records.ts";
import { rest } from "../../support/pace.ts";

const [dataDir = "", clickhouseUrl = "", org = ""] = process.argv.slice(2);
const bench = openBench({ dataDir, clickhouseUrl, batchAgeMs: 5 });
const record = recordsOf(org);
for (;;) {
  const records = Array.from({ length: 10 }, () => record());
  await bench.add(records);
  process.send?.(records.map((r) => r.requestId));
  await rest(3);
}
