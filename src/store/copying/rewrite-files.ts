/**
 * What the process that has weir.lmdb rewritten and the one that copies its rows both know: the names of files that are not whole
 * yet, which a kill may leave behind, and an exit code.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

const NEXT = "weir.lmdb-next";

/** Exit code of the copying process where another process has the folder. */
export const IN_USE = 3;

/** A name of its own for each try: what a process that was killed has left running never writes into another's file. */
export const newNextPath = (dataDir: string): string =>
  join(dataDir, `${NEXT}-${randomBytes(6).toString("hex")}`);

/**
 * Removes what tries left that a kill ended. Only with the claim on the folder: the try of another process is no such thing.
 * @param only one of them
 */
export function removeUnfinished(dataDir: string, only = NEXT): void {
  try {
    for (const name of readdirSync(dataDir))
      if (name.startsWith(basename(only))) rmSync(join(dataDir, name), { force: true });
  } catch {
    // It takes space and harms nothing; the next start tries again.
  }
}
