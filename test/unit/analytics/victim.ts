/** A gateway's storage half, to be killed: commits records, tells its parent which, and spools them. */
import { openBench, record } from "./records.ts";

const [dataDir = "", clickhouseUrl = ""] = process.argv.slice(2);
const bench = openBench({ dataDir, clickhouseUrl, batchAgeMs: 5 });
for (;;) {
  const records = Array.from({ length: 10 }, () => record());
  await bench.add(records);
  process.send?.(records.map((r) => r.requestId));
  await new Promise((resolve) => setTimeout(resolve, 3));
}
