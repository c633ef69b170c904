/**
 * How endpoints do at present, in memory: one that keeps failing is left alone for a while and then tried with one delivery,
 * and one that fails or is slow shares no slots with those that are well. What is forgotten at a stop is learned again.
 */
import type { Random } from "../../base/clock.ts";

/** Failures in a row after which an endpoint is left alone. */
const FAILURES = 5;
const FIRST_PAUSE_MS = 5_000;
/** An endpoint that works again gets its deliveries after this time at the latest. */
const LONGEST_PAUSE_MS = 5 * 60_000;
/** A `Retry-After` stops the other deliveries of the endpoint for no longer. */
const LONGEST_ASKED_MS = 60 * 60_000;
/** A mean above this is slow. */
const SLOW_MS = 1_500;
/** Share of the newest try in the mean. */
const NEWEST = 0.3;
/** Slots for tries: those of endpoints that are well, and those of the others. */
export type SlotPool = "well" | "troubled";

/** Tries in a pool at the same time: of all orgs, and of one, which leaves room for others. */
export const SLOTS: Readonly<Record<SlotPool, { readonly inAll: number; readonly ofOrg: number }>> = {
  well: { inAll: 384, ofOrg: 256 },
  troubled: { inAll: 256, ofOrg: 128 },
};

interface Standing {
  failures: number;
  pauses: number;
  pausedUntilMs: number;
  meanMs: number;
  running: number;
}

export interface Tried {
  readonly isGood: boolean;
  /** How long the endpoint took. */
  readonly elapsedMs: number;
  /** What the endpoint asked for. */
  readonly retryAfterMs: number;
}

export class Standings {
  readonly #random: Random;
  /** Standings of endpoints in trouble, and of those with a try under way. */
  readonly #standings = new Map<string, Standing>();
  /** By pool and org. */
  readonly #runningOf = new Map<string, number>();
  #running = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Tries under way. */
  get running(): number {
    return this.#running;
  }

  /** Number of endpoints that are slow or fail. */
  troubled(): number {
    let count = 0;
    for (const standing of this.#standings.values()) if (isTroubled(standing)) count++;
    return count;
  }

  isTroubled(endpointId: string): boolean {
    const standing = this.#standings.get(endpointId);
    return standing !== undefined && isTroubled(standing);
  }

  /** When the endpoint may be tried; 0: now. While its one try is under way, a little later. */
  restsUntilMs(endpointId: string, nowMs: number): number {
    const standing = this.#standings.get(endpointId);
    if (standing === undefined) return 0;
    // One that lies further ahead was set by a clock that has been set back since.
    if (standing.pausedUntilMs > nowMs + LONGEST_ASKED_MS) standing.pausedUntilMs = 0;
    if (standing.pausedUntilMs > nowMs) return standing.pausedUntilMs;
    return standing.failures >= FAILURES && standing.running > 0 ? nowMs + FIRST_PAUSE_MS : 0;
  }

  /** Whether the org has as many tries under way as one may have. */
  isCrowded(pool: SlotPool, orgId: string): boolean {
    return (this.#runningOf.get(`${pool} ${orgId}`) ?? 0) >= SLOTS[pool].ofOrg;
  }

  /** Notes that a try begins. @returns what to call when it ends; without a result if nothing was learned */
  begin(
    pool: SlotPool,
    orgId: string,
    endpointId: string,
  ): (tried: Tried | undefined, nowMs: number) => void {
    const place = `${pool} ${orgId}`;
    const standing = this.#standings.get(endpointId) ?? {
      failures: 0,
      pauses: 0,
      pausedUntilMs: 0,
      meanMs: 0,
      running: 0,
    };
    this.#standings.set(endpointId, standing);
    standing.running++;
    this.#running++;
    this.#runningOf.set(place, (this.#runningOf.get(place) ?? 0) + 1);
    return (tried, nowMs) => {
      standing.running--;
      this.#running--;
      const left = (this.#runningOf.get(place) ?? 1) - 1;
      if (left > 0) this.#runningOf.set(place, left);
      else this.#runningOf.delete(place);
      if (tried !== undefined) this.#learn(standing, tried, nowMs);
      const isWell = standing.running === 0 && standing.failures === 0 && standing.meanMs < SLOW_MS / 2;
      if (isWell && this.#standings.get(endpointId) === standing) this.#standings.delete(endpointId);
    };
  }

  /** The endpoint was changed, or is gone. */
  forget(endpointId: string): void {
    this.#standings.delete(endpointId);
  }

  #learn(standing: Standing, { isGood, elapsedMs, retryAfterMs }: Tried, nowMs: number): void {
    standing.meanMs = standing.meanMs === 0 ? elapsedMs : standing.meanMs * (1 - NEWEST) + elapsedMs * NEWEST;
    if (isGood) {
      standing.failures = 0;
      standing.pauses = 0;
      standing.pausedUntilMs = 0;
      return;
    }
    standing.failures++;
    const askedMs = nowMs + Math.min(retryAfterMs, LONGEST_ASKED_MS);
    // Tries that began before the pause say nothing new.
    if (standing.failures >= FAILURES && standing.pausedUntilMs <= nowMs) {
      const wholeMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(standing.pauses, 40));
      standing.pauses++;
      standing.pausedUntilMs = nowMs + (wholeMs / 2) * (1 + this.#random());
    }
    standing.pausedUntilMs = Math.max(standing.pausedUntilMs, retryAfterMs > 0 ? askedMs : 0);
  }
}

const isTroubled = ({ failures, meanMs }: Standing): boolean => failures >= FAILURES || meanMs >= SLOW_MS;
