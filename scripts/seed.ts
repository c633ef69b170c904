/**
 * `npm run seed -- requests N`: fills the analytics database with generated calls, to try queries at a size. `npm run seed -- demo`: makes a
 * lively installation in a folder of its own. The gateway of the data folder must be stopped: its engine is started here.
 */

import { parseArgs } from "node:util";
import { type ClickHouse, openClickHouse } from "../src/analytics/clickhouse/client.ts";
import { PART_SETTINGS } from "../src/analytics/clickhouse/part-settings.ts";
import { type Engine, startEngine } from "../src/analytics/engine/engine.ts";
import { systemClock } from "../src/base/clock.ts";
import { DAY_MS } from "../src/base/time.ts";
import { configDirOf, seedDemo } from "./demo/demo.ts";
import { slices } from "./seed-requests.ts";

const USAGE = `npm run seed -- requests N [options]
  --orgs 300         orgs that the calls are of; the first has about a seventh of them
  --days 400         the calls are of these days until now
  --data-dir ./data  folder of a gateway that is stopped (default: DATA_DIR)
  --url URL          http://user:password@host:8123/database of a ClickHouse server (default: CLICKHOUSE_URL)

npm run seed -- demo [options]
  --data-dir ./demo  a new folder, or that of a demo, which is emptied first
  --requests 100000  records of the thirty days before now
  --calls 400        real calls through the gateway, with payloads and ledger entries
  --keys 0           keys beside the forty, added to the store directly
  --seed 1           another number makes another demo`;

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

async function withClickHouse<T>(
  dataDir: string,
  use: (clickhouse: ClickHouse) => Promise<T>,
  url?: string,
): Promise<T> {
  const { clickhouse, engine } = open(dataDir, url);
  try {
    return await use(clickhouse);
  } finally {
    await clickhouse.close();
    await engine?.stop();
  }
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

const OPTIONS = {
  orgs: { type: "string", default: "300" },
  days: { type: "string", default: "400" },
  "data-dir": { type: "string" },
  url: { type: "string" },
  requests: { type: "string", default: "100000" },
  calls: { type: "string", default: "400" },
  keys: { type: "string", default: "0" },
  seed: { type: "string", default: "1" },
  help: { type: "boolean", default: false },
} as const;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const [what, rows] = [positionals[0], Number(positionals[1])];
  const counts = (...texts: string[]) => texts.map(Number);
  const areCounts = (all: readonly number[], least: number) =>
    all.every((count) => Number.isSafeInteger(count) && count >= least);
  if (what === "requests" && !values.help) {
    const [orgs = 0, days = 0] = counts(values.orgs, values.days);
    if (!areCounts([rows, orgs, days], 1)) return usage(1);
    const dataDir = values["data-dir"] ?? process.env.DATA_DIR ?? "./data";
    const fillAll = async (clickhouse: ClickHouse) => {
      await fill(clickhouse, rows, orgs, days);
      console.table(await clickhouse.rows(SIZES));
    };
    await withClickHouse(dataDir, fillAll, values.url ?? process.env.CLICKHOUSE_URL);
    return 0;
  }
  if (what !== "demo" || values.help) return usage(values.help ? 0 : 1);
  const [requests = 0, calls = 0, keys = 0, seed = 0] = counts(
    values.requests,
    values.calls,
    values.keys,
    values.seed,
  );
  if (!areCounts([requests, calls, keys, seed], 0)) return usage(1);
  return await demo(values["data-dir"] ?? "./demo", { requests, calls, keys, seed });
}

function usage(code: number): number {
  console.error(USAGE);
  return code;
}

async function demo(
  dataDir: string,
  sizes: { requests: number; calls: number; keys: number; seed: number },
): Promise<number> {
  const say = (line: string) => console.error(line);
  try {
    await seedDemo({ ...sizes, dataDir, nowMs: systemClock.now(), say, withClickHouse });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  console.log(`Start it:  DATA_DIR=${dataDir} CONFIG_DIR=${configDirOf(dataDir)} npm start
Sign in:   at /auth/login as owner@example.com, admin@…, member@…, billing@… or viewer@example.com`);
  return 0;
}

process.exitCode = await main();
