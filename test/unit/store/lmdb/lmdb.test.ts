/** What the store asks of LMDB's library. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { expect, onTestFinished, test } from "vitest";
import { Disk } from "../../../../src/store/journal/disk.ts";
import { Lmdb } from "../../../../src/store/lmdb/lmdb.ts";
import { diskPath, lmdbPath } from "../../../../src/store/recovery/inspection.ts";
import { sooner } from "../../../support/pace.ts";

test("it is closed once LMDB's threads are done with each transaction, not with the last one alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = open({ path: lmdbPath(folder), maxDbs: 2 });
  const first = Promise.withResolvers<boolean>();
  const flushes = [first.promise];
  const withLateThread = new Proxy(root, {
    get(target, name) {
      const value: unknown =
        name === "flushed" ? (flushes.shift() ?? target.flushed) : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as RootDatabase;
  const lmdb = new Lmdb(withLateThread, new Disk(diskPath(folder), lmdbPath(folder)));
  for (const frame of [1, 2]) {
    await lmdb.transaction(() => lmdb.putProgress({ applied: frame, kept: frame, segment: 0 }));
  }
  const closed = lmdb.close();
  expect(await sooner(closed, 50)).toBe("the rest");
  expect(lmdb.progress()?.applied).toBe(2);
  first.resolve(true);
  await closed;
  expect(() => root.getStats()).toThrow();
});
