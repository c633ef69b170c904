/**
 * Health of each endpoint, learned from recent calls: which keys are usable there, error rate, time to first token,
 * speed. O(1) per result; observations decay by half-lives, so only recent ones count.
 */
import type { Clock } from "../../base/clock.ts";
import type { Endpoint, Model, ProviderKey } from "../../base/endpoint.ts";
import type { ErrorClass } from "../../record/record.ts";
import type { DecayedMean } from "./decaying-mean.ts";
import {
  type Cooling,
  type LaneLease,
  type LanePreference,
  type LaneResult,
  type LaneSnapshot,
  Lanes,
} from "./lanes.ts";
import { isOvertakenLate, type Observation, Observed, type ObservedSnapshot } from "./observed.ts";
import { OthersErrors } from "./others-errors.ts";
import type { KeyResult } from "./refused-keys.ts";

export type { LaneLease, LanePreference } from "./lanes.ts";

export interface AttemptResult extends LaneResult, Observation {
  /** It had not answered when a later endpoint answered first (hedging). */
  readonly isOvertaken?: boolean | undefined;
}

/** One endpoint as the planner sees it now. */
export interface EndpointHealth {
  /** Milliseconds until it may be tried again; 0: now. */
  readonly outForMs: number;
  /**
   * The same for a call without another endpoint, which waits in full only for what the provider asked for; absent: no
   * sooner.
   */
  readonly lastResortOutForMs?: number;
  /** It is out because the provider refused its keys, not because it lacks capacity. */
  readonly isRefused?: boolean;
  /** It has as many calls in flight as it is known to take: it ranks after endpoints with free capacity. */
  readonly isFull?: boolean;
  /** 0 to 1, over roughly the last minute. */
  readonly errorRate: number;
  /** Most recent calls failed: it ranks after all others. */
  readonly failing: boolean;
  /** A call is measuring its speed now: other calls need not. */
  readonly isBeingMeasured: boolean;
  /** To the first token of streams, milliseconds; undefined without a recent measurement. */
  readonly ttftMs: number | undefined;
  /** To the end of non-streamed answers. */
  readonly wholeMs: number | undefined;
  readonly tokensPerSecond: number | undefined;
}

export interface HealthView {
  /** Undefined for an endpoint of which nothing is known. */
  of(endpoint: Endpoint): EndpointHealth | undefined;
}

export type HealthState = "healthy" | "degraded" | "failing" | "saturated" | "unknown";

/** An endpoint that takes no calls after failures in a row. */
export interface Outage {
  /** Monotonic; undefined: it is not known when it began. */
  readonly sinceMs: number | undefined;
  /** Class of the failures. */
  readonly reason: ErrorClass;
}

export interface LiveHealth extends EndpointHealth {
  readonly state: HealthState;
  /** Class of the last failure that this process saw there since its start; empty: none. */
  readonly lastFailure: ErrorClass;
}

/** An org's own provider keys, as far as health needs them. */
export interface OwnPools {
  /** Empty where the org has no key for the provider. */
  of(providerId: string): readonly ProviderKey[];
  /** Whether platform keys may be used when the org's own keys are out. */
  platformFallback(providerId: string): boolean;
}

/** An org's own provider keys, as calls use them. */
export interface OwnKeys extends OwnPools {
  /** The model including endpoints that only an own key reaches. */
  modelFor(model: Model, unreachable: readonly Endpoint[]): Model;
}

/** What survives a restart; durations are relative to the moment of the snapshot. */
export interface HealthSnapshot extends ObservedSnapshot {
  readonly lanes: readonly LaneSnapshot[];
}

/** Above it an endpoint is shown as degraded; the planner uses the rate itself. */
const DEGRADED_ERROR_RATE = 0.1;
/** Refusals in a row for lack of capacity at each of its keys, over 15 seconds at least: then nothing gets through. */
const SATURATED_IN_A_ROW = 5;
/** A call is late after five times the endpoint's usual time, within these bounds. */
const PATIENCE = 5;
const LEAST_PATIENCE_MS = 3_000;
/** An endpoint that never answered may be slower than the others of its model, but not by this much. */
const FIRST_PATIENCE_MS = 10_000;
const UNKNOWN_PATIENCE_MS = 60_000;
const UNOBSERVED = {
  errorRate: 0,
  failing: false,
  isBeingMeasured: false,
  ttftMs: undefined,
  wholeMs: undefined,
  tokensPerSecond: undefined,
} as const;

const NOT_OUT = { outForMs: 0, lastResortOutForMs: 0, isRefused: false } as const;

export class Health implements HealthView {
  readonly #clock: Clock;
  #onRefused: ((endpoint: Endpoint, key: ProviderKey) => void) | undefined;
  readonly #observed = new Map<string, Observed>();
  readonly #others = new OthersErrors();
  readonly #lanes = new Lanes();
  /** Endpoints with news since `takeChanged` was last called. */
  #changed = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An endpoint is out while none of the platform's keys is usable there. */
  of(endpoint: Endpoint): EndpointHealth | undefined {
    const nowMs = this.#clock.monotonic();
    const { keys } = endpoint.provider;
    // An endpoint without platform keys is not out but unreachable: the plan reports that elsewhere.
    const outForMs = keys.length === 0 ? 0 : this.#lanes.waitMs(endpoint.id, keys, nowMs);
    return this.#seen(endpoint, keys, outForMs, nowMs);
  }

  /**
   * As an org with keys of its own sees it: an endpoint is out while none of them is usable there, and no platform key
   * either where the org allows the fallback.
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
   * Starts a call with one of these keys. Undefined: none is usable now, because its breakers are open or as many
   * probes as allowed are under way; try the next endpoint. The caller must report the end of the lease with
   * `onResult`, whatever happens.
   */
  begin(endpoint: Endpoint, keys: readonly ProviderKey[], wish?: LanePreference): LaneLease | undefined {
    const nowMs = this.#clock.monotonic();
    const lane = this.#lanes.take(endpoint, keys, wish, nowMs);
    if (lane !== undefined) this.#observedOf(endpoint.id).begins(lane, nowMs);
    return lane;
  }

  /** The first content of a call arrived: if the call is a probe, others need not wait for its end. */
  onFirstContent(lane: LaneLease): void {
    this.#lanes.accepted(lane, this.#clock.monotonic());
  }

  /**
   * How long a call there may go without an answer before `onSilence` should be called, milliseconds.
   * @param others endpoints of the same model: an endpoint that never answered is expected to be no slower than the
   *   slowest of them.
   */
  patienceMs(endpoint: Endpoint, isStream: boolean, others: readonly Endpoint[]): number {
    const usualMs = this.#usualMs(endpoint, isStream);
    if (usualMs !== undefined) return Math.max(LEAST_PATIENCE_MS, usualMs * PATIENCE);
    const slowestMs = this.#slowestMs(others, isStream);
    return slowestMs === undefined ? UNKNOWN_PATIENCE_MS : Math.max(FIRST_PATIENCE_MS, slowestMs * PATIENCE);
  }

  /** Whether a late call there may never be answered: most calls fail, or none was ever answered. */
  isDoubtful(endpoint: Endpoint, isStream: boolean): boolean {
    return this.#usualMs(endpoint, isStream) === undefined || this.of(endpoint)?.failing === true;
  }

  /** A call of an org is late: it counts as a failure now, before it ends. Call at most once per call. */
  onSilence(lane: LaneLease, orgId = ""): void {
    this.#observedOf(lane.endpoint.id).failed(lane, this.#clock.monotonic(), "timeout", orgId);
  }

  /** Ends what `begin` started. A second report for the same lease is ignored. */
  onResult(lane: LaneLease, result: AttemptResult): void {
    const nowMs = this.#clock.monotonic();
    if (!this.#lanes.giveBack(lane, result, nowMs)) return;
    const { endpoint, key } = lane;
    const seen = this.#observedOf(endpoint.id);
    const isLate = result.isOvertaken === true && isOvertakenLate(seen, lane, result, nowMs);
    // A hanging call must not raise the usual time, or no later call would count as late.
    seen.measured(isLate ? {} : result, nowMs);
    const { outcome, errorClass, orgId } = result;
    if (outcome === "ok") seen.succeeded(lane, nowMs, orgId);
    else if (isLate) seen.failed(lane, nowMs, "timeout", orgId);
    else if (isEndpointsFault(result, key))
      seen.failed(lane, nowMs, errorClass, orgId, outcome === "connect_error");
    else seen.endProbe(lane);
    this.#changed.add(endpoint.id);
    if (errorClass === "capacity" || errorClass === "auth") this.#onRefused?.(endpoint, key);
  }

  /**
   * From now on a provider is asked before a key that all orgs use counts as refused: answers to calls may come of what a caller
   * wrote. Without a listener, as in simulations, calls are believed. One listener only.
   * @param ask asks the provider with the key, and tells `probed` in every case; never throws
   */
  onSuspicion(ask: (endpoint: Endpoint, key: ProviderKey) => void): void {
    this.#lanes.onSuspicion(ask);
  }

  /** How a question of the gateway's own ended. @param result undefined: nothing was found out */
  probed(endpoint: Endpoint, key: ProviderKey, result: KeyResult | undefined): void {
    this.#lanes.probed(endpoint.id, key, result, this.#clock.monotonic());
    this.#changed.add(endpoint.id);
    if (result?.errorClass === "auth") this.#onRefused?.(endpoint, key);
  }

  /** Calls it after each refusal of a key, once it is judged. One listener only. */
  onRefused(listener: (endpoint: Endpoint, key: ProviderKey) => void): void {
    this.#onRefused = listener;
  }

  /** How long a key is out there, for other processes; undefined where it is not. */
  cooling(endpoint: Endpoint, key: ProviderKey): Cooling | undefined {
    return this.#lanes.cooling(endpoint.id, key, this.#clock.monotonic());
  }

  /** What another process said of a key that is out. */
  heardOf(endpointId: string, isByok: boolean, snapshot: LaneSnapshot): void {
    this.#lanes.heardOf(endpointId, isByok, snapshot, this.#clock.monotonic());
  }

  /** What another process said of calls to an endpoint. */
  heardErrors(from: string, endpointId: string, errors: DecayedMean): void {
    this.#others.heard(from, endpointId, errors, this.#clock.monotonic());
  }

  /** Errors of the endpoints that a call ended at within this time, at most so many endpoints. */
  errorsWithin(ms: number, most: number): [endpointId: string, errors: DecayedMean][] {
    const nowMs = this.#clock.monotonic();
    const found: [string, DecayedMean][] = [];
    for (const [id, { errors }] of this.#observed) {
      if (errors.ageMs(nowMs) > ms) continue;
      if (found.push([id, errors.faded(nowMs)]) === most) break;
    }
    return found;
  }

  /**
   * For people: the figures with a one-word state, and the error rate over all processes of the installation. Undefined for an
   * endpoint that was never observed.
   */
  live(endpoint: Endpoint): LiveHealth | undefined {
    const nowMs = this.#clock.monotonic();
    const observed = this.#observed.get(endpoint.id);
    const errorRate = this.#others.errorRate(endpoint.id, observed?.errors, nowMs);
    const seen = this.of(endpoint) ?? (errorRate === undefined ? undefined : { ...UNOBSERVED, ...NOT_OUT });
    const shown = seen && { ...seen, errorRate: errorRate ?? 0 };
    const state = shown && stateOf(shown, errorRate !== undefined);
    return state && { ...shown, state, lastFailure: observed?.failedFor ?? "" };
  }

  /** Call it after a failure there: it looks at each of the platform's keys. Undefined: calls get through, or may. */
  outage({ id, provider: { keys } }: Endpoint): Outage | undefined {
    const failing = this.#observed.get(id)?.outage();
    if (failing !== undefined || keys.length === 0) return failing;
    const lanes = this.#lanes.snapshots(id, this.#clock.monotonic());
    const isOut = (key: ProviderKey) =>
      lanes.some(
        ({ keyId, hint, streak, outForMs }) =>
          keyId === key.id && hint === key.hint && streak >= SATURATED_IN_A_ROW && outForMs > 0,
      );
    return keys.every(isOut) ? { sinceMs: undefined, reason: "capacity" } : undefined;
  }

  /** Number of keys that are out at one endpoint or more. */
  keysCooling(): number {
    return this.#lanes.keysCooling(this.#clock.monotonic());
  }

  /** Calls in flight with this key there. */
  inFlight(endpoint: Endpoint, key: ProviderKey): number {
    return this.#lanes.inFlight(endpoint.id, key, this.#clock.monotonic());
  }

  /** Ids of the endpoints with news since the last call of this function. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** Returns these ids again from the next `takeChanged`. */
  markChanged(endpointIds: Iterable<string>): void {
    for (const id of endpointIds) this.#changed.add(id);
  }

  /** What must survive a restart; undefined for an endpoint that was never tried. */
  snapshot(endpointId: string): HealthSnapshot | undefined {
    const seen = this.#observed.get(endpointId);
    if (seen === undefined) return undefined;
    const nowMs = this.#clock.monotonic();
    return { ...seen.snapshot(nowMs), lanes: this.#lanes.snapshots(endpointId, nowMs) };
  }

  /** Before the first call: restores the snapshot as if it had been taken now. */
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
      // No spread: this runs for each endpoint of each plan, and all objects must have one shape.
      outForMs: out.outForMs,
      lastResortOutForMs: out.lastResortOutForMs,
      isRefused: out.isRefused,
      isFull: this.#lanes.isFull(endpoint.id, keys, nowMs),
      errorRate: seen.errors.mean(nowMs) ?? 0,
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

function stateOf(seen: EndpointHealth, hasResults: boolean): HealthState {
  if (seen.outForMs > 0) return "saturated";
  if (seen.failing) return "failing";
  if (seen.errorRate > DEGRADED_ERROR_RATE) return "degraded";
  return hasResults || seen.ttftMs !== undefined ? "healthy" : "unknown";
}

/** Client errors and disconnects say nothing about the endpoint; nor does an org's own bad key. */
function isEndpointsFault({ outcome, errorClass }: AttemptResult, key: ProviderKey): boolean {
  if (outcome === "cancelled" || errorClass === "client" || errorClass === "capacity") return false;
  return !(key.isByok && errorClass === "auth");
}
