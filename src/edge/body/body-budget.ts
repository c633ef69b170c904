/**
 * Memory budget for the bodies of all requests in flight, from their first byte until the request is over: arriving,
 * waiting to be read, or kept for another attempt. Requests beyond it are refused at once, so that no client can
 * exhaust the machine's memory.
 */
import { fail, type WeirError } from "../../base/errors.ts";

/**
 * This much of each body counts as small and may use the whole budget, so that large bodies never keep out small ones.
 */
const SMALL_BYTES = 64 * 1024;
/** Share of the budget for the parts of bodies beyond that. */
const LARGE_SHARE = 3 / 4;
/** Share of the budget for the large bodies of one org. */
const ORG_SHARE = 1 / 2;
const RETRY_AFTER_MS = 1000;

export class BodyBudget {
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #largeByOrg = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes currently taken, by all orgs. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws WeirError 429 `concurrency` */
  take(share: BodyShare, bytes: number): void {
    if (share.bytes + bytes > SMALL_BYTES) this.#takeLarge(share, bytes);
    else if (this.#bytes + bytes > this.#maxBytes) throw tooMany("Too many bodies are under way");
    this.#bytes += bytes;
    share.bytes += bytes;
  }

  giveBack(share: BodyShare): void {
    this.#bytes -= share.bytes;
    const left = (this.#largeByOrg.get(share.orgId) ?? 0) - share.largeBytes;
    if (left > 0) this.#largeByOrg.set(share.orgId, left);
    else if (share.largeBytes > 0) this.#largeByOrg.delete(share.orgId);
    share.bytes = 0;
    share.largeBytes = 0;
  }

  #takeLarge(share: BodyShare, bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes * LARGE_SHARE)
      throw tooMany("Too many large bodies are under way");
    const ofOrg = (this.#largeByOrg.get(share.orgId) ?? 0) + bytes;
    if (ofOrg > this.#maxBytes * ORG_SHARE) {
      throw tooMany("Too many large bodies of this organisation are under way");
    }
    this.#largeByOrg.set(share.orgId, ofOrg);
    share.largeBytes += bytes;
  }
}

/** The part of the budget that one request's body uses. */
export class BodyShare {
  readonly orgId: string;
  bytes = 0;
  /** Bytes of it beyond `SMALL_BYTES`. */
  largeBytes = 0;
  #isOver = false;
  readonly #budget: BodyBudget;

  constructor(budget: BodyBudget, orgId: string) {
    this.#budget = budget;
    this.orgId = orgId;
  }

  /**
   * @throws WeirError 429 `concurrency`; the share keeps what it took before.
   * @throws Error after `release`, because the bytes would never be given back.
   */
  take(bytes: number): void {
    if (this.#isOver) throw new Error("the body's share of the budget was given back already");
    this.#budget.take(this, bytes);
  }

  /** A share of the same org, for bytes that go before the request is over. */
  beside(): BodyShare {
    return new BodyShare(this.#budget, this.orgId);
  }

  /** The request is over. A second call does nothing. */
  release(): void {
    this.#isOver = true;
    if (this.bytes > 0) this.#budget.giveBack(this);
  }
}

const tooMany = (what: string): WeirError =>
  fail("concurrency", `${what}. Try again.`, { retryAfterMs: RETRY_AFTER_MS });
