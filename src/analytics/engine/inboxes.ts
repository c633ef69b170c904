/** Folders in the engine's, in which gateways lay rows that the engine shall insert. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** That of a gateway alone. Those of cells that share an engine are `inbox-<cell>`. */
export const INBOX = "inbox";
const INBOXES = /^inbox(-.*)?$/;

/**
 * Deletes what earlier processes left, also cells that do not come back: nothing reads it again, for its rows are in the outboxes of
 * those processes. Call it before the engine starts: no process inserts then.
 * @throws Error of the disk
 */
export function emptyInboxes(engineFolder: string): void {
  const names = existsSync(engineFolder) ? readdirSync(engineFolder) : [];
  for (const name of names.filter((one) => INBOXES.test(one)))
    rmSync(join(engineFolder, name), { recursive: true, force: true });
}
