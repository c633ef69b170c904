/**
 * Opens every room that holds state, passing each the ports it needs, and closes them again.
 */
import type { Logger } from "pino";
import { startSimulator } from "../../../simulator/simulator.ts";
import type { LastUsed } from "../../account/keys/last-used.ts";
import type { OwnKeys } from "../../account/provider-keys/provider-keys.ts";
import { type Analytics, openAnalytics } from "../../analytics/analytics.ts";
import { byTwo, InsertedUntil } from "../../analytics/clickhouse/inserted-until.ts";
import { openOutbox } from "../../analytics/outbox/outbox.ts";
import { type Clock, systemClock, systemRandom, systemTimers } from "../../base/clock.ts";
import type { Model } from "../../base/endpoint.ts";
import { Listeners } from "../../base/listeners.ts";
import { cursors as openCursors } from "../../base/operation/cursor.ts";
import { endProcess } from "../../base/process/ending.ts";
import { keepPrivate } from "../../base/process/private-folder.ts";
import { openReceipts } from "../../billing/receipts/open.ts";
import { openAppRoom } from "../../catalog/apps/open.ts";
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { openCatalogRoom } from "../../catalog/models/open.ts";
import { simulatedModels } from "../../catalog/models/stats-operations.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { Flushed } from "../../cluster/cells/flushing.ts";
import { assertAlone } from "../../cluster/cells/membership/membership.ts";
import { MONEY_TABLES } from "../../credits/ledger/audit.ts";
import { BodyBudget } from "../../edge/body/body-budget.ts";
import { Uploads } from "../../edge/body/uploads.ts";
import { openBodies } from "../../inference/exchange/body/bodies.ts";
import { Latencies } from "../../inference/exchange/figures/latencies.ts";
import { openUpstreams } from "../../inference/upstream/upstreams.ts";
import { openEndpointDown } from "../../routing/health/endpoint-down.ts";
import type { Health } from "../../routing/health/health.ts";
import { openHealth } from "../../routing/health/open.ts";
import { shareCoolDowns } from "../../routing/health/shared-cool-downs.ts";
import { shareErrors } from "../../routing/health/shared-errors.ts";
import { type CanarySharing, openPolicyRoom } from "../../routing/policies/open.ts";
import { openReplays } from "../../routing/policies/replay/replay.ts";
import { Audit } from "../../store/events/audit.ts";
import { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import { openInstallation } from "../../store/installation/installation.ts";
import { Jobs } from "../../store/jobs/jobs.ts";
import { openStore, type Store } from "../../store/store.ts";
import { openPool } from "../../workers/pool.ts";
import { openThread } from "../../workers/thread.ts";
import { BackupMoment } from "../backup/moment.ts";
import { type Config, minOrgsOf } from "../settings/config.ts";
import { openAccount } from "./account.ts";
import { autoTopupHook } from "./auto-topup.ts";
import { openCanonical } from "./canonical.ts";
import type { CellPorts, SharedInstallation } from "./cell-settings.ts";
import { openDirectory } from "./directory.ts";
import { openIdentity } from "./identity.ts";
import { openKept } from "./kept.ts";
import { openLimitsRoom } from "./limits.ts";
import { openMailRoom } from "./mail.ts";
import { openMoney } from "./money.ts";
import { openSales } from "./sales.ts";
import { servicesOf } from "./services.ts";
import type { Stopping } from "./stopping.ts";
import { openTelemetryRoom, stopTelemetry } from "./telemetry.ts";
import { openWebhookRoom } from "./webhooks.ts";

export type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** Time for records to reach ClickHouse, in each of two steps of the stop. */
const ANALYTICS_STOP_MS = 5000;

/** Time to tell the other cells what this one counted last. */
const TELL_MS = 1000;

/** The analysts of an org that closes or is suspended are let in no longer. */
const orgPorts = (accounts: Awaited<ReturnType<typeof openAccount>>["accounts"]) => ({
  isOpen: (orgId: string) => accounts.org(orgId)?.status === "active",
  watchOrgs: (changed: () => void) => accounts.watch({ org: changed }),
  retentionDays: (orgId: string) => accounts.org(orgId)?.dataPolicy.retentionDays ?? 0,
});

/** The analytics database, and how analysts' statements run in the embedded one. The engine that this process starts adds its port. */
const databaseOf = ({ clickhouseUrl, clickhouseCluster, settings }: Config, listeners: Listeners) => ({
  clickhouseUrl,
  clickhouseCluster,
  confine: settings.analytics.analysts,
  onEngineListening: (port: number) => listeners.add("engine", port),
});

interface RoomPorts {
  /** Rows are shared with other cells. */
  readonly shared: SharedInstallation | undefined;
  readonly cell: CellPorts | undefined;
}

/** Opens all rooms that hold state, in the order of their dependencies. */
export async function openRooms(config: Config, log: Logger, { shared, cell }: RoomPorts) {
  closeFolder(config, log);
  const ground = await openGround(config, log, { shared, cell });
  const { clock, store, cursors, catalog } = ground;
  const trail = openTrail(ground, log);
  const topUpHook = autoTopupHook(store);
  const money = await openMoney({ ...ground, ...trail }, topUpHook, log);
  const { closeLimits, ...limitsRoom } = await openLimitsRoom(ground, log);
  const account = await openAccount(config, log, { ...ground, ...trail }, money.book);
  const mail = openMailRoom(config, log, { ...ground, ...trail, ...account });
  const directory = openDirectory(config, log, { ...ground, ...trail, ...account });
  const identity = openIdentity(config, log, { ...ground, ...trail, ...account, directory });
  directory.handleJobs(trail.jobs, (personId) => void identity.sessions.endAllOf(personId));
  const hooks = openWebhookRoom(config, log, { ...ground, ...trail, ...account });
  const sales = await openSales(config, log, {
    ...ground,
    ...trail,
    ...account,
    ...money,
    mail,
    topUpHook,
  });
  const outbox = openOutbox(store);
  const pool = openPool();
  const thread = openThread(new URL("../../wire/thread.ts", import.meta.url));
  const simulated = () => simulatedModels(catalog.current());
  const canonical = openCanonical(thread);
  const telemetry = await openTelemetryRoom(config, log, { pool, canonical });
  const analytics = openAnalytics({
    store,
    outbox,
    pool,
    clock,
    cursors,
    log,
    simulated,
    canonical,
    dataDir: config.dataDir,
    shared: cell?.engine,
    others: othersOf(ground.cell),
    ...databaseOf(config, ground.listeners),
    ...orgPorts(account.accounts),
    takePlace: limitsRoom.takePlace,
  });
  const apps = openAppRoom({
    ...ground,
    ...trail,
    ...account,
    figures: analytics.publicFigures,
    modelStats: analytics.modelStats,
    minOrgs: minOrgsOf(config),
  });
  const kept = await openKept(config, { ...ground, accounts: account.accounts }, log);
  const routing = openRouting(ground, trail, log);
  const sharing = await shareWith(ground.cell, { ...account, ...routing, analytics, money });
  const replays = openReplayRoom({ ...ground, ...account, ...routing, analytics });
  const upstreams = openUpstreams({ connectTimeoutMs: config.settings.timeouts.connect_ms });
  const { bodyBudget, uploads } = openUploads(config, clock);
  const backup = new BackupMoment({ store, analytics: analytics.copy, bringOut: sharing.bringOut });
  return {
    ...ground,
    ...trail,
    ...account,
    ...money,
    ...hooks,
    ...kept,
    ...routing,
    ...sales,
    ...apps,
    directory,
    identity,
    mail,
    telemetry,
    receipts: openReceipts({ ...ground, publicUrl: config.publicUrl, host: config.host, log }),
    simulated,
    outbox,
    pool,
    bodyBudget,
    uploads,
    analytics,
    backup,
    replays,
    upstreams,
    bodies: openBodies(thread, pool),
    latencies: new Latencies(),
    ...limitsRoom,
    /** Writes that would be lost if the process ended now, and rows that the next start inserts. */
    unsaved: () => ({ writes: ground.store.unsaved(), outboxRows: outbox.pending() }),
    /** In reverse order of opening: a room that writes is closed before the room it writes to. */
    async close(stopping: Stopping) {
      for (const part of [uploads, catalog, backup, sharing]) part.close();
      await stopping.wait("answers for other cells", kept.closeKept());
      await stopping.wait("jobs", hooks.stopJobs());
      for (const room of [mail, identity]) room.close();
      await sales.closeSales(stopping);
      await stopping.wait("services of its own", ground.ownServices?.close() ?? Promise.resolve());
      await stopping.wait("what other cells are told", tellLast(ground.cell));
      await stopping.wait("times of last use", account.lastUsed.stop());
      await stopping.wait("what is known of endpoints", routing.healthMemory.stop());
      await stopping.wait("policies", routing.closePolicies());
      routing.endpointDown.close();
      await stopping.wait("replays", replays.close());
      await stopping.wait("telemetry", stopTelemetry(telemetry, stopping));
      await stopping.wait("charges", money.closeCredits());
      // Rows that miss this timeout are inserted after the next start.
      await stopping.wait("analytics", analytics.stop(Math.min(ANALYTICS_STOP_MS, stopping.leftMs / 6)));
      await stopping.wait("worker threads", Promise.all([pool.close(), thread.close()]));
      await stopping.wait("connections and limits", Promise.all([upstreams.close(), closeLimits()]));
      for (const room of [directory, account, money, trail]) room.closeTables();
      await stopping.wait("the simulator", ground.simulator?.close() ?? Promise.resolve());
      await stopping.wait("the store to commit", ground.store.close(), true);
    },
  };
}

/** What no act changes, and all cells need to know. Once all that restates is open. */
async function shareWith(
  cell: Cell | undefined,
  { lastUsed, health, analytics, money }: WhatIsShared,
): Promise<{ close(): void; bringOut(): Promise<void> }> {
  if (cell === undefined) return { close() {}, bringOut: () => Promise.resolve() };
  const { signals, merged } = cell;
  const flush = async (withinMs: number) =>
    (await money.flushCharges(withinMs)) && (await analytics.flushOwn(withinMs));
  cell.onFlush(flush);
  const listed = new InsertedUntil(byTwo(money.charges, analytics.ledger), cell.clock);
  const inserting = [analytics.inserted, listed];
  const untilMs = () => Math.min(...inserting.map((rows) => rows.untilMs()));
  cell.inserts({ untilMs, isDone: () => inserting.every((rows) => rows.isDone()) });
  const allListed = async (): Promise<Flushed> => {
    const [isDone, others] = await Promise.all([flush(LISTED_MS), cell.flushOthers(LISTED_MS)]);
    if (isDone) return others;
    const missingSinceMs = Math.min(untilMs(), others.missingSinceMs ?? Number.POSITIVE_INFINITY);
    return { isDone: false, missingSinceMs };
  };
  const bringOut = async () => void (await allListed());
  money.connect({ ...analytics.ledger, allListed });
  shareCoolDowns({ signals, health, timers: systemTimers });
  lastUsed.share();
  merged.add({
    table: "account.key_last_used",
    kind: "max",
    take: (most) => lastUsed.takeUntold(most),
    heard: (rows) => {
      for (const [keyId, atMs = 0] of rows) lastUsed.heardOf(keyId, atMs);
    },
  });
  const close = shareErrors(signals, health);
  await cell.opened();
  return { close, bringOut };
}

interface WhatIsShared {
  readonly lastUsed: LastUsed;
  readonly health: Health;
  readonly analytics: Analytics;
  readonly money: Pick<Awaited<ReturnType<typeof openMoney>>, "charges" | "connect" | "flushCharges">;
}

/** A list of the ledger waits so long for the newest entries of all cells. */
const LISTED_MS = 1000;

const tellLast = async (cell: Cell | undefined): Promise<void> => await cell?.merged.stop(TELL_MS);

const othersOf = (cell: Cell | undefined) =>
  cell && { signals: cell.signals, flush: (withinMs: number) => cell.flushOthers(withinMs) };

/** At each start, because files may have been copied there. */
function closeFolder({ dataDir }: Config, log: Logger): void {
  const open = keepPrivate(dataDir);
  if (open.length > 0)
    log.warn({ paths: open }, "others may read the data folder: it belongs to another user");
}

function openReplayRoom({ analytics, clock, policies, catalog, ownKeys, accounts }: ReplayDeps) {
  return openReplays({
    traffic: analytics.traffic,
    clock,
    readPolicy: (text, options) => policies.readText(text, options),
    modelsOf: (orgId) => modelsOf(catalog.current(), ownKeys.of(orgId)),
    projectSlugs: (orgId) => accounts.projectsOf(orgId).map(({ id, slug }) => [id, slug] as const),
  });
}

type ReplayDeps = Pick<Ground, "clock" | "catalog"> &
  Pick<Awaited<ReturnType<typeof openAccount>>, "ownKeys" | "accounts"> &
  Pick<ReturnType<typeof openRouting>, "policies"> & { readonly analytics: Analytics };

/** Models with the endpoints an org can reach, including those by its own provider keys. */
const modelsOf = (catalog: CatalogSnapshot, own: OwnKeys | undefined): Iterable<Model> =>
  own === undefined
    ? catalog.models.values()
    : [...catalog.models.values()].map((model) => own.modelFor(model, catalog.unreachable(model.id)));

function openUploads({ settings }: Config, clock: Clock) {
  const { max_bodies_bytes: maxBytes, min_upload_bytes_per_s: bytesPerS } = settings.limits;
  const { upload_ms: windowMs } = settings.timeouts;
  const bodyBudget = new BodyBudget(maxBytes);
  const pace = { windowMs, minBytes: Math.ceil((bytesPerS * windowMs) / 1000) };
  return { bodyBudget, uploads: new Uploads(bodyBudget, pace, clock) };
}

/** Clock, store, installation and catalog, which all other rooms need. */
async function openGround(config: Config, log: Logger, { shared, cell: ports }: RoomPorts) {
  const local = openStore(config.dataDir, {
    onFailure: (err) => log.error({ err }, "the store cannot commit; calls wait"),
    onNotice: (line) => log.warn(line),
    checkFirst: MONEY_TABLES,
  });
  const { store, cell } = await openShared(config, { local, clock: systemClock, log }, shared);
  const clock = cell?.clock ?? systemClock;
  const installation = openInstallation({ dataDir: config.dataDir, masterKey: config.secretsKey });
  const cursors = openCursors(installation.secret("cursors"));
  const listeners = new Listeners((listener, port) => log.debug({ listener, port }, "listens"));
  const simulator = config.simulatorUrl === undefined ? await startOwnSimulator(listeners) : undefined;
  const isCell = cell !== undefined;
  const simulatorUrl = config.simulatorUrl ?? simulator?.url ?? "";
  const known = await openCatalogRoom({
    configDir: config.configDir,
    log,
    store,
    clock,
    simulatorUrl,
    isCell,
  });
  return {
    clock,
    store,
    cell,
    installation,
    cursors,
    simulator,
    listeners,
    ...known,
    portsOfMachine: ports?.portsOfMachine ?? (() => []),
    ...servicesOf(config, { clock, log, listeners }, { isCell, ofMachine: ports?.services }),
    quotas: config.settings.quotas,
    /** Folder of mails that are sent nowhere. */
    mailDir: ports?.machineDir ?? config.dataDir,
  };
}

const startOwnSimulator = (listeners: Listeners) =>
  startSimulator({ keepBodyBytes: 0, keepCalls: 0, onListening: (port) => listeners.add("simulator", port) });

/** The store of one gateway alone, or of a cell among others. */
async function openShared(
  config: Config,
  { local, clock, log }: { readonly local: Store; readonly clock: Clock; readonly log: Logger },
  shared: SharedInstallation | undefined,
): Promise<{ readonly store: Store; readonly cell: Cell | undefined }> {
  try {
    if (shared === undefined) {
      assertAlone(local);
      return { store: local, cell: undefined };
    }
    const onEnd = () => void endProcess(1);
    // As an operator stops it: calls under way may end.
    const onOutdated = () => void process.kill(process.pid, "SIGTERM");
    // A gateway alone loads nothing of Redis.
    const { joinCells } = await import("./cells.ts");
    const cell = await joinCells(shared, { config, local, clock, log, onEnd, onOutdated });
    return { store: cell.store, cell };
  } catch (error) {
    await local.close();
    throw error;
  }
}

/** Jobs, events and the audit: what every act may put beside its change. */
function openTrail(
  { store, clock, cell, quotas }: Pick<Ground, "store" | "clock" | "cell" | "quotas">,
  log: Logger,
) {
  const onFailure = (err: unknown, what: string) => log.error({ err }, what);
  const events = new Events({ store, clock, onFailure });
  const audit = new Audit({ store, clock, quotas, onFailure });
  const jobs = new Jobs({
    store,
    clock,
    timers: systemTimers,
    random: systemRandom,
    holder: cell === undefined ? "local" : `${cell.name}:${cell.entered.life}`,
    isShared: cell !== undefined,
    onFailure: (err, what) => log.warn({ err }, what),
  });
  const trail: Trail = { events, audit };
  return {
    events,
    audit,
    jobs,
    trail,
    closeTables() {
      events.close();
      audit.close();
    },
  };
}

/** Opens what routes calls. */
function openRouting(ground: Ground, { events }: Trail, log: Logger) {
  const { store, clock } = ground;
  const known = openHealth({ store, clock, log });
  return {
    ...known,
    ...openPolicyRoom({ store, clock, events, log, canaries: canariesOf(ground.cell) }),
    endpointDown: openEndpointDown({ store, clock, events, health: known.health, log }),
  };
}

const canariesOf = (cell: Cell | undefined): CanarySharing | undefined =>
  cell && {
    add: (part) =>
      cell.merged.add({
        table: "policies.canaries",
        kind: "sum",
        take: (most) => part.take(most),
        heard: (rows) => part.heard(rows),
      }),
    flush: () => cell.merged.flush(),
  };

type Ground = Awaited<ReturnType<typeof openGround>>;
