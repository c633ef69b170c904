/** Opens the room of webhooks, and the guard of what calls to tenants' URLs may reach. */
import type { Logger } from "pino";
import { openVault } from "../account/vault.ts";
import { type Clock, systemRandom, systemTimers } from "../clock.ts";
import { type Config, ConfigError, isLocalOnly } from "../config.ts";
import type { Cursors } from "../cursor.ts";
import { WeirError } from "../errors.ts";
import type { Events } from "../events/events.ts";
import type { Trail } from "../events/trail.ts";
import type { Installation } from "../installation/installation.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { addressClass } from "../outbound/address.ts";
import { type Cidr, type OutboundRules, ownAddresses, readAllow } from "../outbound/rules.ts";
import { openOutbound } from "../outbound/send.ts";
import type { Store } from "../store/store.ts";
import type { KnownServices } from "../supervisor/services.ts";
import { SLOTS } from "../webhooks/standing.ts";
import { openWebhooks } from "../webhooks/webhooks.ts";
import { CellAddresses } from "./cell-addresses.ts";
import { VERSION } from "./version.ts";

interface WebhookGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly installation: Installation;
  readonly simulator: { readonly url: string } | undefined;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly trail: Trail;
  /** Of a cell among others. */
  readonly cell: { readonly name: string } | undefined;
  /** Their ports are looked at for each call: they start when they are first needed. */
  readonly services: Pick<KnownServices, "state">;
}

/** Those of deliveries, which have limits of their own, and room for other calls. */
const MOST_CALLS = SLOTS.well.inAll + SLOTS.troubled.inAll + 64;
/** After it the calls under way at a stop are cut off; they are made again after the next start. */
const STOP_MS = 3_000;
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

export function openWebhookRoom(config: Config, log: Logger, ground: WebhookGround) {
  const { clock, simulator, store, cell, installation, jobs, services } = ground;
  /** Ports of this machine that no tenant's URL reaches, whatever is allowed. */
  const ownPorts = simulator === undefined ? [] : [Number(new URL(simulator.url).port)];
  const publicHost = publicHostOf(config);
  // A proxy on this machine, under whatever name.
  if (publicHost !== undefined && isLoopbackUrl(config)) ownPorts.push(publicHost.port);
  const allOwnPorts = () => [...ownPorts, ...services.state().ports];
  const addresses = ownAddresses(clock);
  const ofCells =
    cell &&
    new CellAddresses({
      ...{ store, clock, timers: systemTimers, cell: cell.name },
      own: () => ({ addresses: reachable(config, addresses()), ports: allOwnPorts() }),
      onFailure: (err) =>
        log.warn({ err }, "other cells were not told where this one listens; it is tried again"),
    });
  const rules: OutboundRules = {
    allow: allowedRanges(config),
    ...{ ownPorts: allOwnPorts, ownAddresses: addresses, publicHost },
    isOfInstallation: ofCells && ((address, port) => ofCells.has(address, port)),
  };
  const outbound = openOutbound({ rules, clock, maxCalls: MOST_CALLS });
  const vault = openVault(installation);
  const webhooks = openWebhooks({
    ...{ ...ground, outbound, vault, random: systemRandom, version: VERSION },
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  return {
    webhooks: { ...webhooks, rules, vault },
    outbound,
    /** Keeps tenants' URLs from this port of the machine. */
    keepFrom: (port: number) => void ownPorts.push(port),
    /** The gateway listens there. Call before jobs start. */
    listensAt(port: number): void {
      ownPorts.push(port);
      ofCells?.start();
    },
    /** Jobs end first: what they call is cut off only if it takes long. */
    async stopJobs(): Promise<void> {
      ofCells?.close();
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

const isLoopbackUrl = ({ publicUrl }: Config): boolean => isLocalOnly({ host: "127.0.0.1", publicUrl });

function publicHostOf({ publicUrl }: Config): OutboundRules["publicHost"] {
  if (publicUrl === undefined) return undefined;
  const { protocol, hostname, port } = new URL(publicUrl);
  const name = hostname.replace(/^\[|\]$|\.$/g, "");
  return { name, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** What webhooks may reach beside public addresses. @throws ConfigError where `webhooks.allow` is not valid */
export function allowedRanges(config: Config): readonly Cidr[] {
  const { allow } = config.settings.webhooks;
  try {
    return readAllow(allow ?? (isLocalOnly(config) ? LOOPBACK : []));
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    throw new ConfigError(`weir.yaml: /webhooks/allow${error.param ?? ""}: ${error.message}`);
  }
}
