/**
 * Plays a prepared reply on a socket: which bytes, in which writes, after which delays, and how it ends. When the
 * socket's buffer is full the script pauses until it drains, so a reader that pauses pauses the simulator.
 */
import type { Socket } from "node:net";

/** Write in the same turn of the event loop as the previous step. */
export const AT_ONCE = -1;
/** Write after the event loop has polled once, so that the peer reads the pieces separately. */
export const NEXT_TURN = 0;

export interface Step {
  /** May be empty: then the step only waits. */
  readonly bytes: Buffer;
  /** How often the bytes are written; Infinity: until the peer disconnects. */
  readonly times: number;
  /** Milliseconds before each write of this step, or {@link AT_ONCE} or {@link NEXT_TURN}. */
  readonly waitMs: number;
}

/** `keep`: the connection accepts the next request; `close`: FIN; `reset`: RST; `silence`: open, nothing more. */
export type Ending = "keep" | "close" | "reset" | "silence";

export interface Script {
  readonly steps: readonly Step[];
  readonly ending: Ending;
}

/** A long run of writes yields to other sockets after this many bytes. */
const TURN_BYTES = 262_144;
/** Time for the peer to read before a reset. */
const SETTLE_MS = 10;

export interface PlaybackEvents {
  /** A write was handed to the socket. */
  wrote(bytes: number): void;
  /** The script has ended; not called for `silence` nor after {@link Playback.cancel}. */
  finished(ending: Ending): void;
}

export class Playback {
  readonly #socket: Socket;
  readonly #script: Script;
  readonly #events: PlaybackEvents;
  #step = 0;
  #repeat = 0;
  #waited = false;
  #stopped = false;
  #blocked = false;
  #wrote = false;
  /** The wait before a reset is over. */
  #settled = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #resume = () => {
    if (!this.#stopped) this.#run();
  };

  constructor(socket: Socket, script: Script, events: PlaybackEvents) {
    this.#socket = socket;
    this.#script = script;
    this.#events = events;
  }

  start(): void {
    this.#run();
  }

  /** The socket has room again. */
  drained(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#resume();
  }

  /** Nothing more is written. */
  cancel(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    const { steps } = this.#script;
    let writtenThisTurn = 0;
    for (let step = steps[this.#step]; step !== undefined; step = steps[this.#step]) {
      if (!this.#waited && step.waitMs !== AT_ONCE) {
        this.#waited = true;
        this.#wait(step.waitMs);
        return;
      }
      const room = step.bytes.length === 0 || this.#socket.write(step.bytes);
      if (++this.#repeat >= step.times) {
        this.#step++;
        this.#repeat = 0;
      }
      this.#waited = false;
      this.#wrote ||= step.bytes.length > 0;
      this.#events.wrote(step.bytes.length);
      if (this.#stopped) return;
      if (!room) {
        this.#blocked = true;
        return;
      }
      writtenThisTurn += step.bytes.length;
      if (writtenThisTurn >= TURN_BYTES) {
        setImmediate(this.#resume);
        return;
      }
    }
    this.#finish();
  }

  #wait(ms: number): void {
    // One immediate may run before the next poll; the second cannot.
    if (ms === NEXT_TURN) setImmediate(() => setImmediate(this.#resume));
    else this.#timer = setTimeout(this.#resume, ms);
  }

  #finish(): void {
    const { ending } = this.#script;
    if (ending === "silence") return;
    if (ending === "reset" && this.#mustSettle()) {
      this.#settled = this.#socket.writableLength === 0;
      this.#timer = setTimeout(this.#resume, SETTLE_MS);
      return;
    }
    this.#stopped = true;
    this.#events.finished(ending);
  }

  /** A reset discards bytes that are unsent or unread; everything written before it must arrive first. */
  #mustSettle(): boolean {
    return this.#wrote && !this.#settled;
  }
}
