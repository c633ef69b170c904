/** The order in which the rooms are opened, each with the ports that it needs, and closed again. */
import type { Logger } from "pino";
import { type ExportRoom, openExports } from "../../account/exports/open.ts";
import { knownAddress } from "../../account/identity/addresses.ts";
import type { OrgKeys } from "../../account/provider-keys/provider-keys.ts";
import { openVault, type Vault } from "../../account/provider-keys/vault.ts";
import { openWebhooks, type Webhooks } from "../../account/webhooks/open.ts";
import { type Analytics, openAnalytics } from "../../analytics/analytics.ts";
import { type Outbox, openOutbox } from "../../analytics/outbox/outbox.ts";
import type { Telemetry } from "../../analytics/telemetry/contract.ts";
import { openTelemetryRoom } from "../../analytics/telemetry/open.ts";
import { systemRandom } from "../../base/clock.ts";
import type { Model } from "../../base/endpoint.ts";
import { autoTopupHook } from "../../billing/auto-topups/open.ts";
import { type Billing, openBilling } from "../../billing/open.ts";
import { openReceipts, type Receipts } from "../../billing/receipts/open.ts";
import { type AppRoom, openAppRoom } from "../../catalog/apps/open.ts";
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { simulatedModels } from "../../catalog/models/stats-operations.ts";
import type { LimitsRoom } from "../../credits/limits/open.ts";
import { BodyBudget } from "../../edge/body/body-budget.ts";
import { Uploads } from "../../edge/body/uploads.ts";
import { type Bodies, openBodies } from "../../inference/exchange/body/bodies.ts";
import type { DetachedCalls } from "../../inference/exchange/detached/detached-calls.ts";
import { type Kept, openKept } from "../../inference/exchange/kept/open.ts";
import { openUpstreams, type Upstreams } from "../../inference/upstream/upstreams.ts";
import type { OutboundRoom } from "../../outbound/open.ts";
import { type EndpointDown, openEndpointDown } from "../../routing/health/endpoint-down.ts";
import { type OpenHealth, openHealth } from "../../routing/health/open.ts";
import { type OpenPolicies, openPolicyRoom } from "../../routing/policies/open.ts";
import { openReplays, type Replays } from "../../routing/policies/replay/replay.ts";
import { canonicaliser } from "../../wire/canonicaliser.ts";
import { openPool, type WorkerPool } from "../../workers/pool.ts";
import { openThread } from "../../workers/thread.ts";
import { BackupMoment } from "../backup/moment.ts";
import { type Config, minOrgsOf } from "../settings/config.ts";
import { tellPlanWarnings } from "../settings/plan-warnings.ts";
import { billingPorts, billingSettings } from "./billing-ports.ts";
import { planOfRecord } from "./call-plan.ts";
import { dropStream, openDetachedRoom } from "./detached.ts";
import { type Ground, type GroundPorts, openGround } from "./ground.ts";
import { groupNames } from "./group-names.ts";
import { creditNow, type OpenMoney, openKeyLimits, openMoneyRoom } from "./money.ts";
import { openPeople, type People } from "./people.ts";
import { openReach } from "./reach.ts";
import { canariesOf, othersOf, shareWith, tellLast } from "./sharing.ts";
import type { StopTime } from "./stop-time.ts";
import { VERSION } from "./version.ts";

/** The rooms of a gateway that are open, in the order of their opening. */
export interface House {
  readonly ground: Ground;
  readonly money: OpenMoney;
  readonly limits: LimitsRoom;
  readonly people: People;
  readonly reach: OutboundRoom;
  readonly webhooks: Webhooks;
  /** Seals what orgs entrust to the gateway. */
  readonly vault: Vault;
  readonly billing: Billing;
  readonly exports: ExportRoom;
  readonly outbox: Outbox;
  readonly pool: WorkerPool;
  readonly telemetry: Telemetry | undefined;
  readonly analytics: Analytics;
  readonly apps: AppRoom;
  readonly kept: Kept;
  readonly detached: DetachedCalls;
  readonly routing: Routing;
  readonly replays: Replays;
  readonly receipts: Receipts;
  readonly upstreams: Upstreams;
  readonly bodies: Bodies;
  readonly bodyBudget: BodyBudget;
  readonly uploads: Uploads;
  readonly backup: BackupMoment;
  /** Models that only the simulator serves. */
  readonly simulated: () => readonly string[];
  close(stopTime: StopTime): Promise<void>;
}

interface Routing extends OpenHealth, OpenPolicies {
  readonly endpointDown: EndpointDown;
}

/** Time for records to reach ClickHouse, in each of two steps of the stop; and for spans to reach their collector. */
const ANALYTICS_STOP_MS = 5000;

/** @throws ConfigError, CatalogError, or Error with a line for the operator */
export async function openHouse(config: Config, log: Logger, ports: GroundPorts): Promise<House> {
  const ground = await openGround(config, log, ports);
  const { store, jobs, cell, catalog } = ground;
  const topUpHook = autoTopupHook(store);
  const money = await openMoneyRoom(ground, topUpHook);
  const limits = await openKeyLimits(ground);
  const people = await openPeople(config, ground, money.book);
  const { account, mail, directory, identity } = people;
  const { accounts } = account;
  const reach = openReach(config, ground, (orgId) => accounts.oldestOrg()?.id === orgId);
  const vault = openVault(ground.installation);
  const webhooks = openWebhooks({
    ...ground,
    ...reach,
    vault,
    random: systemRandom,
    version: VERSION,
    onFailure: notForgotten(log),
  });
  const billing = await openBilling(billingSettings(config), {
    ...ground,
    ...account,
    ...money,
    mail,
    topUpHook,
    ...billingPorts(ground),
  });
  const exports = openExports({
    ...ground,
    dataDir: config.dataDir,
    mostBytes: config.settings.limits.max_export_bytes,
  });
  tellPlanWarnings(config, log);
  const outbox = openOutbox(store);
  const pool = openPool();
  const thread = openThread(new URL("../../wire/thread.ts", import.meta.url));
  const canonical = canonicaliser(thread);
  const telemetry = await openTelemetryRoom(config.telemetry, {
    canonical,
    log,
    cell: config.cell,
    version: VERSION,
    redactPayload: (...asked) => pool.redactPayload(...asked),
  });
  const simulated = () => simulatedModels(catalog.current());
  const analytics = openAnalytics({
    ...ground,
    ...databaseOf(config, ground),
    ...orgPorts(accounts),
    outbox,
    pool,
    canonical,
    planOf: planOfRecord(ground),
    simulated,
    shared: ports.cell?.engine,
    others: othersOf(cell),
    takePlace: limits.takePlace,
    names: groupNames({ ...ground, accounts }),
    creditOf: creditNow(money, billing, accounts),
  });
  const apps = openAppRoom({
    ...ground,
    accounts,
    figures: analytics.publicFigures,
    modelStats: analytics.modelStats,
    drawBadge: pool.drawBadge,
    addressAt: (host) => knownAddress(config.publicUrl, host),
    minOrgs: minOrgsOf(config),
  });
  const kept = await openKeptRoom(config, ground, account);
  const detached = await openDetachedRoom(config, ground, { ...money, ...kept, outbox, accounts });
  await kept.share(dropStream(detached));
  const routing = openRouting(ground);
  const sharing = await shareWith(cell, { ...account, ...routing, analytics, money: money.ofCell });
  const replays = openReplayRoom(ground, account, routing, analytics);
  const upstreams = openUpstreams({
    connectTimeoutMs: config.settings.timeouts.connect_ms,
    proxies: config.proxies,
  });
  const { bodyBudget, uploads } = openUploads(config, ground);
  const backup = new BackupMoment({ store, analytics: analytics.copy, bringOut: sharing.bringOut });
  return {
    ground,
    money,
    limits,
    people,
    reach,
    vault,
    webhooks,
    billing,
    exports,
    outbox,
    pool,
    telemetry,
    simulated,
    analytics,
    apps,
    kept,
    detached,
    routing,
    replays,
    upstreams,
    bodyBudget,
    uploads,
    backup,
    receipts: openReceipts({ ...ground, publicUrl: config.publicUrl, host: config.host }),
    bodies: openBodies(thread, pool, ground.installation),
    /** In reverse order of opening: a room that writes is closed before the room it writes to. */
    async close(stopTime) {
      for (const part of [uploads, catalog, backup, sharing]) part.close();
      exports.close();
      await stopTime.wait("calls that outlive their clients", detached.close());
      await stopTime.wait("answers for other cells", kept.close());
      await stopTime.wait("jobs", reach.close(jobs.stop()));
      webhooks.close();
      for (const room of [mail, identity]) room.close();
      await billing.close((part, ended) => stopTime.wait(part, ended));
      await stopTime.wait("services of its own", ground.ownServices?.close() ?? Promise.resolve());
      await stopTime.wait("what other cells are told", tellLast(cell));
      await stopTime.wait("times of last use", account.lastUsed.stop());
      await stopTime.wait("what is known of endpoints", routing.healthMemory.stop());
      await stopTime.wait("policies", routing.closePolicies());
      routing.endpointDown.close();
      await stopTime.wait("replays", replays.close());
      // An absent collector must not make the stop unclean.
      const shareMs = Math.min(ANALYTICS_STOP_MS, stopTime.leftMs / 6);
      await stopTime.wait("telemetry", telemetry?.stop(shareMs) ?? Promise.resolve());
      await stopTime.wait("charges", money.close());
      // Rows that miss this timeout are inserted after the next start.
      await stopTime.wait("analytics", analytics.stop(Math.min(ANALYTICS_STOP_MS, stopTime.leftMs / 6)));
      await stopTime.wait("worker threads", Promise.all([pool.close(), thread.close()]));
      await stopTime.wait("connections and limits", Promise.all([upstreams.close(), limits.close()]));
      for (const room of [directory, account, money]) room.closeTables();
      for (const table of [ground.events, ground.audit]) table.close();
      await stopTime.wait("the simulator", ground.simulator?.close() ?? Promise.resolve());
      await stopTime.wait("the store to commit", store.close(), true);
    },
  };
}

const notForgotten = (log: Logger) => (err: unknown) =>
  log.error({ err }, "what is old could not be forgotten; it is tried again");

/** The analytics database, and how analysts' statements run in the embedded one. The engine that this process starts adds its port. */
const databaseOf = (
  { clickhouseUrl, clickhouseCluster, dataDir, settings }: Config,
  { listeners }: Pick<Ground, "listeners">,
) => ({
  clickhouseUrl,
  clickhouseCluster,
  dataDir,
  confine: settings.analytics.analysts,
  onEngineListening: (port: number) => listeners.add("engine", port),
});

/** The analysts of an org that closes or is suspended are let in no longer. */
const orgPorts = (accounts: People["account"]["accounts"]) => ({
  isOpen: (orgId: string) => accounts.org(orgId)?.status === "active",
  watchOrgs: (changed: () => void) => accounts.watch({ org: changed }),
  retentionDays: (orgId: string) => accounts.retentionDays(orgId),
});

/** Cells share what they keep; a gateway alone loads nothing of them. */
async function openKeptRoom(
  config: Config,
  { store, clock, cell, log }: Ground,
  { accounts, plans }: People["account"],
): Promise<Kept> {
  const { limits } = config.settings;
  const onFailure = notForgotten(log);
  const open = cell && (await import("../../cluster/cells/answers/open.ts")).openKeptOfCell;
  return await openKept(limits.max_stored_answer_bytes, {
    store,
    clock,
    onFailure,
    sharing: cell && open?.(cell, onFailure),
    maxConversations: limits.max_conversations,
    quotaBytes({ orgId, environment }) {
      const { live, test } = plans.inForce(accounts.org(orgId)?.planId ?? "").keptBytes;
      return environment === "test" ? (test ?? limits.max_kept_test_bytes) : (live ?? limits.max_kept_bytes);
    },
    retentionDays: (orgId) => accounts.retentionDays(orgId),
    orgOf: (projectId) => accounts.project(projectId)?.orgId,
    watchOrgs: (changed) => accounts.watch({ org: changed }),
  });
}

/** What routes calls. */
function openRouting({ store, clock, events, cell, log }: Ground): Routing {
  const known = openHealth({ store, clock, log });
  return {
    ...known,
    ...openPolicyRoom({ store, clock, events, log, canaries: canariesOf(cell) }),
    endpointDown: openEndpointDown({ store, clock, events, health: known.health, log }),
  };
}

const openReplayRoom = (
  { clock, catalog }: Ground,
  { accounts, ownKeys }: People["account"],
  { policies }: Routing,
  analytics: Analytics,
): Replays =>
  openReplays({
    traffic: analytics.traffic,
    clock,
    readPolicy: (text, options) => policies.readText(text, options),
    modelsOf: (orgId) => modelsOf(catalog.current(), ownKeys.of(orgId)),
    projectSlugs: (orgId) => accounts.projectsOf(orgId).map(({ id, slug }) => [id, slug] as const),
  });

/** Models with the endpoints an org can reach, including those by its own provider keys. */
const modelsOf = (catalog: CatalogSnapshot, own: OrgKeys | undefined): Iterable<Model> =>
  own === undefined
    ? catalog.models.values()
    : [...catalog.models.values()].map((model) => own.modelFor(model, catalog.unreachable(model.id)));

function openUploads({ settings }: Config, { clock }: Ground) {
  const { max_bodies_bytes: maxBytes, min_upload_bytes_per_s: bytesPerS } = settings.limits;
  const { upload_ms: windowMs } = settings.timeouts;
  const bodyBudget = new BodyBudget(maxBytes);
  const pace = { windowMs, minBytes: Math.ceil((bytesPerS * windowMs) / 1000) };
  return { bodyBudget, uploads: new Uploads(bodyBudget, pace, clock) };
}
