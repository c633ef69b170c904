/**
 * The write-ahead journal: append-only files that make a group of writes survive kill -9 with one system call, long before
 * LMDB has them. From a start to a clean stop there is always a current segment, and every earlier one that still exists ends
 * with a mark that names the next: so a file that is gone is noticed. Form of the files: segment.ts; reading: survey.ts.
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
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { END_BYTES, endMark, HEADER_BYTES, newSegment, sealFrame, TAIL_BYTES, tailUnit } from "./segment.ts";

/** The size of a file, unless one frame needs more; one that is filled to half of it may be ended. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

interface Segment {
  readonly path: string;
  readonly number: number;
  readonly fd: number;
  readonly salt: number;
  readonly size: number;
  /** Repeated behind the newest frame. */
  readonly unit: Buffer;
  /** Where the next frame goes. */
  bytes: number;
  /** The newest frame in it, or before it where it has none. */
  newest: number;
  /** Something was written that a power failure may take. */
  unsynced: boolean;
}

/** What the start found: the numbers go on from there. */
export interface JournalStart {
  /** The highest number of a segment that was ever seen. */
  readonly segment: number;
  readonly frame: number;
}

export class Journal {
  readonly #folder: string;
  /** Kept open: to sync it must not take a descriptor, of which there may be none left. */
  readonly #folderFd: number;
  /** Ended, oldest first. */
  #ended: Segment[] = [];
  #current: Segment;
  /** Counted up with each try, so that what a failed one left behind is in nobody's way. */
  #numbers: number;
  #folderUnsynced = false;
  #syncing: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  /** Opens the first segment, which survives a power failure. @throws Error of the disk. */
  constructor(folder: string, { segment, frame }: JournalStart) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
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

  /** The number of the current segment: it, and what follows it, hold all frames to come. */
  get segment(): number {
    return this.#current.number;
  }

  /**
   * Appends one frame: a payload with `HEAD_BYTES` of room in front and `TAIL_BYTES` behind, which are filled in here. Once
   * it returns, the frame survives the process. `number`: of the frame, one more than that of the frame before.
   * @throws Error of the disk. What was written of the frame is then overwritten by the next, or dropped at a start.
   */
  append(frame: Buffer, number: number): void {
    if (this.#current.bytes + frame.length + END_BYTES > this.#current.size) this.#next(frame.length);
    const segment = this.#current;
    sealFrame(frame, segment.salt, segment.unit, number);
    segment.unsynced = true;
    writeAll(segment.fd, frame, segment.bytes);
    segment.bytes += frame.length - TAIL_BYTES;
    segment.newest = number;
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
    // The one under way began before the last append. All who ask meanwhile share the next: in turn they would wait for
    // one each, without end where the disk takes longer than they take to come.
    this.#following ??= this.#syncing
      .catch(() => {})
      .then(() => {
        this.#following = undefined;
        return this.sync();
      });
    return this.#following;
  }

  /** The same at once, for the little that came since a `sync`. @throws Error of the disk. */
  syncNow(): void {
    for (const segment of this.#all()) {
      // What a sync under way is to write may not be written yet.
      if (segment.unsynced || this.#syncing !== undefined) fdatasyncSync(segment.fd);
      segment.unsynced = false;
    }
    if (this.#folderUnsynced) fsyncSync(this.#folderFd);
    this.#folderUnsynced = false;
  }

  /** Ends the current segment where it has grown enough to be worth a file, so that it can be removed one day. */
  rotate(): void {
    if (this.#current.bytes > SEGMENT_BYTES / 2) this.#next(0);
  }

  /** Whether `remove` would find anything. */
  holds(upTo: number, before: number): boolean {
    return this.#ended.some((segment) => isDone(segment, upTo, before));
  }

  /**
   * All frames to number `upTo` are durable elsewhere, and so is that no segment before number `before` is needed: those
   * that hold nothing newer go.
   */
  async remove(upTo: number, before: number): Promise<void> {
    // Its descriptor may be in use.
    await this.#syncing?.catch(() => {});
    for (const segment of this.#ended.filter((one) => isDone(one, upTo, before))) {
      // Off the event loop: to free a file's pages takes milliseconds, and the last of the two calls frees them.
      await rm(segment.path, { force: true });
      this.#ended = this.#ended.filter((one) => one !== segment);
      // A sync that began meanwhile has it in its list.
      await this.#syncing?.catch(() => {});
      await closed(segment.fd);
    }
  }

  /** Nothing is appended any more. `done`: LMDB has everything, durably, and knows that no segment is needed. */
  async close(done: boolean): Promise<void> {
    await this.#syncing?.catch(() => {});
    if (!done) this.syncNow();
    for (const segment of this.#all()) {
      closeSync(segment.fd);
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

  /** Older files first: a newer one alone would look as if the older had been damaged. */
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

  /** Goes over to a new file, with room for `bytes`. @throws Error of the disk; the current segment then stays as it was. */
  #next(bytes: number): void {
    const last = this.#current;
    const next = this.#create(last.newest, bytes);
    try {
      last.unsynced = true;
      // Only now: the mark promises that the file it names is there. A frame that did not get through is overwritten.
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
    const fd = openSync(path, "w", 0o600);
    const unit = tailUnit(salt, newest);
    const segment = { path, number, fd, salt, size, unit, bytes: HEADER_BYTES, newest, unsynced: true };
    try {
      ftruncateSync(fd, size);
      writeAll(fd, newSegment({ salt, number, base: newest, size }), 0);
    } catch (error) {
      discard(segment);
      throw error;
    }
    this.#folderUnsynced = true;
    return segment;
  }
}

export const segmentName = (number: number): string => `${String(number).padStart(12, "0")}.journal`;

const isDone = ({ newest, number }: Segment, upTo: number, before: number): boolean =>
  newest <= upTo && number < before;

/** No frame was written to it. Where it cannot be removed, the next start does that. */
function discard({ fd, path }: Segment): void {
  closeSync(fd);
  try {
    rmSync(path, { force: true });
  } catch {
    // The error before this one says what the matter is.
  }
}

function writeAll(fd: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  }
}

const closed = promisify(close);
const flushed = promisify(fdatasync);
const folderFlushed = promisify(fsync);
