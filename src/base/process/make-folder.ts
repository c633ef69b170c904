/** Makes folders so that what hinders it is told as it is. */
import { mkdirSync } from "node:fs";

/**
 * Makes a folder for this user alone, with those above it, unless it is there. Asked for all at once, Node takes whatever else is
 * wrong for a folder that is missing. @throws Error of the system, with its own reason
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // A folder above it is missing, or it is there.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
}
