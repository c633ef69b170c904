/**
 * Has the other cells bring out what they alone know yet: records on their way to ClickHouse, charges on their way to Redis. A read at
 * any cell asks for it first. Reads at the same time share one question, and cells that are asked by many answer them together.
 */
import { within } from "../within.ts";
import type { KnownCell, Signals } from "./signals.ts";

/** Brings out what was there before the call. Resolves false, or rejects: not all of it is out. */
export type FlushHook = (withinMs: number) => Promise<unknown>;

export interface Flushed {
  /** Every cell that hears the question has brought out what it had. */
  readonly isDone: boolean;
  /** Calls that ended from then on, milliseconds since 1970, may have records that are not out; 0: any may. Undefined: all are out. */
  readonly missingSinceMs: number | undefined;
}

/** Time that a cell takes at most before it answers, less than the askers wait. */
const ANSWER_MS = 900;
export const FLUSH_MS = 1000;

export class Flush {
  readonly #hooks: FlushHook[] = [];
  readonly #asking = new Map<number, Shared<Flushed>>();
  readonly #ask: (withinMs: number) => Shared<Flushed>;

  /** @param topic of its signals: what is asked for */
  constructor(signals: Pick<Signals, "ask" | "answers">, topic = "flush") {
    this.#ask = (withinMs) =>
      new Shared(async () => {
        const { isGood, without } = await signals.ask(topic, withinMs, withinMs);
        return { isDone: isGood, missingSinceMs: earliest(without) };
      });
    const answering = new Map<number, Shared<boolean>>();
    signals.answers(topic, (asked) => {
      const withinMs = typeof asked === "number" ? Math.min(Math.max(asked, 0), 60_000) : FLUSH_MS;
      return shared(answering, withinMs, () => new Shared(() => this.#own(withinMs)));
    });
  }

  /** Called when another cell asks. */
  onFlush(hook: FlushHook): void {
    this.#hooks.push(hook);
  }

  /** Resolves once all others have brought out what they had at the time of this call, or after this time. */
  others(withinMs = FLUSH_MS): Promise<Flushed> {
    return shared(this.#asking, withinMs, () => this.#ask(withinMs));
  }

  async #own(withinMs: number): Promise<boolean> {
    // The cell starts: what its folder has is not on its way yet.
    if (this.#hooks.length === 0) return false;
    const hookMs = withinMs * (ANSWER_MS / FLUSH_MS);
    const all = Promise.all(this.#hooks.map((hook) => hook(hookMs)));
    return (await within(hookMs, all)) && !(await all).includes(false);
  }
}

const earliest = (cells: readonly KnownCell[]): number | undefined =>
  cells.length === 0 ? undefined : Math.min(...cells.map(({ insertedMs }) => insertedMs));

function shared<T>(all: Map<number, Shared<T>>, withinMs: number, make: () => Shared<T>): Promise<T> {
  // Callers wait for few different times.
  const one = all.get(withinMs) ?? make();
  all.set(withinMs, one);
  return one.run();
}

/** One run at a time, and one behind it that all share who came after it began: theirs must begin after they came. */
class Shared<T> {
  readonly #act: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(act: () => Promise<T>) {
    this.#act = act;
  }

  run(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#begin();
    const after = () => {
      this.#next = undefined;
      return this.#begin();
    };
    this.#next = this.#running.then(after, after);
    return this.#next;
  }

  #begin(): Promise<T> {
    const running = this.#act().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
