/**
 * Claims of Idempotency-Keys: which call of all cells answers one. Claims of one moment share an exchange. A call that has no answer in
 * time is refused, and what was claimed for it meanwhile is given back: nobody guesses.
 */
import { nextTurn, type Timers } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import type { Claimed, KeptAnswer } from "../../../inference/exchange/kept/kept-rows.ts";
import type { Lane, Operation } from "../exchange/exchange.ts";
import type { RedisValue } from "../redis/redis.ts";

export interface ClaimsOptions {
  /** A lane that only this part uses. */
  readonly lane: Pick<Lane, "send">;
  readonly look: (names: readonly string[]) => Promise<(Buffer | null)[]>;
  readonly timers: Timers;
  /** Answers of all cells that are remembered: beyond them no key is claimed. */
  readonly mostAnswers: number;
}

/** What Redis keeps of an answer besides its bytes. */
export type AnswerFacts = Pick<KeptAnswer, "requestId" | "status" | "isStream" | "isNumbered" | "lost">;

/** Which call has a key: the fingerprint of its request, and its id, or "". */
type Holder = readonly [fingerprint: string, requestId: string];

interface Ask {
  readonly id: string;
  readonly holder: Holder;
  /** Undefined once it was answered, or waited too long. */
  answer: { resolve(claimed: Claimed | Promise<Claimed>): void; reject(error: unknown): void } | undefined;
  cancel: () => void;
}

/** A call waits so long for Redis. Once one waited in vain, calls are refused at once until Redis answers. */
export const PATIENCE_MS = 1000;
const RETRY_AFTER_MS = 1000;
const MOST_ASKS = 500;
const NO_BYTES = Buffer.alloc(0);

export const unavailable = () =>
  fail("storage_unavailable", "What other gateways answered cannot be looked up now.", {
    retryAfterMs: RETRY_AFTER_MS,
  });

export class Claims {
  readonly #options: ClaimsOptions;
  #asks: Ask[] = [];
  #ends: { readonly id: string; done(): void }[] = [];
  /**
   * Claimed by this cell, with the calls that have them. One whose reply is still to come is not here: it is asked for again, and one that was restated
   * would be found taken then, by nobody.
   */
  readonly #held = new Map<string, Holder>();
  /** A call waited in vain, and the exchange under way has no answer yet. */
  #isStalled = false;
  #running: Promise<void> | undefined;
  #hasEnded = false;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** @throws WeirError 503 (as a rejection) */
  claim(id: string, fingerprint: string, requestId: string): Promise<Claimed> {
    if (this.#isStalled || this.#hasEnded) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      const ask: Ask = {
        id,
        holder: [fingerprint, requestId],
        answer: { resolve, reject },
        cancel: () => {},
      };
      ask.cancel = this.#options.timers.after(PATIENCE_MS, () => {
        ask.answer = undefined;
        this.#isStalled = true;
        reject(unavailable());
      });
      this.#asks.push(ask);
      this.#work();
    });
  }

  /** Resolves once Redis knows it. */
  unclaim(id: string): Promise<void> {
    return new Promise((resolve) => {
      this.#ends.push({ id, done: resolve });
      this.#work();
    });
  }

  /** The claim stands until the answer is shared. */
  hold(id: string, fingerprint: string, requestId: string): void {
    this.#held.set(id, [fingerprint, requestId]);
  }

  /** The answer is in Redis, and ended the claim. */
  shared(id: string): void {
    this.#held.delete(id);
  }

  /** Keys that this cell claimed, or perhaps, and whose answers are not shared. */
  get held(): number {
    return this.#held.size;
  }

  /** In a new term. */
  restate(): Operation {
    return ["claims_mine", Array.from(this.#held, ([id, holder]) => [id, ...holder]).flat()];
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #work(): void {
    if (!this.#hasEnded) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#asks.length > 0 || this.#ends.length > 0) {
        // Calls of one turn of the event loop go together.
        await nextTurn();
        await this.#exchange();
        this.#isStalled = false;
      }
    } catch {
      // The session has told whoever must know that this process may not go on.
      this.#hasEnded = true;
      for (const ask of this.#asks.splice(0)) refuse(ask);
      for (const { done } of this.#ends.splice(0)) done();
    } finally {
      this.#running = undefined;
    }
  }

  async #exchange(): Promise<void> {
    const { lane, mostAnswers } = this.#options;
    const ends = this.#ends.splice(0, MOST_ASKS);
    // One that waited too long is not asked for any more.
    const asks = this.#asks.splice(0, MOST_ASKS).filter(({ answer }) => answer !== undefined);
    if (ends.length === 0 && asks.length === 0) return;
    for (const { id } of ends) this.#held.delete(id);
    try {
      const results = await lane.send([
        ...ends.map(({ id }) => ["unclaim", id] as const),
        ...asks.map(
          ({ id, holder: [fingerprint, requestId] }) =>
            ["claim", id, fingerprint, mostAnswers, requestId] as const,
        ),
      ]);
      for (const { done } of ends) done();
      asks.forEach((ask, i) => {
        this.#answered(ask, results[ends.length + i] ?? []);
      });
    } catch (error) {
      for (const ask of asks) refuse(ask);
      for (const { done } of ends) done();
      throw error;
    }
  }

  #answered(ask: Ask, [code, ...rest]: RedisValue[]): void {
    const { answer, id } = ask;
    ask.cancel();
    ask.answer = undefined;
    if (code === 1) {
      this.#held.set(id, ask.holder);
      if (answer === undefined) void this.unclaim(id);
      else answer.resolve({ kind: "first" });
      return;
    }
    if (code === 0) answer?.resolve(runningOf(rest));
    else if (code === 2) answer?.resolve(this.#answerOf(id, rest));
    else answer?.reject(unavailable());
  }

  async #answerOf(id: string, [fingerprint, factsText, hasBytes]: RedisValue[]): Promise<Claimed> {
    const text = String(factsText);
    const facts: AnswerFacts =
      text === "" ? { requestId: "", status: 0, isStream: false, lost: "retired" } : JSON.parse(text);
    const known = { ...facts, fingerprint: String(fingerprint) };
    if (facts.lost !== undefined) return { kind: "answered", answer: { ...known, body: NO_BYTES } };
    const body = hasBytes === 1 ? await this.#bytes(id) : null;
    if (body === null) return { kind: "answered", answer: { ...known, lost: "evicted", body: NO_BYTES } };
    return { kind: "answered", answer: { ...known, body } };
  }

  async #bytes(id: string): Promise<Buffer | null> {
    try {
      return (await this.#options.look([`bytes:a/${id}`]))[0] ?? null;
    } catch {
      throw unavailable();
    }
  }
}

const runningOf = ([fingerprint, requestId, cell]: RedisValue[]): Claimed => ({
  kind: "running",
  fingerprint: String(fingerprint),
  requestId: String(requestId) || undefined,
  cell: String(cell),
});

function refuse(ask: Ask): void {
  ask.cancel();
  ask.answer?.reject(unavailable());
  ask.answer = undefined;
}
