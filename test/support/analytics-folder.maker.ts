/** Makes the folder of the engine with the tables of a new gateway, for `analytics-folder.ts`. */
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { openClickHouse } from "../../src/analytics/clickhouse/client.ts";
import { startEngine } from "../../src/analytics/engine/engine.ts";

const [, , made = ""] = process.argv;
const home = mkdtempSync(join(dirname(made), "engine-"));
const engine = startEngine(home, { warn: (_fields, message) => console.error(message) });
const clickhouse = openClickHouse({ address: () => engine.address(60_000), database: "weir" });
await clickhouse.ready();
await clickhouse.close();
await engine.stop();
// Only the tables: the socket and the scratch space are made at each start.
for (const left of ["engine.sock", "spill"]) {
  rmSync(join(home, "clickhouse", left), { recursive: true, force: true });
}
try {
  renameSync(join(home, "clickhouse"), made);
} catch (error) {
  // Another process of tests made it at the same time.
  if (!existsSync(made)) throw error;
}
rmSync(home, { recursive: true, force: true });
