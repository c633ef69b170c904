/**
 * The analytics room put together: the engine (embedded, or a server by URL), the spool that fills it from the outbox,
 * and the reads. Inference never waits for any of it.
 */
import type { Clock } from "../clock.ts";
import type { Cursors } from "../cursor.ts";
import { fail } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { openClickHouse } from "./client.ts";
import { type Engine, type ServerAddress, startEngine } from "./engine.ts";
import type { Finisher } from "./finisher.ts";
import { type Canonical, lookupOperations } from "./lookup-operations.ts";
import { type ModelStatsReader, modelStats } from "./model-stats.ts";
import type { Outbox } from "./outbox.ts";
import { type PolicyReports, policyReports } from "./policy-reports.ts";
import { type RecordSpoolMetrics, startRecordSpool } from "./record-spool.ts";
import { requestsOperations } from "./request-operations.ts";
import { openShadowRuns, type ShadowRuns } from "./shadow-runs.ts";
import { type Statistics, statistics } from "./statistics.ts";
import { type Traffic, traffic } from "./traffic.ts";
import { usageOperations } from "./usage-operations.ts";

export interface AnalyticsOptions {
  readonly outbox: Outbox;
  readonly store: Store;
  /** Where the embedded engine keeps its data and its password. */
  readonly dataDir: string;
  /** A ClickHouse server, `http://user:password@host:8123/database`; without it the embedded engine runs. */
  readonly clickhouseUrl?: string | undefined;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** Port: the worker pool. */
  readonly pool: Finisher;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
  /** Models that only the simulator serves: their test calls count in public figures. None unless given. */
  readonly simulated?: () => readonly string[];
  /** Port: requests of every format as the native one says them. */
  readonly canonical: Canonical;
  /** How long a record waits for company; 1 s unless given. */
  readonly batchAgeMs?: number;
}

interface AnalyticsMetrics extends RecordSpoolMetrics {
  readonly live: boolean;
  /** Process id of the embedded engine. */
  readonly enginePid: number | undefined;
  readonly engineRestarts: number;
}

type AnalyticsOperations = ReturnType<typeof lookupOperations> &
  ReturnType<typeof requestsOperations> &
  ReturnType<typeof usageOperations>;

export interface Analytics {
  readonly operations: AnalyticsOperations;
  readonly statistics: Statistics;
  readonly shadowRuns: ShadowRuns;
  /** How a model did; undefined within a second where ClickHouse does not answer. */
  readonly modelStats: ModelStatsReader;
  readonly reports: PolicyReports;
  readonly traffic: Traffic;
  /** True once everything recorded before the call is in ClickHouse; false when that takes longer. */
  flush(withinMs?: number): Promise<boolean>;
  /** Whether the last contact with ClickHouse succeeded. */
  live(): boolean;
  metrics(): AnalyticsMetrics;
  /** Inserts what is pending, within the bound, then ends; the rest stays in the outbox. */
  stop(withinMs?: number): Promise<void>;
}

/** How long a read waits for its own writes. */
const CATCH_UP_MS = 1000;
/** The same until the embedded engine has answered for the first time: it starts beside the gateway. */
const START_MS = 8000;
const STOP_MS = 5000;

export function openAnalytics(options: AnalyticsOptions): Analytics {
  const { outbox, store, clock, cursors, pool, log } = options;
  const engine = options.clickhouseUrl === undefined ? startEngine(options.dataDir, log) : undefined;
  const server = engine === undefined ? serverOf(options.clickhouseUrl ?? "") : undefined;
  // A server is there or not; only an engine of ours is waited for.
  let hasAnswered = engine === undefined;
  const clickhouse = openClickHouse({
    address: () => addressOf(engine, server, hasAnswered ? CATCH_UP_MS : START_MS),
    database: server?.database ?? "weir",
  });
  const ageMs = options.batchAgeMs;
  const spool = startRecordSpool({ outbox, clickhouse, finisher: pool, clock, log, ageMs });
  const shadowRuns = openShadowRuns({ store, clickhouse, clock, log, ageMs });
  // Tells from the start whether it is there, rather than from the first query on.
  clickhouse.rows("SELECT 1").then(
    () => {
      hasAnswered = true;
    },
    () => {},
  );

  /** A backlog longer than the wait is served as far as it is; an engine that is away is said to be. */
  async function caughtUp(): Promise<void> {
    const caught = await spool.flush(hasAnswered ? CATCH_UP_MS : START_MS);
    hasAnswered ||= clickhouse.live();
    if (!caught && !clickhouse.live()) {
      throw fail("analytics_unavailable", "Usage records cannot be read now; calls are not affected.", {
        retryAfterMs: CATCH_UP_MS,
      });
    }
  }

  const { canonical } = options;
  const lookups = lookupOperations({ outbox, clickhouse, finisher: pool, canonical, clock });
  return {
    operations: {
      getGeneration: lookups.getGeneration,
      getRequest: lookups.getRequest,
      listRequests: requestsOperations({ clickhouse, cursors, caughtUp }).listRequests,
      getUsage: usageOperations({ clickhouse, clock, caughtUp }).getUsage,
    },
    statistics: statistics(clickhouse),
    modelStats: modelStats({ clickhouse, clock, simulated: options.simulated ?? (() => []) }),
    reports: policyReports({ clickhouse, clock, caughtUp }),
    traffic: traffic({ clickhouse, caughtUp }),
    shadowRuns,
    flush: (withinMs = CATCH_UP_MS) => spool.flush(withinMs),
    live: () => clickhouse.live(),
    metrics: () => ({
      ...spool.metrics(),
      live: clickhouse.live(),
      enginePid: engine?.pid(),
      engineRestarts: engine?.restarts() ?? 0,
    }),
    async stop(withinMs = STOP_MS) {
      // Shadow runs insert what waits before they end.
      await Promise.all([spool.flush(withinMs, { ifReachable: true }), shadowRuns.stop(withinMs)]);
      await spool.stop(withinMs);
      await clickhouse.close();
      await engine?.stop();
    },
  };
}

async function addressOf(
  engine: Engine | undefined,
  server: ServerAddress | undefined,
  withinMs: number,
): Promise<ServerAddress> {
  if (server !== undefined) return server;
  if (engine === undefined) throw new Error("neither an engine nor a server");
  return await engine.address(withinMs);
}

/** @throws Error where it is no URL. The credentials leave the URL, so that none is ever logged with it. */
function serverOf(clickhouseUrl: string): ServerAddress & { database: string } {
  const url = new URL(clickhouseUrl);
  const server = {
    username: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || "weir",
  };
  url.username = "";
  url.password = "";
  url.pathname = "/";
  return { url: url.href, ...server };
}
