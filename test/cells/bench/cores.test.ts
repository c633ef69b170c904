/** Cells over the cores of one machine, on paper. */
import { expect, test } from "vitest";
import { bestCells, capacityOf, hottestShare } from "../../../bench/cells/cores.ts";
import type { Measured } from "../../../bench/cells/paper.ts";

/** Each exchange takes so many microseconds of Redis, and each further org of a settle ten. */
const redisOf = (redisUs: number): Measured => ({
  kinds: ["beat", "settle-1", "settle-100", "limit", "claim", "answer", "act"].map((name) => ({
    name,
    about: "",
    redisUs: name === "settle-100" && redisUs > 0 ? redisUs + 990 : redisUs,
    ms: 0.4,
    fileBytes: 0,
    memoryBytes: 0,
  })),
  syncMs: 0.5,
});
const COST = { mainUs: 100, helpersUs: 20, engineUs: 30, restMs: 0 };
const TRAFFIC = { orgs: 1, keyed: 0, actsPerSecond: 0 };
/** So many that chance hardly shows. */
const MANY = 10_000;

test("one cell on its own core gives a part of it to helpers and engine; with a core more its main thread is full", () => {
  const on = (cores: number) => capacityOf(redisOf(0), COST, { cores, cells: 1, connections: 1 }, TRAFFIC);
  expect(on(1)).toMatchObject({ callsPerSecond: 6666, limit: "cores" });
  expect(on(2)).toMatchObject({ callsPerSecond: 10_000, limit: "hottest cell" });
});

test("a part of Redis's core that replies do not queue behind is all that cells can have of it", () => {
  const machine = { cores: 32, cells: 32, connections: MANY };
  const { limit, redis } = capacityOf(redisOf(800), COST, machine, { ...TRAFFIC, orgs: 100 });
  expect(limit).toBe("Redis");
  expect(redis).toBeCloseTo(0.7, 2);
});

test("fewer connections than cells leave some idle, and many spread evenly", () => {
  expect(hottestShare(1, 8)).toBe(1);
  expect(hottestShare(32, 32)).toBeGreaterThan(3);
  expect(hottestShare(2, MANY)).toBeLessThan(1.02);
});

test("the best number of cells leaves cores to what is not a main thread, and pays for uneven connections", () => {
  const best = (connections: number) => bestCells(redisOf(0), COST, { cores: 8, connections }, TRAFFIC).cells;
  // Of 8 cores 5.3 are for main threads.
  expect(best(MANY)).toBe(6);
  expect(best(64)).toBeGreaterThan(6);
});
