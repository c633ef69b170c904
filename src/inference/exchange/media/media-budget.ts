/** Bounds the bytes that all calls under way have fetched, so that no client can exhaust the machine's memory by addresses. */

/** Share of the bound for the calls of one org. */
const ORG_SHARE = 1 / 2;

export class MediaBudget {
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #byOrg = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are taken now, by all orgs. */
  get bytes(): number {
    return this.#bytes;
  }

  /** False: there is no room for them, and none are taken. */
  take(orgId: string, bytes: number): boolean {
    const ofOrg = (this.#byOrg.get(orgId) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#maxBytes || ofOrg > this.#maxBytes * ORG_SHARE) return false;
    this.#bytes += bytes;
    this.#byOrg.set(orgId, ofOrg);
    return true;
  }

  giveBack(orgId: string, bytes: number): void {
    this.#bytes -= bytes;
    const left = (this.#byOrg.get(orgId) ?? 0) - bytes;
    if (left > 0) this.#byOrg.set(orgId, left);
    else this.#byOrg.delete(orgId);
  }
}

/** What one call has fetched: it is kept until the call is over. */
export class MediaShare {
  readonly #budget: MediaBudget;
  readonly #orgId: string;
  readonly #maxBytes: number;
  #bytes = 0;
  #isOver = false;

  /** @param maxBytes of all media of the call */
  constructor(budget: MediaBudget, orgId: string, maxBytes: number) {
    this.#budget = budget;
    this.#orgId = orgId;
    this.#maxBytes = maxBytes;
  }

  /** Why there is no room for so many bytes more; undefined: they are taken. */
  take(bytes: number): "call" | "all" | undefined {
    if (this.#isOver || !this.#budget.take(this.#orgId, bytes)) return "all";
    this.#bytes += bytes;
    return this.#bytes > this.#maxBytes ? "call" : undefined;
  }

  /** The call is over. A second time it does nothing. */
  release(): void {
    this.#isOver = true;
    this.#budget.giveBack(this.#orgId, this.#bytes);
    this.#bytes = 0;
  }
}
