/** What was removed leaves Redis too when it is asked for, and acts go on as before. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`removed rows${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.close());

  /** All that Redis holds, as its file would have it after it was written anew. */
  async function bytes(): Promise<string> {
    const keys = (await bench.link.call("KEYS", "*")) as Buffer[];
    const values = await Promise.all(keys.map((key) => bench.link.call("DUMP", key)));
    return [...keys, ...values].map((part) => (part as Buffer).toString("latin1")).join();
  }

  const emails = ({ store }: TestCell) => store.table<string>("emails");
  const put = (cell: TestCell, email: string) =>
    cell.store.act(() => emails(cell).put([email, "per_1"], `of ${email}`));
  const remove = (cell: TestCell, email: string) =>
    cell.store.act(() => emails(cell).remove([email, "per_1"]));

  test("their keys, rows and the names of their ranges are in Redis no more, those of others are", async () => {
    const [a, b] = [await bench.cell("a"), await bench.cell("b")];
    for (const email of ["anna@example.com", "berta@example.com"]) await put(a, email);
    await remove(a, "anna@example.com");
    await bench.link.call("CONFIG", "SET", "hash-max-listpack-entries", 100_000);
    expect(await bytes()).toContain("anna@example.com");
    await a.store.forgetRemoved();
    expect(await bytes()).not.toContain("anna");
    expect(await bytes()).toContain("berta@example.com");
    // Nobody had to load anew, and each still hears the others.
    await put(b, "clara@example.com");
    expect(emails(a).get(["clara@example.com", "per_1"])).toBe("of clara@example.com");
    expect(bench.log.filter((line) => line.includes("anew"))).toHaveLength(2);
  });

  test("very many of them go in slices, while acts that read what changes stay serial", async () => {
    const [a, b] = [await bench.cell("a"), await bench.cell("b")];
    const all = Array.from({ length: 5000 }, (_, n) => `person-${n}@example.com`);
    await a.store.act(() => {
      for (const email of all) emails(a).put([email, "per_1"], "row");
    });
    let isOver = false;
    const counting = [a, b].map(async ({ store }) => {
      const seen: number[] = [];
      while (!isOver)
        seen.push(
          await store.act(() => {
            const counts = store.table<number>("counts");
            const next = (counts.get("all") ?? 0) + 1;
            counts.put("all", next);
            return next;
          }),
        );
      return seen;
    });
    await a.store.act(() => {
      for (const email of all) emails(a).remove([email, "per_1"]);
    });
    await a.store.forgetRemoved();
    isOver = true;
    const seen = (await Promise.all(counting)).flat().sort((x, y) => x - y);
    expect(seen).toEqual(seen.map((_, n) => n + 1));
    expect(await bytes()).not.toContain("person-");
  });
});
