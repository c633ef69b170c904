/** Sums and maxima over cells: each increment counts once, whatever the connection does. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MergedRow, MergedRows } from "../../../../../src/cluster/cells/replica/merged-rows.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

/** Rows of one cell: what it counts, and what it heard. */
function part(cell: TestCell, table: string, kind: "max" | "sum") {
  const rows = new MergedRows({ lane: cell.lane(`merged ${table}`), everyMs: 3_600_000 });
  let counted: MergedRow[] = [];
  const heard = new Map<string, number[]>();
  rows.add({
    table,
    kind,
    take: (most) => {
      const taken = counted.slice(0, most);
      counted = counted.slice(most);
      return taken;
    },
    heard: (changed) => {
      for (const [name, ...numbers] of changed) heard.set(name, numbers);
    },
  });
  return { rows, heard, count: (...row: MergedRow) => void counted.push(row) };
}

test.skipIf(missing)("sums add up and maxima are the greatest, at every cell", async () => {
  const cells = await Promise.all([bench.cell("m1"), bench.cell("m2")]);
  const sums = cells.map((cell) => part(cell, "sums", "sum"));
  const maxima = cells.map((cell) => part(cell, "maxima", "max"));
  for (let at = 0; at < 100; at++) {
    sums[at % 2]?.count("row", 1, at % 10 === 0 ? 1 : 0);
    maxima[at % 2]?.count("key", 1_790_000_000_000 - at);
  }
  for (const { rows } of [...sums, ...maxima, ...sums, ...maxima]) await rows.flush();
  for (const { heard } of sums) expect(heard.get("row")).toEqual([100, 10]);
  for (const { heard } of maxima) expect(heard.get("key")).toEqual([1_790_000_000_000]);
  // More rows than one exchange takes or brings.
  for (let at = 0; at < 5000; at++) sums[0]?.count(`many-${at}`, 1, 0);
  for (const { rows } of sums) await rows.flush();
  for (const { heard } of sums) expect(heard.size).toBe(5001);
  await Promise.all(cells.map((cell) => cell.stop()));
});

test.skipIf(missing)("an increment whose reply was lost counts once", async () => {
  const cell = await bench.cell("m3");
  const { rows, heard, count } = part(cell, "cut", "sum");
  for (let at = 0; at < 40; at++) {
    count("row", 1);
    const flushed = rows.flush();
    if (at % 4 === 0) cell.cut();
    await flushed;
  }
  expect(heard.get("row")).toEqual([40]);
  await cell.stop();
});
