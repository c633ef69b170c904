/**
 * `npm run seed -- requests N`: fills the analytics database with generated calls, to try queries at a size. The gateway of the
 * data folder must be stopped: its engine is started here.
 */

import { parseArgs } from "node:util";
import { type ClickHouse, openClickHouse } from "../src/analytics/clickhouse/client.ts";
import { PART_SETTINGS } from "../src/analytics/clickhouse/part-settings.ts";
import { type Engine, startEngine } from "../src/analytics/engine/engine.ts";
import { systemClock } from "../src/base/clock.ts";
import { DAY_MS } from "../src/base/time.ts";
import { slices } from "./seed-requests.ts";

const USAGE = `npm run seed -- requests N [options]
  --orgs 300         orgs that the calls are of; the first has about a seventh of them
  --days 400         the calls are of these days until now
  --data-dir ./data  folder of a gateway that is stopped (default: DATA_DIR)
  --url URL          http://user:password@host:8123/database of a ClickHouse server (default: CLICKHOUSE_URL)`;

const STATEMENT_MS = 600_000;
const START_MS = 60_000;

interface Target {
  readonly clickhouse: ClickHouse;
  readonly engine: Engine | undefined;
}

function open(dataDir: string, url: string | undefined): Target {
  if (url === undefined) {
    const engine = startEngine(dataDir, { warn: (fields, message) => console.error(message, fields) });
    const clickhouse = openClickHouse({
      address: () => engine.address(START_MS),
      database: "weir",
      requestTimeoutMs: STATEMENT_MS,
      afterMigrations: PART_SETTINGS,
    });
    return { clickhouse, engine };
  }
  const { username, password, pathname, origin } = new URL(url);
  const address = { url: origin, username: decodeURIComponent(username) || "default" };
  return {
    clickhouse: openClickHouse({
      address: async () => ({ ...address, password: decodeURIComponent(password) }),
      database: pathname.slice(1) || "weir",
      requestTimeoutMs: STATEMENT_MS,
    }),
    engine: undefined,
  };
}

async function fill(clickhouse: ClickHouse, rows: number, orgs: number, days: number): Promise<void> {
  const toMs = systemClock.now();
  const startedMs = systemClock.monotonic();
  const name = `seed-${toMs}`;
  let done = 0;
  for (const slice of slices({ rows, orgs, fromMs: toMs - days * DAY_MS, toMs })) {
    const target = { token: `${name}-${done}`, queryId: `${name}-${done}` };
    await clickhouse.insertSelect(slice.sql, slice.params, target);
    done += slice.rows;
    const seconds = (systemClock.monotonic() - startedMs) / 1000;
    console.error(`${done} rows, ${Math.round(done / seconds)} a second`);
  }
}

const SIZES = `
  SELECT table, sum(rows) AS n, sum(bytes_on_disk) AS bytes, count() AS parts
  FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table ORDER BY bytes DESC`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      orgs: { type: "string", default: "300" },
      days: { type: "string", default: "400" },
      "data-dir": { type: "string", default: process.env.DATA_DIR ?? "./data" },
      url: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [what, rows, orgs, days] = [
    positionals[0],
    ...[positionals[1], values.orgs, values.days].map((text) => Number(text)),
  ] as [string | undefined, number, number, number];
  const areCounts = [rows, orgs, days].every((count) => Number.isSafeInteger(count) && count > 0);
  if (values.help || what !== "requests" || !areCounts) {
    console.error(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  const { clickhouse, engine } = open(values["data-dir"], values.url ?? process.env.CLICKHOUSE_URL);
  try {
    await fill(clickhouse, rows, orgs, days);
    console.table(await clickhouse.rows(SIZES));
  } finally {
    await clickhouse.close();
    await engine?.stop();
  }
}

await main();
