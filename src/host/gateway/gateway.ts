/**
 * The gateway as one object: `startGateway` opens all rooms in the order of their dependencies and `stop` closes them
 * in reverse.
 */
import { join } from "node:path";
import type { Logger } from "pino";
import type { FirstStart } from "../../account/first-start.ts";
import { systemTimers } from "../../base/clock.ts";
import type { GatewayFigures } from "../../base/metric-family.ts";
import { Descriptors } from "../../base/process/descriptors.ts";
import { listenFault } from "../../base/process/listen-fault.ts";
import { reloadCatalog, tellUnconfigured } from "../../catalog/models/open.ts";
import type { CredentialPorts } from "../../edge/authorize.ts";
import type { CatchUp } from "../../edge/catch-up.ts";
import { clientAddress } from "../../edge/client-address.ts";
import { openMetrics } from "../../edge/metrics.ts";
import { toldElsewhere } from "../../edge/metrics-page.ts";
import { docsPieces } from "../../edge/openapi/docs.ts";
import { openApiSteps } from "../../edge/openapi/openapi.ts";
import { PAGE_ITEMS, type PageDeps, pages } from "../../edge/openapi/pages.ts";
import { openReference, type Reference } from "../../edge/openapi/reference.ts";
import { type Route, routeTable } from "../../edge/routes.ts";
import { securityHeaders } from "../../edge/security-headers.ts";
import type { Server } from "../../edge/server.ts";
import { readStaticFiles } from "../../edge/static-files.ts";
import type { Exchange } from "../../inference/exchange/exchange.ts";
import { inquire } from "../../inference/exchange/inquiry/inquire.ts";
import { readPolicyJsonSchema } from "../../routing/language/policy-document.ts";
import { beginBackup } from "../backup/operations.ts";
import type { Config } from "../settings/config.ts";
import { DEFAULT_CELL } from "../settings/environment.ts";
import { tellConfinement } from "./analysts.ts";
import type { CellPorts, SharedInstallation } from "./cell-settings.ts";
import { Departure } from "./departure.ts";
import { handleErasure } from "./erasure.ts";
import { EVENT_ITEMS } from "./events.ts";
import { exchangeOf, inquiriesOf } from "./exchange.ts";
import { handleExports } from "./exports.ts";
import { supplierOf } from "./invoices.ts";
import { openKeyProbes } from "./key-probes.ts";
import { requestLimitsOf } from "./limits.ts";
import { openListeners } from "./listeners.ts";
import { metricSources, type ProcessFacts } from "./metric-sources.ts";
import { backupDeps, operationsOf } from "./operations.ts";
import { handleRetention } from "./retention.ts";
import { openRooms, type Rooms } from "./rooms.ts";
import { StopTime } from "./stop-time.ts";
import { upstreamFailures } from "./upstream-failures.ts";
import { VERSION } from "./version.ts";
import { allowedRanges } from "./webhooks.ts";

export interface Gateway {
  /** `http://host:port` */
  readonly url: string;
  /** Set if the data folder was empty: the first org and its keys. */
  readonly first: FirstStart | undefined;
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
interface Surroundings extends ProcessFacts {
  /** It shares its rows with the other cells of an installation. */
  readonly shared?: SharedInstallation;
  /** Other gateways listen on its port too. */
  readonly cell?: CellPorts | undefined;
}

/** The calls of the first seconds, for which code is still compiled, need the processor more than the reference does. */
const REFERENCE_AFTER_MS = 10_000;
/** Long policies take a tenth of a second each to parse. */
const POLICIES_WARM_MS = 2000;
/** Share of the stop timeout reserved for flushing, at most FLUSH_MOST_MS; running calls get the rest. */
const FLUSH_SHARE = 1 / 3;
const FLUSH_MOST_MS = 8000;

/** Share of the stop timeout in which a cell goes on serving those who are connected, and bids them connect anew. */
const LEAVE_SHARE = 1 / 6;

/** Begins to ask providers about suspect keys, which is counted among the metrics. */
function metricsOf(
  config: Config,
  log: Logger,
  {
    rooms,
    exchange,
    descriptors,
    around,
  }: {
    readonly rooms: Rooms;
    readonly exchange: Exchange;
    readonly descriptors: Descriptors;
    readonly around: Surroundings;
  },
) {
  const keyProbes = openKeyProbes({ ...rooms, log });
  const facts = { ...around, keyProbes: keyProbes.counts };
  return openMetrics(metricSources(rooms, exchange, descriptors, facts), labelsOf(config, rooms));
}

/** @throws ConfigError, CatalogError, or Error with a line for the operator. */
export async function startGateway(
  config: Config,
  log: Logger,
  around: Surroundings = { droppedLogLines: () => 0 },
): Promise<Gateway> {
  const { limits } = config.settings;
  const onFault = (err: unknown, requestId: string) =>
    log.error({ err, requestId }, "a request failed on our side");
  const { shared, cell } = around;
  await assertStartable(config, cell);
  const rooms = await openRooms(config, log, { shared, cell });
  const { clients, descriptors } = openDescriptors(rooms);
  const exchange = exchangeOf(config, rooms, {
    onFault,
    onUpstreamFailure: upstreamFailures(log, rooms.clock),
    onEndpointMissed: rooms.endpointDown.missed,
    hasRoomFor: (live) => descriptors.hasRoomForCall(live),
    onRecord: rooms.telemetry?.settled,
  });
  const inquiries = inquiriesOf(config, rooms, onFault);
  const table = routeTable(operationsOf(rooms, config));
  const departure = new Departure();
  const metrics = metricsOf(config, log, { rooms, exchange, descriptors, around });
  const reference = referenceOf(table);
  await rooms.policiesWarm(POLICIES_WARM_MS);
  const name = rooms.cell?.name ?? config.cell;
  const elsewhere = cell?.metricsUrl;
  const read = elsewhere === undefined ? metrics.text : toldElsewhere({ cell: name, url: elsewhere });
  const server = await openListeners(config, rooms.listeners, read, {
    routes: table,
    assets: [readStaticFiles("/assets/", join(import.meta.dirname, "../../edge/assets"))],
    pages: pages(pageDeps(reference, readinessOf(rooms, departure))),
    security: securityHeaders(config.publicUrl?.startsWith("https:") === true),
    ...callersOf(config, rooms),
    exchange,
    beginTrace: rooms.telemetry?.begin,
    inquire: (inquiry, incoming) => inquire(inquiries, inquiry, incoming),
    clock: rooms.clock,
    uploads: rooms.uploads,
    onFault,
    maxBodyBytes: limits.max_body_bytes,
    onRefused: rooms.directory.onRefused,
    onConnection: (change) => {
      clients.open += change;
      return change < 0 || descriptors.hasRoomForClient();
    },
    isCrowded: () => !descriptors.hasRoomForCall(exchange.counts().live + 1),
    catchUp: catchUpOf(rooms),
    sharesPort: cell !== undefined,
    requests: rooms.cell && departure,
  });
  beginWork(rooms, config, server.port, log);
  const notYet = systemTimers.after(REFERENCE_AFTER_MS, () => void reference.prepare());
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${server.port}`;
  return {
    url,
    first: rooms.first,
    facts: factsOf(config, rooms, url, descriptors),
    reload: () => reloadCatalog(rooms.catalog, log),
    unsaved: () => ({ calls: exchange.counts().live, ...rooms.unsaved() }),
    figures: async () => ({ cell: name, families: await metrics.families() }),
    hasAnalytics: () => rooms.analytics.live(),
    backup: backupOf(rooms),
    async stop() {
      departure.begin();
      notYet();
      const isEmpty = () => clients.open === 0;
      const left = (withinMs: number) => departure.wait({ isEmpty, withinMs, hurry: cell?.hurry });
      await stopAll({ config, rooms, exchange, server, left });
    },
  };
}

const readinessOf = (rooms: Rooms, departure: Departure) => () => {
  const serving = !departure.hasBegun;
  const parts = { store: rooms.store.healthy(), analytics: rooms.analytics.live(), serving };
  const shared = rooms.cell && { shared: rooms.cell.standing().isInTouch };
  // Analytics may be unreachable for hours without affecting calls.
  return { ready: parts.store && parts.serving, parts: { ...parts, ...shared } };
};

/** Who is behind a credential: what a key, a session, a directory's token and the operator's secret resolve to. */
const credentialsOf = ({
  keyring,
  identity,
  directory,
  accounts,
  isOperatorKey,
}: Rooms): CredentialPorts => ({
  keyring,
  sessionCookie: identity.sessionCookie,
  personOf: identity.personOf,
  isOperator: isOperatorKey,
  directoryOf: directory.callerOf,
  orgIdOf: (idOrSlug) => accounts.orgByIdOrSlug(idOrSlug)?.id,
});

/** Who calls, from where, and how often they may. */
const callersOf = (config: Config, rooms: Rooms) => ({
  credentials: credentialsOf(rooms),
  clientAddress: clientAddress(config.settings.trusted_proxies),
  requestLimits: requestLimitsOf(config, rooms),
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
    page: docsPieces,
  });

const backupOf = (rooms: Rooms): Gateway["backup"] => ({
  begin: (records) => beginBackup(backupDeps(rooms), records),
  freeze: (id) => rooms.backup.freeze(id),
});

const catchUpOf = ({ cell, store }: Rooms): CatchUp | undefined =>
  cell && {
    isBehind: () => !store.healthy(),
    soon: () => cell.currentSoon(),
    current: () => cell.reads.current(),
    look: () => cell.reads.look(),
  };

/** Labels of all metrics: a gateway alone needs no name, unless it was given one. */
const labelsOf = ({ cell: name }: Config, { cell }: Rooms): Record<string, string> =>
  cell === undefined && name === DEFAULT_CELL ? {} : { cell: cell?.name ?? name };

interface Stoppable {
  readonly config: Config;
  readonly rooms: Rooms;
  readonly exchange: Exchange;
  readonly server: Server;
  /** Waits until clients have gone to other cells: see `Departure.wait`. */
  left(withinMs: number): Promise<void>;
}

/** In reverse order of the start. @throws Error that names what did not end in time */
async function stopAll({ config, rooms, exchange, server, left }: Stoppable): Promise<void> {
  const withinMs = config.settings.timeouts.shutdown_ms;
  const end = new StopTime(withinMs);
  await server.stopListening();
  if (rooms.cell !== undefined) await left(withinMs * LEAVE_SHARE);
  const flushMs = Math.min(withinMs * FLUSH_SHARE, FLUSH_MOST_MS);
  await end.wait("calls to be settled", exchange.drain(end.leftMs - flushMs), true);
  server.close();
  await rooms.close(end);
  end.finish();
}

/**
 * Starts what works beside calls. Nobody waits for it: the port is open, and a signal that comes before this function's caller
 * returns would find no handler.
 */
function beginWork(rooms: Rooms, config: Config, port: number, log: Logger): void {
  const { lastUsed, ownServices, mail, payments, jobs, receipts } = rooms;
  tellUnconfigured(rooms.catalog.current(), log);
  handleErasure(rooms, config, log);
  tellConfinement(rooms.analytics.analystAccess, log);
  lastUsed.start();
  ownServices?.listensAt(port);
  mail.listensAt(port);
  receipts.listensAt(port);
  rooms.listens();
  payments.start();
  const begun = handleExports(rooms, config, log)
    .then(() => handleRetention(rooms))
    .then(() => rooms.books.handleJobs())
    .then(() => mail.start())
    .then(() => rooms.billing.topUps.start())
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
function openDescriptors({ upstreams, outbound, simulator }: Rooms) {
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

const factsOf = (config: Config, { catalog }: Rooms, address: string, { limit }: Descriptors) => ({
  version: VERSION,
  node: process.version,
  address,
  dataDir: config.dataDir,
  engine: config.clickhouseUrl === undefined ? "embedded" : "server",
  models: [...catalog.current().models.values()].filter(({ endpoints }) => endpoints.length > 0).length,
  descriptors: limit,
});
