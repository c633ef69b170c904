/** Files, and the names in folders, that are on the disk whatever happens next. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** @param flags how it is opened: `w` makes a file, for its owner alone, where there is none */
export function flushToDisk(path: string, flags = "r"): void {
  const fd = openSync(path, flags, 0o600);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
