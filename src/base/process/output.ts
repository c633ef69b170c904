/**
 * Writes lines to standard output or error without ever blocking the process: no method throws, and none waits for the
 * reader of the pipe or terminal, except a quarter of a second at the end of the process. A line that cannot be written
 * (closed terminal, closed pipe, full disk) is dropped and counted; for a slow reader, lines wait in a bounded queue.
 */
import { constants, fstatSync, openSync, write as writeInThread, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { inTime, systemClock } from "../clock.ts";
import { codeOf } from "../file-errors.ts";

/** Maximum size of the queue; further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Lines are joined into one write up to this size. */
const BATCH_BYTES = 64 * 1024;
/** Pause between retries while the reader accepts nothing. */
const RETRY_MS = 50;
/** How long a fatal line, or the end of the process, waits for the reader. */
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
  /** The batch being written; its first line may be written in part. */
  #batch: Batch | undefined;
  /** True while a thread writes the batch. */
  #inThread = false;
  #retry: NodeJS.Timeout | undefined;
  #dropped = 0;
  #idle: (() => void)[] = [];

  constructor(fd: number, maxWaitingBytes: number = MAX_WAITING_BYTES) {
    this.#maxBytes = maxWaitingBytes;
    this.#target = openTarget(fd);
  }

  /** Lines dropped since the start. */
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

  /** Resolves once everything is written or dropped, or after the timeout. */
  async flush(withinMs: number): Promise<void> {
    if (this.#isIdle()) return;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await inTime(idle, withinMs, () => {});
  }

  /** Writes on this thread, and waits up to `LAST_WORDS_MS` for the reader: for fatal lines (pino calls it) and at exit. */
  flushSync(): void {
    const endMs = systemClock.monotonic() + LAST_WORDS_MS;
    // A thread is writing a batch and finishes it even at exit, because the process waits for its threads; later lines
    // are written here, so they may come before it.
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

  /** Writes until the queue is empty, the reader accepts no more, or a thread takes over. */
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

  /** @returns false where the reader accepts nothing now. */
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

  /** @param current the batch that is still being written by a thread, if any. */
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

/** Writes a few lines at once, for commands and for errors at the start. Lines that cannot be written are lost. */
export function print(fd: 1 | 2, text: string): void {
  const output = new Output(fd, Number.POSITIVE_INFINITY);
  output.write(text);
  output.flushSync();
}

interface Target {
  readonly fd: number;
  /** True for files: a write may wait for the disk, so a thread does it. */
  readonly isThreaded: boolean;
}

/**
 * Makes writes to pipes, sockets and terminals non-blocking. For pipes and sockets Node sets that mode when it opens
 * their stream. A terminal is opened a second time, because other processes share the given descriptor, and changing
 * its mode would affect them.
 */
function openTarget(fd: number): Target {
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) {
      // Opening the stream sets the mode. Nothing is written to the stream itself.
      (fd === 1 ? process.stdout : process.stderr).on("error", () => {});
      return { fd, isThreaded: false };
    }
    if (isatty(fd) && process.platform === "linux") return { fd: reopened(fd), isThreaded: false };
  } catch {
    // The descriptor is closed, or the terminal belongs to another user: writes will fail and be counted, or work.
  }
  return { fd, isThreaded: true };
}

const reopened = (fd: number): number =>
  openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);

const linesIn = (text: string): number => Math.max(1, text.split("\n").length - 1);

/** No thread ever notifies it, so waiting on it is a sleep for code that may not yield. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
