/**
 * `npm run bench -- analytics`: how long questions of orgs take on a data folder that `npm run seed -- requests N` has filled, as
 * the routes ask them, while records go on coming in. Random orgs, every third question by the largest.
 */

import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { seededOrg } from "../scripts/seed-requests.ts";
import { type Analytics, openAnalytics } from "../src/analytics/analytics.ts";
import { type ClickHouse, openClickHouse } from "../src/analytics/clickhouse/client.ts";
import { queryBudget } from "../src/analytics/clickhouse/query-budget.ts";
import { startEngine } from "../src/analytics/engine/engine.ts";
import { openOutbox } from "../src/analytics/outbox/outbox.ts";
import { rowsAfter } from "../src/analytics/tail/tail-history.ts";
import { type Random, seededRandom, systemClock } from "../src/base/clock.ts";
import { cursors } from "../src/base/operation/cursor.ts";
import type { Caller } from "../src/base/operation/operation.ts";
import { DAY_MS } from "../src/base/time.ts";
import { Events } from "../src/store/events/events.ts";
import { openStore } from "../src/store/store.ts";
import { openPool } from "../src/workers/pool.ts";
import { startArrivals } from "./analytics-arrivals.ts";

const GOALS_MS = { month: 300, quarter: 1000, feed: 300, request: 50, tail: 300 } as const;
type Goal = keyof typeof GOALS_MS;
const GROUPS = ["", "project", "key", "model", "provider", "byok", "app", "tag"] as const;

interface Question {
  readonly name: string;
  readonly goal: Goal;
  /** Makes a question, to be asked several times. */
  readonly make: (org: string) => Promise<() => Promise<unknown>>;
}

interface Options {
  readonly dataDir: string;
  readonly orgs: number;
  readonly times: number;
  readonly rate: number;
  /** Runs of each question; the quickest counts, for a machine that is shared. */
  readonly runs: number;
}

export const ANALYTICS_USAGE = `npm run bench -- analytics [options]   questions about usage on a seeded data folder
  --data-dir DIR  folder that \`npm run seed -- requests N\` has filled; its gateway is stopped (default ./data)
  --orgs 300      orgs that it was filled for
  --times 30      how often each question is asked
  --runs 1        of each; the quickest counts, for a machine that others use
  --rate 5000     records a second that come in meanwhile`;

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "data-dir": { type: "string", default: process.env.DATA_DIR ?? "./data" },
      orgs: { type: "string", default: "300" },
      times: { type: "string", default: "30" },
      rate: { type: "string", default: "5000" },
      runs: { type: "string", default: "1" },
    },
  });
  const { "data-dir": dataDir, orgs, times, rate, runs } = values;
  return { dataDir, orgs: Number(orgs), times: Number(times), rate: Number(rate), runs: Number(runs) };
}

const callerOf = (orgId: string): Caller => ({
  requestId: "01J00000000000000000000000",
  orgId,
  projectId: "prj_bench",
  actor: { kind: "key", id: "key_bench" },
  environment: "live",
  origin: { ip: "127.0.0.1", userAgent: "bench", method: "GET", route: "/" } as never,
  scopes: new Set(["read:usage"]),
});

const NO_HEAD = { header: () => undefined } as never;

/** Runs an operation as the edge does: its query is parsed, its answer checked. */
function asked(
  operation: { run: unknown; query?: { parse(value: unknown): unknown } | undefined },
  org: string,
  { query = {}, path }: { query?: Record<string, unknown>; path?: unknown },
): () => Promise<unknown> {
  const run = operation.run as (input: unknown, caller: Caller, head: never) => Promise<unknown>;
  return () =>
    run({ params: path, query: operation.query?.parse(query), body: undefined }, callerOf(org), NO_HEAD);
}

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;

/** Filters that find much, little and nothing. */
const filtersOf = (random: Random, nowMs: number): Record<string, unknown> =>
  pick<() => Record<string, unknown>>(random, [
    () => ({}),
    () => ({ errors_only: "1" }),
    () => ({ fallbacks_only: "1", status: "error" }),
    () => ({ model: "vendor-1/no-such-model" }),
    () => ({ model: "vendor-1/model-10", status: "cancelled" }),
    () => ({ provider: "provider-3" }),
    () => ({ key_id: "key_0_39" }),
    () => ({ min_cost_micro: 1_000_000 }),
    () => ({ max_cost_micro: 1, status: "ok" }),
    () => ({ q: "01ZZZZ" }),
    () => ({ until: new Date(nowMs - random() * 20 * DAY_MS).toISOString() }),
  ])();

function questions(analytics: Analytics, clickhouse: ClickHouse, random: Random): Question[] {
  const { getUsage, listRequests, getRequest } = analytics.operations;
  const usage = (range: string, goal: Goal) =>
    GROUPS.map((by) => ({
      name: `usage of ${range}${by === "" ? "" : ` by ${by}`}`,
      goal,
      make: async (org: string) =>
        asked(getUsage, org, {
          query: { range, ...(by !== "" && { group_by: by }), ...(by === "tag" && { tag: "customer" }) },
        }),
    }));
  const ids = new Map<string, string[]>();
  const idOf = async (org: string): Promise<string> => {
    const known = ids.get(org);
    if (known !== undefined) return pick(random, known);
    const rows = await clickhouse.rows<{ id: string }>(
      "SELECT request_id AS id FROM requests WHERE org_id = {org:String} ORDER BY cityHash64(request_id) LIMIT 100",
      { org },
    );
    ids.set(
      org,
      rows.map(({ id }) => id),
    );
    return idOf(org);
  };
  const budget = queryBudget(clickhouse);
  return [
    ...usage("30d", "month"),
    ...usage("90d", "quarter"),
    {
      name: "feed, any filter, a page or two",
      goal: "feed",
      make: async (org) => asked(listRequests, org, { query: filtersOf(random, systemClock.now()) }),
    },
    {
      name: "request by id",
      goal: "request",
      make: async (org) => asked(getRequest, org, { path: { id: await idOf(org) } }),
    },
    {
      name: "tail after a call",
      goal: "tail",
      make: async (org) => {
        const settledAtUs = (systemClock.now() - random() * 30 * DAY_MS) * 1000;
        const filters = listRequests.query?.parse(filtersOf(random, systemClock.now())) as never;
        const position = { settledAtUs: Math.floor(settledAtUs), requestId: "" };
        return () => rowsAfter({ budget, clock: systemClock }, callerOf(org), filters, position);
      },
    },
  ];
}

interface Figure {
  readonly question: string;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly max_ms: number;
  readonly goal_ms: number;
}

const at = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0);

async function measured({ name, goal, make }: Question, options: Options, random: Random): Promise<Figure> {
  const took: number[] = [];
  for (let n = 0; n < options.times; n++) {
    const org = seededOrg(n % 3 === 0 ? 0 : Math.floor(options.orgs * random() ** 3));
    const ask = await make(org);
    let leastMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < options.runs; run++) {
      const startedMs = systemClock.monotonic();
      await ask();
      leastMs = Math.min(leastMs, systemClock.monotonic() - startedMs);
    }
    took.push(leastMs);
  }
  took.sort((a, b) => a - b);
  const [p50, p95, max] = [at(took, 0.5), at(took, 0.95), at(took, 1)];
  return { question: name, p50_ms: p50, p95_ms: p95, max_ms: max, goal_ms: GOALS_MS[goal] };
}

export async function benchAnalytics(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const random = seededRandom(1);
  const store = openStore(options.dataDir);
  const outbox = openOutbox(store);
  const pool = openPool();
  // Its own engine: the room is given its address, so that the bench has a connection too.
  const log = { warn: (fields: object, message: string) => console.error(message, fields) };
  const engine = startEngine(options.dataDir, log);
  const { url, username, password } = await engine.address(60_000);
  const clickhouseUrl = `${url.replace("://", `://${username}:${password}@`)}/weir`;
  const clickhouse = openClickHouse({ address: () => engine.address(5000), database: "weir" });
  const analytics = openAnalytics({
    outbox,
    store,
    dataDir: options.dataDir,
    clickhouseUrl,
    clock: systemClock,
    pool,
    log,
    cursors: cursors(randomBytes(32)),
    canonical: async () => undefined,
    events: new Events({ store, clock: systemClock, onFailure: (error) => console.error(error) }),
    creditOf: () => Promise.reject(new Error("there is no ledger here")),
  });
  const [size] = await clickhouse.rows<{ n: number }>("SELECT count() AS n FROM requests");
  const arrivals = startArrivals({ outbox, store, orgs: options.orgs, rate: options.rate });
  const figures: Figure[] = [];
  for (const question of questions(analytics, clickhouse, random)) {
    figures.push(await measured(question, options, random));
    console.error(JSON.stringify(figures.at(-1)));
  }
  const came = arrivals.stop();
  console.log(`${size?.n} records; ${came.perSecond} came in a second, at most ${came.mostWaiting} waited`);
  console.table(figures);
  await analytics.stop(60_000);
  await clickhouse.close();
  await engine.stop();
  await pool.close();
  await store.close();
}
