/**
 * Checks that the disk can be written before LMDB writes. LMDB must not find out itself: when writing a page fails, its
 * native code writes the error message beyond its buffer, and after a failed write of its first pages it refuses
 * everything until the process ends. The journal has no such faults, and keeps what LMDB cannot take yet.
 */
import { closeSync, constants, ftruncateSync, openSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { onFile } from "../../base/file-errors.ts";
import { folderHolder } from "../../base/process/folder-holder.ts";
import { writeAll } from "./write-all.ts";

/** Space for a batch, including the pages that LMDB rewrites for it. */
const RESERVE_BYTES = 12 * 1024 * 1024;
const PAGE = Buffer.alloc(4096, "weir.lmdb is written next to this file only while this one can be. ");

/** The bound of a file's size (setrlimit(2), or the file system's own) is looked at each time that LMDB's file has grown by so much. */
const STEP_BYTES = 1024 * 1024;

export class Disk {
  readonly #path: string;
  readonly #lmdbPath: string;
  #fd: number | undefined;
  /** A file of so many bytes may be written. */
  #mayReach = 0;

  /** @param path of a file of its own beside LMDB's */
  constructor(path: string, lmdbPath: string) {
    this.#path = path;
    this.#lmdbPath = lmdbPath;
  }

  /** Three system calls of microseconds each. @throws Error where the disk is full or fails, or LMDB's file may not grow. */
  check(): void {
    this.#fd ??= openSync(this.#path, "w", 0o600);
    const { bavail, bsize } = statfsSync(this.#path);
    if (bavail * bsize < RESERVE_BYTES) {
      const free = Math.floor((bavail * bsize) / 1024 / 1024);
      throw new Error(
        `No space left for weir.lmdb: ${free} MB free, ${RESERVE_BYTES / 1024 / 1024} MB are needed`,
      );
    }
    const fd = this.#fd;
    onFile(this.#path, () => writeAll(fd, PAGE, 0));
    const size = statSync(this.#lmdbPath, { throwIfNoEntry: false })?.size ?? 0;
    if (size + RESERVE_BYTES > this.#mayReach) this.#reach(fd, size + RESERVE_BYTES + STEP_BYTES);
  }

  /** Writes a page where a file of so many bytes would end, and takes it back: `weir.lmdb-disk` stays small. */
  #reach(fd: number, bytes: number): void {
    try {
      writeAll(fd, PAGE, bytes - PAGE.length);
    } catch (error) {
      const most = Math.ceil(bytes / 1024 / 1024);
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`weir.lmdb may need ${most} MB, and \`ulimit -f\` may forbid that: ${why}`, {
        cause: error,
      });
    } finally {
      ftruncateSync(fd, PAGE.length);
    }
    this.#mayReach = bytes;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/**
 * LMDB's native code ends the process where it cannot open the file of its locks. Not tried where this process has the store open
 * already: closing the file would give up its locks. @throws Error of the system
 */
export function assertLockOpens(dataDir: string): void {
  if (folderHolder(dataDir) === process.pid) return;
  closeSync(openSync(join(dataDir, "weir.lmdb-lock"), constants.O_RDWR | constants.O_CREAT, 0o600));
}
