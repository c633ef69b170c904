/** Has the disk write what a file holds, or which names a folder has: a power cut then takes nothing of it. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** @param flags how it is opened: `w` makes the file empty, or a new one for its owner alone */
export function flushToDisk(path: string, flags = "r"): void {
  const fd = openSync(path, flags, 0o600);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
