/**
 * Virtual time: events run in order of their times, then of their creation. Simulating hours takes seconds, and the
 * same seed gives the same run.
 */
import type { Clock, Timers } from "../../src/base/clock.ts";

interface Event {
  readonly atMs: number;
  readonly number: number;
  act: (() => void) | undefined;
}

/** When a run starts unless it says when, milliseconds since 1970. */
const BEGIN_MS = Date.UTC(2026, 0, 1);

export class VirtualTime implements Clock, Timers {
  readonly #beginMs: number;
  #nowMs = 0;
  #made = 0;
  /** A binary heap, the earliest first. */
  readonly #events: Event[] = [];

  constructor(beginMs = BEGIN_MS) {
    this.#beginMs = beginMs;
  }

  // Some who are given a clock take its functions out of it.
  readonly now = (): number => this.#beginMs + this.#nowMs;
  readonly monotonic = (): number => this.#nowMs;

  after(delayMs: number, act: () => void): () => void {
    const event: Event = { atMs: this.#nowMs + Math.max(0, delayMs), number: this.#made++, act };
    this.#push(event);
    return () => {
      event.act = undefined;
    };
  }

  /** Runs until no event is left. Microtasks of an event run before the next one. */
  async run(): Promise<void> {
    for (let event = this.#pop(); event !== undefined; event = this.#pop()) {
      if (event.act === undefined) continue;
      this.#nowMs = event.atMs;
      event.act();
      await undefined;
    }
  }

  /**
   * Runs what is due until then, after which it is that time.
   * @param wallMs milliseconds since 1970 @param settled awaited after each instant: what its events began has done all that needs no time
   */
  async runUntil(wallMs: number, settled: () => Promise<void>): Promise<void> {
    const endMs = wallMs - this.#beginMs;
    for (let event = this.#events[0]; event !== undefined && event.atMs <= endMs; event = this.#events[0]) {
      this.#pop();
      if (event.act === undefined) continue;
      this.#nowMs = Math.max(this.#nowMs, event.atMs);
      event.act();
      await settled();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #push(event: Event): void {
    const heap = this.#events;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Event;
      if (!isEarlier(event, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#events;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const lesser =
        right < heap.length && isEarlier(heap[right] as Event, heap[left] as Event) ? right : left;
      const child = heap[lesser] as Event;
      if (!isEarlier(child, last)) break;
      heap[at] = child;
      at = lesser;
    }
    heap[at] = last;
    return first;
  }
}

const isEarlier = (a: Event, b: Event): boolean =>
  a.atMs === b.atMs ? a.number < b.number : a.atMs < b.atMs;
