/**
 * Lanes: a lane is one key at one endpoint. Saturation belongs to the lane, since providers count limits per key and
 * model; a refused key is refused at every endpoint. O(keys) per call; each lease is given back exactly once.
 */
import type { Endpoint, ProviderKey } from "../../base/endpoint.ts";
import { hashOf, mixed } from "../hash.ts";
import type { Probe } from "./breaker.ts";
import { forbid, judgeLane, type LaneResult, LONGEST_RETRY_AFTER_MS, permit } from "./lane-result.ts";
import { LaneState } from "./lane-state.ts";
import { Recent } from "./recent.ts";
import { type KeyProbe, type KeyResult, RefusedKeys } from "./refused-keys.ts";
import { Suspicions } from "./suspicions.ts";

export type { LaneResult } from "./lane-result.ts";

/** A call's use of a lane, from `take` to `giveBack`. */
export interface LaneLease {
  readonly endpoint: Endpoint;
  readonly key: ProviderKey;
  /** Monotonic, milliseconds. */
  readonly sinceMs: number;
}

/** Which lane a call prefers, where there is a choice. */
export interface LanePreference {
  /** The key that made the conversation this call continues (T49): taken wherever it is usable. */
  readonly keyId?: string | undefined;
  /** Hash of whoever should stay at one key, so that the provider's prompt cache hits; empty: no affinity. */
  readonly affinityKey?: string | undefined;
  /** The call has no other endpoint: it waits in full only for what the provider asked for. */
  readonly isLastResort?: boolean | undefined;
}

/** A platform lane that is out or half-open, as saved for a restart. */
export interface LaneSnapshot {
  readonly keyId: string;
  readonly hint: string;
  /** Refusals of the lane in a row; 0: it is not out. */
  readonly streak: number;
  readonly outForMs: number;
  /** The part of it that the provider asked for; absent: nothing. */
  readonly askedForMs?: number | undefined;
  /** How long the key is still out at every endpoint; absent: it was not refused. */
  readonly refusedForMs?: number | undefined;
}

/** A key that is out somewhere. */
export interface Cooling extends LaneSnapshot {
  /** It is out there because of 403, not for lack of capacity; absent: it is not, or another process found out. */
  readonly isForbidden?: true;
}

/**
 * A caller stays at its key while that has at most this many more calls in flight than the least loaded key, or a
 * quarter more.
 */
const SLACK_CALLS = 2;
const SLACK_SHARE = 0.25;
/** Processes that are refused together do not lengthen each other's pause by the time that their messages take. */
const TOLD_TOGETHER_MS = 100;
/** Lanes of orgs' own keys are forgotten after this idle time. */
const OWN_IDLE_MS = 3_600_000;
const MAX_OWN_LANES = 100_000;

class TakenLane implements LaneLease {
  readonly endpoint: Endpoint;
  readonly key: ProviderKey;
  readonly state: LaneState;
  /** A probe of the lane, and one of its key. */
  readonly probe: Probe | undefined;
  readonly keyProbe: KeyProbe | undefined;
  readonly sinceMs: number;
  /** Calls in flight in the lane when it began, itself included. */
  readonly atOnce: number;
  isOver = false;

  constructor(
    endpoint: Endpoint,
    key: ProviderKey,
    state: LaneState,
    keyProbe: KeyProbe | undefined,
    nowMs: number,
  ) {
    this.endpoint = endpoint;
    this.key = key;
    this.state = state;
    this.probe = state.breaker.enter(nowMs);
    this.keyProbe = keyProbe;
    this.sinceMs = nowMs;
    this.atOnce = state.inFlight;
  }
}

/** Lanes of the platform's keys at one endpoint. */
class EndpointLanes {
  readonly lanes = new Map<string, LaneState>();
  /** Rotates the order of equally loaded keys. */
  turn = 0;
}

export class Lanes {
  readonly #endpoints = new Map<string, EndpointLanes>();
  readonly #own = new Recent<LaneState>(OWN_IDLE_MS, MAX_OWN_LANES);
  readonly #refused = new RefusedKeys();
  readonly #suspicions = new Suspicions();
  #ask: ((endpoint: Endpoint, key: ProviderKey) => void) | undefined;

  /**
   * From now on no call's answer alone makes a key that all orgs use count as refused. One listener only.
   * @param ask asks the provider, and tells `probed` how it ended
   */
  onSuspicion(ask: (endpoint: Endpoint, key: ProviderKey) => void): void {
    this.#ask = ask;
  }

  /** What the gateway's own question found. @param result undefined: nothing, such as no answer */
  probed(endpointId: string, key: ProviderKey, result: KeyResult | undefined, nowMs: number): void {
    const isAccepted = result !== undefined && result.errorClass !== "auth";
    this.#suspicions.answered(endpointId, key, nowMs, isAccepted);
    if (result === undefined) return;
    const state = this.#state(this.#at(endpointId), endpointId, key, nowMs);
    const { errorClass, httpStatus } = result;
    if (errorClass === "auth" && httpStatus === 403) forbid(state, nowMs);
    else if (errorClass === "auth") this.#refused.judge(key, undefined, result, nowMs);
    else {
      // No caller's own refusals may keep the key on trial.
      this.#refused.forget(key);
      permit(state, nowMs);
    }
  }

  /**
   * The usable lane with the fewest calls in flight, one with free capacity first; undefined where none is usable. The
   * caller must give the lease back, whatever happens.
   */
  take(
    endpoint: Endpoint,
    keys: readonly ProviderKey[],
    wish: LanePreference | undefined,
    nowMs: number,
  ): LaneLease | undefined {
    const at = this.#at(endpoint.id);
    const first = at.turn++;
    const isLastResort = wish?.isLastResort === true;
    let least: LaneState | undefined;
    let leastKey: ProviderKey | undefined;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[(first + i) % keys.length] as ProviderKey;
      const state = this.#state(at, endpoint.id, key, nowMs);
      if (this.#waitMs(state, key, nowMs, isLastResort) > 0) continue;
      if (key.id === wish?.keyId) return this.#enter(endpoint, key, state, nowMs);
      if (least !== undefined && !isLighter(state, least, nowMs)) continue;
      least = state;
      leastKey = key;
    }
    if (least === undefined || leastKey === undefined) return undefined;
    if (!wish?.affinityKey || keys.length === 1) return this.#enter(endpoint, leastKey, least, nowMs);
    const most = least.inFlight + Math.max(SLACK_CALLS, least.inFlight * SLACK_SHARE);
    const key =
      this.#byAffinity(at, endpoint.id, keys, wish.affinityKey, most, nowMs, isLastResort) ?? leastKey;
    return this.#enter(endpoint, key, this.#state(at, endpoint.id, key, nowMs), nowMs);
  }

  /** The call's first content arrived: lane and key accept calls again. */
  accepted(lane: LaneLease, nowMs: number): void {
    if (!(lane instanceof TakenLane) || lane.isOver) return;
    if (lane.probe !== undefined) lane.state.breaker.accepted(lane.probe, nowMs);
    if (lane.keyProbe !== undefined) this.#refused.accepted(lane.key, lane.keyProbe);
  }

  /** Ends what `take` started. False: the lease was given back before, and this report is ignored. */
  giveBack(lane: LaneLease, result: LaneResult, nowMs: number): boolean {
    if (!(lane instanceof TakenLane) || lane.isOver) return false;
    lane.isOver = true;
    lane.state.inFlight -= 1;
    const { endpoint, key } = lane;
    // An org's own key fails for that org alone, so that is believed at once. A shared key is only suspected, and the gateway asks itself.
    const isOnlySuspect = this.#ask !== undefined && !key.isByok;
    const isForbidden = judgeLane(lane, result, nowMs, isOnlySuspect);
    const isRefused = this.#refused.judge(key, lane.keyProbe, result, nowMs, isOnlySuspect);
    if ((isForbidden || isRefused) && this.#suspicions.raise(endpoint.id, key, nowMs))
      this.#ask?.(endpoint, key);
    return true;
  }

  /**
   * Milliseconds until one of these keys may be used there; 0: now. Infinite without keys.
   * @param isLastResort the call has no other endpoint
   */
  waitMs(endpointId: string, keys: readonly ProviderKey[], nowMs: number, isLastResort = false): number {
    let soonestMs = Number.POSITIVE_INFINITY;
    // By index, like the next: V8 makes an iterator of a list that is frozen, as those of the catalog are.
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as ProviderKey;
      const waitMs = this.#waitMs(this.#known(endpointId, key, nowMs), key, nowMs, isLastResort);
      if (waitMs === 0) return 0;
      if (waitMs < soonestMs) soonestMs = waitMs;
    }
    return soonestMs;
  }

  /** Whether every usable lane has as many calls in flight as it is known to take. */
  isFull(endpointId: string, keys: readonly ProviderKey[], nowMs: number): boolean {
    let isAnyFull = false;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as ProviderKey;
      const state = this.#known(endpointId, key, nowMs);
      if (state?.hint === key.hint && state.isFull(nowMs)) isAnyFull = true;
      else if (this.#waitMs(state, key, nowMs) === 0) return false;
    }
    return isAnyFull;
  }

  /** Whether the endpoint is out because every one of these keys is refused there. */
  areRefused(endpointId: string, keys: readonly ProviderKey[], nowMs: number): boolean {
    return keys.every((key) => {
      if (this.#refused.waitMs(key, nowMs) > 0) return true;
      const state = this.#known(endpointId, key, nowMs);
      if (state?.hint !== key.hint || !state.isForbidden) return false;
      // Once a call was accepted only the slow start limits the others.
      return state.breaker.streak > 0 && state.breaker.waitMs(nowMs) > 0;
    });
  }

  /** Calls in flight with this key there. */
  inFlight(endpointId: string, key: ProviderKey, nowMs: number): number {
    return this.#known(endpointId, key, nowMs)?.inFlight ?? 0;
  }

  /** Number of keys that are out at one endpoint or more. */
  keysCooling(nowMs: number): number {
    const out = new Set<string>();
    const note = ({ keyId, breaker }: LaneState) => {
      if (breaker.isOpen(nowMs)) out.add(keyId);
    };
    for (const { lanes } of this.#endpoints.values()) for (const state of lanes.values()) note(state);
    for (const state of this.#own.values()) note(state);
    for (const keyId of this.#refused.openIds(nowMs)) out.add(keyId);
    return out.size;
  }

  /** What must survive a restart of an endpoint's platform lanes. */
  snapshots(endpointId: string, nowMs: number): LaneSnapshot[] {
    const found: LaneSnapshot[] = [];
    for (const { keyId, hint, breaker } of this.#endpoints.get(endpointId)?.lanes.values() ?? []) {
      const refused = this.#refused.of({ id: keyId, hint });
      if (breaker.streak === 0 && refused === undefined) continue;
      const askedForMs = Math.max(breaker.askedUntilMs - nowMs, 0);
      found.push({
        keyId,
        hint,
        streak: breaker.streak,
        outForMs: Math.max(breaker.untilMs - nowMs, 0),
        ...(askedForMs > 0 && { askedForMs }),
        ...(refused && { refusedForMs: Math.max(refused.breaker.untilMs - nowMs, 0) }),
      });
    }
    return found;
  }

  restore(endpointId: string, snapshots: readonly LaneSnapshot[], nowMs: number): void {
    for (const { keyId, hint, streak, outForMs, askedForMs = 0, refusedForMs } of snapshots) {
      const key = { id: keyId, hint, poolId: "", isByok: false, credential: undefined };
      const { breaker } = this.#state(this.#at(endpointId), endpointId, key, nowMs);
      const bounded = (ms: number) => Math.min(ms, LONGEST_RETRY_AFTER_MS);
      breaker.streak = streak;
      if (streak > 0) breaker.open(nowMs, { forMs: bounded(outForMs), askedMs: bounded(askedForMs) });
      if (refusedForMs !== undefined) this.#refused.refuse(key, nowMs, refusedForMs);
    }
  }

  /** How long a key is out there, for another process; undefined where it is not. */
  cooling(endpointId: string, key: ProviderKey, nowMs: number): Cooling | undefined {
    const state = this.#known(endpointId, key, nowMs);
    const breaker = state?.hint === key.hint && state.breaker.isOpen(nowMs) ? state.breaker : undefined;
    const refused = this.#refused.of(key)?.breaker;
    const refusedForMs = refused === undefined ? 0 : refused.untilMs - nowMs;
    if (breaker === undefined && refusedForMs <= 0) return undefined;
    return {
      keyId: key.id,
      hint: key.hint,
      streak: breaker?.streak ?? 0,
      outForMs: breaker === undefined ? 0 : breaker.untilMs - nowMs,
      ...(breaker && { askedForMs: Math.max(breaker.askedUntilMs - nowMs, 0) }),
      ...(refusedForMs > 0 && { refusedForMs }),
      ...(breaker && state?.isForbidden && { isForbidden: true as const }),
    };
  }

  /** Another process was refused: the key is out there at least as long as it says. */
  heardOf(endpointId: string, isByok: boolean, snapshot: LaneSnapshot, nowMs: number): void {
    const { keyId, hint, streak, outForMs, askedForMs = 0, refusedForMs = 0 } = snapshot;
    const key = { id: keyId, hint, poolId: "", isByok, credential: undefined };
    const known = this.#known(endpointId, key, nowMs);
    // During a rollout processes may have different credentials.
    if (known !== undefined && known.hint !== hint) return;
    const { breaker } = this.#state(this.#at(endpointId), endpointId, key, nowMs);
    const forMs = Math.min(outForMs, LONGEST_RETRY_AFTER_MS);
    const knownUntilMs = breaker.isOpen(nowMs) ? breaker.untilMs + TOLD_TOGETHER_MS : nowMs;
    if (streak > 0 && nowMs + forMs > knownUntilMs) {
      breaker.streak = Math.max(breaker.streak, streak);
      breaker.open(nowMs, { forMs, askedMs: Math.min(askedForMs, forMs) });
    }
    if (refusedForMs > this.#refused.waitMs(key, nowMs)) this.#refused.refuse(key, nowMs, refusedForMs);
  }

  #enter(endpoint: Endpoint, key: ProviderKey, state: LaneState, nowMs: number): LaneLease {
    state.inFlight += 1;
    return new TakenLane(endpoint, key, state, this.#refused.enter(key, nowMs), nowMs);
  }

  /**
   * Rendezvous hashing with bounded loads: each caller has its own order of keys and stays at the first one that is
   * usable and not much busier than the others, so affinity never overloads a key.
   */
  #byAffinity(
    at: EndpointLanes,
    endpointId: string,
    keys: readonly ProviderKey[],
    affinityKey: string,
    mostInFlight: number,
    nowMs: number,
    isLastResort: boolean,
  ): ProviderKey | undefined {
    const callerHash = hashOf(affinityKey);
    let best: ProviderKey | undefined;
    let bestHash = -1;
    for (const key of keys) {
      const state = this.#state(at, endpointId, key, nowMs);
      if (state.inFlight > mostInFlight || state.isFull(nowMs)) continue;
      if (this.#waitMs(state, key, nowMs, isLastResort) !== 0) continue;
      const hash = mixed(callerHash ^ state.hash);
      if (hash <= bestHash) continue;
      best = key;
      bestHash = hash;
    }
    return best;
  }

  #waitMs(state: LaneState | undefined, key: ProviderKey, nowMs: number, isLastResort = false): number {
    const ofLaneMs =
      state === undefined || state.hint !== key.hint ? 0 : state.breaker.waitMs(nowMs, isLastResort);
    return Math.max(ofLaneMs, this.#refused.waitMs(key, nowMs));
  }

  #at(endpointId: string): EndpointLanes {
    let at = this.#endpoints.get(endpointId);
    if (at === undefined) {
      at = new EndpointLanes();
      this.#endpoints.set(endpointId, at);
    }
    return at;
  }

  #known(endpointId: string, key: ProviderKey, nowMs: number): LaneState | undefined {
    return key.isByok
      ? this.#own.get(ownLaneKey(endpointId, key), nowMs)
      : this.#endpoints.get(endpointId)?.lanes.get(key.id);
  }

  #state(at: EndpointLanes, endpointId: string, key: ProviderKey, nowMs: number): LaneState {
    let state = key.isByok ? this.#own.get(ownLaneKey(endpointId, key), nowMs) : at.lanes.get(key.id);
    if (state !== undefined && state.hint === key.hint) return state;
    state = new LaneState(key);
    if (key.isByok) this.#own.set(ownLaneKey(endpointId, key), state, nowMs);
    else at.lanes.set(key.id, state);
    return state;
  }
}

function isLighter(a: LaneState, b: LaneState, nowMs: number): boolean {
  const isAFull = a.isFull(nowMs);
  return isAFull === b.isFull(nowMs) ? a.inFlight < b.inFlight : !isAFull;
}

const ownLaneKey = (endpointId: string, key: ProviderKey): string => `${endpointId} ${key.id}`;
