/**
 * Checks that the disk can be written before LMDB writes. LMDB must not find out itself: when writing a page fails, its
 * native code writes the error message beyond its buffer, and after a failed write of its first pages it refuses
 * everything until the process ends. The journal has no such faults, and keeps what LMDB cannot take yet.
 */
import { closeSync, openSync, statfsSync, writeSync } from "node:fs";

/** Space for a batch, including the pages that LMDB rewrites for it. */
const RESERVE_BYTES = 12 * 1024 * 1024;
const PAGE = Buffer.alloc(4096, "weir.lmdb is written next to this file only while this one can be. ");

export class Disk {
  readonly #path: string;
  #fd: number | undefined;

  /** `path`: a file of its own beside LMDB's. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Two system calls of microseconds each. @throws Error where the disk is full or fails. */
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
