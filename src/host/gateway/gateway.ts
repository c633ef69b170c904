/**
 * The gateway as one object: `startGateway` opens all rooms in the order of their dependencies and `stop` closes them
 * in reverse.
 */
import { join } from "node:path";
import type { Logger } from "pino";
import type { FirstStart } from "../../account/first-start.ts";
import { tellConfinement } from "../../analytics/analysts/confinement-told.ts";
import { handleRetention } from "../../analytics/retention.ts";
import { systemTimers } from "../../base/clock.ts";
import type { GatewayFigures } from "../../base/metrics/family.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { Descriptors } from "../../base/process/descriptors.ts";
import { listenFault } from "../../base/process/listen-fault.ts";
import { reloadCatalog, tellUnconfigured } from "../../catalog/models/open.ts";
import { requestLimitsOf } from "../../credits/limits/request-limit-settings.ts";
import { requestLimits } from "../../credits/limits/request-limits.ts";
import type { CredentialPorts } from "../../edge/authorize.ts";
import type { CatchUp } from "../../edge/catch-up.ts";
import { clientAddress } from "../../edge/client-address.ts";
import { DOCS_PAGES } from "../../edge/docs/pages.ts";
import { openReference, type Reference } from "../../edge/docs/reference.ts";
import { openMetrics } from "../../edge/metrics.ts";
import { toldElsewhere } from "../../edge/metrics-page.ts";
import { openApiSteps } from "../../edge/openapi/openapi.ts";
import { PAGE_ITEMS } from "../../edge/openapi/page-items.ts";
import { openConsole } from "../../edge/pages/console.ts";
import { type PageDeps, pages } from "../../edge/pages/public-pages.ts";
import { type Route, routeTable } from "../../edge/routes.ts";
import { securityHeaders } from "../../edge/security-headers.ts";
import type { Server } from "../../edge/server.ts";
import { readStaticFiles } from "../../edge/static-files.ts";
import type { Exchange } from "../../inference/exchange/exchange.ts";
import { type ModelCallPorts, type ModelCalls, openModelCalls } from "../../inference/exchange/open.ts";
import { upstreamFailures } from "../../inference/upstream/failure-log.ts";
import { readPolicyJsonSchema } from "../../routing/language/policy-document.ts";
import { beginBackup } from "../backup/operations.ts";
import { supplierOf } from "../settings/billing-files.ts";
import type { Config } from "../settings/config.ts";
import { DEFAULT_CELL } from "../settings/environment.ts";
import { offersLink } from "../settings/offers-link.ts";
import type { CellPorts } from "./cell-ports.ts";
import { Departure } from "./departure.ts";
import { handleErasure } from "./erasure.ts";
import { EVENT_ITEMS } from "./events.ts";
import { exportParts } from "./export-parts.ts";
import type { Ground, GroundPorts } from "./ground.ts";
import { type House, openHouse } from "./house.ts";
import { openListeners } from "./listeners.ts";
import { metricsOf, type ProcessFacts } from "./metrics.ts";
import { backupDeps, operationsOf } from "./operations.ts";
import type { People } from "./people.ts";
import { allowedRanges } from "./reach.ts";
import { StopTime } from "./stop-time.ts";
import { VERSION } from "./version.ts";

export interface Gateway {
  /** `http://host:port` */
  readonly url: string;
  /** Set if the data folder was empty: the first org and its keys. */
  readonly first: FirstStart | undefined;
  /** A new sign-in link, which holds a secret; undefined where none is offered. */
  signInLink(): string | undefined;
  /** Fields of the log line "started". */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Reloads the catalog's files; a broken file is logged and changes nothing. */
  reload(): Promise<void>;
  /**
   * What would be lost if the process ended now (`calls`, `writes`), and the number of rows that the next start inserts
   * (`outboxRows`).
   */
  unsaved(): Readonly<Record<string, number>>;
  /** For a backup of this cell's folder: what the routes of `backup/operations.ts` do, whichever cells share the port. */
  readonly backup: {
    begin(records: boolean): Promise<unknown>;
    freeze(id: string): Promise<string | undefined>;
  };
  /** What it measures, as `/metrics` tells it. */
  figures(): Promise<GatewayFigures>;
  /** Whether the last question to the analytics was answered. */
  hasAnalytics(): boolean;
  /**
   * Accepts no new connections (a gateway alone: no new calls either), waits for running calls and flushes everything, within `timeouts.shutdown_ms`.
   * @throws Error that names what did not end in time.
   */
  stop(): Promise<void>;
}

/** What the gateway is told of what it runs in. */
interface Surroundings extends ProcessFacts, Partial<GroundPorts> {
  /** Called once all else is open. */
  beforeListening?(): Promise<void>;
}

/** The calls of the first seconds, for which code is still compiled, need the processor more than the reference does. */
const REFERENCE_AFTER_MS = 10_000;
/** The repository, or what an image holds of it. */
const ROOT = join(import.meta.dirname, "../../..");
/** Long policies take a tenth of a second each to parse. */
const POLICIES_WARM_MS = 2000;
/** Share of the stop timeout reserved for flushing, at most FLUSH_MOST_MS; running calls get the rest. */
const FLUSH_SHARE = 1 / 3;
const FLUSH_MOST_MS = 8000;

/**
 * Share of the stop timeout in which a cell waits for clients that are connected and send nothing. By default longer than the server
 * keeps an idle connection, so that none is closed while a client sends its next request.
 */
const IDLE_SHARE = 1 / 3;

/** @throws ConfigError, CatalogError, or Error with a line for the operator. */
export async function startGateway(
  config: Config,
  log: Logger,
  around: Surroundings = { droppedLogLines: () => 0 },
): Promise<Gateway> {
  const { shared, cell, isThrowAway } = around;
  await assertStartable(config, cell);
  const house = await openHouse(config, log, { shared, cell, isThrowAway });
  const { ground, routing } = house;
  const { clients, descriptors } = openDescriptors(house);
  const onFault = (err: unknown, requestId: string) =>
    log.error({ err, requestId }, "a request failed on our side");
  const calls = openCalls(config, house, { onFault, hasRoomFor: (live) => descriptors.hasRoomForCall(live) });
  const { exchange } = calls;
  house.analytics.runningCalls.serve(calls.running);
  const table = routeTable(operationsOf(house, config));
  const departure = new Departure();
  const name = ground.cell?.name ?? config.cell;
  const sources = metricsOf(house, calls.metrics, { ...around, descriptors });
  const metrics = openMetrics(sources, labelsOf(config, ground), isThrowAway !== true);
  const reference = referenceOf(table);
  const webConsole = openConsole(join(ROOT, "console/dist"), { isSignedIn: sessionLook(house.people) });
  await routing.policiesWarm(POLICIES_WARM_MS);
  const elsewhere = cell?.metricsUrl;
  const read = elsewhere === undefined ? metrics.text : toldElsewhere({ cell: name, url: elsewhere });
  await around.beforeListening?.();
  const server = await openListeners(config, ground.listeners, read, {
    routes: table,
    assets: [readStaticFiles("/assets/", join(ROOT, "src/edge/assets")), ...webConsole.assets],
    pages: [...pages(pageDeps(reference, readinessOf(house, departure))), ...webConsole.pages],
    hasErrorPages: true,
    security: securityHeaders(config.publicUrl?.startsWith("https:") === true),
    origins: config.settings.cors.origins,
    ...callersOf(config, house),
    exchange,
    beginTrace: house.telemetry?.begin,
    inquire: calls.inquire,
    clock: ground.clock,
    uploads: house.uploads,
    onFault,
    maxBodyBytes: config.settings.limits.max_body_bytes,
    onRefused: house.people.directory.onRefused,
    onConnection: (change) => {
      clients.open += change;
      return change < 0 || descriptors.hasRoomForClient();
    },
    isCrowded: () => !descriptors.hasRoomForCall(exchange.counts().live + 1),
    catchUp: catchUpOf(ground),
    sharesPort: cell !== undefined,
    requests: departure,
  });
  beginWork(house, server.port);
  const notYet = systemTimers.after(REFERENCE_AFTER_MS, () => void reference.prepare());
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${server.port}`;
  return {
    url,
    first: house.people.account.first,
    signInLink() {
      const path = offersLink(config) ? ground.ownServices?.makeLink() : undefined;
      return path && `${url}${path}`;
    },
    facts: factsOf(config, ground, url, descriptors),
    reload: () => reloadCatalog(ground.catalog, log),
    unsaved: () => ({
      calls: exchange.counts().live,
      writes: ground.store.unsaved(),
      outboxRows: house.outbox.pending(),
    }),
    figures: async () => ({ cell: name, families: await metrics.families() }),
    hasAnalytics: () => house.analytics.live(),
    backup: backupOf(house),
    async stop() {
      departure.begin();
      notYet();
      const isEmpty = () => clients.open === 0;
      await stopAll({ config, house, exchange, server, departure, isEmpty, hurry: cell?.hurry });
    },
  };
}

/** Model calls, over all rooms that their steps need. */
const openCalls = (
  config: Config,
  { ground, money, limits, people: { account }, kept, routing, bodies, upstreams, reach, ...house }: House,
  host: Pick<ModelCallPorts, "onFault" | "hasRoomFor">,
): ModelCalls =>
  openModelCalls(config.settings, {
    ...ground,
    ...host,
    limits: limits.limits,
    purse: money.purse,
    budgets: money.budgets,
    keyring: account.keyring,
    ownKeys: account.ownKeys,
    answers: kept.answers,
    responses: kept.responses,
    conversations: kept.conversations,
    kept: kept.bytes,
    detached: house.detached,
    health: routing.health,
    policies: routing.policies,
    bodies,
    upstreams,
    outbound: reach.outbound,
    downloadRules: reach.downloadRules,
    outbox: house.outbox,
    shadowRuns: house.analytics.shadowRuns,
    cell: ground.cell?.name ?? config.cell,
    onUpstreamFailure: upstreamFailures(ground.log, ground.clock),
    onEndpointMissed: routing.endpointDown.missed,
    onRecord: house.telemetry?.settled,
    watch: house.analytics.runningCalls.watch,
  });

const readinessOf =
  ({ ground, analytics }: House, departure: Departure) =>
  () => {
    const serving = !departure.hasBegun;
    const parts = { store: ground.store.healthy(), analytics: analytics.live(), serving };
    const shared = ground.cell && { shared: ground.cell.standing().isInTouch };
    // Analytics may be unreachable for hours without affecting calls.
    return { ready: parts.store && parts.serving, parts: { ...parts, ...shared } };
  };

/** Who is behind a credential: what a key, a session, a directory's token and the operator's secret resolve to. */
const credentialsOf = ({ account, identity, directory, isOperatorKey }: People): CredentialPorts => ({
  keyring: account.keyring,
  sessionCookie: identity.sessionCookie,
  personOf: identity.personOf,
  playgroundContext: account.playgroundContext,
  isOperator: isOperatorKey,
  directoryOf: directory.callerOf,
  orgIdOf: (idOrSlug) => account.accounts.orgByIdOrSlug(idOrSlug)?.id,
});

const sessionLook =
  ({ identity: { sessions, sessionCookie } }: People) =>
  (head: HttpHead): boolean =>
    sessions.find(head.cookie(sessionCookie) ?? "") !== undefined;

/** Who calls, from where, and how often they may. */
const callersOf = (
  { settings, publicUrl }: Config,
  { ground: { clock }, limits: { limits }, people }: House,
) => ({
  credentials: credentialsOf(people),
  clientAddress: clientAddress(settings.trusted_proxies),
  publicHost: publicUrl === undefined ? undefined : new URL(publicUrl).host,
  requestLimits: requestLimits({ clock, limits, settings: requestLimitsOf(settings) }),
});

const pageDeps = (reference: Reference, readiness: PageDeps["readiness"]): PageDeps => ({
  version: VERSION,
  readiness,
  reference,
  policySchema: readPolicyJsonSchema(),
});

const referenceOf = (routes: readonly Route[]) =>
  openReference({
    document: (address) =>
      openApiSteps({ routes, pages: PAGE_ITEMS, events: EVENT_ITEMS, version: VERSION, address }),
    pages: DOCS_PAGES,
  });

const backupOf = (house: House): Gateway["backup"] => ({
  begin: (records) => beginBackup(backupDeps(house), records),
  freeze: (id) => house.backup.freeze(id),
});

const catchUpOf = ({ cell, store }: Ground): CatchUp | undefined =>
  cell && {
    isBehind: () => !store.healthy(),
    soon: () => cell.currentSoon(),
    current: () => cell.reads.current(),
    look: () => cell.reads.look(),
  };

/** Labels of all metrics: a gateway alone needs no name, unless it was given one. */
const labelsOf = ({ cell: name }: Config, { cell }: Ground): Record<string, string> =>
  cell === undefined && name === DEFAULT_CELL ? {} : { cell: cell?.name ?? name };

interface Stoppable {
  readonly config: Config;
  readonly house: House;
  readonly exchange: Exchange;
  readonly server: Server;
  readonly departure: Departure;
  /** Whether no client is connected. */
  isEmpty(): boolean;
  readonly hurry: Promise<void> | undefined;
}

/** In reverse order of the start. @throws Error that names what did not end in time */
async function stopAll(stoppable: Stoppable): Promise<void> {
  const { config, house, exchange, server, departure, isEmpty, hurry } = stoppable;
  const stopMs = config.settings.timeouts.shutdown_ms;
  const end = new StopTime(stopMs);
  const flushMs = Math.min(stopMs * FLUSH_SHARE, FLUSH_MOST_MS);
  await server.stopListening();
  if (house.ground.cell !== undefined) {
    const isCalling = () => exchange.counts().live > 0;
    const times = { withinMs: end.leftMs - flushMs, idleMs: stopMs * IDLE_SHARE };
    await departure.wait({ isEmpty, isCalling, hurry, ...times });
  }
  await end.wait("calls to be settled", exchange.drain(end.leftMs - flushMs), true);
  await departure.sent(end.leftMs - flushMs);
  server.close();
  await house.close(end);
  end.finish();
}

/**
 * Starts what works beside calls. The start does not wait for it: the port is open, and a signal that comes before this function's
 * caller returns would find no handler.
 */
function beginWork(house: House, port: number): void {
  const { analytics, billing, exports, people, reach, receipts } = house;
  const { catalog, clock, jobs, log, ownServices, store } = house.ground;
  const { account, mail } = people;
  tellUnconfigured(catalog.current(), log);
  handleErasure(house);
  tellConfinement(analytics.analystAccess, log);
  account.lastUsed.start();
  ownServices?.listensAt(port);
  mail.listensAt(port);
  receipts.listensAt(port);
  reach.start();
  billing.payments.start();
  const { erasure } = analytics;
  const retentionDays = (orgId: string) => account.accounts.retentionDays(orgId);
  const begun = exports
    .handleJobs((orgId, missing) => exportParts(house, orgId, missing))
    .then(() => handleRetention({ erasure, clock, jobs, store, retentionDays }))
    .then(() => billing.books.handleJobs())
    .then(() => mail.start())
    .then(() => billing.autoTopups.start())
    .then(() => jobs.start());
  begun.catch((err: unknown) => log.error({ err }, "jobs do not run: no mail or webhook is sent"));
}

/**
 * Runs first, so that a start whose port is taken, or whose settings are wrong, creates no data folder and starts no
 * engine. @throws Error for the operator
 */
async function assertStartable(config: Config, cell: CellPorts | undefined): Promise<void> {
  allowedRanges(config);
  supplierOf(config);
  // Where others listen on the port by intent, only the listening itself can tell.
  const fault = cell === undefined ? await listenFault(config.host, config.port) : undefined;
  const { own } = config.metrics;
  const ofMetrics = own && (await listenFault(own.host, own.port, "METRICS_"));
  if (fault !== undefined || ofMetrics !== undefined) throw new Error(fault ?? ofMetrics);
}

/** Counts descriptors; those open now belong to the rooms. @throws Error where the limit is too low to serve calls. */
function openDescriptors({ upstreams, reach: { outbound }, ground: { simulator } }: House) {
  const clients = { open: 0 };
  const descriptors = new Descriptors({
    clients: () => clients.open,
    upstream: () => upstreams.connections() + outbound.connections,
    simulator: () => (simulator === undefined ? 0 : upstreams.connections(simulator.url)),
  });
  const fault = descriptors.fault();
  if (fault !== undefined) throw new Error(fault);
  return { clients, descriptors };
}

const factsOf = (config: Config, { catalog }: Ground, address: string, { limit }: Descriptors) => ({
  version: VERSION,
  node: process.version,
  address,
  dataDir: config.dataDir,
  engine: config.clickhouseUrl === undefined ? "embedded" : "server",
  models: [...catalog.current().models.values()].filter(({ endpoints }) => endpoints.length > 0).length,
  descriptors: limit,
});
