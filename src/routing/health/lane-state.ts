/** What is known of one lane, a key at one endpoint: whether it is out, and how many calls at once it takes. */
import type { ProviderKey } from "../../base/endpoint.ts";
import { hashOf } from "../hash.ts";
import { Breaker } from "./breaker.ts";
import { Evidence } from "./evidence.ts";

/**
 * After a refusal for lack of capacity the lane is limited to the concurrency it handled before, for this long after
 * its pause.
 */
const LIMITED_MS = 30_000;
/** The known concurrency of a lane is forgotten after this long at lower concurrency. */
const MOST_ANSWERED_MS = 60_000;

export class LaneState {
  readonly keyId: string;
  /** The hint of the observed credential: another one under the same key id starts anew. */
  readonly hint: string;
  /** The hash of the key's id. */
  readonly hash: number;
  readonly breaker = new Breaker();
  inFlight = 0;
  /** 403 in a row. */
  forbidden = 0;
  /** It is out because of 403, not for lack of capacity. */
  isForbidden = false;
  /** Highest recent concurrency at which it answered every call. */
  mostAnswered = 0;
  #mostAnsweredAtMs = 0;
  #limitedUntilMs = 0;
  /** Whose calls it answers, and whose it refuses: where it serves others meanwhile, the refused call is the cause, and not the lane. */
  readonly evidence = new Evidence();

  constructor({ id, hint }: ProviderKey) {
    this.keyId = id;
    this.hint = hint;
    this.hash = hashOf(id);
  }

  /** It has as many calls in flight as it is known to take: other lanes are preferred. */
  isFull(nowMs: number): boolean {
    return nowMs < this.#limitedUntilMs && this.inFlight >= this.mostAnswered;
  }

  /** It answered a call that started at this concurrency. */
  answered(atOnce: number, nowMs: number): void {
    const isForgotten = nowMs - this.#mostAnsweredAtMs > MOST_ANSWERED_MS && nowMs >= this.#limitedUntilMs;
    if (atOnce < this.mostAnswered && !isForgotten) return;
    this.mostAnswered = atOnce;
    this.#mostAnsweredAtMs = nowMs;
  }

  /**
   * It refused a call that started at this concurrency, and is out until then. Above the known concurrency the cause is
   * capacity, so the lane is limited to it. Otherwise the cause is another, perhaps a quota, and the lane's concurrency
   * is unknown.
   */
  refusedAt(atOnce: number, untilMs: number): void {
    const isForCapacity = this.mostAnswered > 0 && atOnce > this.mostAnswered;
    this.#limitedUntilMs = isForCapacity ? untilMs + LIMITED_MS : 0;
  }
}
