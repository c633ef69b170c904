/**
 * Sliding minutes of addresses, in memory and bounded. An IPv4 address has a window, an IPv6 one shares it with its /64, which
 * one client has to itself (RFC 6177).
 *
 * Whoever has many addresses cannot win a fresh minute by them: a window that counts something is never dropped. Where there
 * is no room for another one, newcomers share a window with their wider network (IPv4 /16, IPv6 /32), so that a flood from
 * one network leaves the rest of the world its requests. Which networks share one is not foreseeable.
 */
import { createHmac, randomBytes } from "node:crypto";
import ipaddr from "ipaddr.js";
import type { Clock } from "../../base/clock.ts";
import type { RateState } from "./limits.ts";
import { SlidingWindow } from "./window.ts";

const MOST_ADDRESSES = 20_000;
const WIDER_NETWORKS = 1024;
/** Looked at for each request: they are dropped faster than they come. */
const SWEPT = 2;

export interface Taken {
  /** 0: it was counted. Otherwise exact, if nothing else comes from the address. */
  readonly waitMs: number;
  readonly rate: RateState;
}

export class AddressWindows {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #windows = new Map<string, SlidingWindow>();
  #sweep = this.#windows.entries();
  readonly #shared = new Map<string, SlidingWindow>();
  readonly #secret = randomBytes(32);

  constructor(clock: Clock, most = MOST_ADDRESSES) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Counts a request of a kind, unless the address has had `limit` of them in the last minute. */
  take(kind: string, address: string, limit: number): Taken {
    const nowMs = Math.floor(this.#clock.monotonic());
    this.#sweepSome(nowMs);
    const window = this.#windowOf(kind, address);
    const waitMs = window.waitMs(nowMs, 1, limit);
    if (waitMs === 0) window.add(nowMs, 1);
    const remaining = Math.max(0, limit - window.total(nowMs));
    return { waitMs, rate: { limit, remaining, resetMs: window.emptyInMs(nowMs) } };
  }

  get tracked(): number {
    return this.#windows.size + this.#shared.size;
  }

  #windowOf(kind: string, address: string): SlidingWindow {
    const { own, wider } = networksOf(address);
    const name = `${kind} ${own}`;
    const known = this.#windows.get(name);
    if (known !== undefined) return known;
    const isFull = this.#windows.size >= this.#most;
    const window = new SlidingWindow();
    if (!isFull) {
      this.#windows.set(name, window);
      return window;
    }
    const slot = `${kind} ${this.#slotOf(wider)}`;
    const shared = this.#shared.get(slot) ?? window;
    this.#shared.set(slot, shared);
    return shared;
  }

  #slotOf(network: string): number {
    return createHmac("sha256", this.#secret).update(network).digest().readUInt16BE(0) % WIDER_NETWORKS;
  }

  #sweepSome(nowMs: number): void {
    for (let i = 0; i < SWEPT; i++) {
      const step = this.#sweep.next();
      if (step.done) {
        this.#sweep = this.#windows.entries();
        return;
      }
      const [name, window] = step.value;
      if (window.total(nowMs) === 0) this.#windows.delete(name);
    }
  }
}

/** What is no address shares one window. */
function networksOf(address: string): { readonly own: string; readonly wider: string } {
  if (!ipaddr.isValid(address)) return { own: "", wider: "" };
  const ip = ipaddr.process(address);
  const bytes = ip.toByteArray();
  const [own, wider] = ip.kind() === "ipv4" ? [4, 2] : [8, 4];
  return { own: bytes.slice(0, own).join("."), wider: bytes.slice(0, wider).join(".") };
}
