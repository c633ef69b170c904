/**
 * Limits of control-plane requests over a sliding minute, for each key, the keys of an org together, each person, each
 * directory and each address. Changes and reads have windows of their own. A refusal counts nothing.
 *
 * Names of keys, people and orgs are vouched for by their credential and hold over all cells. Addresses are hostile: their
 * windows are in this process, and bounded (`AddressWindows`).
 */
import type { Clock } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { after, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { AddressWindows } from "./address-windows.ts";
import type { Admission, LimitedKey, Limits, RateState, Refusal } from "./limits.ts";

/** Requests a minute; 0: unlimited. */
export interface RequestRates {
  readonly reads: number;
  readonly changes: number;
}

export interface RequestLimitSettings {
  readonly key: RequestRates;
  /** All keys of one org together: making more keys does not help. */
  readonly keysOfOrg: RequestRates;
  readonly person: RequestRates;
  /** All tokens of one org's directory together. */
  readonly directory: RequestRates;
  /** `failures`: requests whose credential was refused. */
  readonly address: RequestRates & { readonly failures: number };
}

export type RequestKind = "reads" | "changes";

export interface CountedRequest {
  /** A request without a credential counts for its address. */
  readonly caller: Caller;
  readonly address: string;
  readonly kind: RequestKind;
  /** Told the state of the tightest limit, once the request is counted or refused; not called where there is none. */
  readonly tell: (rate: RateState) => void;
}

export interface RequestLimits {
  /**
   * Counts a request.
   * @throws WeirError 429 `rpm` (also as a rejection), 503 where cells cannot ask each other
   */
  admit(request: CountedRequest): MaybePromise<void>;
  /** Counts a credential that was refused. @throws WeirError 429 `rpm` once the address has had too many */
  refused(address: string, tell: CountedRequest["tell"]): void;
}

interface Bound extends LimitedKey {
  readonly rpm: number;
  /** Whose limit it is, in words. */
  readonly whose: string;
}

export interface RequestLimitOptions {
  /** The clock of the windows of addresses. */
  readonly clock: Clock;
  /** The windows of keys, people and directories: over all cells, where there are several. */
  readonly limits: Pick<Limits, "admit" | "state">;
  readonly settings: RequestLimitSettings;
}

export function requestLimits({ clock, limits, settings }: RequestLimitOptions): RequestLimits {
  const windows = new AddressWindows(clock);

  function countAddress(
    kind: RequestKind | "failures",
    { address, tell }: Pick<CountedRequest, "address" | "tell">,
  ): void {
    const rpm = settings.address[kind];
    if (rpm === 0) return;
    const { waitMs, rate } = windows.take(kind, address, rpm);
    tell(rate);
    if (waitMs > 0) throw tooMany("An address", rpm, kind, waitMs);
  }

  return {
    admit(request) {
      const { caller, kind } = request;
      const actor = caller.actor.kind;
      // Operators must be able to act whatever comes in.
      if (actor === "operator" || actor === "system") return undefined;
      if (actor === "nobody") return countAddress(kind, request);
      const bounds = boundsOf(settings, caller, kind);
      return bounds.length === 0 ? undefined : throughAll(limits, bounds, request);
    },
    refused: (address, tell) => countAddress("failures", { address, tell }),
  };
}

function boundsOf(settings: RequestLimitSettings, caller: Caller, kind: RequestKind): Bound[] {
  const bound = (name: string, whose: string, rates: RequestRates): Bound => {
    const rpm = rates[kind];
    return { keyId: `control:${kind}:${name}`, limits: { rpm }, rpm, whose };
  };
  const { actor, orgId } = caller;
  const { key, keysOfOrg, person, directory } = settings;
  const all =
    actor.kind === "person"
      ? [bound(`person:${actor.id}`, "A person", person)]
      : actor.kind === "directory"
        ? [bound(`directory:${orgId}`, "A directory", directory)]
        : [
            bound(`key:${actor.id}`, "A key", key),
            bound(`keys_of:${orgId}`, "The keys of an organisation together", keysOfOrg),
          ];
  return all.filter(({ rpm }) => rpm !== 0);
}

/** Bounds that are used up are asked first, so that none counts a request that another one refuses. */
function throughAll(
  limits: RequestLimitOptions["limits"],
  bounds: readonly Bound[],
  { kind, tell }: CountedRequest,
): MaybePromise<void> {
  const rateOf = (bound: Bound) => limits.state(bound).requests as RateState;
  const isUsedUp = (bound: Bound) => rateOf(bound).remaining === 0;
  const ordered = [...bounds.filter(isUsedUp), ...bounds.filter((bound) => !isUsedUp(bound))];
  let longest: { readonly bound: Bound; readonly refusal: Refusal } | undefined;
  const step = (at: number): MaybePromise<void> => {
    const bound = ordered[at];
    if (bound === undefined || (longest !== undefined && !isUsedUp(bound))) return ended();
    return after<Admission | Refusal, void>(limits.admit(bound, 0), (outcome) => {
      if (outcome.admitted) outcome.release();
      else if (longest === undefined || outcome.retryAfterMs > longest.refusal.retryAfterMs)
        longest = { bound, refusal: outcome };
      return step(at + 1);
    });
  };
  const ended = (): void => {
    if (longest !== undefined) {
      const { bound, refusal } = longest;
      tell({ ...rateOf(bound), remaining: 0 });
      throw tooMany(bound.whose, bound.rpm, kind, refusal.retryAfterMs);
    }
    const [tightest] = bounds.map(rateOf).sort((a, b) => a.remaining - b.remaining);
    if (tightest !== undefined) tell(tightest);
  };
  return step(0);
}

const NOUNS: Readonly<Record<RequestKind | "failures", string>> = {
  reads: "reads of the control plane",
  changes: "changes (POST, PUT, PATCH, DELETE, sign-ins)",
  failures: "requests with a credential that is refused",
};

const tooMany = (
  whose: string,
  rpm: number,
  kind: RequestKind | "failures",
  retryAfterMs: number,
): WeirError =>
  fail("rpm", `${whose} may send ${rpm} ${NOUNS[kind]} a minute: wait retry_after_ms.`, { retryAfterMs });
