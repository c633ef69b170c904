/** Opens the room of webhooks, and the guard of what calls to tenants' URLs may reach. */
import type { Logger } from "pino";
import { openVault } from "../../account/provider-keys/vault.ts";
import type { AccountTables } from "../../account/tables.ts";
import { SLOTS } from "../../account/webhooks/standings.ts";
import { openWebhooks } from "../../account/webhooks/webhooks.ts";
import { type Clock, systemRandom, systemTimers } from "../../base/clock.ts";
import { WeirError } from "../../base/errors.ts";
import type { Listeners } from "../../base/listeners.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import type { Catalog, CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { isOnThisMachine, redisAddress } from "../../cluster/redis-address.ts";
import { type Address, addressClass } from "../../outbound/address.ts";
import {
  type Cidr,
  type OutboundRules,
  ownAddresses,
  type RulesOf,
  readAllow,
} from "../../outbound/rules.ts";
import { openOutbound } from "../../outbound/send.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Installation } from "../../store/installation/installation.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { type Config, ConfigError, isLocalOnly } from "../settings/config.ts";
import { CellAddresses } from "./cell-addresses.ts";
import { supplierOf } from "./invoices.ts";
import {
  type Service,
  ServiceAddresses,
  serviceAt,
  servicesOfCatalog,
  servicesOfConfig,
} from "./service-addresses.ts";
import { VERSION } from "./version.ts";

interface WebhookGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly installation: Installation;
  readonly catalog: Pick<Catalog, "current">;
  readonly accounts: Pick<AccountTables, "oldestOrg">;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly trail: Trail;
  /** Set where the gateway is a cell among others. */
  readonly cell: { readonly name: string } | undefined;
  /** Ports of this process and its children: looked at for each call, because some start when they are first needed. */
  readonly listeners: Listeners;
  /** Ports of the machine on which its supervisor and that one's children listen. */
  readonly portsOfMachine: () => readonly number[];
}

/** Those of deliveries, which have limits of their own, and room for other calls. */
const MOST_CALLS = SLOTS.well.inAll + SLOTS.troubled.inAll + 64;
/** After it the calls under way at a stop are cut off; they are made again after the next start. */
const STOP_MS = 3_000;
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

export function openWebhookRoom(config: Config, log: Logger, ground: WebhookGround) {
  const { clock, store, cell, installation, jobs, listeners } = ground;
  const addresses = ownAddresses(clock);
  const services = new ServiceAddresses({
    services: servicesOf(config, ground.catalog),
    ownAddresses: addresses,
    timers: systemTimers,
  });
  const allOwnPorts = () => [
    ...new Set([...listeners.ports(), ...ground.portsOfMachine(), ...services.ports()]),
  ];
  const ofCells =
    cell &&
    new CellAddresses({
      store,
      clock,
      timers: systemTimers,
      cell: cell.name,
      own: () => ({ addresses: reachable(config, addresses()), ports: allOwnPorts() }),
      onFailure: (err) =>
        log.warn({ err }, "other cells were not told where this one listens; it is tried again"),
    });
  listeners.onChange(() => ofCells?.changed());
  const ranges = allowedRanges(config);
  const rulesOf = rulesOfOrgs(ranges, ground.accounts, {
    ownPorts: allOwnPorts,
    ownAddresses: addresses,
    isOfInstallation: (address: Address, port: number) =>
      services.has(address, port) || ofCells?.has(address, port) === true,
    isNameOfInstallation: nameOfInstallation(config, services),
  });
  const outbound = openOutbound({ rules: rulesOf.everybody, clock, maxCalls: MOST_CALLS });
  const vault = openVault(installation);
  const webhooks = openWebhooks({
    ...ground,
    outbound,
    rulesOf: rulesOf.org,
    vault,
    random: systemRandom,
    version: VERSION,
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  return {
    webhooks: { ...webhooks, rulesOf: rulesOf.org, vault },
    outbound,
    /** The gateway listens, and `listeners` has its port. Call before jobs start. */
    listens(): void {
      ofCells?.start();
      // Where nothing but public addresses is allowed, no service has to be told from others.
      if (ranges.forAll.length + ranges.forFirst.length > 0) services.start();
    },
    /** Jobs end first: what they call is cut off only if it takes long. */
    async stopJobs(): Promise<void> {
      ofCells?.close();
      services.close();
      const cancel = systemTimers.after(STOP_MS, () => outbound.close());
      await jobs.stop();
      cancel();
      outbound.close();
      webhooks.close();
    },
  };
}

/** Addresses under which other machines reach the gateway, as far as it can know. */
const reachable = ({ host }: Config, addresses: ReadonlySet<string>): string[] =>
  isLocalOnly({ host, publicUrl: undefined })
    ? []
    : [...addresses].filter((text) => addressClass(text) !== "loopback");

/** What the settings and the catalog's files name. Built once for each snapshot of the catalog. */
function servicesOf(config: Config, catalog: Pick<Catalog, "current">): () => readonly Service[] {
  const ofConfig = servicesOfConfig(config, [supplierOf(config)?.e_invoice_portal]);
  let built: { readonly of: CatalogSnapshot; readonly services: readonly Service[] } | undefined;
  return () => {
    const of = catalog.current();
    if (built?.of !== of) built = { of, services: [...ofConfig, ...servicesOfCatalog(of)] };
    return built.services;
  };
}

/** PUBLIC_URL is refused by its name although its addresses may be a proxy's for many. */
function nameOfInstallation({ publicUrl }: Config, services: ServiceAddresses) {
  const own = publicUrl === undefined ? undefined : serviceAt(publicUrl);
  return (name: string, port: number): boolean =>
    (own?.host === name && own.port === port) || services.hasName(name, port);
}

/** The oldest org is that of whoever installed the gateway. */
function rulesOfOrgs(
  { forAll, forFirst }: AllowedRanges,
  accounts: Pick<AccountTables, "oldestOrg">,
  common: Omit<OutboundRules, "allow">,
): { readonly everybody: OutboundRules; readonly org: RulesOf } {
  const everybody: OutboundRules = { allow: forAll, ...common };
  const ofFirst: OutboundRules = { allow: [...forAll, ...forFirst], ...common };
  return { everybody, org: (orgId) => (accounts.oldestOrg()?.id === orgId ? ofFirst : everybody) };
}

/** Ranges that webhooks may reach beside public addresses. */
interface AllowedRanges {
  readonly forAll: readonly Cidr[];
  readonly forFirst: readonly Cidr[];
}

/** Whether only this machine reaches the gateway, and other cells of its installation where there are any. */
const isOfThisMachine = (config: Config): boolean =>
  isLocalOnly(config) && (config.redisUrl === undefined || isOnThisMachine(redisAddress(config.redisUrl)));

/** @throws ConfigError where `webhooks.allow` is not valid */
export function allowedRanges(config: Config): AllowedRanges {
  const { allow } = config.settings.webhooks;
  try {
    if (allow !== undefined) return { forAll: readAllow(allow), forFirst: [] };
    return { forAll: [], forFirst: readAllow(isOfThisMachine(config) ? LOOPBACK : []) };
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    throw new ConfigError(`weir.yaml: /webhooks/allow${error.param ?? ""}: ${error.message}`);
  }
}
