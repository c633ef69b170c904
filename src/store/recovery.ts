/** What a start after a crash reads from the journal: everything that LMDB does not have yet, in the order it came. */
import { frameNumber, type LogWrite, readFrame } from "./frame.ts";
import { Layer } from "./pending.ts";

/** How far LMDB has what the journal holds: the tables to frame `applied`, the rows of logs to frame `kept`. */
export interface Progress {
  readonly applied: number;
  readonly kept: number;
}

/** One layer for tables and trims, and the rows of logs, among them such as are trimmed by now. */
export function unapplied(
  frames: readonly Buffer[],
  { applied, kept }: Progress,
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
