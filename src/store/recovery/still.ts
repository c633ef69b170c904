/** Makes LMDB complete by itself: it then needs no file of the journal, as after a clean stop. */

import type { Logs } from "../journal/logs.ts";
import type { JournalProgress } from "../journal/survey.ts";
import type { Lmdb } from "../lmdb/lmdb.ts";

/**
 * Call it while no other transaction of the store runs, when LMDB has the tables of all frames up to `reached.applied`. Moves the
 * rows of logs of those frames there, and records that. Rows of later frames stay in memory.
 * @returns the progress. @throws Error where LMDB cannot take them
 */
export async function keptAll(lmdb: Lmdb, logs: Logs, reached: JournalProgress): Promise<JournalProgress> {
  const { applied } = reached;
  while ((logs.oldestFrame() ?? Number.POSITIVE_INFINITY) <= applied) {
    const moved = await lmdb.transaction(() => logs.move(true, applied));
    if ("error" in moved) throw moved.error;
    moved.value();
  }
  const progress = { ...reached, kept: applied };
  const put = await lmdb.transaction(() => lmdb.putProgress(progress));
  if ("error" in put) throw put.error;
  return progress;
}
