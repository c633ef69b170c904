/** What calls to tenants' URLs may reach, by the settings and the catalog's files. */
import { SLOTS } from "../../account/webhooks/standings.ts";
import { systemTimers } from "../../base/clock.ts";
import { WeirError } from "../../base/errors.ts";
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { CellAddresses } from "../../cluster/cells/membership/addresses.ts";
import { isOnThisMachine, redisAddress } from "../../cluster/cells/redis/address.ts";
import { MAX_FETCHES } from "../../inference/exchange/media/fetch-media.ts";
import { type AllowedRanges, type OutboundRoom, openOutboundRoom } from "../../outbound/open.ts";
import { type Cidr, readAllow } from "../../outbound/rules.ts";
import { type Service, serviceAt } from "../../outbound/service-addresses.ts";
import { supplierOf } from "../settings/billing-files.ts";
import { type Config, ConfigError, isLocalOnly } from "../settings/config.ts";
import type { Ground } from "./ground.ts";
import { servicesOfCatalog, servicesOfConfig } from "./named-services.ts";

/** Those of deliveries and of media, which have limits of their own, and room for other calls. */
const MOST_CALLS = SLOTS.well.inAll + SLOTS.troubled.inAll + MAX_FETCHES + 64;
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** @param isFirst the oldest org is that of whoever installed the gateway */
export function openReach(config: Config, ground: Ground, isFirst: (orgId: string) => boolean): OutboundRoom {
  const { clock, store, cell, listeners, log } = ground;
  const room = openOutboundRoom({
    clock,
    isFirst,
    ranges: allowedRanges(config),
    publicService: config.publicUrl === undefined ? undefined : serviceAt(config.publicUrl),
    services: servicesOf(config, ground.catalog),
    ports: () => [...listeners.ports(), ...ground.portsOfMachine()],
    isLoopback: isLocalOnly({ host: config.host, publicUrl: undefined }),
    maxCalls: MOST_CALLS,
    others:
      cell &&
      ((own) =>
        new CellAddresses({
          store,
          clock,
          own,
          timers: systemTimers,
          cell: cell.name,
          onFailure: (err) =>
            log.warn({ err }, "other cells were not told where this one listens; it is tried again"),
        })),
  });
  listeners.onChange(() => room.portsChanged());
  return room;
}

/** Whether only this machine reaches the gateway, and other cells of its installation where there are any. */
const isOfThisMachine = (config: Config): boolean =>
  isLocalOnly(config) && (config.redisUrl === undefined || isOnThisMachine(redisAddress(config.redisUrl)));

/** @throws ConfigError where `webhooks.allow` or `media_fetch.allow` is not valid */
export function allowedRanges(config: Config): AllowedRanges {
  const { webhooks, media_fetch: media } = config.settings;
  const forDownloads = readRanges(media.allow, "/media_fetch/allow");
  const { allow } = webhooks;
  if (allow !== undefined)
    return { forAll: readRanges(allow, "/webhooks/allow"), forFirst: [], forDownloads };
  return { forAll: [], forFirst: readAllow(isOfThisMachine(config) ? LOOPBACK : []), forDownloads };
}

function readRanges(allow: readonly string[], at: string): readonly Cidr[] {
  try {
    return readAllow(allow);
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    throw new ConfigError(`weir.yaml: ${at}${error.param ?? ""}: ${error.message}`);
  }
}

/** What the settings and the catalog's files name. Built once for each snapshot of the catalog. */
function servicesOf(config: Config, catalog: Ground["catalog"]): () => readonly Service[] {
  const ofConfig = servicesOfConfig(config, [supplierOf(config)?.e_invoice_portal]);
  let built: { readonly of: CatalogSnapshot; readonly services: readonly Service[] } | undefined;
  return () => {
    const of = catalog.current();
    if (built?.of !== of) built = { of, services: [...ofConfig, ...servicesOfCatalog(of)] };
    return built.services;
  };
}
