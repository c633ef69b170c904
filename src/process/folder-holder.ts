/** Which process has the data folder's store open, found without opening it: opening a damaged store could end this process. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * LMDB keeps a read lock on the first byte of its lock file for as long as a process has the store open. Linux lists all
 * locks in proc_locks(5): `3: POSIX  ADVISORY  READ 10609 fe:00:10003329 0 0`, with pid, device and inode.
 * @returns the process's id; undefined where no process has the store open, or where the system does not tell.
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
