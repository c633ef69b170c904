/** Ends the process, with exit code 3, while LMDB waits for this thread. Arguments: a folder, and "hang" where it shall never end. */
import { open } from "lmdb";
import { beforeEnd, endProcess } from "../../../../src/base/process/exit.ts";
import { Disk } from "../../../../src/store/journal/disk.ts";
import { Lmdb } from "../../../../src/store/lmdb/lmdb.ts";
import { diskPath, lmdbPath } from "../../../../src/store/recovery/inspection.ts";

const [folder = "", how] = process.argv.slice(2);
const root = open({ path: lmdbPath(folder), maxDbs: 2 });
const lmdb = new Lmdb(root, new Disk(diskPath(folder), lmdbPath(folder)));
process.once("exit", () => process.stdout.write("last words"));
if (how === "hang") void beforeEnd(() => new Promise(() => {}));
void lmdb.transaction(() => lmdb.putProgress({ applied: 1, kept: 1, segment: 0 }));
// By then the writer's thread has the transaction and waits for its writes.
setImmediate(() => {
  void endProcess(3);
  // As a busy gateway does: each batch is followed by another.
  void lmdb.transaction(() => process.stdout.write("begun after the end"));
});
