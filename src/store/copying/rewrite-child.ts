/**
 * Copies every row of one LMDB file into a new one, for the process that started it: `node rewrite-child.ts <from> <to> <pid>`.
 * Started by rewrite.ts. It claims the folder in that process's name first, so that no other opens the file meanwhile, and ends
 * when that process does. Exit codes: `IN_USE` and, for anything else, 1.
 */
import { dirname } from "node:path";
import { type Key, open } from "lmdb";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";
import { claimDirectory } from "../lmdb/lock.ts";
import { MOST_TABLES } from "../recovery/inspection.ts";
import { copyTables, RAW } from "./copy-rows.ts";
import { IN_USE, removeUnfinished } from "./rewrite-files.ts";

const [from = "", to = "", pid = ""] = process.argv.slice(2);
const dataDir = dirname(from);

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
  const names = Array.from(source.getKeys(), (name: Key) => String(name));
  const tables = names.map((name) => [name, source.openDB<Buffer, Buffer>(name, RAW)] as const);
  copyTables(tables, {}, to, pid);
  flushToDisk(to, "r+");
} catch (error) {
  removeUnfinished(dataDir, to);
  ended(error, 1);
}
process.exit(0);
