/**
 * The events of one detached call, numbered, for any number of readers. What is new is in memory, what is older in the store; a call
 * without data retention has all of it in memory. Beyond the bound the oldest events are dropped: a reader that wants them is told so.
 */
import { EventNumbers, startOf } from "../../../wire/neutral/event-numbers.ts";

/** Some events, one behind the other. */
export interface Part {
  /** Number of the first of them. */
  readonly first: number;
  /** Number of the event behind them. */
  readonly end: number;
  readonly bytes: Buffer;
}

/** Parts of the log in the store. */
export interface StoredParts {
  /** The part that has an event; undefined where it is not there or cannot be read. */
  read(number: number): Part | undefined;
}

/** Bytes of a log that stay in memory once they are stored. */
const MEMORY_BYTES = 16 * 1024;
/** A reader is given about so much at a time. */
const READ_BYTES = 64 * 1024;

export class EventLog {
  /** No event follows. */
  isOver = false;
  /** Bytes of all events that are kept. */
  bytes = 0;
  /** Number of the first event that is kept. */
  keptFrom = 0;
  readonly #numbers: EventNumbers;
  readonly #stored: StoredParts | undefined;
  /** In memory, in their order. */
  #parts: Part[] = [];
  #memoryBytes = 0;
  /** Events before this one are stored. */
  #storedTo: number;
  #waiting: (() => void)[] = [];

  /** @param stored undefined: nothing of it may leave memory @param next number of the first event, of a log that is in the store already */
  constructor(stored: StoredParts | undefined, next = 0) {
    this.#stored = stored;
    this.#numbers = new EventNumbers(next);
    this.#storedTo = next;
  }

  /** Number of the next event. */
  get next(): number {
    return this.#numbers.next;
  }

  /** The same events with their numbers, which they have from now on. @param events whole ones */
  number(events: Buffer): Part {
    const first = this.next;
    const bytes = this.#numbers.numbered(events);
    return { first, end: this.next, bytes };
  }

  /** Appends what `number` returned, in the same order. */
  append(part: Part, isStored = false): void {
    this.#parts.push(part);
    this.#memoryBytes += part.bytes.length;
    this.bytes += part.bytes.length;
    if (isStored) this.#storedTo = part.end;
    this.wake();
  }

  /** No event follows: readers that have all of them end. */
  end(): void {
    this.isOver = true;
    this.wake();
  }

  /** What is not stored yet, as one part, which takes the place of those that it is made of. */
  unstored(): Part | undefined {
    const from = this.#parts.findIndex(({ first }) => first >= this.#storedTo);
    if (from < 0) return undefined;
    const parts = this.#parts.slice(from);
    const [only] = parts;
    if (parts.length === 1) return only;
    const whole = {
      first: (only as Part).first,
      end: (parts.at(-1) as Part).end,
      bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
    };
    this.#parts.length = from;
    this.#parts.push(whole);
    return whole;
  }

  /** They are in the store. */
  storedUpTo(end: number): void {
    if (end > this.#storedTo) this.#storedTo = end;
    this.#forget(MEMORY_BYTES);
  }

  /** The log has ended and is stored: nothing of it need be in memory. */
  leaveMemory(): void {
    if (this.#stored !== undefined) this.#forget(0);
  }

  #forget(mostBytes: number): void {
    if (this.#stored === undefined) return;
    let gone = 0;
    for (const { end, bytes } of this.#parts) {
      if (this.#memoryBytes <= mostBytes || end > this.#storedTo) break;
      this.#memoryBytes -= bytes.length;
      gone++;
    }
    if (gone > 0) this.#parts = this.#parts.slice(gone);
  }

  /** Drops events before this one, which is the first of a part. @param bytes of those that are dropped */
  dropTo(number: number, bytes: number): void {
    this.keptFrom = number;
    this.bytes -= bytes;
    const kept = this.#parts.filter(({ end }) => end > number);
    this.#memoryBytes = kept.reduce((sum, part) => sum + part.bytes.length, 0);
    this.#parts = kept;
  }

  /** The parts in memory, the oldest first. */
  *inMemory(): Generator<{ readonly first: number; readonly length: number }> {
    for (const { first, bytes } of this.#parts) yield { first, length: bytes.length };
  }

  /**
   * Events from this one on, as many as a reader is given at a time; undefined where there are none yet.
   * @returns "lost" where they are not kept any more
   */
  read(number: number): Part | undefined | "lost" {
    if (number >= this.next) return undefined;
    if (number < this.keptFrom) return "lost";
    const [oldest] = this.#parts;
    if (oldest !== undefined && number >= oldest.first) return this.#inMemory(number);
    // Numbered, and waiting for the commit that it is a part of.
    if (number >= this.#storedTo) return undefined;
    const part = this.#stored?.read(number);
    // The last part that is stored does not know where it ends.
    return part === undefined ? "lost" : from({ ...part, end: Math.min(part.end, this.#storedTo) }, number);
  }

  #inMemory(number: number): Part | undefined {
    let at = this.#parts.length - 1;
    while (at > 0 && (this.#parts[at] as Part).first > number) at--;
    const found = this.#parts[at] as Part;
    if (number >= found.end) return undefined;
    const first = from(found, number);
    const parts = [first];
    for (let bytes = first.bytes.length; bytes < READ_BYTES && ++at < this.#parts.length; ) {
      const part = this.#parts[at] as Part;
      parts.push(part);
      bytes += part.bytes.length;
    }
    if (parts.length === 1) return first;
    return {
      first: number,
      end: (parts.at(-1) as Part).end,
      bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
    };
  }

  /** Resolves once there is more, the log has ended, or somebody wakes its readers. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The part without the events before this one. */
function from(part: Part, number: number): Part {
  if (number <= part.first) return part;
  const start = startOf(part.bytes, number);
  if (start < 0) return { first: number, end: Math.max(number, part.end), bytes: NOTHING };
  return { first: number, end: part.end, bytes: part.bytes.subarray(start) };
}

const NOTHING = Buffer.alloc(0);
