/**
 * Limits of keys over all cells of an installation. A call is admitted at once where the cell has a part of the key's limits set aside for
 * it in the dataset; else it is asked for, together with all others that wait. What stays true: no more calls than the limit over all
 * cells; no answer is a guess: where the dataset cannot be asked, the call gets 503.
 */
import { type Clock, inTime, nextTurn, systemTimers, type Timers } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import type { Admission, LimitedKey, LimitStates, Limits, Refusal } from "../../../credits/limits/limits.ts";
import { WINDOW_MS } from "../../../credits/limits/window.ts";
import type { Lane, Operation } from "../exchange/exchange.ts";
import type { RedisValue } from "../redis/redis.ts";
import { type Ask, KeyState, numbersOf, renewalMs, SLOT_MS } from "./key-state.ts";
import { answered, requestOf, type Sent } from "./request.ts";
import { elapsedMs, type Stamp, stampOf } from "./stamp.ts";

export interface SharedLimitsOptions {
  /** A lane that only this part uses. */
  readonly lane: Pick<Lane, "send">;
  readonly clock: Clock;
  /** How long the cell may act without Redis (`cells.stale_ms`): a part that is leased ahead is good for that. */
  readonly staleMs: number;
  readonly timers?: Timers;
}

/** A call waits so long for the dataset; when nothing was heard for so long, calls are not even asked for. */
const PATIENCE_MS = 1000;
const RETRY_AFTER_MS = 1000;
/** Keys of one request: some milliseconds of Redis. */
const MOST_KEYS = 200;
/** Keys that are remembered for the sake of headers alone. */
const MOST_IDLE_KEYS = 100_000;
const LOOK_MS = 100;
/** Slots in use are told again; those of a key with calls before none may begin on them any more. */
const RETELL_MS = 60_000;
const RETELL_USED_MS = SLOT_MS - 5000;

class Slot implements Admission {
  readonly admitted = true;
  #release: (() => void) | undefined;

  constructor(release: () => void) {
    this.#release = release;
  }

  release(): void {
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }
}

export class SharedLimits implements Limits {
  readonly #lane: Pick<Lane, "send">;
  readonly #clock: Clock;
  readonly #staleMs: number;
  readonly #timers: Timers;
  readonly #keys = new Map<string, KeyState>();
  #sweep = this.#keys.entries();
  /** Have something to tell or to ask. */
  #due = new Set<KeyState>();
  /** Have something set aside in the dataset. */
  readonly #active = new Set<KeyState>();
  /** Calls that wait, oldest first; those that were answered are passed over. */
  #waiting: Ask[] = [];
  #inFlight = 0;
  #underWay: Stamp | undefined;
  /** The longest that replies took lately. */
  #replyMs = 0;
  #running: Promise<void> | undefined;
  #isLooking = false;
  #isClosed = false;
  #ended: unknown;

  constructor({ lane, clock, staleMs, timers = systemTimers }: SharedLimitsOptions) {
    this.#lane = lane;
    this.#clock = clock;
    this.#staleMs = staleMs;
    this.#timers = timers;
  }

  admit(
    { keyId, lineageId = keyId, limits }: LimitedKey,
    tokens: number,
  ): Admission | Refusal | Promise<Admission | Refusal> {
    const nowMs = this.#now();
    this.#sweepSome(nowMs);
    const state = this.#stateOf(lineageId, limits);
    const { rpm, tpm, concurrency } = state.limits;
    if (tpm !== 0 && tokens > tpm)
      return { admitted: false, code: "tpm", limit: tpm, retryAfterMs: WINDOW_MS, isHopeless: true };
    state.note(nowMs, tokens);
    const batch = rpm === 0 && tpm === 0 ? undefined : state.covering(this.#clock, tokens);
    if ((batch !== undefined || (rpm === 0 && tpm === 0)) && state.mayBegin(this.#clock)) {
      const isOld = batch !== undefined && state.take(batch, this.#clock, tokens, this.#replyMs);
      const admission = this.#begin(state, nowMs, tokens);
      if (isOld || state.lacksSlots) this.#isDue(state);
      return admission;
    }
    const refusal = state.refused(nowMs, tokens);
    if (refusal !== undefined) return refusal;
    if (concurrency !== 0 || rpm !== 0 || tpm !== 0) return this.#ask(state, tokens);
    return this.#begin(state, nowMs, tokens);
  }

  state({ keyId, lineageId = keyId, limits }: LimitedKey) {
    const { rpm, tpm } = numbersOf(limits);
    const nowMs = this.#now();
    const state = this.#keys.get(lineageId) ?? new KeyState(lineageId, numbersOf(limits), this.#staleMs);
    return {
      requests: state.rate(rpm, state.requests, state.othersRequests, nowMs),
      tokens: state.rate(tpm, state.tokens, state.othersTokens, nowMs),
      concurrencyInUse: state.inFlight,
    };
  }

  /** Parts that other cells have set aside count as used. Without a limit of calls in flight only this cell's are known. */
  async statesOf(keys: readonly LimitedKey[]): Promise<LimitStates> {
    const unknown = keys.filter(({ keyId, lineageId = keyId }) => !this.#keys.has(lineageId));
    const isKnown = await this.#lookedAt(keys);
    const states = keys.map((key) => {
      const state = this.state(key);
      const { lineageId = key.keyId } = key;
      const others = isKnown ? (this.#keys.get(lineageId)?.heldByOthers ?? 0) : 0;
      return { ...state, concurrencyInUse: state.concurrencyInUse + others };
    });
    // Who looks at all keys of an org must not fill the memory with them.
    for (const { keyId, lineageId = keyId } of unknown) {
      const state = this.#keys.get(lineageId);
      if (state?.isIdle === true && !this.#due.has(state)) this.#keys.delete(lineageId);
    }
    return { states, isKnown };
  }

  /** Has the dataset say how each key stands. @returns false where it does not in time */
  async #lookedAt(keys: readonly LimitedKey[]): Promise<boolean> {
    if (this.#isClosed || this.#ended !== undefined) return false;
    const looks = keys.map(({ keyId, lineageId = keyId, limits }) => {
      const state = this.#stateOf(lineageId, limits);
      const looked = new Promise<true>((resolve) => state.looks.push(() => resolve(true)));
      this.#isDue(state);
      return looked;
    });
    return await inTime(
      Promise.all(looks).then(() => true),
      PATIENCE_MS,
      () => false,
      this.#timers,
    );
  }

  inFlight(): number {
    return this.#inFlight;
  }

  tracked(): number {
    return this.#keys.size;
  }

  /** Calls that wait for the dataset. */
  waiting(): number {
    return this.#waiting.filter(({ answer }) => answer !== undefined).length;
  }

  /** Slots for calls that the cell has in the dataset, used or free. */
  leasedSlots(): number {
    let slots = 0;
    for (const { held } of this.#active) slots += held;
    return slots;
  }

  /** Resolves once nothing is on its way to the dataset. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Once no call is in flight: gives back all that is set aside, and admits nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // Once more where an answer that was on its way brought something.
    for (let round = 0; round < 2; round++) {
      await this.idle();
      for (const state of this.#active) {
        state.stop();
        this.#isDue(state);
      }
    }
    await this.idle();
  }

  /** Whole milliseconds of the monotonic clock, as the limits of one process have them. */
  #now(): number {
    return Math.floor(this.#clock.monotonic());
  }

  #stateOf(keyId: string, limits: LimitedKey["limits"]): KeyState {
    const numbers = numbersOf(limits);
    let state = this.#keys.get(keyId);
    if (state === undefined) {
      state = new KeyState(keyId, numbers, this.#staleMs);
      this.#keys.set(keyId, state);
    }
    const { rpm, tpm, concurrency } = state.limits;
    if (rpm !== numbers.rpm || tpm !== numbers.tpm || concurrency !== numbers.concurrency)
      state.setLimits(numbers);
    return state;
  }

  #begin(state: KeyState, nowMs: number, tokens: number): Admission {
    state.count(nowMs, tokens);
    state.inFlight++;
    this.#inFlight++;
    return new Slot(() => this.#end(state));
  }

  #end(state: KeyState): void {
    state.inFlight--;
    this.#inFlight--;
    if (state.limits.concurrency === 0 && state.held === 0) return;
    const nowMs = this.#now();
    if (state.refusal?.refusal.code === "concurrency") state.refusal = undefined;
    state.freeSinceMs = nowMs;
    if (state.givesBack(nowMs)) this.#isDue(state);
  }

  #ask(state: KeyState, tokens: number): Promise<Admission | Refusal> {
    const isStalled = this.#underWay !== undefined && elapsedMs(this.#clock, this.#underWay) > PATIENCE_MS;
    if (isStalled || this.#isClosed || this.#ended !== undefined) throw unavailable();
    return new Promise((resolve, reject) => {
      const ask: Ask = { tokens, asked: stampOf(this.#clock), answer: { resolve, reject } };
      state.asks.push(ask);
      this.#waiting.push(ask);
      this.#isDue(state);
    });
  }

  #isDue(state: KeyState): void {
    this.#due.add(state);
    this.#active.add(state);
    this.#look();
    if (this.#ended === undefined) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#due.size > 0) {
        // Calls of one turn of the event loop go together.
        await nextTurn();
        await this.#exchange();
      }
    } catch (error) {
      // The session has told whoever must know that this process may not go on.
      this.#ended = error;
      for (const ask of this.#waiting.splice(0)) giveUp(ask);
      this.#due.clear();
      this.#active.clear();
    } finally {
      this.#running = undefined;
      if (this.#due.size > 0 && this.#ended === undefined) this.#running = this.#run();
    }
  }

  async #exchange(): Promise<void> {
    const nowMs = this.#now();
    const sent = stampOf(this.#clock);
    const sending = { clock: this.#clock, nowMs, sent, replyMs: this.#replyMs };
    const requests: Sent[] = [];
    let hasSlots = false;
    for (const state of this.#due) {
      if (requests.length === MOST_KEYS) break;
      this.#due.delete(state);
      if (state.held > 0) hasSlots = true;
      requests.push(requestOf(state, sending));
    }
    const operations: Operation[] = requests.map(({ operation }) => operation);
    if (hasSlots) operations.push(["wanted"]);
    this.#underWay = sent;
    const results = await this.#lane.send(operations);
    this.#underWay = undefined;
    this.#replyMs = Math.max(elapsedMs(this.#clock, sent), this.#replyMs * 0.9);
    this.#giveUp(PATIENCE_MS);
    const doneMs = this.#now();
    requests.forEach((request, i) => {
      const { state } = request;
      const batch = answered(request, results[i] ?? [], this.#clock, doneMs, (ask) =>
        this.#admitted(state, ask, doneMs),
      );
      // Where Redis takes its time, a batch is old when it comes: the next one is asked for with the next request.
      const isOld = batch !== undefined && elapsedMs(this.#clock, sent) >= renewalMs(batch, this.#replyMs);
      if (isOld || state.asks.length > 0 || state.undone.length > 0 || state.surrenders) this.#due.add(state);
      // Also one that was granted something for calls that have given up meanwhile.
      if (state.isActive) this.#active.add(state);
      else this.#active.delete(state);
    });
    if (this.#active.size > 0) this.#look();
    if (hasSlots) this.#wanted(results.at(-1) ?? []);
  }

  #admitted(state: KeyState, ask: Ask, nowMs: number): void {
    const { answer, tokens } = ask;
    ask.answer = undefined;
    answer?.resolve(this.#begin(state, nowMs, tokens));
  }

  #wanted(keyIds: readonly RedisValue[]): void {
    const nowMs = this.#now();
    for (const keyId of keyIds) {
      const state = this.#keys.get(String(keyId));
      if (state === undefined) continue;
      state.wantedUntilMs = nowMs + 1000;
      if (state.free > 0) this.#due.add(state);
    }
  }

  /** Calls that wait longer than this get no admission any more. */
  #giveUp(afterMs: number): void {
    let answered = 0;
    for (const ask of this.#waiting) {
      if (ask.answer !== undefined) {
        if (elapsedMs(this.#clock, ask.asked) < afterMs) break;
        giveUp(ask);
      }
      answered++;
    }
    this.#waiting.splice(0, answered);
  }

  /** Looks again soon, as long as there is something to look after. */
  #look(): void {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    this.#timers.after(LOOK_MS, () => {
      this.#isLooking = false;
      this.#giveUp(PATIENCE_MS);
      const nowMs = this.#now();
      for (const state of this.#active) if (this.#mustTell(state, nowMs)) this.#isDue(state);
      if (this.#active.size > 0 || this.#waiting.length > 0) this.#look();
    });
  }

  #mustTell(state: KeyState, nowMs: number): boolean {
    const { held, heldSent } = state;
    if (state.hasEndedBatch(this.#clock)) return true;
    if (held === 0) return false;
    if (state.free > 0 && nowMs - state.freeSinceMs >= state.keepFreeMs) return true;
    return elapsedMs(this.#clock, heldSent) >= (state.isUsed(nowMs) ? RETELL_USED_MS : RETELL_MS);
  }

  /** Looks at two keys for each call, in rotation: those with nothing left are dropped without a long pause. */
  #sweepSome(nowMs: number): void {
    for (let i = 0; i < 2; i++) {
      const step = this.#sweep.next();
      if (step.done) {
        this.#sweep = this.#keys.entries();
        return;
      }
      const [keyId, state] = step.value;
      const isOver = this.#keys.size > MOST_IDLE_KEYS ? state.isIdle : state.isForgotten(nowMs);
      if (isOver && !this.#due.has(state)) this.#keys.delete(keyId);
    }
  }
}

const unavailable = () =>
  fail("gateway_unavailable", "The key's limits cannot be looked up now.", { retryAfterMs: RETRY_AFTER_MS });

function giveUp(ask: Ask): void {
  ask.answer?.reject(unavailable());
  ask.answer = undefined;
}
