/**
 * Assembles analytics: the engine (embedded, or a server by URL), the spools that insert pending rows, and the reads. No
 * model call waits for any of these.
 */
import { join } from "node:path";
import { type Clock, systemTimers, type Timers } from "../base/clock.ts";
import { fail } from "../base/errors.ts";
import type { Cursors } from "../base/operation/cursor.ts";
import type { Caller } from "../base/operation/operation.ts";
import type { CallRecord } from "../record/record.ts";
import type { Store } from "../store/store.ts";
import { type AnalystAccess, openAnalystAccess } from "./analysts/analyst-access.ts";
import { Analysts } from "./analysts/analysts.ts";
import { type ClickHouse, openClickHouse } from "./clickhouse/client.ts";
import { InsertedUntil, type WaitForInserts } from "./clickhouse/inserted-until.ts";
import { TURN_TIMES } from "./clickhouse/migration-turns.ts";
import { PART_SETTINGS } from "./clickhouse/part-settings.ts";
import { type QueryBudget, queryBudget } from "./clickhouse/query-budget.ts";
import { RowFiles } from "./clickhouse/row-files.ts";
import type { AnalystsSetting } from "./engine/confinement.ts";
import { type Engine, type ServerAddress, startEngine } from "./engine/engine.ts";
import { type AnalyticsErasure, analyticsErasure } from "./erasure.ts";
import type { CreditReader } from "./live/credit-now.ts";
import { liveOperations } from "./live/live-operations.ts";
import { type LiveCalls, type LiveFeeds, openLiveFeeds } from "./live/open.ts";
import type { EventSource } from "./live/org-events.ts";
import { type AnalyticsCopy, analyticsCopy } from "./outbox/copy.ts";
import type { Finisher } from "./outbox/finisher.ts";
import { type AnalyticsLedger, openAnalyticsLedger } from "./outbox/ledger.ts";
import type { Outbox } from "./outbox/outbox.ts";
import { type RecordSpool, type RecordSpoolMetrics, startRecordSpool } from "./outbox/record-spool.ts";
import { openShadowRuns, type ShadowRuns } from "./outbox/shadow-runs.ts";
import { type Canonical, callRecord, lookupOperations } from "./requests/lookup-operations.ts";
import type { OtherCells } from "./requests/other-cells.ts";
import type { PlanOf } from "./requests/plan-wire.ts";
import { recordsOf } from "./requests/records-of-org.ts";
import { requestsOperations } from "./requests/request-operations.ts";
import { tailOperations } from "./tail/tail-operations.ts";
import { analyticsExportOperations, type TakePlace } from "./usage/export-operations.ts";
import type { GroupNames } from "./usage/group-names.ts";
import { type ModelStatsReader, modelStats } from "./usage/model-stats.ts";
import { operatorUsageOperations } from "./usage/operator-usage-operations.ts";
import { type PolicyReports, policyReports } from "./usage/policy-reports.ts";
import { type ProviderRefusals, providerRefusals } from "./usage/provider-refusals.ts";
import { type ProviderUsage, providerUsage } from "./usage/provider-usage.ts";
import { type PublicFigures, publicFigures } from "./usage/public-figures.ts";
import { type RecentSpendReader, recentSpend } from "./usage/recent-spend.ts";
import { type Statistics, statistics } from "./usage/statistics.ts";
import { type Traffic, traffic } from "./usage/traffic.ts";
import { usageOperations } from "./usage/usage-operations.ts";

export interface AnalyticsOptions {
  readonly outbox: Outbox;
  readonly store: Store;
  /** The embedded engine writes its data and its password here. */
  readonly dataDir: string;
  /** URL of a ClickHouse server, `http://user:password@host:8123/database`. Without it the embedded engine is started. */
  readonly clickhouseUrl?: string | undefined;
  /** An embedded engine that this process shares with others, in place of its own. */
  readonly shared?: SharedEngine | undefined;
  /** Told of the port of the embedded engine that this process starts. */
  readonly onEngineListening?: (port: number) => void;
  /** Name of the cluster that the server belongs to. Without it the server alone has the tables. */
  readonly clickhouseCluster?: string | undefined;
  /** How analysts' statements run in the embedded engine. Default: in a confined process. */
  readonly confine?: AnalystsSetting;
  /** Undefined: the gateway is alone. */
  readonly others?: OtherCells | undefined;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /** What happens in orgs. */
  readonly events: EventSource;
  /** Port: an org's credit, by ledger and budgets. */
  readonly creditOf: CreditReader;
  /** Port: the worker pool. */
  readonly pool: Finisher;
  /** Port: whether an org's analysts may read. Default: yes. */
  readonly isOpen?: (orgId: string) => boolean;
  /** Port: told of each org that changes. */
  readonly watchOrgs?: (changed: () => void) => void;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
  /** Port: days for which an org keeps payloads now; older ones are not shown, whatever is still stored. Default: all are. */
  readonly retentionDays?: (orgId: string) => number;
  /** Port: places of exports under way. Default: there is always one. */
  readonly takePlace?: TakePlace;
  /** Models that only the simulator serves: their test calls count in public figures. Default: none. */
  readonly simulated?: () => readonly string[];
  /** Port: converts a stored request of any format to the native format. */
  readonly canonical: Canonical;
  /** Port: the plan of a recorded call. Default: none can be read. */
  readonly planOf?: PlanOf;
  /** Port: names beside the ids of groups of usage. Default: none is known. */
  readonly names?: GroupNames;
  /** Timers of the tail. Default: the system's. */
  /** Timers of streams. Default: the system's. */
  readonly timers?: Timers;
  /** A record waits at most this long for others of its batch. Default: 2 s; for an engine of one's own 3 s, and 10 s while few wait. */
  readonly batchAgeMs?: number;
  /** Records of a large table: pages of it are looked for in new records first. Default: 5,000,000. */
  readonly largeRows?: number;
}

export interface SharedEngine {
  readonly engine: Engine;
  /** The engine's own, with its folder `clickhouse`. */
  readonly dataDir: string;
  /** Name of the folder in it for the rows of this process. */
  readonly inbox: string;
}

interface AnalyticsMetrics extends RecordSpoolMetrics {
  readonly live: boolean;
  /** Process id of the embedded engine. */
  readonly enginePid: number | undefined;
  readonly engineRestarts: number;
}

type AnalyticsOperations = ReturnType<typeof lookupOperations> &
  ReturnType<typeof requestsOperations> &
  ReturnType<typeof tailOperations> &
  ReturnType<typeof liveOperations> &
  ReturnType<typeof usageOperations> &
  ReturnType<typeof operatorUsageOperations> &
  ReturnType<typeof analyticsExportOperations>;

export interface Analytics {
  readonly operations: AnalyticsOperations;
  /** Those who watch calls as they run. */
  readonly runningCalls: LiveCalls;
  readonly analysts: Analysts;
  readonly analystAccess: AnalystAccess;
  readonly statistics: Statistics;
  readonly shadowRuns: ShadowRuns;
  /** The ledgers of orgs, of an installation of several cells. */
  readonly ledger: AnalyticsLedger;
  /** Statistics of a model; undefined if ClickHouse does not answer within a second. */
  readonly modelStats: ModelStatsReader;
  readonly publicFigures: PublicFigures;
  readonly reports: PolicyReports;
  readonly traffic: Traffic;
  readonly erasure: AnalyticsErasure;
  readonly copy: AnalyticsCopy;
  /** What a provider was asked for: what its bill should say. */
  readonly usageOf: ProviderUsage;
  /** What an org, its projects and its keys were charged lately. */
  readonly recentSpend: RecentSpendReader;
  /** What providers refused in the last 24 hours; undefined where that cannot be read in time. */
  readonly providerRefusals: ProviderRefusals;
  /** The record of one call, if the caller may see it. @throws WeirError 404, `analytics_unavailable` */
  recordOf(caller: Caller, requestId: string): Promise<CallRecord>;
  /**
   * All of an org's records with their payloads, oldest first, in pages.
   * @param missing is told from when on calls may be missing (milliseconds since 1970), before the first record; what it throws ends
   *   the reading
   * @throws WeirError `analytics_unavailable`
   */
  recordsOf(orgId: string, missing: (sinceMs: number) => void): AsyncIterable<object>;
  /**
   * Resolves true once every record that any cell made before this call is in ClickHouse; false if that takes longer than
   * `withinMs`.
   */
  flush(withinMs?: number): Promise<boolean>;
  /** Until when this gateway's own records are in ClickHouse. */
  readonly inserted: InsertedUntil;
  /** The same of this gateway's own records, for another cell that asks. */
  flushOwn(withinMs: number): Promise<boolean>;
  /** Whether the last request to ClickHouse succeeded. */
  live(): boolean;
  metrics(): AnalyticsMetrics;
  /** Inserts pending rows for at most `withinMs`, then stops the engine. Rows that are left stay in the outbox. */
  stop(withinMs?: number): Promise<void>;
}

/** A read waits this long for the records that were made before it. */
const CATCH_UP_MS = 1000;
/** The same before the embedded engine's first answer: it starts at the same time as the gateway. */
const START_MS = 8000;
const STOP_MS = 5000;
const CONFINE: AnalystsSetting = "confined";
/** An engine of our own says when others ask it: the records that wait are inserted first. */
const OWN_ENGINE = { ageMs: 3000, fewAgeMs: 10_000 };
/** A question waits for calls that ended longer ago. */
const SEEN_AFTER_MS = 2000;

export function openAnalytics(options: AnalyticsOptions): Analytics {
  const { outbox, store, clock, pool, log, others, batchAgeMs: ageMs } = options;
  const engine = engineOf(options, () => catchUp());
  const server = engine === undefined ? serverOf(options.clickhouseUrl ?? "") : undefined;
  // Only the embedded engine needs time to start; a server is assumed to be running.
  let hasAnswered = engine === undefined;
  const clickhouse = openClickHouse({
    address: () => addressOf(engine, server, hasAnswered ? CATCH_UP_MS : START_MS),
    database: server?.database ?? "weir",
    cluster: server === undefined ? undefined : options.clickhouseCluster,
    ...(engine !== undefined && embedded(options)),
  });
  const isOwn = engine !== undefined && options.shared === undefined;
  const ages = isOwn && ageMs === undefined ? OWN_ENGINE : { ageMs };
  const spool = startRecordSpool({ outbox, clickhouse, finisher: pool, clock, log, ...ages });
  const shadowRuns = openShadowRuns({ store, clickhouse, clock, log, ageMs });
  const budget = queryBudget(clickhouse);
  const ledger = openAnalyticsLedger({ store, clickhouse, budget, clock, log, ageMs });
  const spools = [spool, shadowRuns, ledger];
  // `live` then has a value from the start, not only after the first query.
  const answered = () => {
    hasAnswered = true;
  };
  clickhouse.rows("SELECT 1").then(answered, () => {});

  const inserted = new InsertedUntil(outbox, clock);
  const catchUp = async () => {
    if (clock.now() - inserted.untilMs() > SEEN_AFTER_MS)
      await spool.flush(CATCH_UP_MS, { ifReachable: true });
  };
  const waitForInserts = inserts({
    spool,
    others,
    clickhouse,
    own: inserted,
    waitMs: () => (hasAnswered ? CATCH_UP_MS : START_MS),
    answered: () => {
      hasAnswered ||= clickhouse.live();
    },
  });

  const analysts = new Analysts(store, clock);
  const confine = options.confine ?? CONFINE;
  const analystAccess = openAnalystAccess({ ...options, analysts, clickhouse, engine, server, confine });
  const { retentionDays = () => Number.POSITIVE_INFINITY, simulated = () => [] } = options;
  const flush = async (withinMs: number): Promise<boolean> => {
    const [isFlushed, flushed] = await Promise.all([spool.flush(withinMs), others?.flush(withinMs)]);
    return isFlushed && flushed?.isDone !== false;
  };
  const { timers = systemTimers } = options;
  const feeds = openLiveFeeds({ ...options, timers });
  const { begins: watch, snapshots } = feeds;
  return {
    operations: operationsOf({ ...options, timers }, feeds, {
      clickhouse,
      budget,
      retentionDays,
      waitForInserts,
      flush,
    }),
    runningCalls: { watch, serve: (running) => snapshots.serve(running) },
    ...figuresOf({ clickhouse, clock, simulated, waitForInserts, budget }),
    erasure: analyticsErasure({ clickhouse, clock, flush }),
    copy: analyticsCopy({ clickhouse, spools, isEmbedded: server === undefined }),
    recordsOf: (...asked) => recordsOf({ clickhouse, clock, retentionDays, waitForInserts }, ...asked),
    analysts,
    analystAccess,
    shadowRuns,
    ledger,
    inserted,
    recordOf: async (...asked) => (await callRecord({ outbox, clickhouse, others }, ...asked)).record,
    flush: (withinMs = CATCH_UP_MS) => flush(withinMs),
    flushOwn: async (withinMs) => {
      const flushed = await Promise.all(spools.map((each) => each.flush(withinMs)));
      return flushed.every((isFlushed) => isFlushed);
    },
    live: () => clickhouse.live(),
    metrics: () => ({
      ...spool.metrics(),
      live: clickhouse.live(),
      enginePid: engine?.pid(),
      engineRestarts: engine?.restarts() ?? 0,
    }),
    async stop(withinMs = STOP_MS) {
      analystAccess.stop();
      // Shadow runs and ledger insert their pending rows before they stop.
      const others = [shadowRuns.stop(withinMs), ledger.stop(withinMs)];
      await Promise.all([spool.flush(withinMs, { ifReachable: true }), ...others]);
      await spool.stop(withinMs);
      await clickhouse.close();
      await engine?.stop();
    },
  };
}

interface InsertsDeps {
  readonly spool: Pick<RecordSpool, "flush">;
  readonly others: OtherCells | undefined;
  readonly clickhouse: ClickHouse;
  readonly own: InsertedUntil;
  waitMs(): number;
  answered(): void;
}

/**
 * Waits until the records made so far are inserted. If they are not all inserted in time, the read is answered from those
 * that are; so it is if another cell does not say in time that its records are.
 * @returns since when calls may be missing, milliseconds since 1970; undefined: none is
 * @throws WeirError `analytics_unavailable` if ClickHouse does not answer
 */
function inserts({ spool, others, clickhouse, own, waitMs, answered }: InsertsDeps): WaitForInserts {
  return async () => {
    own.untilMs();
    const [caught, flushed] = await Promise.all([spool.flush(waitMs()), others?.flush(CATCH_UP_MS)]);
    answered();
    if (!caught && !clickhouse.live()) {
      throw fail("analytics_unavailable", "Usage records cannot be read now; calls are not affected.", {
        retryAfterMs: CATCH_UP_MS,
      });
    }
    const since = [caught ? undefined : own.untilMs(), flushed?.missingSinceMs];
    const known = since.filter((ms) => ms !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
}

/** Undefined: a server. */
function engineOf(options: AnalyticsOptions, catchUp: () => Promise<unknown>): Engine | undefined {
  const { shared, clickhouseUrl, dataDir, log, confine = CONFINE, onEngineListening: onListening } = options;
  if (shared !== undefined) return shared.engine;
  if (clickhouseUrl !== undefined) return undefined;
  return startEngine(dataDir, log, { analysts: confine, onListening, catchUp });
}

interface Reads {
  readonly clickhouse: ClickHouse;
  readonly budget: QueryBudget;
  readonly retentionDays: (orgId: string) => number;
  readonly waitForInserts: WaitForInserts;
  readonly flush: (withinMs: number) => Promise<boolean>;
}

function operationsOf(
  options: AnalyticsOptions & { readonly timers: Timers },
  feeds: LiveFeeds,
  reads: Reads,
): AnalyticsOperations {
  const { takePlace = () => () => {}, pool: finisher, planOf = () => undefined } = options;
  const deps = { ...options, ...feeds, ...reads, feed: feeds.ends, takePlace, finisher, planOf };
  return {
    ...lookupOperations(deps),
    ...requestsOperations(deps),
    ...tailOperations(deps),
    ...liveOperations(deps),
    ...usageOperations(deps),
    ...operatorUsageOperations(deps),
    ...analyticsExportOperations(deps),
  };
}

interface FigureReads extends Pick<Reads, "clickhouse" | "waitForInserts" | "budget"> {
  readonly clock: Clock;
  readonly simulated: () => readonly string[];
}

/** What other rooms ask for. */
const figuresOf = (reads: FigureReads) => ({
  statistics: statistics(reads.clickhouse),
  modelStats: modelStats(reads),
  publicFigures: publicFigures(reads),
  reports: policyReports(reads),
  traffic: traffic(reads),
  usageOf: providerUsage(reads),
  recentSpend: recentSpend(reads),
  providerRefusals: providerRefusals(reads),
});

/** What only the embedded engine is given. */
const embedded = ({ dataDir, shared }: AnalyticsOptions) => ({
  rowFiles: new RowFiles(join(shared?.dataDir ?? dataDir, "clickhouse"), shared?.inbox),
  afterMigrations: PART_SETTINGS,
  // Nobody else has an engine of this process's own: who held a turn before is gone, and a restart need not wait for it.
  ...(shared === undefined && { turnTimes: { ...TURN_TIMES, lostAfterMs: 0 } }),
});

async function addressOf(
  engine: Engine | undefined,
  server: ServerAddress | undefined,
  withinMs: number,
): Promise<ServerAddress> {
  if (server !== undefined) return server;
  if (engine === undefined) throw new Error("neither an engine nor a server");
  return await engine.address(withinMs);
}

/** @throws Error if it is not a URL. User and password are removed from the URL, so that they are never logged with it. */
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
