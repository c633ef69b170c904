/**
 * Credentials that are of no use at any endpoint: refused by the provider (revoked, unpaid), or no token is to be had for
 * them. Then one call at a time tries them, since they may have been put right. Bounded; a new credential begins anew.
 */
import type { ProviderKey } from "../endpoint.ts";
import type { AttemptOutcome, ErrorClass } from "../record.ts";
import { backoffMs, CoolDown } from "./cool-down.ts";

export interface RefusedKey {
  /** Of the credential that was refused, which may have been replaced under the same id. */
  readonly hint: string;
  readonly coolDown: CoolDown;
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
    return this.of(key)?.coolDown.waitMs(nowMs) ?? 0;
  }

  areAllOut(keys: readonly ProviderKey[], nowMs: number): boolean {
    return this.#refused.size > 0 && keys.length > 0 && keys.every((key) => this.waitMs(key, nowMs) > 0);
  }

  *coolingIds(nowMs: number): Iterable<string> {
    for (const [id, { coolDown }] of this.#refused) if (coolDown.isCooling(nowMs)) yield id;
  }

  /** @param probed what the key stood under when the call began, where it was on probation. */
  judge(key: ProviderKey, probed: RefusedKey | undefined, result: KeyResult, nowMs: number): void {
    const { outcome, errorClass, httpStatus } = result;
    // 403 may be about one model or one prompt. Where there is no credential, none can have been revoked.
    if (errorClass === "auth" && httpStatus !== 403 && key.credential !== undefined) {
      const known = this.of(key)?.coolDown;
      // Calls refused together count once; a probe that is refused begins the next pause.
      if (known?.isCooling(nowMs)) return;
      const streak = known?.streak ?? 0;
      // Without an answer nobody has refused anything: a token endpoint that hiccups is soon asked again.
      this.refuse(key, nowMs, httpStatus ? REFUSED_MS : backoffMs(streak), streak);
      return;
    }
    if (probed === undefined || this.#refused.get(key.id) !== probed) return;
    // These are answers to a credential that was taken.
    const isTaken = outcome === "ok" || errorClass === "client" || errorClass === "capacity";
    if (isTaken) this.#refused.delete(key.id);
    else probed.coolDown.probed();
  }

  /** @param streak pauses in a row before this one. */
  refuse({ id, hint }: Pick<ProviderKey, "id" | "hint">, nowMs: number, forMs: number, streak = 0): void {
    const coolDown = new CoolDown();
    coolDown.streak = streak;
    coolDown.start(nowMs, Math.min(forMs, REFUSED_MS));
    this.#refused.delete(id);
    this.#refused.set(id, { hint, coolDown });
    const [oldest] = this.#refused.size > MAX_REFUSED ? this.#refused.keys() : [];
    if (oldest !== undefined) this.#refused.delete(oldest);
  }
}
