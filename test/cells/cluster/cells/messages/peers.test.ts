/** A file in the folder of one cell is read at another. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExportRow, Exports, newExport } from "../../../../../src/account/exports/export.ts";
import { exportPath, removeWhatEnds } from "../../../../../src/account/exports/export-jobs.ts";
import { type OtherFolders, partOf, streamOf } from "../../../../../src/account/exports/other-folders.ts";
import { systemClock } from "../../../../../src/base/clock.ts";
import { BodyReader } from "../../../../support/body.fixtures.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

let bench: Bench;
let one: TestCell;
let two: TestCell;
let others: OtherFolders;
const folder = () => join(bench.folder, "exports");
beforeAll(async () => {
  bench = await openBench();
  one = await bench.cell("a");
  two = await bench.cell("b");
  mkdirSync(folder());
  one.peers.serve("exp_", (name, offset) => partOf(folder(), name, offset));
  others = { cell: "b", part: (cell, name, offset) => two.peers.part(cell, name, offset) };
});
afterAll(() => bench.close());

const name = "exp_1.zip";
async function read(bytes: number, cell = "a", file = name): Promise<Buffer> {
  const { body } = await streamOf(others, { cell, name: file, bytes });
  return Buffer.concat(await new BodyReader(body).all);
}

test("a file of many megabytes arrives whole, and nothing of it stays in Redis", async () => {
  const sizes = async () =>
    Number(/aof_current_size:(\d+)/.exec(String(await bench.link.call("INFO", "persistence")))?.[1]);
  const before = await sizes();
  for (const size of [1, 256 * 1024, 24 * 1024 * 1024 + 7]) {
    const bytes = randomBytes(size);
    writeFileSync(join(folder(), name), bytes);
    expect((await read(size)).equals(bytes)).toBe(true);
  }
  expect((await sizes()) - before).toBeLessThan(1024 * 1024);
});

test("only exports are given out", async () => {
  writeFileSync(join(folder(), "secret"), "no");
  for (const file of ["secret", "../a/weir.lmdb", "exp_2.zip"])
    await expect(read(1, "a", file)).rejects.toMatchObject({ kind: "gateway_unavailable" });
});

test("a file goes with its export, whichever cell ends that, also while its own is away", async () => {
  const [here, there] = [one, two].map(
    ({ store }) => new Exports({ store, clock: systemClock, onFailure() {} }),
  ) as [Exports, Exports];
  const rows = [1, 2, 3].map((at) => ({
    ...newExport("org", at),
    id: `exp_row${at}`,
    status: "ready" as const,
  }));
  const [ended, erased, kept] = rows as [ExportRow, ExportRow, ExportRow];
  const own = join(bench.folder, "of-one");
  mkdirSync(own);
  for (const { id } of rows) writeFileSync(exportPath(own, id), "zip");
  const left = () => readdirSync(own).sort();
  await two.store.act(() => {
    for (const row of [ended, kept]) there.put(row);
  });
  await one.caughtUp();
  await removeWhatEnds({ exports: here, folder: own }, () => {});
  expect(left()).toEqual(["exp_row1.zip", "exp_row3.zip"]);
  writeFileSync(exportPath(own, erased.id), "zip");
  await two.store.act(() => {
    there.put(erased);
    there.put({ ...ended, status: "expired" });
  });
  await until("the first file is gone", left, equals(["exp_row2.zip", "exp_row3.zip"]));
  await two.store.act(() => void there.erase("org", 10));
  await until("all files are gone", left, equals([]));
  for (const exports of [here, there]) exports.close();
});

test("a file that breaks off is an error, and so is a cell that is away", async () => {
  writeFileSync(join(folder(), name), randomBytes(1000));
  await expect(read(5000)).rejects.toThrow("broke off");
  await one.stop();
  await expect(read(1000)).rejects.toMatchObject({ kind: "gateway_unavailable" });
  await expect(read(1000, "nobody")).rejects.toMatchObject({ kind: "gateway_unavailable" });
});
