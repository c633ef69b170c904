/** A gateway as far as it migrates: tells its parent when it begins, and ends when the database is migrated. */
import { openClickHouse } from "../../../src/analytics/clickhouse/client.ts";
import { SOON } from "./migrations.fixtures.ts";

const [address = "", database = ""] = process.argv.slice(2);
const clickhouse = openClickHouse({
  address: async () => JSON.parse(address),
  database,
  turnTimes: SOON,
});
process.send?.("begins");
await clickhouse.ready();
await clickhouse.close();
process.disconnect?.();
