/** Opens calls to URLs that tenants give, with the guard of what such a call may reach in this installation. */
import { type Clock, systemTimers } from "../base/clock.ts";
import { type Address, addressClass } from "./address.ts";
import { type Cidr, type OutboundRules, ownAddresses, type RulesOf } from "./rules.ts";
import { type Outbound, openOutbound } from "./send.ts";
import { type Service, ServiceAddresses } from "./service-addresses.ts";

/** Ranges that tenants' URLs may reach beside public addresses. */
export interface AllowedRanges {
  readonly forAll: readonly Cidr[];
  /** For the org of whoever installed the gateway. */
  readonly forFirst: readonly Cidr[];
  /** For what is fetched from tenants' URLs and shown to models: the others are for what is sent. */
  readonly forDownloads: readonly Cidr[];
}

/** Where this process listens, told to the others of its installation. */
export interface OwnListeners {
  /** Canonical; empty where it listens on loopback only. */
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

/** Where other processes of the installation listen. */
export interface OtherListeners {
  has(address: Address, port: number): boolean;
  /** Tells the others where this process listens, from now on. */
  start(): void;
  /** What this process tells of itself has changed. */
  changed(): void;
  close(): void;
}

export interface OutboundPorts {
  readonly clock: Clock;
  readonly ranges: AllowedRanges;
  readonly isFirst: (orgId: string) => boolean;
  /** The gateway's own address for browsers: refused by its name, although its addresses may be a proxy's for many. */
  readonly publicService: Service | undefined;
  /** What the installation uses and others run. Asked again and again. */
  readonly services: () => readonly Service[];
  /** Ports of this process and its machine: looked at for each call, because some are opened when they are first needed. */
  readonly ports: () => readonly number[];
  /** The gateway listens on loopback only. */
  readonly isLoopback: boolean;
  /** Undefined where there are no others. */
  readonly others: ((own: () => OwnListeners) => OtherListeners) | undefined;
  readonly maxCalls: number;
}

export interface OutboundRoom {
  readonly outbound: Outbound;
  /** What an org's URLs may reach. */
  readonly rulesOf: RulesOf;
  /** What may be fetched from an address in a call's body. */
  readonly downloadRules: OutboundRules;
  /** The ports of this process have changed. */
  portsChanged(): void;
  /** The gateway listens. Call before jobs start. */
  start(): void;
  /** Ends the look-ups; cuts off the calls once their callers have ended, or where that takes long. */
  close(callersEnd: Promise<void>): Promise<void>;
}

/** After it the calls under way at a stop are cut off; they are made again after the next start. */
const STOP_MS = 3_000;

export function openOutboundRoom(options: OutboundPorts): OutboundRoom {
  const { clock, ranges, publicService } = options;
  const addresses = ownAddresses(clock);
  const services = new ServiceAddresses({
    services: options.services,
    ownAddresses: addresses,
    timers: systemTimers,
  });
  const ownPorts = () => [...new Set([...options.ports(), ...services.ports()])];
  const others = options.others?.(() => ({
    addresses: options.isLoopback ? [] : reachable(addresses()),
    ports: ownPorts(),
  }));
  const common = {
    ownPorts,
    ownAddresses: addresses,
    isOfInstallation: (address: Address, port: number) =>
      services.has(address, port) || others?.has(address, port) === true,
    isNameOfInstallation: (name: string, port: number) =>
      (publicService?.host === name && publicService.port === port) || services.hasName(name, port),
  };
  const forAll: OutboundRules = { allow: ranges.forAll, ...common };
  const forFirst: OutboundRules = { allow: [...ranges.forAll, ...ranges.forFirst], ...common };
  const outbound = openOutbound({ rules: forAll, clock, maxCalls: options.maxCalls });
  return {
    outbound,
    rulesOf: (orgId) => (options.isFirst(orgId) ? forFirst : forAll),
    downloadRules: { allow: ranges.forDownloads, ...common },
    portsChanged: () => others?.changed(),
    start() {
      others?.start();
      // Where nothing but public addresses is allowed, no service has to be told from others.
      if (Object.values(ranges).some((list) => list.length > 0)) services.start();
    },
    async close(callersEnd) {
      others?.close();
      services.close();
      const cancel = systemTimers.after(STOP_MS, () => outbound.close());
      await callersEnd;
      cancel();
      outbound.close();
    },
  };
}

/** Addresses under which other machines reach the gateway, as far as it can know. */
const reachable = (addresses: ReadonlySet<string>): string[] =>
  [...addresses].filter((text) => addressClass(text) !== "loopback");
