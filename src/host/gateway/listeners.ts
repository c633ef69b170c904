/** Where a gateway listens: on one port, or on two where metrics have their own; and where a supervisor tells those of its cells. */

import type { Clock } from "../../base/clock.ts";
import type { Listeners } from "../../base/network/listeners.ts";
import { LOOPBACK_HOST } from "../../base/network/loopback-host.ts";
import { listenFault } from "../../base/process/listen-fault.ts";
import type { CellsMetrics } from "../../cluster/supervisor/cells-metrics.ts";
import type { MetricsListener } from "../../cluster/supervisor/supervisor.ts";
import { clientAddress } from "../../edge/client-address.ts";
import { type MetricsPageOptions, metricsPage } from "../../edge/metrics-page.ts";
import { type MetricsAddress, metricsAddressOfCells } from "../../edge/metrics-settings.ts";
import { securityHeaders } from "../../edge/security-headers.ts";
import { openPages, openServer, type Server, type ServerDeps } from "../../edge/server.ts";
import type { Config } from "../settings/config.ts";

type ListenDeps = Omit<ServerDeps, "onListening">;

/** The variables that say where metrics are told. */
const METRICS = "METRICS_";

/** @throws Error with the reason, for the operator */
export async function openListeners(
  { host, port, metrics: { tokenDigest, own } }: Config,
  listeners: Listeners,
  read: MetricsPageOptions["read"],
  deps: ListenDeps,
): Promise<Server> {
  const page = metricsPage({ path: "/metrics", read, tokenDigest, isOpen: own !== undefined && isOpen(own) });
  const asGateway = {
    ...deps,
    pages: own === undefined ? [...deps.pages, page] : deps.pages,
    onListening: (at: number) => listeners.add("gateway", at),
  };
  const openMain = () => opened(() => openServer(asGateway, host, port), { host, port }, "");
  if (own === undefined) return await openMain();
  const asMetrics = {
    ...deps,
    pages: [page],
    sharesPort: false,
    onConnection: () => true,
    requests: undefined,
    onListening: (at: number) => listeners.add("metrics", at),
  };
  const beside = await opened(() => openPages(asMetrics, own.host, own.port), own, METRICS);
  const main = await openMain().catch((error: unknown) => {
    beside.close();
    throw error;
  });
  return {
    port: main.port,
    stopListening: () => main.stopListening(),
    close() {
      main.close();
      beside.close();
    },
  };
}

interface CellsMetricsGround {
  readonly log: Record<"error" | "warn", (fields: object, text: string) => void>;
  readonly listeners: Listeners;
  readonly clock: Clock;
}

/** Where a supervisor's metrics are told at no port. */
const NOWHERE: MetricsListener = { url: "", close() {} };

/**
 * The supervisor's port: `/metrics` has each cell by its label, `/metrics/sum` all as one. Calls matter more than metrics that no
 * setting asked for: where `METRICS_PORT` is not set and the usual port is taken, there are none.
 * @throws Error as `openListeners`
 */
export async function openCellsMetrics(
  { port: gatewayPort, publicUrl, metrics: settings }: Config,
  metrics: CellsMetrics,
  { log, listeners, clock }: CellsMetricsGround,
): Promise<MetricsListener> {
  const at = metricsAddressOfCells(settings, gatewayPort);
  const { tokenDigest } = settings;
  const page = (path: MetricsPageOptions["path"], read: MetricsPageOptions["read"]) =>
    metricsPage({ path, read, tokenDigest, isOpen: isOpen(at) });
  const deps = {
    pages: [page("/metrics", () => metrics.each()), page("/metrics/sum", () => metrics.sum())],
    security: securityHeaders(publicUrl?.startsWith("https:") === true),
    clock,
    clientAddress: clientAddress([]),
    onConnection: () => true,
    isCrowded: () => false,
    onFault: (err: unknown, requestId: string) =>
      log.error({ err, requestId }, "a request failed on our side"),
    onListening: (port: number) => listeners.add("metrics", port),
  };
  const open = () => opened(() => openPages(deps, at.host, at.port), at, METRICS);
  const server = await (settings.own === undefined ? open().catch((error: Error) => error) : open());
  if (server instanceof Error) {
    log.warn(
      { reason: server.message },
      "the metrics of the cells are told nowhere: set METRICS_PORT to a free port",
    );
    return NOWHERE;
  }
  const host = at.host.includes(":") ? `[${at.host}]` : at.host;
  return { url: `http://${host}:${server.port}/metrics`, close: () => server.close() };
}

/** Whether whoever reaches the address may read, where no token is asked for. */
const isOpen = ({ host }: MetricsAddress): boolean => !LOOPBACK_HOST.test(host) && host !== "::1";

async function opened(
  open: () => Promise<Server>,
  { host, port }: MetricsAddress,
  prefix: string,
): Promise<Server> {
  try {
    return await open();
  } catch (error) {
    // The socket library reports no reason; Node's own listen reports the system's.
    throw new Error((await listenFault(host, port, prefix)) ?? (error as Error).message, { cause: error });
  }
}
