/**
 * One pool of an org's quota of kept bytes, in memory: what is kept of its live calls, or of those with test keys. A call takes room
 * before its upstream is asked and gives it back in the turn in which its answer is stored, so simultaneous calls never take the same
 * bytes.
 *
 * Over cells what is kept here stays below a ceiling, which `kept-claim.ts` sets.
 */
import type { KeptCounts, KeptFigures } from "./kept-counts.ts";
import { answersIn, NOTHING_KEPT, payloadsIn, responsesIn } from "./kept-counts.ts";
import type { KeptRetention } from "./kept-retention.ts";

/**
 * The share of the quota up to which things are kept that clients did not ask for (payloads, responses without a word of `store`).
 * The rest is left to what they did ask for.
 */
const USUAL_SHARE = 0.75;

export class KeptPool {
  readonly orgId: string;
  readonly environment: "live" | "test";
  /** `Infinity`: unlimited. */
  maxBytes: number;
  /** After all acts of this process, committed or not. */
  counts: KeptCounts;
  /** Payloads are counted here first: their row is written ahead, some at a time. */
  payloadBytes: number;
  /** What other cells keep, as last heard. */
  others: KeptFigures = NOTHING_KEPT;
  /** The bound of what this process keeps and has taken; a gateway alone has none but the quota. */
  ceilingBytes = Number.POSITIVE_INFINITY;
  /** The most that a call asked for above the ceiling, since the other cells were last told of it. */
  wantedBytes = 0;
  /** When payloads are next looked at whose time is over; wall clock. */
  expiresAtMs = 0;
  readonly retention: KeptRetention;
  #reservedBytes = 0;

  constructor(
    { orgId, environment }: Pick<KeptPool, "orgId" | "environment">,
    counts: KeptCounts,
    maxBytes: number,
    retention: KeptRetention,
  ) {
    this.retention = retention;
    this.orgId = orgId;
    this.environment = environment;
    this.counts = counts;
    this.payloadBytes = payloadsIn(counts);
    this.maxBytes = maxBytes;
  }

  /** Bytes that this process keeps. A folder that an earlier release used meanwhile may have fewer than were counted. */
  get ownBytes(): number {
    return responsesIn(this.counts) + answersIn(this.counts) + this.payloadBytes;
  }

  /** Taken by calls under way. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** Bytes that all processes keep. */
  get bytes(): number {
    return this.ownBytes + this.#othersBytes;
  }

  get figures(): KeptFigures {
    const { counts, others } = this;
    return {
      responses: responsesIn(counts) + others.responses,
      answers: answersIn(counts) + others.answers,
      payloads: this.payloadBytes + others.payloads,
    };
  }

  get #othersBytes(): number {
    const { responses, answers, payloads } = this.others;
    return responses + answers + payloads;
  }

  /** What this process keeps, and what its calls have taken. */
  get neededBytes(): number {
    return this.ownBytes + this.#reservedBytes;
  }

  /** Whether so much may be kept that a client asked to be kept. */
  fits(bytes: number): boolean {
    return this.#fitsIn(bytes, this.maxBytes);
  }

  /** Whether so much may be kept that is kept by default. */
  fitsUsual(bytes: number): boolean {
    return this.#fitsIn(bytes, this.maxBytes * USUAL_SHARE);
  }

  /** Whether it would fit with a higher ceiling: the other cells may have room to give. */
  mayFitSoon(bytes: number): boolean {
    const neededBytes = this.neededBytes + bytes;
    return neededBytes > this.ceilingBytes && neededBytes + this.#othersBytes <= this.maxBytes;
  }

  #fitsIn(bytes: number, maxBytes: number): boolean {
    const neededBytes = this.neededBytes + bytes;
    if (neededBytes + this.#othersBytes > maxBytes) return false;
    if (neededBytes <= this.ceilingBytes || !Number.isFinite(maxBytes)) return true;
    this.wantedBytes = Math.max(this.wantedBytes, bytes);
    return false;
  }

  /** @internal */
  reserve(bytes: number): void {
    this.#reservedBytes += bytes;
  }
}

/** Room that a call under way has taken in a pool. */
export class KeptRoom {
  readonly #pool: KeptPool;
  #takenBytes: number;
  #unusedBytes: number;

  /** The caller has seen that it fits. */
  constructor(pool: KeptPool, bytes: number) {
    this.#pool = pool;
    this.#takenBytes = bytes;
    this.#unusedBytes = bytes;
    pool.reserve(bytes);
  }

  /** Whether so much may be stored: of the room that was taken, and of what is free where that is too small. */
  use(bytes: number): boolean {
    const more = Math.max(0, bytes - this.#unusedBytes);
    if (more > 0 && !this.#pool.fits(more)) return false;
    this.#pool.reserve(more);
    this.#takenBytes += more;
    this.#unusedBytes += more - bytes;
    return true;
  }

  /** Behind the act that stores; a second call does nothing. */
  release(): void {
    this.#pool.reserve(-this.#takenBytes);
    this.#takenBytes = 0;
    this.#unusedBytes = 0;
  }
}
