/**
 * The write-ahead journal: an append-only file that makes a group of writes survive kill -9 with one system call, long
 * before LMDB has them. Frames are `length, crc32, payload` (two little-endian 32-bit numbers in front); a frame cut by
 * a crash is dropped at the next start, and nobody was told that it was committed.
 */
import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

const HEAD_BYTES = 8;
/** A segment that has grown to this is closed, so that it can be removed once LMDB has what it holds. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

interface Segment {
  readonly path: string;
  readonly number: number;
}

export class Journal {
  readonly #folder: string;
  #closed: Segment[] = [];
  #current: Segment | undefined;
  #fd = -1;
  #bytes = 0;
  #unsynced = false;
  #syncing = false;

  /** Frames of an earlier life, oldest first; they stay on disk until `clear`. @throws Error where one is damaged. */
  static read(folder: string): Buffer[] {
    const frames: Buffer[] = [];
    const segments = segmentsOf(folder);
    for (const [at, { path }] of segments.entries()) {
      const bytes = readFileSync(path);
      const end = readFrames(bytes, frames);
      // Only the end of the newest file can have been cut; a fault anywhere else is no crash of ours.
      if (end < bytes.length && at < segments.length - 1) {
        throw new Error(`${path} is damaged at byte ${end}; restore the data folder from a backup`);
      }
    }
    return frames;
  }

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#closed = segmentsOf(folder);
  }

  /** Appends one frame. Once it returns, the frame survives the process. @throws Error and leaves the file as it was. */
  append(payload: Uint8Array): void {
    if (this.#fd < 0 || this.#bytes > SEGMENT_BYTES) this.#next();
    const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
    frame.writeUInt32LE(payload.length, 0);
    frame.writeUInt32LE(crc32(payload), 4);
    frame.set(payload, HEAD_BYTES);
    try {
      for (let done = 0; done < frame.length; ) {
        done += writeSync(this.#fd, frame, done, frame.length - done, this.#bytes + done);
      }
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
    this.#bytes += frame.length;
    this.#unsynced = true;
  }

  /** Hands what was appended to the disk, off the event loop: what a power failure may lose is what came since. */
  sync(): void {
    if (!this.#unsynced || this.#syncing) return;
    this.#unsynced = false;
    this.#syncing = true;
    fdatasync(this.#fd, () => {
      this.#syncing = false;
    });
  }

  /** Ends the current segment and names those that hold everything appended so far, for `remove`. */
  rotate(): readonly Segment[] {
    // A sync under way needs its descriptor; the next round takes this segment along.
    if (this.#fd >= 0 && this.#bytes > 0 && !this.#syncing) this.#end();
    return this.#closed;
  }

  /** What these segments hold is durable elsewhere. */
  remove(segments: readonly Segment[]): void {
    for (const { path } of segments) rmSync(path, { force: true });
    this.#closed = this.#closed.filter((s) => !segments.includes(s));
  }

  close(): void {
    if (this.#fd >= 0) this.#end();
  }

  /** True when the current segment is large enough that rotating it is worth a file. */
  get grown(): boolean {
    return this.#bytes > SEGMENT_BYTES / 2 || this.#closed.length > 0;
  }

  #next(): void {
    const last = this.#current ?? this.#closed.at(-1);
    if (this.#fd >= 0) this.#end();
    const number = (last?.number ?? 0) + 1;
    const path = join(this.#folder, `${String(number).padStart(12, "0")}.journal`);
    this.#fd = openSync(path, "wx", 0o600);
    this.#current = { path, number };
    this.#bytes = 0;
  }

  #end(): void {
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    if (this.#current !== undefined) this.#closed.push(this.#current);
    this.#current = undefined;
    this.#fd = -1;
    this.#bytes = 0;
    this.#unsynced = false;
  }
}

function segmentsOf(folder: string): Segment[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder)
    .filter((name) => name.endsWith(".journal"))
    .sort()
    .map((name) => ({ path: join(folder, name), number: Number.parseInt(name, 10) }));
}

/** Adds whole frames to `into`; returns where the first that is not whole begins, or the length. */
function readFrames(bytes: Buffer, into: Buffer[]): number {
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    if (payload.length < length || crc32(payload) !== bytes.readUInt32LE(at + 4)) return at;
    into.push(payload);
    at += HEAD_BYTES + length;
  }
  return at;
}
