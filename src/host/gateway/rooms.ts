/**
 * Opens every room that holds state, passing each the ports it needs, and closes them again.
 */
import type { Logger } from "pino";
import type { openAccount } from "../../account/open.ts";
import type { OwnKeys } from "../../account/provider-keys/provider-keys.ts";
import { type Analytics, openAnalytics } from "../../analytics/analytics.ts";
import { openOutbox } from "../../analytics/outbox/outbox.ts";
import { type Clock, systemRandom, systemTimers } from "../../base/clock.ts";
import type { Model } from "../../base/endpoint.ts";
import type { Listeners } from "../../base/listeners.ts";
import { keepPrivate } from "../../base/process/private-folder.ts";
import { openReceipts } from "../../billing/receipts/open.ts";
import { openAppRoom } from "../../catalog/apps/open.ts";
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { simulatedModels } from "../../catalog/models/stats-operations.ts";
import { BodyBudget } from "../../edge/body/body-budget.ts";
import { Uploads } from "../../edge/body/uploads.ts";
import { openBodies } from "../../inference/exchange/body/bodies.ts";
import { Latencies } from "../../inference/exchange/figures/latencies.ts";
import { openUpstreams } from "../../inference/upstream/upstreams.ts";
import { openEndpointDown } from "../../routing/health/endpoint-down.ts";
import { openHealth } from "../../routing/health/open.ts";
import { openPolicyRoom } from "../../routing/policies/open.ts";
import { openReplays } from "../../routing/policies/replay/replay.ts";
import { Audit } from "../../store/events/audit.ts";
import { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import { Jobs } from "../../store/jobs/jobs.ts";
import { openPool } from "../../workers/pool.ts";
import { openThread } from "../../workers/thread.ts";
import { BackupMoment } from "../backup/moment.ts";
import { type Config, minOrgsOf } from "../settings/config.ts";
import { autoTopupHook } from "./auto-topup.ts";
import { openCanonical } from "./canonical.ts";
import { type Ground, openGround, type RoomPorts } from "./ground.ts";
import { openKept } from "./kept.ts";
import { openLimitsRoom } from "./limits.ts";
import { openMoney } from "./money.ts";
import { openPeople } from "./people.ts";
import { openSales } from "./sales.ts";
import { canariesOf, othersOf, shareWith, tellLast } from "./sharing.ts";
import type { StopTime } from "./stop-time.ts";
import { openTelemetryRoom, stopTelemetry } from "./telemetry.ts";
import { openWebhookRoom } from "./webhooks.ts";

export type Rooms = Awaited<ReturnType<typeof openRooms>>;

/** Time for records to reach ClickHouse, in each of two steps of the stop. */
const ANALYTICS_STOP_MS = 5000;

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

/** Opens all rooms that hold state, in the order of their dependencies. */
export async function openRooms(config: Config, log: Logger, { shared, cell }: RoomPorts) {
  closeFolder(config, log);
  const ground = await openGround(config, log, { shared, cell });
  const { clock, store, cursors, catalog } = ground;
  const trail = openTrail(ground, log);
  const topUpHook = autoTopupHook(store);
  const money = await openMoney({ ...ground, ...trail }, topUpHook, log);
  const { closeLimits, ...limitsRoom } = await openLimitsRoom(ground, log);
  const people = await openPeople(config, log, { ...ground, ...trail, book: money.book });
  const { account, mail, directory, identity } = people;
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
    isOperatorKey: people.isOperatorKey,
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
    async close(stopTime: StopTime) {
      for (const part of [uploads, catalog, backup, sharing]) part.close();
      await stopTime.wait("answers for other cells", kept.closeKept());
      await stopTime.wait("jobs", hooks.stopJobs());
      for (const room of [mail, identity]) room.close();
      await sales.closeSales(stopTime);
      await stopTime.wait("services of its own", ground.ownServices?.close() ?? Promise.resolve());
      await stopTime.wait("what other cells are told", tellLast(ground.cell));
      await stopTime.wait("times of last use", account.lastUsed.stop());
      await stopTime.wait("what is known of endpoints", routing.healthMemory.stop());
      await stopTime.wait("policies", routing.closePolicies());
      routing.endpointDown.close();
      await stopTime.wait("replays", replays.close());
      await stopTime.wait("telemetry", stopTelemetry(telemetry, stopTime));
      await stopTime.wait("charges", money.closeCredits());
      // Rows that miss this timeout are inserted after the next start.
      await stopTime.wait("analytics", analytics.stop(Math.min(ANALYTICS_STOP_MS, stopTime.leftMs / 6)));
      await stopTime.wait("worker threads", Promise.all([pool.close(), thread.close()]));
      await stopTime.wait("connections and limits", Promise.all([upstreams.close(), closeLimits()]));
      for (const room of [directory, account, money, trail]) room.closeTables();
      await stopTime.wait("the simulator", ground.simulator?.close() ?? Promise.resolve());
      await stopTime.wait("the store to commit", ground.store.close(), true);
    },
  };
}

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
