/**
 * Where the services listen that the installation uses and others run: Redis, ClickHouse, a collector, providers in a private network. No
 * tenant's URL reaches them, whichever ranges are allowed. A service on the Internet is no secret: anybody reaches it without the gateway.
 */
import { lookup } from "node:dns/promises";
import type { Timers } from "../base/clock.ts";
import { codeOf } from "../base/file-errors.ts";
import { type Address, isLocalName, LOOPBACK, readAddress } from "./address.ts";
import { isOwn, type OutboundRules } from "./rules.ts";

export interface Service {
  /** A name in lower case or an address, without brackets and without a dot at its end. */
  readonly host: string;
  readonly port: number;
}

/** Every address of a name, as the gateway's own connections look it up: `/etc/hosts` counts. Rejects with the code of `getaddrinfo`. */
export type LookUp = (name: string) => Promise<readonly string[]>;

export interface ServiceAddressOptions {
  /** Asked again and again: a catalog that is read anew may have other providers. */
  readonly services: () => readonly Service[];
  readonly ownAddresses: OutboundRules["ownAddresses"];
  readonly timers: Timers;
  readonly lookUp?: LookUp;
}

/** A change of DNS is seen after this time. */
const LOOK_MS = 60_000;

const systemLookUp: LookUp = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address.replace(/%.*/, ""));

/** Names are looked up from `start` on. Until one is, nothing on its port is called but public addresses. */
export class ServiceAddresses {
  readonly #options: Required<ServiceAddressOptions>;
  readonly #known = new Map<string, readonly Address[]>();
  #cancel: () => void = () => {};
  #isClosed = false;

  constructor(options: ServiceAddressOptions) {
    this.#options = { lookUp: systemLookUp, ...options };
  }

  start(): void {
    void this.#look().then(() => {
      if (!this.#isClosed) this.#cancel = this.#options.timers.after(LOOK_MS, () => this.start());
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Ports of the services that are on this machine. */
  ports(): number[] {
    const isHere = (address: Address) => isOwn(address, this.#options);
    return this.#options
      .services()
      .filter((service) => this.#addressesOf(service)?.some(isHere) === true)
      .map(({ port }) => port);
  }

  /** Whether a service listens there that not everybody reaches, or it cannot be known yet that none does. */
  has({ text, class: kind }: Address, port: number): boolean {
    return this.#options.services().some((service) => {
      if (service.port !== port) return false;
      const addresses = this.#addressesOf(service);
      if (addresses === undefined) return kind !== "public";
      // A public address behind a name may be one that many share.
      return addresses.some((at) => at.text === text && (kind !== "public" || service.host === text));
    });
  }

  /** Whether a service is called by this name that not everybody reaches. */
  hasName(name: string, port: number): boolean {
    return this.#options.services().some((service) => {
      if (service.port !== port || service.host !== name) return false;
      const addresses = this.#addressesOf(service) ?? [];
      return readAddress(name) !== undefined || !addresses.every((at) => at.class === "public");
    });
  }

  /** Undefined: it has not been looked up. */
  #addressesOf({ host }: Service): readonly Address[] | undefined {
    const literal = readAddress(host);
    if (literal !== undefined) return [literal];
    if (isLocalName(host)) return LOOPBACK;
    return this.#known.get(host);
  }

  /** One after the other: a name whose servers are silent holds one thread of those that look names up. */
  async #look(): Promise<void> {
    const { services, lookUp } = this.#options;
    const isName = ({ host }: Service) => readAddress(host) === undefined && !host.endsWith("localhost");
    for (const name of new Set(
      services()
        .filter(isName)
        .map(({ host }) => host),
    )) {
      if (this.#isClosed) return;
      try {
        this.#known.set(
          name,
          (await lookUp(name)).flatMap((text) => readAddress(text) ?? []),
        );
      } catch (error) {
        // There is no such name, so no service either. After another failure it counts as it was known before.
        if (codeOf(error) === "ENOTFOUND" && !this.#known.has(name)) this.#known.set(name, []);
      }
    }
  }
}

const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "redis:": 6379,
  "rediss:": 6379,
};

/** Undefined where the text names no host. */
export function serviceAt(url: string): Service | undefined {
  const { protocol = "", hostname = "", port = "" } = URL.parse(url) ?? {};
  // Schemes that browsers do not know leave the host as it was written.
  const host = URL.parse(`http://${hostname}`)?.hostname.replace(/^\[|\]$|\.$/g, "");
  if (host === undefined || host === "") return undefined;
  return { host, port: port === "" ? (PORTS[protocol] ?? 0) : Number(port) };
}
