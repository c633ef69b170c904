/**
 * The process that the log's crash test kills: appends and trims as fast as the store takes it, prints each number once
 * it is committed, and kills itself at a moment that its seed decides. Run: `node test/crash/store/log.writer.ts <folder> <seed>`.
 */
import { writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { seededRandom } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/store.ts";

/** The row of a number, so that a reader knows what must be in it. */
export const rowOf = (number: number): Buffer => Buffer.from(`row ${number} `.repeat(1 + (number % 40)));

const print = (line: string): void => void writeSync(1, `${line}\n`);

async function write(folder: string, seed: number): Promise<void> {
  const random = seededRandom(seed);
  // Small, so that rows go the whole way: journal, memory, LMDB, and out of it.
  const store = openStore(folder, { logsKept: { rows: 300, bytes: 100_000 } });
  const log = store.log("log");
  const beside = store.table<number>("beside");
  const rows: number[] = [];
  for (let n = 1; n <= log.newest(); n++) {
    const row = log.get(n);
    if (row !== undefined && Buffer.compare(row, rowOf(n)) === 0) rows.push(n);
  }
  print(`found ${JSON.stringify({ trimmed: log.trimmed(), newest: log.newest(), rows })}`);
  if ((beside.get("newest") ?? 0) !== log.newest()) throw new Error("a commit is there in part");
  let number = log.newest();
  const killAfter = 200 + Math.floor(random() * 3000);
  for (let commits = 0; ; commits++) {
    const mine = ++number;
    const trim = random() < 0.01 ? Math.floor(log.trimmed() + random() * (log.newest() - log.trimmed())) : 0;
    const committed = store.act(() => {
      log.append(mine, rowOf(mine));
      beside.put("newest", mine);
      if (trim > 0) log.trim(trim);
    });
    void committed.then(() => print(`row ${mine}`));
    if (trim > 0) void committed.then(() => print(`trim ${trim}`));
    if (random() < 0.02) await store.act(() => beside.put("transacted", mine));
    if (random() < 0.3) await committed;
    if (random() < 0.2) await turn();
    if (commits === killAfter) process.kill(process.pid, "SIGKILL");
  }
}

const [, script, folder, seed] = process.argv;
if (script === import.meta.filename && folder !== undefined) await write(folder, Number(seed));
