/** What a call's end means for its lane: whether the lane is saturated, or looks forbidden. */
import type { ProviderKey } from "../../base/endpoint.ts";
import { backoffMs, type Probe } from "./breaker.ts";
import type { LaneState } from "./lane-state.ts";
import { type KeyResult, REFUSED_MS } from "./refused-keys.ts";

/** What a call reports about its lane. */
export interface LaneResult extends KeyResult {
  /** Whose call it was; absent: it is not known, and all calls count as of one org. */
  readonly orgId?: string | undefined;
  /** The upstream's own Retry-After, milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The lane of a call that has ended. */
interface JudgedLane {
  readonly key: ProviderKey;
  readonly state: LaneState;
  /** Undefined: the call was no probe. */
  readonly probe: Probe | undefined;
  /** Calls in flight in the lane when it began, itself included. */
  readonly atOnce: number;
}

/** A daily quota may ask for hours; longer values are taken for a mistake. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** 403 may also concern one prompt: only this many in a row are a reason to think of the key. */
const FORBIDDEN_IN_A_ROW = 3;

/** @returns whether it looks as if the key were forbidden there, which is for the provider to say */
export function judgeLane(
  { key, state, probe, atOnce }: JudgedLane,
  result: LaneResult,
  nowMs: number,
  isOnlySuspect: boolean,
): boolean {
  const { outcome, errorClass, httpStatus, orgId = "" } = result;
  const { breaker } = state;
  let isSuspect = false;
  if (errorClass === "capacity") {
    if (key.isByok || !state.evidence.isContradicted(orgId, nowMs))
      saturate(state, atOnce, result, nowMs, probe);
    else if (probe !== undefined) breaker.released(probe);
    return false;
  }
  if (errorClass === "auth" && httpStatus === 403 && key.credential !== undefined) {
    state.forbidden += 1;
    if (state.forbidden >= FORBIDDEN_IN_A_ROW && !breaker.isOpen(nowMs)) {
      isSuspect = isOnlySuspect;
      if (!isSuspect) {
        forbid(state, nowMs, probe);
        return false;
      }
    }
  } else if (outcome === "ok") {
    state.forbidden = 0;
    state.answered(atOnce, nowMs);
    state.evidence.answered(orgId, nowMs);
    if (probe !== undefined) breaker.accepted(probe, nowMs);
  }
  if (probe !== undefined) breaker.released(probe);
  return isSuspect;
}

export function forbid(state: LaneState, nowMs: number, probe?: Probe): void {
  state.isForbidden = true;
  state.breaker.refused({ forMs: REFUSED_MS, askedMs: REFUSED_MS }, nowMs, probe);
}

/** The key is accepted there. A lane that is out for lack of capacity stays so. */
export function permit(state: LaneState, nowMs: number): void {
  state.forbidden = 0;
  if (!state.isForbidden) return;
  state.isForbidden = false;
  state.breaker.end(nowMs);
}

/** 1 s, 2 s, 4 s … 60 s, or what the upstream asked for. Calls refused together count as one refusal. */
function saturate(
  state: LaneState,
  atOnce: number,
  { retryAfterMs }: LaneResult,
  nowMs: number,
  probe: Probe | undefined,
): void {
  const { breaker } = state;
  const isAsked = retryAfterMs !== undefined && retryAfterMs > 0;
  const askedMs = isAsked ? Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) : 0;
  const streak = Math.max(breaker.streak, probe?.streak ?? 0);
  const forMs = isAsked ? askedMs : backoffMs(streak);
  if (!breaker.refused({ forMs, askedMs }, nowMs, probe)) return;
  state.isForbidden = false;
  state.refusedAt(atOnce, breaker.untilMs);
}
