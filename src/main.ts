#!/usr/bin/env node
/**
 * The only file that builds objects and fills ports. `startGateway` brings every room up in the order of their needs
 * and takes them down in the reverse one; below it, the command line.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import { FIRST_KEY_FILES, firstStart } from "./account/first-start.ts";
import { Keyring } from "./account/keyring.ts";
import { LastUsed } from "./account/last-used.ts";
import { accountOperations } from "./account/operations.ts";
import type { PlanPort } from "./account/plan.ts";
import { AccountTables } from "./account/tables.ts";
import { openAnalytics } from "./analytics/analytics.ts";
import { catalogFigures } from "./analytics/catalog-figures.ts";
import { CatalogError, openCatalog } from "./catalog/catalog.ts";
import { catalogOperations } from "./catalog/operations.ts";
import { storedPriceVersions } from "./catalog/price-versions.ts";
import { type Clock, systemClock, systemRandom } from "./clock.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { type Credits, openCredits } from "./credits/credits.ts";
import { creditOperations } from "./credits/operations.ts";
import { cursors as openCursors } from "./cursor.ts";
import { problemText } from "./document.ts";
import { type MetricSources, openMetrics } from "./edge/metrics.ts";
import { openApiDocument } from "./edge/openapi.ts";
import { pages } from "./edge/pages.ts";
import { type Operations, routes as routeTable } from "./edge/routes.ts";
import { openServer } from "./edge/server.ts";
import { openBodies } from "./exchange/bodies.ts";
import { type Exchange, type ExchangeDeps, openExchange } from "./exchange/exchange.ts";
import { IdempotentAnswers } from "./exchange/idempotency.ts";
import { inquire } from "./exchange/inquire.ts";
import { scopeOf } from "./exchange/reserve.ts";
import { responseOperations } from "./exchange/response-operations.ts";
import { StoredResponses } from "./exchange/stored-responses.ts";
import { openBudgets } from "./limits/budgets.ts";
import { openLimits } from "./limits/limits.ts";
import { limitsOperations } from "./limits/operations.ts";
import { Health } from "./routing/health.ts";
import { startSimulator } from "./simulator/simulator.ts";
import { openOutbox } from "./store/outbox.ts";
import { installationSecret } from "./store/secret.ts";
import { openStore, type Store } from "./store/store.ts";
import { openUpstreams } from "./upstream/upstreams.ts";
import { openPool } from "./workers/pool.ts";
import { openThread } from "./workers/thread.ts";

export interface Gateway {
  /** `http://host:port` */
  readonly url: string;
  /** The data folder was empty: a first org and key were made. */
  readonly first: boolean;
  /** Reads the catalog's files again; what is broken is logged and changes nothing. */
  reload(): Promise<void>;
  /** No new calls, running ones end (bounded), everything is flushed. */
  stop(): Promise<void>;
}

/** @throws ConfigError, CatalogError, or Error with a line for the operator. */
export async function startGateway(config: Config, log: Logger): Promise<Gateway> {
  const { limits, timeouts } = config.settings;
  const onFault = (err: unknown, requestId: string) =>
    log.error({ err, requestId }, "a request failed on our side");
  const rooms = await openRooms(config, log);
  const exchange = exchangeOf(config, rooms, onFault);
  const defaultMaxTokens = limits.default_max_tokens;
  const inquiries = { ...rooms, onFault, random: systemRandom, defaultMaxTokens };
  const table = routeTable(operationsOf(rooms));
  let stopping = false;
  const readiness = () => {
    const parts = { store: rooms.store.healthy(), analytics: rooms.analytics.live(), serving: !stopping };
    // Analytics may be away for hours without a call noticing.
    return { ready: parts.store && parts.serving, parts };
  };
  const metrics = openMetrics(metricSources(rooms, exchange));
  const openApi = () => openApiDocument(table, VERSION);
  const server = await openServer(
    {
      routes: table,
      pages: pages({ readiness, metrics, openApi }),
      keyring: rooms.keyring,
      exchange,
      inquire: (inquiry, incoming) => inquire(inquiries, inquiry, incoming),
      clock: rooms.clock,
      onFault,
      maxBodyBytes: limits.max_body_bytes,
    },
    config.host,
    config.port,
  );
  rooms.lastUsed.start();
  return {
    url: `http://${config.host}:${server.port}`,
    first: rooms.first,
    async reload() {
      const result = await rooms.catalog.reload();
      if (result.ok) log.info("the catalog was read again");
      else
        for (const p of result.problems) log.error(`${problemText(p)}; the last good catalog stays in force`);
    },
    async stop() {
      stopping = true;
      server.stopListening();
      await exchange.drain(timeouts.shutdown_ms);
      server.close();
      await rooms.close();
    },
  };
}

type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** Everything that holds state, in the order of need. */
async function openRooms(config: Config, log: Logger) {
  const clock = systemClock;
  const { timeouts, limits, default_plan } = config.settings;
  const store = openStore(config.dataDir, {
    onFailure: (err) => log.error({ err }, "the store cannot commit; calls wait"),
  });
  const cursors = openCursors(await installationSecret(store));
  const simulator =
    config.simulatorUrl === undefined ? await startSimulator({ keepBodyBytes: 0 }) : undefined;
  const catalog = await openCatalog({
    configDir: config.configDir,
    env: process.env,
    simulatorUrl: config.simulatorUrl ?? simulator?.url ?? "",
    priceVersions: storedPriceVersions(store, clock),
  });
  const plan = planPort(config);
  const accounts = new AccountTables(store);
  const lastUsed = new LastUsed(accounts);
  const keyring = new Keyring({ accounts, clock, plan, lastUsed });
  const money = openMoney(store, clock, log);
  const first = await firstStart({ accounts, clock, dataDir: config.dataDir, planId: default_plan });
  await grantOnce(config, money.credits, accounts);
  const outbox = openOutbox(store);
  const pool = openPool();
  const thread = openThread(new URL("./wire/thread.ts", import.meta.url));
  const { dataDir, clickhouseUrl } = config;
  const analytics = openAnalytics({ outbox, pool, clock, cursors, log, dataDir, clickhouseUrl });
  const keeping = {
    store,
    clock,
    maxBytes: limits.max_stored_answer_bytes,
    onFailure: (err: unknown) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  };
  const answers = new IdempotentAnswers(keeping);
  const responses = new StoredResponses(keeping);
  const upstreams = openUpstreams({ connectTimeoutMs: timeouts.connect_ms });
  return {
    ...money,
    clock,
    store,
    cursors,
    catalog,
    plan,
    accounts,
    lastUsed,
    keyring,
    outbox,
    pool,
    bodies: openBodies(thread, pool),
    analytics,
    health: new Health(clock),
    answers,
    responses,
    upstreams,
    first: first !== undefined,
    /** In the reverse order: what writes goes before what it writes to. */
    async close() {
      answers.close();
      responses.close();
      await lastUsed.stop();
      await analytics.stop();
      await pool.close();
      await thread.close();
      await upstreams.close();
      await simulator?.close();
      await store.close();
    },
  };
}

/** What a call is held against. */
const openMoney = (store: Store, clock: Clock, log: Logger) => ({
  credits: openCredits({ store, clock }),
  budgets: openBudgets({
    store,
    clock,
    onBudgetExceeded: (event) => log.warn({ event }, "a budget is used up"),
  }),
  limits: openLimits({ clock }),
});

/** The first org's credit. On every start: a crash behind the org would leave it without. Posting twice is once. */
async function grantOnce(config: Config, credits: Credits, accounts: AccountTables): Promise<void> {
  const org = accounts.oldestOrg()?.id;
  const amountMicroUsd = Math.round(config.settings.grant_usd * 1e6);
  if (org === undefined || amountMicroUsd === 0) return;
  await credits.post(org, { kind: "grant", amountMicroUsd, refType: "first_start", refId: org });
}

/** A plan that is gone leaves its orgs on the default one. */
function planPort({ settings }: Config): PlanPort {
  const plans = new Map(settings.plans.map((plan) => [plan.id, plan]));
  return (id) => plans.get(id) ?? plans.get(settings.default_plan) ?? NO_PLAN;
}

function exchangeOf(config: Config, rooms: Rooms, onFault: ExchangeDeps["onFault"]): Exchange {
  const { limits, timeouts } = config.settings;
  return openExchange({
    ...rooms,
    onFault,
    random: systemRandom,
    cell: config.cell,
    defaultMaxTokens: limits.default_max_tokens,
    maxPayloadBytes: limits.max_payload_bytes,
    maxDrains: limits.max_drains,
    maxBodyBytes: limits.max_body_bytes,
    bounds: {
      maxEventBytes: limits.max_event_bytes,
      maxReplyBytes: limits.max_reply_bytes,
      maxPayloadBytes: limits.max_payload_bytes,
      extendTokens: limits.default_max_tokens,
    },
    timeouts: {
      firstByteMs: timeouts.first_byte_ms,
      stallMs: timeouts.stall_ms,
      totalMs: timeouts.total_ms,
      drainMs: timeouts.drain_ms,
      keepAliveMs: timeouts.keep_alive_ms,
    },
  });
}

function operationsOf(rooms: Rooms): Operations {
  const { accounts, analytics, budgets, clock, credits, cursors, keyring, limits, plan } = rooms;
  return {
    ...responseOperations(rooms),
    ...catalogOperations({ ...rooms, stats: catalogFigures(analytics.statistics, clock) }),
    ...analytics.operations,
    ...creditOperations({ credits, cursors, orgMoney: () => ({ currency: "USD", fxRate: "1.00000000" }) }),
    ...limitsOperations({
      limits,
      budgets,
      keysOf: (orgId) =>
        accounts.workingKeys(orgId, clock.now()).map((row) => {
          const context = keyring.contextOf(row);
          return { ...scopeOf(context), limits: context.limits, name: row.name, status: context.status };
        }),
      planOf: (orgId) => plan(accounts.org(orgId)?.planId ?? ""),
      counts24h: async (orgId) => {
        const { rejected, upstreamCapacity } = await analytics.statistics.counts24h(orgId);
        return { ...rejected, upstreamCapacity };
      },
    }),
    ...accountOperations({
      ...rooms,
      spend: (projectId) => budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) }),
    }),
  };
}

function metricSources(
  { store, credits, budgets, limits, outbox, analytics }: Rooms,
  exchange: Exchange,
): MetricSources {
  const read = (help: string, read: () => number) => ({ help, read });
  const calls = () => exchange.counts();
  return {
    gauges: {
      weir_calls_live: read("Model calls under way.", () => calls().live),
      weir_calls_draining: read("Calls read to their end for clients that left.", () => calls().draining),
      weir_holds_open: read("Credit holds open.", () => credits.open().holds),
      weir_held_micro_usd: read("Credit held for calls under way.", () => credits.open().heldMicroUsd),
      weir_budget_holds_open: read("Budget holds open.", () => budgets.openHolds()),
      weir_slots_taken: read("Concurrency slots taken.", () => limits.inFlight()),
      weir_outbox_rows: read("Records not yet in ClickHouse.", () => outbox.pending()),
      weir_store_healthy: read("1 while the store commits.", () => (store.healthy() ? 1 : 0)),
      weir_analytics_live: read("1 while ClickHouse answers.", () => (analytics.live() ? 1 : 0)),
    },
    counters: {
      weir_calls_total: {
        help: "Model calls by how they ended.",
        label: "outcome",
        read: () => calls().ended,
      },
      weir_reserve_exceeded_total: read(
        "Calls whose upstream reported more than was held: charged in full.",
        () => calls().reserveExceeded,
      ),
      weir_records_inserted_total: read(
        "Records inserted into ClickHouse.",
        () => analytics.metrics().insertedRows,
      ),
      weir_insert_failures_total: read("Insertions that failed.", () => analytics.metrics().insertFailures),
      weir_engine_restarts_total: read(
        "Times the embedded engine died.",
        () => analytics.metrics().engineRestarts,
      ),
    },
  };
}

const NO_PLAN = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 };
const VERSION: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

/** One short screen: where, with what key, a line that works when pasted, where to read on. */
function screen(gateway: Gateway, config: Config): string {
  const keyFile = join(config.dataDir, FIRST_KEY_FILES.live);
  const key = existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : "$WEIR_API_KEY";
  const curl = [
    `curl ${gateway.url}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `  -d '{"model": "weir/sim-small", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ];
  return [
    "",
    `  Weir is ready at ${gateway.url}`,
    gateway.first
      ? `  Key: ${key}  ($${config.settings.grant_usd.toFixed(2)} granted; also in ${keyFile})`
      : `  Key: in ${keyFile}`,
    "",
    ...curl.map((line) => `  ${line}`),
    "",
    `  API reference: ${gateway.url}/docs   Guide: README.md`,
    "",
  ].join("\n");
}

async function main(): Promise<void> {
  let gateway: Gateway;
  let log: Logger;
  try {
    const config = readConfig(process.env);
    log = pino({ level: config.logLevel }, pino.destination(2));
    gateway = await startGateway(config, log);
    console.log(screen(gateway, config));
  } catch (error) {
    const plain = error instanceof ConfigError || error instanceof CatalogError;
    console.error(plain || error instanceof Error ? error.message : error);
    if (!plain && process.env.LOG_LEVEL === "debug") console.error(error);
    process.exit(1);
  }
  process.on(
    "SIGHUP",
    () => void gateway.reload().catch((err) => log.error({ err }, "the catalog was not read")),
  );
  stopOnSignals(gateway, log);
}

/** The terminal sends Ctrl-C to the whole group and npm passes it on once more: a repeat this soon is the same one. */
const SAME_SIGNAL_MS = 2000;

/** The first signal drains, a later one means now. */
function stopOnSignals(gateway: Gateway, log: Logger): void {
  let askedMs: number | undefined;
  const stop = () => {
    const nowMs = systemClock.monotonic();
    if (askedMs !== undefined) {
      if (nowMs - askedMs > SAME_SIGNAL_MS) process.exit(130);
      return;
    }
    askedMs = nowMs;
    gateway.stop().then(
      () => process.exit(0),
      (err: unknown) => {
        log.fatal({ err }, "the gateway did not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

const invoked = process.argv[1];
if (invoked !== undefined && realpathSync(invoked) === fileURLToPath(import.meta.url)) {
  enableCompileCache();
  await main();
}
