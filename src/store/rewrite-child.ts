/** Copies every row of one LMDB file into a new one: `node rewrite-child.ts <from> <to>`. Started by rewrite.ts. */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { type Database, type Key, open } from "lmdb";

/** One transaction; LMDB keeps its pages in memory until it ends. */
const ROWS = 5000;
const MOST_TABLES = 512;

type Bytes = Database<Buffer, Buffer>;

function copy(from: string, to: string): void {
  const source = open({ path: from, maxDbs: MOST_TABLES, readOnly: true });
  // Pages are cleared before they are written: memory of the process never gets into the gaps.
  const target = open({ path: to, maxDbs: MOST_TABLES, ...{ noMemInit: false, overlappingSync: false } });
  const names = Array.from(source.getKeys(), (name: Key) => String(name));
  for (const name of names) {
    const raw = { encoding: "binary", keyEncoding: "binary" } as const;
    const rows: Bytes = source.openDB<Buffer, Buffer>(name, raw);
    const copies: Bytes = target.openDB<Buffer, Buffer>(name, raw);
    let slice: { key: Buffer; value: Buffer }[] = [];
    const put = () => {
      target.transactionSync(() => {
        for (const { key, value } of slice) copies.putSync(key, value);
      });
      slice = [];
    };
    for (const { key, value } of rows.getRange()) {
      slice.push({ key: Buffer.from(key), value: Buffer.from(value) });
      if (slice.length === ROWS) put();
    }
    put();
    if (copies.getCount() !== rows.getCount()) throw new Error(`not every row of ${name} was copied`);
  }
}

const [from = "", to = ""] = process.argv.slice(2);
copy(from, to);
const fd = openSync(to, "r+");
fsyncSync(fd);
closeSync(fd);
process.exit(0);
