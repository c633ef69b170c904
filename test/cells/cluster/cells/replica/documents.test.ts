/** Shared rows at several cells of one real Redis. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`shared rows${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let cells: TestCell[];
  beforeAll(async () => {
    bench = await openBench();
    cells = await Promise.all(["a", "b", "c"].map((name) => bench.cell(name)));
  });
  afterAll(async () => await bench.close());
  const at = (index: number) => cells[index] as TestCell;

  test("are at every cell once the act resolves", async () => {
    await at(0).store.act(() => at(0).store.table<string>("things").put("first", "one"));
    for (const { store } of cells) expect(store.table("things").get("first")).toBe("one");
  });

  test("are counted exactly by all cells at once", async () => {
    const ROUNDS = 60;
    const adding = cells.flatMap(({ store }) => {
      const counts = store.table<number>("counts");
      return Array.from({ length: ROUNDS }, () =>
        store.act(
          () => {
            const next = (counts.get("all") ?? 0) + 1;
            counts.put("all", next);
            return next;
          },
          // Others are refused after five seconds, which all of them may take on a late machine.
          { isOwed: true },
        ),
      );
    });
    const values = await Promise.all(adding);
    expect(values.sort((a, b) => a - b)).toEqual(values.map((_, i) => i + 1));
    for (const { store, caughtUp } of cells) {
      await caughtUp();
      expect(store.table("counts").get("all")).toBe(cells.length * ROUNDS);
    }
  });
});
