/**
 * Copies every row of one LMDB file into a new one, for the process that started it: `node rewrite-child.ts <from> <to> <pid>`.
 * Started by rewrite.ts. It claims the folder in that process's name first, so that no other opens the file meanwhile, and ends
 * when that process does. Exit codes: `IN_USE` and, for anything else, 1.
 */
import { dirname } from "node:path";
import { type Key, open, type RootDatabase } from "lmdb";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";
import { CLAIMS, claimDirectory } from "../lmdb/lock.ts";
import { MOST_TABLES } from "../recovery/inspection.ts";
import { copyRows, RAW, type RawTable } from "./copy-rows.ts";
import { IN_USE, removeUnfinished } from "./rewrite-files.ts";

function copy(source: RootDatabase, to: string, isWanted: () => boolean): void {
  // Pages are cleared before they are written: memory of the process never gets into the gaps.
  const target = open({ path: to, maxDbs: MOST_TABLES, noMemInit: false, overlappingSync: false });
  const names = Array.from(source.getKeys(), (name: Key) => String(name));
  for (const name of names) {
    // Whoever opens the new file claims it anew.
    if (name === CLAIMS) continue;
    const rows: RawTable = source.openDB<Buffer, Buffer>(name, RAW);
    const copies: RawTable = target.openDB<Buffer, Buffer>(name, RAW);
    copyRows(rows.getRange(), target, copies, isWanted);
    if (copies.getCount() !== rows.getCount()) throw new Error(`not every row of ${name} was copied`);
  }
}

const [from = "", to = "", pid = ""] = process.argv.slice(2);
const dataDir = dirname(from);
/** After the death of its parent a process has another one. */
const isWanted = (): boolean => process.ppid === Number(pid);

function ended(error: unknown, code: number): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(code);
}

const source = open({ path: from, maxDbs: MOST_TABLES });
try {
  claimDirectory(source, dataDir, Number(pid));
} catch (error) {
  ended(error, IN_USE);
}
try {
  removeUnfinished(dataDir);
  copy(source, to, isWanted);
  flushToDisk(to, "r+");
} catch (error) {
  removeUnfinished(dataDir, to);
  ended(error, 1);
}
process.exit(0);
