/** Applies to LMDB what it lacks of the journal, in order, and makes it complete by itself. */
import { type LogWrite, readFrame } from "../journal/frame.ts";
import type { Logs } from "../journal/logs.ts";
import { Layer } from "../journal/pending.ts";
import { frameNumber } from "../journal/segment.ts";
import type { JournalProgress } from "../journal/survey.ts";
import type { Lmdb } from "../lmdb/lmdb.ts";

type Known = Pick<JournalProgress, "applied" | "kept">;

/** One layer for tables and trims, and the log rows, including trimmed ones. */
function unapplied(
  frames: readonly Buffer[],
  { applied, kept }: Known,
): { readonly layer: Layer; readonly rows: readonly LogWrite[] } {
  const layer = new Layer();
  const rows: LogWrite[] = [];
  layer.upTo = applied;
  for (const frame of frames) {
    const number = frameNumber(frame);
    if (number <= kept) continue;
    const { writes, logWrites } = readFrame(frame);
    if (number > applied) for (const write of writes) layer.add(write);
    for (const write of logWrites) {
      if (write.value === undefined) layer.trim(write);
      else rows.push(write);
    }
    layer.upTo = Math.max(layer.upTo, number);
  }
  layer.loggedTo = layer.upTo;
  return { layer, rows };
}

/** Inside an LMDB transaction: puts the writes and the progress. */
export function putLayer(lmdb: Lmdb, logs: Logs, layer: Layer): void {
  for (const [table, writes] of layer.tables) {
    const db = lmdb.database(table);
    for (const { key, value } of writes.values()) {
      if (value === undefined) db.removeSync(key);
      else db.putSync(key, value as Buffer);
    }
  }
  logs.putTrims(layer.trims);
  lmdb.putProgress(progressOf(layer));
}

export const progressOf = ({ upTo, loggedTo, segment }: Layer): JournalProgress => ({
  applied: upTo,
  kept: loggedTo,
  segment,
});

/**
 * After a crash: applies the frames that LMDB lacks, durably; no file of the journal is needed then. `through`: the
 * frame after which numbering continues, if it is higher than all of these. Returns that number.
 */
export function recover(
  lmdb: Lmdb,
  logs: Logs,
  frames: readonly Buffer[],
  reached: Known,
  through = 0,
): number {
  const { layer, rows } = unapplied(frames, reached);
  layer.upTo = Math.max(layer.upTo, through);
  layer.loggedTo = layer.upTo;
  lmdb.transactionSync(() => {
    putLayer(lmdb, logs, layer);
    logs.restore(rows);
  });
  return layer.upTo;
}

/**
 * LMDB then needs no file of the journal, as after a clean stop. Call it while no other transaction of the store runs, when LMDB has
 * the tables of all frames up to `reached.applied`. Moves the rows of logs of those frames there, and records that. Rows of later
 * frames stay in memory.
 * @returns the progress. @throws Error where LMDB cannot take them
 */
export async function keptAll(lmdb: Lmdb, logs: Logs, reached: JournalProgress): Promise<JournalProgress> {
  const { applied } = reached;
  while ((logs.oldestFrame() ?? Number.POSITIVE_INFINITY) <= applied) {
    const moved = await lmdb.transaction(() => logs.move(true, applied));
    moved();
  }
  const progress = { ...reached, kept: applied };
  await lmdb.transaction(() => lmdb.putProgress(progress));
  return progress;
}
