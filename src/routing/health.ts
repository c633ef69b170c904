/**
 * What recent calls taught about each endpoint: which credentials are usable there, error rate, time to first token,
 * speed. O(1) a result; old observations fade by half-lives, so an endpoint is never judged on a distant past.
 */
import type { Clock } from "../clock.ts";
import type { Endpoint, ProviderKey } from "../endpoint.ts";
import { type LaneLease, type LanePreference, type LaneResult, type LaneSnapshot, Lanes } from "./lanes.ts";
import { type Observation, Observed, type ObservedSnapshot } from "./observed.ts";

export type { LaneLease, LanePreference } from "./lanes.ts";

export interface AttemptResult extends LaneResult, Observation {
  /** It was silent to its end, which came because another endpoint, asked later, answered first. */
  readonly isOvertaken?: boolean | undefined;
}

/** One endpoint as the planner sees it at one instant. */
export interface EndpointHealth {
  /** Milliseconds until it may be tried again; 0: now. */
  readonly outForMs: number;
  /** The same for a call that no other endpoint is left for; absent: no sooner. Only what providers ask for is waited for in full. */
  readonly lastResortOutForMs?: number;
  /** It is out because its credentials were refused, not because it lacks capacity. */
  readonly isRefused?: boolean;
  /** It has as many calls under way as it is known to take: tried after those that have room. */
  readonly isFull?: boolean;
  /** 0 to 1, over roughly the last minute. */
  readonly errorRate: number;
  /** Most recent calls failed: tried after all others. */
  readonly failing: boolean;
  /** A call is finding out how quick it is now: the others need not. */
  readonly isBeingMeasured: boolean;
  /** To the first token of streams; undefined when none was observed lately. */
  readonly ttftMs: number | undefined;
  /** To the end of whole answers. */
  readonly wholeMs: number | undefined;
  readonly tokensPerSecond: number | undefined;
}

export interface HealthView {
  /** Undefined for an endpoint of which nothing is known. */
  of(endpoint: Endpoint): EndpointHealth | undefined;
}

export type HealthState = "healthy" | "degraded" | "failing" | "saturated" | "unknown";

export interface LiveHealth extends EndpointHealth {
  readonly state: HealthState;
}

/** An org's own keys, as far as health has to know them. */
export interface OwnPools {
  /** Empty where it has none for the provider. */
  of(providerId: string): readonly ProviderKey[];
  /** Whether the platform's keys stand in for own ones that are out. */
  platformFallback(providerId: string): boolean;
}

/** What is remembered of an endpoint over a restart: all durations are as of the moment it is taken. */
export interface HealthSnapshot extends ObservedSnapshot {
  readonly lanes: readonly LaneSnapshot[];
}

/** Above it an endpoint is shown as degraded; the planner weighs the rate itself. */
const DEGRADED_ERROR_RATE = 0.1;
/** A call is silent for too long after five times what is usual there, within these bounds. */
const PATIENCE = 5;
const LEAST_PATIENCE_MS = 3_000;
/** An endpoint that never answered may be slower than the others of its model, but not by this much. */
const FIRST_PATIENCE_MS = 10_000;
const UNKNOWN_PATIENCE_MS = 60_000;
/** One that was overtaken was silent for too long after this many times what is usual: there was something to compare it with. */
const OVERTAKEN_PATIENCE = 3;

const UNOBSERVED = {
  ...{ errorRate: 0, failing: false, isBeingMeasured: false },
  ...{ ttftMs: undefined, wholeMs: undefined, tokensPerSecond: undefined },
} as const;

const NOT_OUT = { outForMs: 0, lastResortOutForMs: 0, isRefused: false } as const;

export class Health implements HealthView {
  readonly #clock: Clock;
  readonly #observed = new Map<string, Observed>();
  readonly #lanes = new Lanes();
  /** Endpoints of which more is known than was last taken. */
  #changed = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Out is an endpoint while none of the platform's keys is usable there. */
  of(endpoint: Endpoint): EndpointHealth | undefined {
    const nowMs = this.#clock.monotonic();
    const { keys } = endpoint.provider;
    // Without any key of the platform's an endpoint is not out, only out of reach: the plan says so elsewhere.
    const outForMs = keys.length === 0 ? 0 : this.#lanes.waitMs(endpoint.id, keys, nowMs);
    return this.#seen(endpoint, keys, outForMs, nowMs);
  }

  /**
   * As an org with keys of its own sees it: an endpoint is out while none of them is usable there, and none of the
   * platform's where those may stand in.
   */
  with(own: OwnPools): HealthView {
    return {
      of: (endpoint) => {
        const { id, keys } = endpoint.provider;
        const ownKeys = own.of(id);
        if (ownKeys.length === 0) return this.of(endpoint);
        const nowMs = this.#clock.monotonic();
        let outForMs = this.#lanes.waitMs(endpoint.id, ownKeys, nowMs);
        if (outForMs === 0) return this.#seen(endpoint, ownKeys, 0, nowMs);
        const all = own.platformFallback(id) ? [...ownKeys, ...keys] : ownKeys;
        outForMs = this.#lanes.waitMs(endpoint.id, all, nowMs);
        return this.#seen(endpoint, all, outForMs, nowMs);
      },
    };
  }

  /**
   * Asks to start a call now, with one of these keys. Undefined: each of them rests at the endpoint, or other calls are
   * finding out whether it is back; go to the next endpoint. Whoever got a lane must report with `onResult`,
   * whatever happens.
   */
  begin(endpoint: Endpoint, keys: readonly ProviderKey[], wish?: LanePreference): LaneLease | undefined {
    const nowMs = this.#clock.monotonic();
    const lane = this.#lanes.take(endpoint, keys, wish, nowMs);
    if (lane !== undefined) this.#observedOf(endpoint.id).begins(lane, nowMs);
    return lane;
  }

  /** The first content of a call came: those that wait to learn whether calls are taken again need not wait for its end. */
  onFirstContent(lane: LaneLease): void {
    this.#lanes.accepted(lane, this.#clock.monotonic());
  }

  /**
   * How long a call there may be silent before `onSilence` should be told, milliseconds.
   * @param others endpoints of the same model: an endpoint that never answered is expected to be no slower than the slowest
   *   of them.
   */
  patienceMs(endpoint: Endpoint, isStream: boolean, others: readonly Endpoint[]): number {
    const usualMs = this.#usualMs(endpoint, isStream);
    if (usualMs !== undefined) return Math.max(LEAST_PATIENCE_MS, usualMs * PATIENCE);
    const slowestMs = this.#slowestMs(others, isStream);
    return slowestMs === undefined ? UNKNOWN_PATIENCE_MS : Math.max(FIRST_PATIENCE_MS, slowestMs * PATIENCE);
  }

  /** Whether a call that is silent there for too long may not be answered at all: most fail, or none was ever answered. */
  isDoubtful(endpoint: Endpoint, isStream: boolean): boolean {
    return this.#usualMs(endpoint, isStream) === undefined || this.of(endpoint)?.failing === true;
  }

  /** A call is silent for too long: others need not wait until it gives up to learn of that. Once a call. */
  onSilence(lane: LaneLease): void {
    this.#observedOf(lane.endpoint.id).failed(lane, this.#clock.monotonic());
  }

  /** Ends what `begin` began. A second report of the same lane is ignored. */
  onResult(lane: LaneLease, result: AttemptResult): void {
    const nowMs = this.#clock.monotonic();
    if (!this.#lanes.giveBack(lane, result, nowMs)) return;
    const { endpoint, key } = lane;
    const seen = this.#observedOf(endpoint.id);
    const isLate = result.isOvertaken === true && isOvertakenLate(seen, lane, result, nowMs);
    // What hangs would be taken for what is usual there, and never again for late.
    seen.measured(isLate ? {} : result, nowMs);
    if (result.outcome === "ok") seen.succeeded(lane, nowMs);
    else if (isLate || isEndpointsFault(result, key)) seen.failed(lane, nowMs);
    else seen.endedOtherwise(lane);
    this.#changed.add(endpoint.id);
  }

  /** For people: one word beside the figures. Undefined for an endpoint of which nothing is known. */
  live(endpoint: Endpoint): LiveHealth | undefined {
    const seen = this.of(endpoint);
    return seen && { ...seen, state: this.#stateOf(endpoint.id, seen) };
  }

  /** Keys that are out at one endpoint at least. */
  keysCooling(): number {
    return this.#lanes.keysCooling(this.#clock.monotonic());
  }

  /** Calls under way with this key there. */
  inFlight(endpoint: Endpoint, key: ProviderKey): number {
    return this.#lanes.inFlight(endpoint.id, key, this.#clock.monotonic());
  }

  /** Ids of the endpoints that there is news of since the last time this was asked. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** They are told again the next time. */
  markChanged(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) this.#changed.add(id);
  }

  /** What must outlive the process; undefined for an endpoint that was never tried. */
  snapshot(endpointId: string): HealthSnapshot | undefined {
    const seen = this.#observed.get(endpointId);
    if (seen === undefined) return undefined;
    const nowMs = this.#clock.monotonic();
    return { ...seen.snapshot(nowMs), lanes: this.#lanes.snapshots(endpointId, nowMs) };
  }

  /** Before the first call: goes on as if the snapshot had been taken now. */
  restore(endpointId: string, snapshot: HealthSnapshot): void {
    const nowMs = this.#clock.monotonic();
    this.#observedOf(endpointId).restore(snapshot, nowMs);
    this.#lanes.restore(endpointId, snapshot.lanes, nowMs);
  }

  #usualMs({ id }: Endpoint, isStream: boolean): number | undefined {
    return this.#observed.get(id)?.usualMs(isStream, this.#clock.monotonic());
  }

  #slowestMs(endpoints: readonly Endpoint[], isStream: boolean): number | undefined {
    let slowestMs: number | undefined;
    for (const endpoint of endpoints) {
      const usualMs = this.#usualMs(endpoint, isStream);
      if (usualMs !== undefined) slowestMs = Math.max(usualMs, slowestMs ?? 0);
    }
    return slowestMs;
  }

  #stateOf(endpointId: string, seen: EndpointHealth): HealthState {
    if (seen.outForMs > 0) return "saturated";
    if (seen.failing) return "failing";
    if (seen.errorRate > DEGRADED_ERROR_RATE) return "degraded";
    const hasResults = this.#observed.get(endpointId)?.errorRate(this.#clock.monotonic()) !== undefined;
    return hasResults || seen.ttftMs !== undefined ? "healthy" : "unknown";
  }

  #seen(
    endpoint: Endpoint,
    keys: readonly ProviderKey[],
    outForMs: number,
    nowMs: number,
  ): EndpointHealth | undefined {
    const seen = this.#observed.get(endpoint.id);
    const out = this.#out(endpoint, keys, outForMs, nowMs);
    if (seen === undefined) return outForMs === 0 ? undefined : { ...UNOBSERVED, ...out };
    return {
      // Spelled out: this is made for each endpoint of each plan, and all are to have one shape.
      outForMs: out.outForMs,
      lastResortOutForMs: out.lastResortOutForMs,
      isRefused: out.isRefused,
      isFull: this.#lanes.isFull(endpoint.id, keys, nowMs),
      errorRate: seen.errorRate(nowMs) ?? 0,
      failing: seen.isFailing(nowMs),
      isBeingMeasured: seen.isBeingMeasured(nowMs),
      ttftMs: seen.ttftMs(nowMs),
      wholeMs: seen.wholeMs(nowMs),
      tokensPerSecond: seen.tokensPerSecond(nowMs),
    };
  }

  #out({ id }: Endpoint, keys: readonly ProviderKey[], outForMs: number, nowMs: number) {
    if (outForMs === 0) return NOT_OUT;
    const lastResortOutForMs = this.#lanes.waitMs(id, keys, nowMs, true);
    return { outForMs, lastResortOutForMs, isRefused: this.#lanes.areRefused(id, keys, nowMs) };
  }

  #observedOf(endpointId: string): Observed {
    let seen = this.#observed.get(endpointId);
    if (seen === undefined) {
      seen = new Observed();
      this.#observed.set(endpointId, seen);
    }
    return seen;
  }
}

/** A hedge hides a silent endpoint from its callers; it must not hide it from the plans. */
function isOvertakenLate(seen: Observed, { sinceMs }: LaneLease, { ttftMs }: Observation, nowMs: number): boolean {
  const usualMs = seen.usualMs(ttftMs !== undefined, nowMs);
  return usualMs !== undefined && nowMs - sinceMs >= usualMs * OVERTAKEN_PATIENCE;
}

/** The caller's own errors and departures say nothing about the endpoint; nor does a bad key that an org brought. */
function isEndpointsFault({ outcome, errorClass }: AttemptResult, key: ProviderKey): boolean {
  if (outcome === "cancelled" || errorClass === "client" || errorClass === "capacity") return false;
  return !(key.isByok && errorClass === "auth");
}
