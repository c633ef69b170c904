/**
 * The write-ahead journal: an append-only file that makes a group of writes survive kill -9 with one system call, long
 * before LMDB has them. Frames are `length, crc32, payload` (two little-endian 32-bit numbers in front); a frame cut by
 * a crash is dropped at the next start, and nobody was told that it was committed.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";

/** Room for length and checksum in front of a payload. */
export const HEAD_BYTES = 8;
/** A segment that has grown to this is ended; one that has grown to half of it may be. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

interface Segment {
  readonly path: string;
  readonly number: number;
  /** The newest frame in it; 0 for a segment of an earlier life, which recovery has brought into LMDB. */
  readonly newest: number;
}

export class Journal {
  readonly #folder: string;
  #closed: Segment[] = [];
  #current: Segment | undefined;
  #fd = -1;
  #bytes = 0;
  #newest = 0;
  #unsynced = false;
  #syncing: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  /** Frames of an earlier life, oldest first; they stay on disk until `clear`. @throws Error where one is damaged. */
  static read(folder: string): Buffer[] {
    const frames: Buffer[] = [];
    const segments = segmentsOf(folder);
    for (const [at, { path }] of segments.entries()) {
      const bytes = readFileSync(path);
      const end = readFrames(bytes, frames);
      if (end === bytes.length) continue;
      // Only the end of the newest file can have been cut; a fault anywhere else is no crash of ours.
      if (at < segments.length - 1) {
        throw new Error(`${path} is damaged at byte ${end}; restore the data folder from a backup`);
      }
      // Another crash may come before this file goes, and it will not be the newest then.
      truncateSync(path, end);
    }
    return frames;
  }

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#closed = segmentsOf(folder);
  }

  /**
   * Appends one frame: the payload behind `HEAD_BYTES` of room, which are filled in here. Once it returns, the frame
   * survives the process. `number`: of the frame, greater than any before. @throws Error and leaves the file as it was.
   */
  append(frame: Buffer, number: number): void {
    if (this.#fd < 0 || this.#bytes > SEGMENT_BYTES) this.#next();
    frame.writeUInt32LE(frame.length - HEAD_BYTES, 0);
    frame.writeUInt32LE(crc32(frame.subarray(HEAD_BYTES)), 4);
    try {
      for (let done = 0; done < frame.length; ) {
        done += writeSync(this.#fd, frame, done, frame.length - done, this.#bytes + done);
      }
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
    this.#bytes += frame.length;
    this.#newest = number;
    this.#unsynced = true;
  }

  /** Off the event loop: resolves once everything appended so far survives a power failure. @throws Error of the disk. */
  sync(): Promise<void> {
    if (this.#syncing === undefined) {
      if (!this.#unsynced) return Promise.resolve();
      this.#syncing = this.#flush();
      return this.#syncing;
    }
    if (!this.#unsynced) return this.#syncing;
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

  async #flush(): Promise<void> {
    this.#unsynced = false;
    const segment = this.#current;
    try {
      await flushed(this.#fd);
    } catch (error) {
      // A segment that was ended meanwhile was synced then, and its descriptor closed under us.
      if (segment !== this.#current) return;
      this.#unsynced = true;
      throw error;
    } finally {
      this.#syncing = undefined;
    }
  }

  /** The same at once, for the little that came since a `sync`. @throws Error of the disk. */
  syncNow(): void {
    if (this.#unsynced || this.#syncing !== undefined) fdatasyncSync(this.#fd);
    this.#unsynced = false;
  }

  /** Ends the current segment where it has grown enough to be worth a file, so that it can be removed one day. */
  rotate(): void {
    // A sync under way needs its descriptor; the next round comes soon.
    if (this.#bytes > SEGMENT_BYTES / 2 && this.#syncing === undefined) this.#end();
  }

  /** Whether `remove` would find anything. */
  holds(upTo: number): boolean {
    return this.#closed.some(({ newest }) => newest <= upTo);
  }

  /** All frames to this number are durable elsewhere: ended segments that hold nothing newer go. */
  async remove(upTo: number): Promise<void> {
    // Off the event loop: to free a file's pages takes milliseconds.
    const done = this.#closed.filter(({ newest }) => newest <= upTo);
    for (const { path } of done) await rm(path, { force: true });
    this.#closed = this.#closed.filter((segment) => !done.includes(segment));
  }

  close(): void {
    if (this.#fd >= 0) this.#end();
  }

  #next(): void {
    const last = this.#current ?? this.#closed.at(-1);
    if (this.#fd >= 0) this.#end();
    const number = (last?.number ?? 0) + 1;
    const path = join(this.#folder, `${String(number).padStart(12, "0")}.journal`);
    this.#fd = openSync(path, "wx", 0o600);
    syncFolder(this.#folder);
    this.#current = { path, number, newest: 0 };
    this.#bytes = 0;
  }

  #end(): void {
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    if (this.#current !== undefined) this.#closed.push({ ...this.#current, newest: this.#newest });
    this.#current = undefined;
    this.#fd = -1;
    this.#bytes = 0;
    this.#unsynced = false;
  }
}

const flushed = promisify(fdatasync);

/** A file outlives a power failure only once its folder knows it. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function segmentsOf(folder: string): Segment[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder)
    .filter((name) => name.endsWith(".journal"))
    .sort()
    .map((name) => ({ path: join(folder, name), number: Number.parseInt(name, 10), newest: 0 }));
}

/** Adds whole frames to `into`; returns where the first that is not whole begins, or the length. */
function readFrames(bytes: Buffer, into: Buffer[]): number {
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    // No frame is empty: a power failure may leave zeros, which are the length and the checksum of one.
    if (length === 0 || payload.length < length || crc32(payload) !== bytes.readUInt32LE(at + 4)) return at;
    into.push(payload);
    at += HEAD_BYTES + length;
  }
  return at;
}
