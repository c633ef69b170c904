/**
 * Whether the disk can be written, asked before LMDB writes. LMDB must not find out by itself: where a page cannot be written,
 * its native code writes the message of its error beyond the memory that it has for it, and after a failed write of its first
 * pages it refuses everything until the process ends. The journal has no such faults, and keeps what LMDB cannot take yet.
 */
import { closeSync, openSync, statfsSync, writeSync } from "node:fs";

/** What a batch may take, with the pages that LMDB writes anew for it. */
const RESERVE_BYTES = 12 * 1024 * 1024;
const PAGE = Buffer.alloc(4096, "weir.lmdb is written next to this file only while this one can be. ");

export class Disk {
  readonly #path: string;
  #fd: number | undefined;

  /** `path`: of a file of its own beside LMDB's. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Two system calls, of microseconds each. @throws Error where the disk is full or fails. */
  check(): void {
    this.#fd ??= openSync(this.#path, "w", 0o600);
    const { bavail, bsize } = statfsSync(this.#path);
    if (bavail * bsize < RESERVE_BYTES) {
      const free = Math.floor((bavail * bsize) / 1024 / 1024);
      throw new Error(
        `No space left for weir.lmdb: ${free} MB free, ${RESERVE_BYTES / 1024 / 1024} MB are needed`,
      );
    }
    writeSync(this.#fd, PAGE, 0, PAGE.length, 0);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
