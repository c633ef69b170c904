/**
 * Keys that are out at every endpoint: refused by the provider (revoked, unpaid), or no access token can be had for
 * them. After a while a call probes them, since they may have been repaired. Bounded; a new credential starts anew.
 */
import type { ProviderKey } from "../../base/endpoint.ts";
import type { AttemptOutcome, ErrorClass } from "../../record/record.ts";
import { Breaker, backoffMs, type Probe } from "./breaker.ts";

export interface RefusedKey {
  /** Hint of the refused credential, which may have been replaced under the same id. */
  readonly hint: string;
  readonly breaker: Breaker;
}

/** A call that probes whether its key is accepted again. */
export interface KeyProbe {
  readonly of: RefusedKey;
  readonly probe: Probe;
}

/** What a call reports about its key. */
export interface KeyResult {
  readonly outcome: AttemptOutcome;
  readonly errorClass: ErrorClass;
  /** 0 or absent: no status line came. */
  readonly httpStatus?: number | undefined;
}

export const REFUSED_MS = 60_000;
const MAX_REFUSED = 10_000;

export class RefusedKeys {
  /** By key id, in order of refusal. */
  readonly #refused = new Map<string, RefusedKey>();

  of({ id, hint }: Pick<ProviderKey, "id" | "hint">): RefusedKey | undefined {
    // Usually the map is empty: this saves every call a look-up.
    if (this.#refused.size === 0) return undefined;
    const refused = this.#refused.get(id);
    return refused?.hint === hint ? refused : undefined;
  }

  /** Milliseconds until the key may be tried, as far as refusals are concerned; 0: now. */
  waitMs(key: ProviderKey, nowMs: number): number {
    return this.of(key)?.breaker.waitMs(nowMs) ?? 0;
  }

  *openIds(nowMs: number): Iterable<string> {
    for (const [id, { breaker }] of this.#refused) if (breaker.isOpen(nowMs)) yield id;
  }

  /** A call starts with the key. */
  enter(key: ProviderKey, nowMs: number): KeyProbe | undefined {
    const refused = this.of(key);
    const probe = refused?.breaker.enter(nowMs);
    return refused === undefined || probe === undefined ? undefined : { of: refused, probe };
  }

  /** The provider accepted the key: it is no longer refused. */
  accepted({ id }: ProviderKey, tried: KeyProbe): void {
    if (this.#refused.get(id) === tried.of) this.#refused.delete(id);
  }

  /** The provider accepts the key, as the gateway has asked itself. */
  forget(key: Pick<ProviderKey, "id" | "hint">): void {
    if (this.of(key) !== undefined) this.#refused.delete(key.id);
  }

  /**
   * @param tried the probe, if the key was refused when the call began
   * @param isOnlySuspect a status that refuses the key proves nothing: the provider is asked, and its answer is judged
   * @returns whether the provider is to be asked
   */
  judge(
    key: ProviderKey,
    tried: KeyProbe | undefined,
    result: KeyResult,
    nowMs: number,
    isOnlySuspect = false,
  ): boolean {
    const { outcome, errorClass, httpStatus } = result;
    // 403 may concern one model or one prompt. Without a credential none can have been revoked.
    if (errorClass === "auth" && httpStatus !== 403 && key.credential !== undefined) {
      const known = this.of(key)?.breaker;
      // Calls refused together count once; a refused probe opens the breaker again.
      if (known?.isOpen(nowMs)) return false;
      // No caller's words are in the request for an access token, which has no status here.
      if (isOnlySuspect && httpStatus) {
        tried?.of.breaker.released(tried.probe);
        return true;
      }
      const streak = known?.streak ?? 0;
      // Without an HTTP status the provider refused nothing: a token endpoint that fails is asked again soon.
      this.refuse(key, nowMs, httpStatus ? REFUSED_MS : backoffMs(streak), streak);
      return false;
    }
    if (tried === undefined) return false;
    // These answers show that the key was accepted.
    if (outcome === "ok" || errorClass === "client" || errorClass === "capacity") this.accepted(key, tried);
    else tried.of.breaker.released(tried.probe);
    return false;
  }

  /** @param streak refusals in a row before this one. */
  refuse({ id, hint }: Pick<ProviderKey, "id" | "hint">, nowMs: number, forMs: number, streak = 0): void {
    const breaker = new Breaker();
    breaker.streak = streak + 1;
    const ms = Math.min(forMs, REFUSED_MS);
    // Not shorter for callers without another endpoint: the provider refuses the key for every caller.
    breaker.open(nowMs, { forMs: ms, askedMs: ms });
    this.#refused.delete(id);
    this.#refused.set(id, { hint, breaker });
    const [oldest] = this.#refused.size > MAX_REFUSED ? this.#refused.keys() : [];
    if (oldest !== undefined) this.#refused.delete(oldest);
  }
}
