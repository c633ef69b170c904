/**
 * Credentials that are of no use at any endpoint: refused by the provider (revoked, unpaid), or no token is to be had for
 * them. After a rest a call tries them, since they may have been put right. Bounded; a new credential begins anew.
 */
import type { ProviderKey } from "../endpoint.ts";
import type { AttemptOutcome, ErrorClass } from "../record.ts";
import { Breaker, backoffMs, type Probe } from "./breaker.ts";

export interface RefusedKey {
  /** Of the credential that was refused, which may have been replaced under the same id. */
  readonly hint: string;
  readonly breaker: Breaker;
}

/** A call that also finds out whether its credential is taken again. */
export interface KeyProbe {
  readonly of: RefusedKey;
  readonly probe: Probe;
}

/** What a call tells of the credential that it carried. */
export interface KeyResult {
  readonly outcome: AttemptOutcome;
  readonly errorClass: ErrorClass;
  /** 0 or absent: no status line came. */
  readonly httpStatus?: number | undefined;
}

export const REFUSED_MS = 60_000;
const MAX_REFUSED = 10_000;

export class RefusedKeys {
  /** By key id; the first is the one refused longest ago. */
  readonly #refused = new Map<string, RefusedKey>();

  of({ id, hint }: Pick<ProviderKey, "id" | "hint">): RefusedKey | undefined {
    // Usually there is none: no look-up on the way of every call.
    if (this.#refused.size === 0) return undefined;
    const refused = this.#refused.get(id);
    return refused?.hint === hint ? refused : undefined;
  }

  /** Milliseconds until the key may be tried, as far as this is concerned; 0: now. */
  waitMs(key: ProviderKey, nowMs: number): number {
    return this.of(key)?.breaker.waitMs(nowMs) ?? 0;
  }

  *restingIds(nowMs: number): Iterable<string> {
    for (const [id, { breaker }] of this.#refused) if (breaker.isResting(nowMs)) yield id;
  }

  /** A call begins with the key. */
  enter(key: ProviderKey, nowMs: number): KeyProbe | undefined {
    const refused = this.of(key);
    const probe = refused?.breaker.enter(nowMs);
    return refused === undefined || probe === undefined ? undefined : { of: refused, probe };
  }

  /** The provider accepted the credential: the key is no longer on probation. */
  accepted({ id }: ProviderKey, tried: KeyProbe): void {
    if (this.#refused.get(id) === tried.of) this.#refused.delete(id);
  }

  /** @param tried where the key was on probation when the call began */
  judge(key: ProviderKey, tried: KeyProbe | undefined, result: KeyResult, nowMs: number): void {
    const { outcome, errorClass, httpStatus } = result;
    // 403 may be about one model or one prompt. Where there is no credential, none can have been revoked.
    if (errorClass === "auth" && httpStatus !== 403 && key.credential !== undefined) {
      const known = this.of(key)?.breaker;
      // Calls refused together count once; a probe that is refused begins the next rest.
      if (known?.isResting(nowMs)) return;
      const streak = known?.streak ?? 0;
      // Without an answer nobody has refused anything: a token endpoint that hiccups is soon asked again.
      this.refuse(key, nowMs, httpStatus ? REFUSED_MS : backoffMs(streak), streak);
      return;
    }
    if (tried === undefined) return;
    // These are answers to a credential that was taken.
    if (outcome === "ok" || errorClass === "client" || errorClass === "capacity") this.accepted(key, tried);
    else tried.of.breaker.released(tried.probe);
  }

  /** @param streak rests in a row before this one. */
  refuse({ id, hint }: Pick<ProviderKey, "id" | "hint">, nowMs: number, forMs: number, streak = 0): void {
    const breaker = new Breaker();
    breaker.streak = streak + 1;
    const ms = Math.min(forMs, REFUSED_MS);
    // Not shorter for callers without another endpoint: the provider refuses the credential for every caller.
    breaker.rest(nowMs, { forMs: ms, askedMs: ms });
    this.#refused.delete(id);
    this.#refused.set(id, { hint, breaker });
    const [oldest] = this.#refused.size > MAX_REFUSED ? this.#refused.keys() : [];
    if (oldest !== undefined) this.#refused.delete(oldest);
  }
}
