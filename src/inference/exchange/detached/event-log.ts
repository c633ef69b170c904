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
  /** The events of the part that begins with this one; undefined where they are not there or cannot be read. */
  read(first: number): Buffer | undefined;
}

/** Hears what happens to a log, in the same turn. */
export interface LogListener {
  /** These events are its last ones now. */
  grew(part: Part): void;
  /** No event follows. */
  ended(): void;
  /** Time has passed, or nothing of the log is kept any more. */
  looked(): void;
}

/** Bytes of a log that stay in memory once they are stored. */
const MEMORY_BYTES = 16 * 1024;
/** A reader is given about so much at a time. */
const READ_BYTES = 64 * 1024;
/** What is read from the store at a time: each tenth of a second of what was said is a row of its own, and takes some microseconds. */
const STORE_READ_BYTES = 16 * 1024;
/** A part has about so much. */
const PART_BYTES = 32 * 1024;

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
  /** Events before this one were given to the store, and before that one they are in it. */
  #givenTo: number;
  #storedTo: number;
  /** Numbers of the first events of the parts that the store was given. */
  #starts: number[];
  #isForgotten = false;
  #isHeld = false;
  readonly #listeners = new Set<LogListener>();

  /**
   * @param stored undefined: nothing of it may leave memory
   * @param next number of the next event, of a log that is in the store already @param starts of its parts
   */
  constructor(stored: StoredParts | undefined, next = 0, starts: readonly number[] = []) {
    this.#stored = stored;
    this.#numbers = new EventNumbers(next);
    this.#givenTo = this.#storedTo = next;
    this.#starts = [...starts];
  }

  /** Number of the next event. */
  get next(): number {
    return this.#numbers.next;
  }

  /** Readers are told nothing for now. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.look();
  }

  /** The same events with their numbers, which they have from now on. @param events whole ones */
  number(events: Buffer): Part {
    const first = this.next;
    const bytes = this.#numbers.numbered(events);
    return { first, end: this.next, bytes };
  }

  /** The latest that was numbered is not appended: what follows has its numbers. */
  takeBack({ first }: Part): void {
    this.#numbers.next = first;
  }

  /** Appends what `number` returned, in the same order. */
  append(part: Part, isStored = false): void {
    for (const piece of piecesOf(part)) {
      this.#parts.push(piece);
      this.#memoryBytes += piece.bytes.length;
      this.bytes += piece.bytes.length;
      if (isStored) this.#give(piece);
    }
    if (isStored) this.stored(part.end);
    if (this.#isHeld) return;
    for (const listener of this.#listeners) listener.grew(part);
  }

  /** No event follows: readers that have all of them end. */
  end(): void {
    this.isOver = true;
    for (const listener of this.#listeners) listener.ended();
  }

  /** What the store was not given yet, in parts that take the place of those that they are made of. They count as given. */
  unstored(): readonly Part[] {
    const from = this.#parts.findIndex(({ first }) => first >= this.#givenTo);
    if (from < 0) return [];
    const given: Part[] = [];
    let some: Part[] = [];
    let bytes = 0;
    for (const part of this.#parts.slice(from)) {
      if (bytes > 0 && bytes + part.bytes.length > PART_BYTES) {
        given.push(joined(some));
        some = [];
        bytes = 0;
      }
      some.push(part);
      bytes += part.bytes.length;
    }
    given.push(joined(some));
    this.#parts.length = from;
    this.#parts.push(...given);
    for (const part of given) this.#give(part);
    return given;
  }

  #give({ first, end }: Part): void {
    this.#givenTo = end;
    this.#starts.push(first);
  }

  /** Events before this one are in the store. */
  stored(end: number): void {
    if (end <= this.#storedTo) return;
    this.#storedTo = end;
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
    this.#starts = this.#starts.filter((first) => first >= number);
  }

  /** Nothing of it is kept any more: a slow reader of it keeps no memory. Its readers look. */
  forget(): void {
    this.#isForgotten = true;
    this.#parts = [];
    this.#memoryBytes = 0;
    this.look();
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
    if (this.#isHeld || number >= this.next) return undefined;
    if (number < this.keptFrom || this.#isForgotten) return "lost";
    const [oldest] = this.#parts;
    if (oldest !== undefined && number >= oldest.first) return this.#inMemory(number);
    // Numbered, and waiting for the commit that it is a part of.
    if (number >= this.#storedTo) return undefined;
    return this.#inStore(number) ?? "lost";
  }

  /** As many stored parts as a reader is given at a time. */
  #inStore(number: number): Part | undefined {
    const parts: Part[] = [];
    let bytes = 0;
    for (let at = lastUpTo(this.#starts, number); at >= 0 && at < this.#starts.length; at++) {
      const first = this.#starts[at] as number;
      if (first >= this.#storedTo || bytes >= STORE_READ_BYTES) break;
      const found = this.#stored?.read(first);
      if (found === undefined) break;
      const end = Math.min(this.#starts[at + 1] ?? this.#storedTo, this.#storedTo);
      parts.push({ first, end, bytes: found });
      bytes += found.length;
    }
    return parts.length === 0 ? undefined : from(joined(parts), number);
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
    return joined(parts);
  }

  listen(listener: LogListener): void {
    this.#listeners.add(listener);
  }

  leave(listener: LogListener): void {
    this.#listeners.delete(listener);
  }

  /** Resolves once there is more, the log has ended, or its readers are to look. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      const changed = () => {
        this.leave(listener);
        resolve();
      };
      const listener: LogListener = { grew: changed, ended: changed, looked: changed };
      this.listen(listener);
    });
  }

  /** Readers look how long they were silent. */
  look(): void {
    for (const listener of this.#listeners) listener.looked();
  }
}

/** Index of the last of some ascending numbers that is not greater; -1: all are. */
function lastUpTo(numbers: readonly number[], number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const COLON = ":".charCodeAt(0);
const NEXT = "\n\nid: ";
const BLANK_LINE = 2;
const MOST_DIGITS = 16;

/** The same events in parts of about PART_BYTES: what is dropped of a log is dropped by parts. */
export function piecesOf(part: Part): readonly Part[] {
  if (part.bytes.length <= PART_BYTES) return [part];
  const pieces: Part[] = [];
  let { first, bytes } = part;
  while (bytes.length > PART_BYTES) {
    const at = bytes.indexOf(NEXT, PART_BYTES - NEXT.length, "latin1");
    if (at < 0) break;
    const digits = bytes.toString("latin1", at + NEXT.length, at + NEXT.length + MOST_DIGITS);
    const end = Number.parseInt(digits, 10);
    pieces.push({ first, end, bytes: bytes.subarray(0, at + BLANK_LINE) });
    first = end;
    bytes = bytes.subarray(at + BLANK_LINE);
  }
  pieces.push({ first, end: part.end, bytes });
  return pieces;
}

/** @param parts one or more, one behind the other */
function joined(parts: readonly Part[]): Part {
  const first = parts[0] as Part;
  if (parts.length === 1) return first;
  const bytes = Buffer.concat(parts.map((part) => part.bytes));
  return { first: first.first, end: (parts.at(-1) as Part).end, bytes };
}

/** The part from this event on: without the events before it, and without a comment that stands before it. */
function from(part: Part, number: number): Part {
  if (number <= part.first && part.bytes[0] !== COLON) return part;
  const start = startOf(part.bytes, number);
  if (start < 0) return { first: number, end: Math.max(number, part.end), bytes: NOTHING };
  return { first: number, end: part.end, bytes: part.bytes.subarray(start) };
}

const NOTHING = Buffer.alloc(0);
