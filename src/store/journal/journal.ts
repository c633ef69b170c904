/**
 * The write-ahead journal: append-only files that make a group of writes survive kill -9 with one system call, long
 * before LMDB has them. From a start to a clean stop there is always a current segment, and every earlier one that
 * still exists ends with a mark that names the next, so that a missing file is detected. File format: segment.ts;
 * reading: survey.ts.
 */
import { randomInt } from "node:crypto";
import {
  close,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  rmSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { atPath, onFile } from "../../base/file-errors.ts";
import { makeFolder } from "../../base/process/make-folder.ts";
import { CLOSED, type JournalFile } from "./read-at.ts";
import { END_BYTES, endMark, HEADER_BYTES, newSegment, sealFrame, TAIL_BYTES, tailUnit } from "./segment.ts";
import { writeAll } from "./write-all.ts";

/** File size, unless one frame needs more; a file filled to half of it may be ended. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

interface Segment extends JournalFile {
  fd: number;
  readonly number: number;
  readonly salt: number;
  readonly size: number;
  /** Tail unit that is repeated after the newest frame. */
  readonly unit: Buffer;
  /** Offset of the next frame. */
  bytes: number;
  /** Number of the newest frame in it, or before it where it has none. */
  newest: number;
  /** It contains writes that a power failure could lose. */
  unsynced: boolean;
}

/** Where a frame was written. */
export interface FramePlace {
  readonly file: JournalFile;
  /** Offset of its head, bytes. */
  readonly at: number;
}

/** State found at the start; numbering continues from it. */
export interface JournalStart {
  /** The highest segment number ever used. */
  readonly segment: number;
  readonly frame: number;
}

export class Journal {
  readonly #folder: string;
  /** Kept open: syncing must not need a descriptor, of which there may be none left. */
  readonly #folderFd: number;
  /** Ended segments, oldest first. */
  #ended: Segment[] = [];
  #current: Segment;
  /** Incremented with each attempt, so that leftovers of a failed one do not collide. */
  #numbers: number;
  #folderUnsynced = false;
  #syncing: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  /** Creates the first segment, durably. @throws Error of the disk. */
  constructor(folder: string, { segment, frame }: JournalStart) {
    makeFolder(folder);
    this.#folder = folder;
    this.#numbers = segment;
    this.#folderFd = openSync(folder, "r");
    try {
      this.#current = this.#create(frame, 0);
      this.syncNow();
    } catch (error) {
      closeSync(this.#folderFd);
      throw error;
    }
  }

  /** Number of the current segment: it and later ones hold all future frames. */
  get segment(): number {
    return this.#current.number;
  }

  /**
   * Appends one frame: a payload with `HEAD_BYTES` of space before and `TAIL_BYTES` after it, which are filled in here.
   * Once it returns, the frame survives the end of the process. `number`: the frame's, one more than the previous
   * frame's.
   * @returns where it is: the file can be read until `remove` has removed it
   * @throws Error of the disk. A partly written frame is overwritten by the next, or dropped at a start.
   */
  append(frame: Buffer, number: number): FramePlace {
    if (this.#current.bytes + frame.length + END_BYTES > this.#current.size) this.#next(frame.length);
    const segment = this.#current;
    sealFrame(frame, segment.salt, segment.unit, number);
    segment.unsynced = true;
    const at = segment.bytes;
    writeAll(segment.fd, frame, at);
    segment.bytes = at + frame.length - TAIL_BYTES;
    segment.newest = number;
    return { file: segment, at };
  }

  /** Off the event loop: resolves once everything appended so far survives a power failure. @throws Error of the disk. */
  sync(): Promise<void> {
    if (this.#syncing === undefined) {
      if (!this.#isUnsynced()) return Promise.resolve();
      this.#syncing = this.#flush().finally(() => {
        this.#syncing = undefined;
      });
      return this.#syncing;
    }
    if (!this.#isUnsynced()) return this.#syncing;
    // The running sync began before the last append. All callers meanwhile share the next one: one sync each would
    // never end where the disk is slower than the callers.
    this.#following ??= this.#syncing
      .catch(() => {})
      .then(() => {
        this.#following = undefined;
        return this.sync();
      });
    return this.#following;
  }

  /** Synchronous variant, for the little that came since a `sync`. @throws Error of the disk. */
  syncNow(): void {
    for (const segment of this.#all()) {
      // What a running sync covers may not be on disk yet.
      if (segment.unsynced || this.#syncing !== undefined)
        onFile(segment.path, () => fdatasyncSync(segment.fd));
      segment.unsynced = false;
    }
    if (this.#folderUnsynced) onFile(this.#folder, () => fsyncSync(this.#folderFd));
    this.#folderUnsynced = false;
  }

  /** Ends the current segment if it is large enough, or where it must be, so that it can be removed later. */
  rotate({ isForced = false } = {}): void {
    if (isForced || this.#current.bytes > SEGMENT_BYTES / 2) this.#next(0);
  }

  /** Whether `remove` has anything to remove. */
  holds(upTo: number, before: number): boolean {
    return this.#ended.some((segment) => isDone(segment, upTo, before));
  }

  /**
   * Call when all frames up to `upTo` are durable elsewhere, and so is the fact that no segment before `before` is
   * needed: removes segments with nothing newer.
   */
  async remove(upTo: number, before: number): Promise<void> {
    // Its descriptor may be in use.
    await this.#syncing?.catch(() => {});
    for (const segment of this.#ended.filter((one) => isDone(one, upTo, before))) {
      // Off the event loop: freeing a file's pages takes milliseconds, and the last of the two calls does it.
      await rm(segment.path, { force: true });
      this.#ended = this.#ended.filter((one) => one !== segment);
      // A sync that began meanwhile may use it.
      await this.#syncing?.catch(() => {});
      const { fd } = segment;
      segment.fd = CLOSED;
      await closed(fd);
    }
  }

  /** Call after the last append. `done`: LMDB has everything, durably, and has recorded that no segment is needed. */
  async close(done: boolean): Promise<void> {
    await this.#syncing?.catch(() => {});
    if (!done) this.syncNow();
    for (const segment of this.#all()) {
      closeSync(segment.fd);
      segment.fd = CLOSED;
      if (done) await rm(segment.path, { force: true });
    }
    closeSync(this.#folderFd);
  }

  #all(): Segment[] {
    return [...this.#ended, this.#current];
  }

  #isUnsynced(): boolean {
    return this.#folderUnsynced || this.#current.unsynced || this.#ended.some(({ unsynced }) => unsynced);
  }

  /** Older files first: a newer one alone would look as if the older ones had been damaged. */
  async #flush(): Promise<void> {
    if (this.#folderUnsynced) {
      this.#folderUnsynced = false;
      await folderFlushed(this.#folderFd).catch((error: unknown) => {
        this.#folderUnsynced = true;
        throw error;
      });
    }
    for (const segment of this.#all()) {
      if (!segment.unsynced) continue;
      segment.unsynced = false;
      await flushed(segment.fd).catch((error: unknown) => {
        segment.unsynced = true;
        throw error;
      });
    }
  }

  /**
   * Switches to a new file, with space for `bytes`. @throws Error of the disk; the current segment then stays as it
   * was.
   */
  #next(bytes: number): void {
    const last = this.#current;
    const next = this.#create(last.newest, bytes);
    try {
      last.unsynced = true;
      // Only now: the mark promises that the next file exists. A frame that was not completed is overwritten.
      writeAll(last.fd, endMark(last.salt, { next: next.number, newest: last.newest }), last.bytes);
    } catch (error) {
      discard(next);
      throw error;
    }
    this.#ended.push(last);
    this.#current = next;
  }

  #create(newest: number, bytes: number): Segment {
    const number = ++this.#numbers;
    const path = join(this.#folder, segmentName(number));
    const size = Math.max(SEGMENT_BYTES, HEADER_BYTES + bytes + END_BYTES);
    const salt = randomInt(0x1_0000_0000);
    const fd = openSync(path, "w+", 0o600);
    const unit = tailUnit(salt, newest);
    const segment = { path, number, fd, salt, size, unit, bytes: HEADER_BYTES, newest, unsynced: true };
    try {
      ftruncateSync(fd, size);
      writeAll(fd, newSegment({ salt, number, base: newest, size }), 0);
    } catch (error) {
      discard(segment);
      throw atPath(error, path);
    }
    this.#folderUnsynced = true;
    return segment;
  }
}

export const segmentName = (number: number): string => `${String(number).padStart(12, "0")}.journal`;

const isDone = ({ newest, number }: Segment, upTo: number, before: number): boolean =>
  newest <= upTo && number < before;

/** No frame was written to it. If it cannot be removed, the next start does that. */
function discard({ fd, path }: Segment): void {
  closeSync(fd);
  try {
    rmSync(path, { force: true });
  } catch {
    // The earlier error tells the cause.
  }
}

const closed = promisify(close);
const flushed = promisify(fdatasync);
const folderFlushed = promisify(fsync);
