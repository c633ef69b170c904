/**
 * Copies LMDB's file as it is at one moment into a new one, while another process goes on writing it: `node copy-child.ts <from> <to>
 * <pid>`. Started by copy.ts. The moment is one read transaction: LMDB then overwrites no page that it can see. It writes one line
 * of JSON (`CopyMoment`) once the transaction is open, and then copies row by row, so that bytes of removed rows are left behind. The copy has
 * the progress of a clean stop, because the journal is not copied. It ends when its parent does. Exit code 1 for anything else.
 */
import { type Key, open, type RootDatabase, type Transaction } from "lmdb";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";
import { yieldToGateway } from "../../base/process/yielding.ts";
import type { Progress } from "../journal/survey.ts";
import { packChecked } from "../lmdb/checked.ts";
import { PROGRESS, PROGRESS_KEY, readProgress } from "../lmdb/lmdb.ts";
import { MOST_TABLES } from "../recovery/inspection.ts";
import { copyTables, RAW, type RawTable } from "./copy-rows.ts";

/** What the copy will have: all frames up to `applied`, of log rows all up to `kept`. */
export interface CopyMoment {
  readonly applied: number;
  readonly kept: number;
}

interface Seen {
  readonly transaction: Transaction;
  readonly tables: ReadonlyMap<string, RawTable>;
}

/** A table can only be read in a transaction that began after it was opened: one that came in between is opened in the next round. */
function see(source: RootDatabase): Seen {
  const tables = new Map<string, RawTable>();
  for (;;) {
    const transaction = source.useReadTransaction();
    const names = Array.from(source.getKeys({ transaction }), (name: Key) => String(name));
    const fresh = names.filter((name) => !tables.has(name));
    if (fresh.length === 0) return { transaction, tables };
    transaction.done();
    source.resetReadTxn();
    for (const name of fresh) tables.set(name, source.openDB<Buffer, Buffer>(name, RAW));
  }
}

function progressOf({ tables, transaction }: Seen): Progress {
  for (const { value } of tables.get(PROGRESS)?.getRange({ transaction }) ?? []) return readProgress(value);
  throw new Error("weir.lmdb records no progress of the journal");
}

function copy({ tables, transaction }: Seen, progress: Progress, to: string, pid: string): void {
  const target = copyTables(tables, { transaction }, to, pid);
  const bare = target.openDB<Buffer, string>(PROGRESS, { encoding: "binary" });
  bare.putSync(
    PROGRESS_KEY,
    packChecked(JSON.stringify(PROGRESS_KEY), { ...progress, segment: 0 }) as Buffer,
  );
}

const NICENESS = 10;

const [from = "", to = "", pid = ""] = process.argv.slice(2);

try {
  process.umask(0o077);
  yieldToGateway(NICENESS);
  const seen = see(open({ path: from, maxDbs: MOST_TABLES, readOnly: true }));
  const progress = progressOf(seen);
  const moment: CopyMoment = { applied: progress.applied, kept: progress.kept };
  process.stdout.write(`${JSON.stringify(moment)}\n`);
  copy(seen, progress, to, pid);
  flushToDisk(to, "r+");
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
process.exit(0);
