/**
 * How many calls are under way at once, in all and to one origin. Origins that wait get their turns one after the other, so
 * that a slow one delays nobody but itself.
 */
import { OutboundError } from "./failure.ts";

export interface SlotLimits {
  readonly total: number;
  readonly perOrigin: number;
  /** Calls that wait; more are refused. */
  readonly waiting: number;
}

interface Origin {
  busy: number;
  readonly waiting: Set<() => void>;
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #origins = new Map<string, Origin>();
  /** Origins that have somebody waiting and are below their own limit: whose turn is next comes first. */
  readonly #ready = new Set<string>();
  #busy = 0;
  #waiting = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** @returns whether there is room for a call; else it must `wait` */
  take(name: string): boolean {
    const origin = this.#originOf(name);
    if (
      this.#busy >= this.#limits.total ||
      origin.busy >= this.#limits.perOrigin ||
      origin.waiting.size > 0
    ) {
      return false;
    }
    this.#origins.set(name, origin);
    this.#start(origin);
    return true;
  }

  /**
   * Resolves when there is room for the call. After `take` has said that there is none.
   * @param signal ends the wait with its reason
   * @throws OutboundError `busy` if too many wait
   */
  async wait(name: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting >= this.#limits.waiting) throw new OutboundError("busy");
    const origin = this.#originOf(name);
    this.#origins.set(name, origin);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        origin.waiting.delete(turn);
        this.#waiting -= 1;
        signal.removeEventListener("abort", onAbort);
      };
      const turn = () => {
        leave();
        this.#start(origin);
        resolve();
      };
      const onAbort = () => {
        leave();
        this.#settle(name, origin);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort);
      origin.waiting.add(turn);
      this.#waiting += 1;
      this.#settle(name, origin);
    });
  }

  /** Ends a call that had room. */
  release(name: string): void {
    const origin = this.#origins.get(name);
    if (origin === undefined) return;
    origin.busy -= 1;
    this.#busy -= 1;
    this.#settle(name, origin);
    this.#serve();
  }

  #serve(): void {
    for (const name of this.#ready) {
      if (this.#busy >= this.#limits.total) return;
      const origin = this.#origins.get(name) as Origin;
      const [turn] = origin.waiting;
      turn?.();
      // Behind the others that wait.
      this.#ready.delete(name);
      this.#settle(name, origin);
    }
  }

  #originOf(name: string): Origin {
    return this.#origins.get(name) ?? { busy: 0, waiting: new Set() };
  }

  #start(origin: Origin): void {
    origin.busy += 1;
    this.#busy += 1;
  }

  /** Notes what an origin has become: one that may be served, one that may not, one that needs no place here. */
  #settle(name: string, origin: Origin): void {
    if (origin.waiting.size > 0 && origin.busy < this.#limits.perOrigin) this.#ready.add(name);
    else this.#ready.delete(name);
    if (origin.busy === 0 && origin.waiting.size === 0) this.#origins.delete(name);
  }
}
