/**
 * The breaker to something that refuses calls now and then: a lane that saturates, a credential that is turned away. It rests
 * after a refusal; then a few calls at a time find out whether calls are taken again (slow start: 1, and twice as many after
 * each that was taken), until it stands open for all. A call is known to be taken at its first content, not at its end.
 */

/** Refusals come at once: a call that was silent for so long was let in, and the next one may try. */
export const SILENT_PROBE_MS = 3_000;
/** While as many calls as may are finding out, others are told to look again this soon. */
const PROBE_WAIT_MS = 1_000;
/** So many calls at once that find out are as good as all. */
export const MOST_PROBES = 32;
/** After the first call that was taken the slow start lasts no longer than this. */
export const SLOW_START_MS = 5_000;
/** The longest rest that is the gateway's own caution, where no other endpoint could take the call meanwhile. */
export const LAST_RESORT_REST_MS = 2_000;

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;

/** 1 s, 2 s, 4 s … 60 s. @param streak rests in a row before this one. */
export const backoffMs = (streak: number): number => Math.min(FIRST_REST_MS * 2 ** streak, LONGEST_REST_MS);

/** A call that finds out whether calls are taken again. */
export interface Probe {
  readonly sinceMs: number;
  /** Refusals in a row before it. */
  readonly streak: number;
  /** After which rest of the breaker it came. */
  readonly rest: number;
}

/** How long a breaker stays shut after a refusal, milliseconds. */
export interface Rest {
  readonly forMs: number;
  /** The part of it that is no caution of ours: what the provider asked for. */
  readonly askedMs: number;
}

export class Breaker {
  /** Refusals in a row; 0: none since calls were last taken. */
  streak = 0;
  untilMs = 0;
  askedUntilMs = 0;
  #lastResortUntilMs = 0;
  #rests = 0;
  /** How many calls may find out at once; infinite: it is open for all. */
  #room = Number.POSITIVE_INFINITY;
  /** The oldest first; those that are known to be taken or ended are not among them. */
  #probes: Probe[] = [];
  #openAtMs = Number.POSITIVE_INFINITY;

  /**
   * Milliseconds until a call may enter; 0: now.
   * @param isLastResort the call has nowhere else to go: only what the provider asked for is waited for in full
   */
  waitMs(nowMs: number, isLastResort = false): number {
    if (this.#room === Number.POSITIVE_INFINITY) return 0;
    const untilMs = isLastResort ? Math.max(this.askedUntilMs, this.#lastResortUntilMs) : this.untilMs;
    if (nowMs < untilMs) return untilMs - nowMs;
    this.#advance(nowMs);
    const [oldest] = this.#probes;
    if (oldest === undefined || this.#probes.length < this.#room) return 0;
    return Math.min(oldest.sinceMs + SILENT_PROBE_MS - nowMs, PROBE_WAIT_MS);
  }

  isResting(nowMs: number): boolean {
    return this.streak > 0 && nowMs < this.untilMs;
  }

  /** A call enters. Undefined: there is nothing to find out. */
  enter(nowMs: number): Probe | undefined {
    if (this.#room === Number.POSITIVE_INFINITY && this.streak === 0) return undefined;
    const probe = { sinceMs: nowMs, streak: this.streak, rest: this.#rests };
    if (this.#room !== Number.POSITIVE_INFINITY) this.#probes.push(probe);
    return probe;
  }

  /** The call was taken: twice as many as before may find out. One that began before the last rest says nothing of now. */
  accepted(probe: Probe, nowMs: number): void {
    if (probe.rest !== this.#rests) return;
    const isFirst = this.#remove(probe);
    this.streak = 0;
    // It may have come before the rest was over.
    this.untilMs = Math.min(this.untilMs, nowMs);
    // One that was silent for long has made room already.
    if (isFirst) this.#grow();
    if (this.#openAtMs === Number.POSITIVE_INFINITY) this.#openAtMs = nowMs + SLOW_START_MS;
    this.#advance(nowMs);
  }

  /** The call ended and told nothing: another may find out in its place. */
  released(probe: Probe): void {
    if (probe.rest === this.#rests) this.#remove(probe);
  }

  /**
   * A refusal. That of a call which began before the rest makes it longer, where the provider asks for that, and is no new one.
   * @returns whether a rest begins
   */
  refused({ forMs, askedMs }: Rest, nowMs: number, probe?: Probe): boolean {
    if (this.isResting(nowMs) && probe?.rest !== this.#rests) {
      this.askedUntilMs = Math.max(this.askedUntilMs, nowMs + askedMs);
      this.untilMs = Math.max(this.untilMs, this.askedUntilMs);
      return false;
    }
    // A call may be refused after it was taken for one that is served: its refusal is the next in the row all the same.
    this.streak = Math.max(this.streak, probe?.streak ?? 0) + 1;
    this.rest(nowMs, { forMs, askedMs });
    return true;
  }

  /** As a refusal does, with the streak as it is. */
  rest(nowMs: number, { forMs, askedMs }: Rest): void {
    this.#rests += 1;
    this.untilMs = nowMs + forMs;
    this.askedUntilMs = nowMs + askedMs;
    this.#lastResortUntilMs = nowMs + Math.min(forMs, LAST_RESORT_REST_MS);
    this.#room = 1;
    this.#probes = [];
    this.#openAtMs = Number.POSITIVE_INFINITY;
  }

  /** Silence is taken for being let in, and a slow start that went well is over in time. */
  #advance(nowMs: number): void {
    while (this.#probes[0] !== undefined && nowMs - this.#probes[0].sinceMs >= SILENT_PROBE_MS) {
      this.#probes.shift();
      this.#grow();
    }
    if (nowMs >= this.#openAtMs) this.#open();
  }

  #grow(): void {
    this.#room *= 2;
    if (this.#room > MOST_PROBES) this.#open();
  }

  #open(): void {
    this.#room = Number.POSITIVE_INFINITY;
    this.#probes = [];
  }

  #remove(probe: Probe): boolean {
    const at = this.#probes.indexOf(probe);
    if (at >= 0) this.#probes.splice(at, 1);
    return at >= 0;
  }
}
