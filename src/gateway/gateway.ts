/**
 * The gateway as one object: `startGateway` brings every room up in the order of their needs and takes them down in the
 * reverse one.
 */
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { CatalogSnapshot } from "../catalog/catalog.ts";
import { unconfigured, unconfiguredText } from "../catalog/unconfigured.ts";
import { systemRandom } from "../clock.ts";
import type { Config } from "../config.ts";
import { problemText } from "../document.ts";
import { openMetrics } from "../edge/metrics.ts";
import { openApiDocument } from "../edge/openapi.ts";
import { PAGE_ITEMS, pages } from "../edge/pages.ts";
import { routes as routeTable } from "../edge/routes.ts";
import { openServer } from "../edge/server.ts";
import { inquire } from "../exchange/inquire.ts";
import { policyJsonSchema } from "../routing/policy-document.ts";
import { openRooms } from "./rooms.ts";
import { byokFeeOf, exchangeOf, metricSources, operationsOf } from "./wiring.ts";

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

/** Long policies take a tenth of a second each to read. */
const POLICIES_WARM_MS = 2000;

/** @throws ConfigError, CatalogError, or Error with a line for the operator. */
export async function startGateway(config: Config, log: Logger): Promise<Gateway> {
  const { limits, timeouts } = config.settings;
  const onFault = (err: unknown, requestId: string) =>
    log.error({ err, requestId }, "a request failed on our side");
  const rooms = await openRooms(config, log);
  const exchange = exchangeOf(config, rooms, onFault);
  const defaultMaxTokens = limits.default_max_tokens;
  const inquiries = { ...rooms, onFault, random: systemRandom, defaultMaxTokens, byokFee: byokFeeOf(config) };
  const table = routeTable(operationsOf(rooms));
  let stopping = false;
  const readiness = () => {
    const parts = { store: rooms.store.healthy(), analytics: rooms.analytics.live(), serving: !stopping };
    // Analytics may be away for hours without a call noticing.
    return { ready: parts.store && parts.serving, parts };
  };
  const metrics = openMetrics(metricSources(rooms, exchange));
  const openApi = (address: string) =>
    openApiDocument({ routes: table, pages: PAGE_ITEMS, version: VERSION, address });
  await rooms.policiesWarm(POLICIES_WARM_MS);
  const server = await openServer(
    {
      routes: table,
      pages: pages({ readiness, metrics, openApi, policySchema: policyJsonSchema }),
      keyring: rooms.keyring,
      exchange,
      inquire: (inquiry, incoming) => inquire(inquiries, inquiry, incoming),
      clock: rooms.clock,
      onFault,
      maxBodyBytes: limits.max_body_bytes,
      uploads: rooms.uploads,
    },
    config.host,
    config.port,
  );
  rooms.lastUsed.start();
  tellUnconfigured(rooms.catalog.current(), log);
  return {
    url: `http://${config.host}:${server.port}`,
    first: rooms.first,
    async reload() {
      const result = await rooms.catalog.reload();
      if (result.ok) {
        log.info("the catalog was read again");
        tellUnconfigured(rooms.catalog.current(), log);
      } else
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

/** Callers are told "not configured"; which variable is missing is the operator's to know. */
function tellUnconfigured(snapshot: CatalogSnapshot, log: Logger): void {
  const missing = unconfigured(snapshot);
  if (missing.length > 0) log.info(`not configured, so they take no calls: ${unconfiguredText(missing)}`);
}

const VERSION: string = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).version;
