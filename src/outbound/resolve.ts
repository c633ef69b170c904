/**
 * The addresses of a name, every one of them checked: if one is not allowed, the name is refused, because whoever owns it
 * chooses which one is dialled. What is returned is dialled as it is; the name is not looked up again on the way.
 */
import { Resolver } from "node:dns/promises";
import { type Clock, inTime, type Timers } from "../base/clock.ts";
import { codeOf } from "../base/file-errors.ts";
import { type Address, readAddress } from "./address.ts";
import { OutboundError } from "./failure.ts";
import { isAllowed, type OutboundRules } from "./rules.ts";
import type { Target } from "./target.ts";

/** Looks up every A and AAAA of a name; rejects with the code that DNS has for the failure (`ENOTFOUND`). */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface Names {
  /**
   * The addresses to dial, best first. What a name has is kept for all, and held against the rules for each call.
   * @param rules of whoever gave the URL; default: those of everybody
   * @throws OutboundError `refused_address` or `dns`
   */
  addressesOf(target: Target, rules?: OutboundRules): Promise<readonly Address[]>;
  /** Puts an address that cannot be connected to behind the others, for as long as the name's addresses are kept. */
  demote(name: string, address: Address): void;
}

export interface NamesOptions {
  readonly rules: OutboundRules;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** A change of DNS is seen after this time at the latest. */
const FRESH_MS = 30_000;
const LOOKUP_MS = 5_000;
const MAX_ADDRESSES = 64;
const MAX_NAMES = 10_000;

interface Entry {
  addresses: readonly Address[];
  readonly untilMs: number;
}

/** Looks names up, at most once in 30 seconds each, and once for all calls that wait for the same name. */
export function openNames({ rules: ofAll, resolve, clock, timers }: NamesOptions): Names {
  /** The oldest first. */
  const kept = new Map<string, Entry>();
  const pending = new Map<string, Promise<readonly Address[]>>();

  async function lookUp(name: string): Promise<readonly Address[]> {
    const late = () => {
      throw new OutboundError("dns", { code: "ETIMEOUT" });
    };
    const texts = await inTime(resolve(name), LOOKUP_MS, late, timers);
    if (texts.length === 0) throw new OutboundError("dns", { code: "ENODATA" });
    if (texts.length > MAX_ADDRESSES) {
      throw new OutboundError("dns", { message: "The name of the host has too many addresses." });
    }
    const read = texts.flatMap((text) => readAddress(text) ?? []);
    // Who knows what the system would make of it.
    if (read.length < texts.length) throw new OutboundError("refused_address");
    const before = kept.get(name)?.addresses[0]?.text;
    // The one in use stays first, so that its connections stay in use; IPv4 comes before IPv6 otherwise.
    const addresses = read.toSorted((a, b) => Number(b.text === before) - Number(a.text === before));
    kept.delete(name);
    kept.set(name, { addresses, untilMs: clock.monotonic() + FRESH_MS });
    if (kept.size > MAX_NAMES) kept.delete(kept.keys().next().value as string);
    return addresses;
  }

  function addressesOf(name: string): Promise<readonly Address[]> | readonly Address[] {
    const entry = kept.get(name);
    if (entry !== undefined && clock.monotonic() < entry.untilMs) return entry.addresses;
    const found = pending.get(name);
    if (found !== undefined) return found;
    const lookup = lookUp(name)
      .catch((error) => {
        throw error instanceof OutboundError
          ? error
          : new OutboundError("dns", { code: codeOf(error), cause: error });
      })
      .finally(() => pending.delete(name));
    pending.set(name, lookup);
    return lookup;
  }

  return {
    async addressesOf({ name, port, addresses }, rules = ofAll) {
      const all = addresses ?? (await addressesOf(name));
      if (!all.every((address) => isAllowed(address, port, rules)))
        throw new OutboundError("refused_address");
      return all;
    },
    demote(name, address) {
      const entry = kept.get(name);
      if (entry === undefined) return;
      entry.addresses = [...entry.addresses.filter((other) => other !== address), address];
    },
  };
}

/**
 * Asks the system's name servers. `getaddrinfo` is not used: its calls share two threads with those for providers, so names
 * whose servers are silent would stop model calls. So /etc/hosts is not read, and search domains are not tried.
 * @param servers others than the system's, such as `127.0.0.1:5353`
 */
export function dnsResolve(clock: Clock, servers?: readonly string[]): Resolve {
  const open = (): Resolver => {
    const resolver = new Resolver({ timeout: 1_500, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    return resolver;
  };
  let current = open();
  let untilMs = clock.monotonic() + FRESH_MS;
  return async (name) => {
    if (clock.monotonic() >= untilMs) {
      // The system's servers may have changed.
      current = open();
      untilMs = clock.monotonic() + FRESH_MS;
    }
    const [four, six] = await Promise.allSettled([current.resolve4(name), current.resolve6(name)]);
    const addresses = [four, six].flatMap((part) => (part.status === "fulfilled" ? part.value : []));
    // Servers that know nothing of AAAA fail for it; what is not known is not dialled.
    if (addresses.length === 0 && four.status === "rejected") throw four.reason;
    return addresses;
  };
}
