/**
 * Fills a data folder with a lively installation: an organisation made by the public API, real calls, and the records of thirty days
 * before them. The gateway runs in this process meanwhile, and nothing is called outside this machine.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pino } from "pino";
import type { ClickHouse } from "../../src/analytics/clickhouse/client.ts";
import { seededRandom } from "../../src/base/clock.ts";
import { HOUR_MS } from "../../src/base/time.ts";
import { startGateway } from "../../src/host/gateway/gateway.ts";
import { readConfig } from "../../src/host/settings/config.ts";
import { openStore } from "../../src/store/store.ts";
import { AGE_MS, makeOlder } from "./age.ts";
import { nearBudget, useUpBudget } from "./budgets.ts";
import { makeCalls, planCalls } from "./calls.ts";
import { MODELS, writeCatalog } from "./catalog.ts";
import { type HistoryModel, historySlices } from "./history.ts";
import { addKeys } from "./keys.ts";
import type { Person } from "./person.ts";
import { makeTrials } from "./trials.ts";
import { answerDeliveries } from "./webhooks.ts";
import { buyCredit, makeWorld, until, type World } from "./world.ts";

/** In the data folder of a demo: only a folder that has it, with this word in it, is ever emptied. */
const MARK = "weir-demo.json";
const MADE_BY = "npm run seed -- demo";

export interface DemoOptions {
  readonly dataDir: string;
  /** Rows of history. */
  readonly requests: number;
  /** Keys beside the forty. */
  readonly keys: number;
  /** Real calls. */
  readonly calls: number;
  readonly seed: number;
  readonly nowMs: number;
  say(line: string): void;
  /** Opens the database of the folder's own engine, while no gateway runs there. */
  withClickHouse<T>(dataDir: string, use: (clickhouse: ClickHouse) => Promise<T>): Promise<T>;
}

export const configDirOf = (dataDir: string): string => join(dataDir, "config");

/** @throws Error with a line for the operator */
export async function seedDemo(options: DemoOptions): Promise<void> {
  const { dataDir, requests, keys, calls, seed, nowMs, say } = options;
  await prepareFolder(dataDir);
  writeFileSync(
    join(dataDir, MARK),
    `${JSON.stringify({ made_by: MADE_BY, seed, requests, keys, calls })}\n`,
  );
  writeCatalog(configDirOf(dataDir), keys);
  const { world, models } = await livelyGateway(options);
  await makeOlder(dataDir, world.orgId, nowMs);
  await answerDeliveries(dataDir);
  if (keys > 0) {
    const projectIds = [...world.projects.values()];
    // Behind the keys that have names and calls, in lists that begin with the newest.
    await addKeys({ dataDir, count: keys, orgId: world.orgId, projectIds, untilMs: nowMs - AGE_MS });
    say(`${keys} more keys`);
  }
  await options.withClickHouse(dataDir, async (clickhouse) => {
    const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
    const plan = { rows: requests, seed, orgId: world.orgId, keys: world.keys, models, toMs };
    for (const { sql, params, rows } of historySlices(plan)) {
      const name = `demo-${nowMs}-${params.slice}`;
      await clickhouse.insertSelect(sql, params, { token: name, queryId: name });
      say(`${rows} records of the thirty days before`);
    }
  });
}

/** Empty, or a demo's that no gateway uses. @throws Error for any other */
async function prepareFolder(dataDir: string): Promise<void> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    if (!isDemo(dataDir))
      throw new Error(`${dataDir} is not empty and no demo's: name a new folder by --data-dir`);
    // Fails where a gateway has it open.
    if (existsSync(join(dataDir, "weir.lmdb"))) await openStore(dataDir).close();
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}

function isDemo(dataDir: string): boolean {
  try {
    return JSON.parse(readFileSync(join(dataDir, MARK), "utf8")).made_by === MADE_BY;
  } catch {
    return false;
  }
}

/** What a start on the folder is told. */
export const environmentOf = (dataDir: string): Record<string, string> => ({
  DATA_DIR: resolve(dataDir),
  CONFIG_DIR: resolve(configDirOf(dataDir)),
});

async function livelyGateway({ dataDir, calls, seed, say }: DemoOptions) {
  const env = {
    ...environmentOf(dataDir),
    HOST: "127.0.0.1",
    PORT: "0",
    WARM_UP_MS: "0",
    LOG_LEVEL: "error",
  };
  const gateway = await startGateway(readConfig(env), pino({ level: "error" }, pino.destination(2)));
  try {
    const world = await makeWorld(gateway.url);
    say(`an organisation with ${world.keys.length} keys`);
    await buyCredit(world.owner);
    say("top-ups, a refund and automatic top-ups");
    const statuses = await makeCalls(gateway.url, planCalls(world.keys, calls, seededRandom(seed)));
    const told = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
    say(`real calls: ${told.join(", ")}`);
    await makeTrials(gateway.url, world, seededRandom(seed + 1));
    say("a policy with an experiment, a shadow and a canary that warms");
    await nearBudget(world, "support");
    await useUpBudget(gateway.url, world);
    await recorded(world, calls);
    return { world, models: await modelsOf(world.owner) };
  } finally {
    await gateway.stop();
  }
}

/** The calls are in the feed: what is stopped before that would be inserted by the next start. */
const recorded = ({ owner }: World, calls: number): Promise<void> =>
  until("the calls are recorded", async () => {
    const { data } = await owner.call<{ data?: unknown[] }>(
      "GET",
      "/v1/requests?limit=100",
      undefined,
      [503],
    );
    return (data?.length ?? 0) >= Math.min(100, calls);
  });

async function modelsOf(owner: Person): Promise<HistoryModel[]> {
  const models: HistoryModel[] = [];
  for (const id of MODELS) {
    const { data } = await owner.call<{ data: Listed[] }>("GET", `/v1/models/${id}/endpoints`);
    const endpoints = data.filter(({ id: own }) => !own.includes("north-cloud")).map(endpointOf);
    const [first] = endpoints;
    if (first === undefined) throw new Error(`${id} has no endpoint`);
    models.push({ id, isEmbedding: id.includes("embedding"), endpoints: [first, endpoints[1] ?? first] });
  }
  return models;
}

interface Listed {
  readonly id: string;
  readonly provider: string;
  readonly upstream_model: string;
  readonly region: string;
  readonly price: { readonly input: number; readonly output?: number; readonly cache_read?: number };
}

const endpointOf = ({ id, provider, upstream_model, region, price }: Listed) => ({
  id,
  provider,
  upstreamModel: upstream_model,
  region,
  price: { input: price.input, output: price.output ?? 0, cacheRead: price.cache_read ?? price.input },
});
