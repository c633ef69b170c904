/**
 * Once before all tests: has them write to a folder in memory (tmpfs), where the system has one with room. Nearly every test makes
 * a store or two, and each of their tables waits for the disk when it is made: a fifth of the time of such tests. Without it, or
 * with `TMPDIR` set, they write where the system keeps temporary files.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** Many times what tests have ever held at once. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3;

export function setup() {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < LEAST_FREE_BYTES) return undefined;
  removeLeftFolders();
  const folder = mkdtempSync(join(MEMORY, `weir-tests-${process.pid}-`));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** Runs that were killed have left them. */
function removeLeftFolders() {
  for (const name of readdirSync(MEMORY)) {
    const pid = /^weir-tests-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    }
  }
}
