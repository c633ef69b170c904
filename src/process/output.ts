/**
 * Lines to standard output or error that never hold up the process: nothing here throws, and nothing waits for whoever
 * reads. A line that cannot be written (closed terminal, closed pipe, full disk) is dropped and counted; where the reader
 * is slow, lines wait in a bounded queue.
 */
import { constants, fstatSync, openSync, write as writeInThread, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { systemClock } from "../clock.ts";

/** What waits for a slow reader; beyond it new lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Lines of one write. */
const BATCH_BYTES = 64 * 1024;
/** Between two tries while the reader takes nothing. */
const RETRY_MS = 50;
/** How long a fatal line, or the end of the process, waits for a reader. */
const LAST_WORDS_MS = 250;

interface Batch {
  bytes: Buffer;
  readonly lines: number;
}

export class Output {
  readonly #maxBytes: number;
  readonly #target: Target;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** What is being written: whole lines, the first perhaps from its middle on. */
  #batch: Batch | undefined;
  /** A thread writes the batch. */
  #inThread = false;
  #retry: NodeJS.Timeout | undefined;
  #dropped = 0;
  #idle: (() => void)[] = [];

  constructor(fd: number, maxWaitingBytes: number = MAX_WAITING_BYTES) {
    this.#maxBytes = maxWaitingBytes;
    this.#target = openTarget(fd);
  }

  /** Lines that were not written, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param text one line or several, ended by a line feed. */
  write(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#waitingBytes + bytes > this.#maxBytes) {
      this.#dropped += linesIn(text);
      return;
    }
    this.#waiting.push(text);
    this.#waitingBytes += bytes;
    if (!this.#inThread && this.#retry === undefined) this.#work();
  }

  /** Resolves once everything is written or dropped, or when the time is over. */
  flush(withinMs: number): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Writes what can be written at once, and waits a moment for a reader: for fatal lines (pino calls it) and at exit. */
  flushSync(): void {
    const endMs = systemClock.monotonic() + LAST_WORDS_MS;
    // A batch that a thread has goes out by itself: the process does not end before its threads.
    while (this.#inThread) {
      const next = this.#next();
      if (next === undefined) return;
      this.#writeAll(next);
    }
    for (;;) {
      this.#work(true);
      if (this.#isIdle() || systemClock.monotonic() > endMs) return;
      Atomics.wait(PAUSE, 0, 0, 5);
    }
  }

  #writeAll(batch: Batch): void {
    try {
      let { bytes } = batch;
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#target.fd, bytes));
      this.#waitingBytes -= batch.bytes.length;
    } catch {
      this.#drop(batch, this.#batch);
    }
  }

  #isIdle(): boolean {
    return this.#batch === undefined && this.#waiting.length === 0;
  }

  /** Writes until nothing is left, the reader takes no more, or a thread has it. */
  #work(isNow = false): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    while (!this.#inThread) {
      this.#batch ??= this.#next();
      if (this.#batch === undefined) {
        for (const resolve of this.#idle.splice(0)) resolve();
        return;
      }
      if (this.#target.isThreaded && !isNow) this.#writeInThread(this.#batch);
      else if (!this.#writeNow(this.#batch)) return;
    }
  }

  /** @returns false where the reader takes nothing now. */
  #writeNow(batch: Batch): boolean {
    try {
      this.#wrote(batch, writeSync(this.#target.fd, batch.bytes));
    } catch (error) {
      if (codeOf(error) === "EAGAIN") {
        this.#retry = setTimeout(() => this.#work(), RETRY_MS).unref();
        return false;
      }
      this.#drop(batch);
    }
    return true;
  }

  #writeInThread(batch: Batch): void {
    this.#inThread = true;
    writeInThread(this.#target.fd, batch.bytes, (error, bytes) => {
      this.#inThread = false;
      if (error === null) this.#wrote(batch, bytes);
      else if (error.code !== "EAGAIN") this.#drop(batch);
      else {
        this.#retry = setTimeout(() => this.#work(), RETRY_MS).unref();
        return;
      }
      this.#work();
    });
  }

  #wrote(batch: Batch, bytes: number): void {
    this.#waitingBytes -= bytes;
    if (bytes < batch.bytes.length) batch.bytes = batch.bytes.subarray(bytes);
    else this.#batch = undefined;
  }

  /** @param current what is being written from here on. */
  #drop({ bytes, lines }: Batch, current?: Batch): void {
    this.#waitingBytes -= bytes.length;
    this.#dropped += lines;
    this.#batch = current;
  }

  #next(): Batch | undefined {
    if (this.#waiting.length === 0) return undefined;
    let count = 0;
    for (let bytes = 0; count < this.#waiting.length && bytes < BATCH_BYTES; count++) {
      bytes += this.#waiting[count]?.length ?? 0;
    }
    const text = this.#waiting.splice(0, count).join("");
    return { bytes: Buffer.from(text), lines: linesIn(text) };
  }
}

/** Writes a few lines before the process ends or starts: at once, whatever becomes of them. */
export function print(fd: 1 | 2, text: string): void {
  const output = new Output(fd, Number.POSITIVE_INFINITY);
  output.write(text);
  output.flushSync();
}

interface Target {
  readonly fd: number;
  /** A write may wait, so it goes through a thread: files, which wait for a disk at most. */
  readonly isThreaded: boolean;
}

/**
 * A descriptor whose writes return at once. Of pipes and sockets Node makes it itself when it opens their stream. A
 * terminal is opened once more, since the mode of the descriptor that we were given belongs to everybody who has it.
 */
function openTarget(fd: number): Target {
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) {
      // Making the stream is what sets the mode; nothing is ever written to it.
      (fd === 1 ? process.stdout : process.stderr).on("error", () => {});
      return { fd, isThreaded: false };
    }
    if (isatty(fd) && process.platform === "linux") return { fd: reopened(fd), isThreaded: false };
  } catch {
    // Closed, or a terminal of another user: writes tell.
  }
  return { fd, isThreaded: true };
}

const reopened = (fd: number): number =>
  openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);

const linesIn = (text: string): number => Math.max(1, text.split("\n").length - 1);

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** Nobody ever wakes it: a sleep for code that may not yield. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
