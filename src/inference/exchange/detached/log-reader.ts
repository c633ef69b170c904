/**
 * One reader of a log of this process. The reader gets each event in the turn in which the call says it, without a wait of its own: a call
 * may have many readers, and an event costs each of them a write and little else. Events that the reader has missed come from the log, in
 * turns with other readers.
 */
import type { BodyClient } from "../../../base/operation/body.ts";
import { SharedTurns } from "../../../base/turns/shared-turns.ts";
import { brokenOffEvents } from "./broken-off.ts";
import type { CallLog } from "./call-log.ts";
import type { LogListener, Part } from "./event-log.ts";
import { behindEnd, notKept, type ReadOptions } from "./read-log.ts";

/** Readers that have much to catch up with take turns, each with a part. */
const turns = new SharedTurns();

export class LogReader implements LogListener {
  readonly #log: CallLog;
  readonly #client: BodyClient;
  readonly #options: ReadOptions;
  readonly #filler: Buffer;
  /** Number of the next event that it gets. */
  #next: number;
  /** It has all that was said, and waits for more. Else it waits for its client, or for its turn. */
  #isWaiting = false;
  #hasLeft = false;
  /** When it was last told something. The first look finds nothing: its client hears at once that it is connected. */
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param next number of the first event that it gets */
  constructor(log: CallLog, next: number, client: BodyClient, options: ReadOptions) {
    this.#log = log;
    this.#next = next;
    this.#client = client;
    this.#options = options;
    this.#filler = Buffer.from(options.filler);
  }

  begin(): void {
    this.#log.events.listen(this);
    this.#safely(() => {
      const broken = behindEnd(this.#log, this.#next);
      const end = broken && brokenOffEvents(this.#log.call, this.#next, broken).bytes;
      if (end === undefined || this.#write(end)) this.#readOn();
    });
  }

  grew(part: Part): void {
    if (!this.#isWaiting) return;
    if (part.first !== this.#next) {
      this.#goOn();
      return;
    }
    this.#next = part.end;
    // As `#safely`, without a closure for each event.
    try {
      this.#write(part.bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  ended(): void {
    if (this.#isWaiting) this.#goOn();
  }

  looked(): void {
    if (this.#isWaiting || this.#client.gone) this.#goOn();
  }

  /** Tells the client that the call still runs, unless the client has yet to take earlier events. */
  fill(): void {
    if (this.#isWaiting) this.#safely(() => this.#write(this.#filler));
  }

  /** Its client is told nothing more. */
  leave(): void {
    this.#hasLeft = true;
    this.#isWaiting = false;
    this.#log.events.leave(this);
  }

  /** Until it has all, or its client has enough for now. */
  #goOn(): void {
    this.#isWaiting = false;
    if (this.#client.gone) this.leave();
    else if (!this.#hasLeft) this.#safely(() => this.#readOn());
  }

  /** An error thrown into the call's own turn would end the call and keep its events from other readers: so this reader fails alone. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(error);
    }
  }

  #readOn(): void {
    const { call, events } = this.#log;
    const part = events.read(this.#next);
    if (part === "lost") throw notKept(events.keptFrom, this.#next);
    if (part !== undefined) {
      this.#next = part.end;
      if (part.bytes.length > 0 && !this.#write(part.bytes)) return;
      if (this.#next < events.next) {
        void turns.next(call.orgId).then(() => this.#goOn());
        return;
      }
    }
    this.#rest();
  }

  /** It has all that was said so far. */
  #rest(): void {
    const { events } = this.#log;
    if (events.isOver) {
      this.leave();
      this.#client.end();
      return;
    }
    const { clock, keepAliveMs } = this.#options;
    // A filler would bring the answer's head, which names the call.
    const isSilent = !events.isHeld && keepAliveMs > 0 && clock.monotonic() - this.#lastMs >= keepAliveMs;
    if (!isSilent || this.#write(this.#filler)) this.#isWaiting = true;
  }

  /** False: its client has enough, and it goes on later by itself. */
  #write(bytes: Buffer): boolean {
    this.#lastMs = this.#options.clock.monotonic();
    if (this.#client.write(bytes)) return true;
    this.#isWaiting = false;
    this.#client.onDrain(() => this.#goOn());
    return false;
  }

  #fail(error: unknown): void {
    this.leave();
    this.#client.fail(error);
  }
}
