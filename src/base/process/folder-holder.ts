/**
 * Finds the process that has the data folder's store open, without opening the store: opening a damaged one could crash
 * this process.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * LMDB holds a read lock on the first byte of its lock file as long as a process has the store open. Linux lists all
 * locks in proc_locks(5): `3: POSIX  ADVISORY  READ 10609 fe:00:10003329 0 0`, with pid, device and inode.
 * @returns the process id; undefined where no process has the store open, or the system does not report it.
 */
export function folderHolder(dataDir: string): number | undefined {
  try {
    const { dev, ino } = statSync(join(dataDir, "weir.lmdb-lock"));
    const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const file = `${hex(major)}:${hex(minor)}:${ino}`;
    const lock = readFileSync("/proc/locks", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .find((fields) => fields[5] === file);
    return lock === undefined ? undefined : Number(lock[4]);
  } catch {
    return undefined;
  }
}

const hex = (number: number): string => number.toString(16).padStart(2, "0");
