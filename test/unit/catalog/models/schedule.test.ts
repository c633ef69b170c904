/** Dated prices come into force at their instant, whatever the clock and the process do meanwhile. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CatalogWorld, modelFile, near } from "../../../support/catalog/world.fixtures.ts";
import { DAY, MINUTE, SECOND, START } from "../../../support/jobs/fixtures.ts";

let world: CatalogWorld;
beforeEach(() => {
  world = new CatalogWorld();
});
afterEach(() => world.end());

const MODEL = "real/model";
const EU = "ep_near_m_eu";
/** One day after the start: 2 becomes 3; two days after it: 5. */
const TWICE = modelFile([
  near("eu", 2, [
    [86_400, 3],
    [2 * 86_400, 5],
  ]),
  near("us", 2),
]);

const announced = () =>
  world.catalog
    .current()
    .scheduledPrices(EU)
    .map(({ fromMs, listPrices, version }) => [fromMs - START, listPrices.input / 1000, version] as const);

describe("a dated price", () => {
  test("is announced with the version that it has once it is in force, at its instant and not before", async () => {
    world.write(TWICE);
    await world.open();
    const [first, second] = announced();
    expect([first?.slice(0, 2), second?.slice(0, 2)]).toEqual([
      [DAY, 3],
      [2 * DAY, 5],
    ]);
    world.time.advance(DAY - 1);
    await world.settle();
    expect(world.price()[0]).toBe(2);
    world.time.advance(1);
    await world.settle();
    expect(world.price()).toEqual([3, first?.[2]]);
    expect(announced()).toEqual([second]);
    world.time.advance(DAY);
    await world.settle();
    expect(world.price()).toEqual([5, second?.[2]]);
    expect(announced()).toEqual([]);
    expect(world.versions.history(EU).map((v) => [v.listPrices.input / 1000, v.fromMs - START])).toEqual([
      [5, 2 * DAY],
      [3, DAY],
      [2, 0],
    ]);
    expect(world.catalog.current().priceChangedMs(EU)).toBe(START + 2 * DAY);
    expect(world.catalog.current().priceChangedMs("ep_near_m_us")).toBeUndefined();
  });

  test("changes no snapshot that a call has taken", async () => {
    world.write(TWICE);
    await world.open();
    const taken = world.catalog.current();
    const before = taken.models.get(MODEL)?.endpoints[0]?.prices;
    world.time.advance(DAY);
    await world.settle();
    expect(world.catalog.current()).not.toBe(taken);
    expect(taken.models.get(MODEL)?.endpoints[0]?.prices).toBe(before);
  });

  test("is in force within a second after the machine slept over its instant", async () => {
    world.write(TWICE);
    await world.open();
    // Timers stand still in a sleep; the wall clock does not.
    world.time.set(START + DAY + 5 * MINUTE);
    world.time.fire();
    expect(world.price()[0]).toBe(2);
    world.time.advance(SECOND);
    await world.settle();
    expect(world.price()[0]).toBe(3);
  });

  test("is taken back when the clock is, and not when that is less than a minute", async () => {
    world.write(TWICE);
    await world.open();
    world.time.advance(DAY + 10 * SECOND);
    await world.settle();
    world.time.set(START + DAY - 20 * SECOND);
    for (let s = 0; s < 3; s++) {
      world.time.advance(SECOND);
      await world.settle();
    }
    expect(world.price()[0]).toBe(3);
    world.time.set(START + MINUTE);
    world.time.advance(SECOND);
    await world.settle();
    expect(world.price()[0]).toBe(2);
    expect(announced()).toHaveLength(2);
  });

  test("is in force at once in a process that starts after its instant", async () => {
    world.write(TWICE);
    await world.open();
    const [, second] = announced();
    await world.stop();
    world.time.advance(3 * DAY);
    await world.open();
    expect(world.price()).toEqual([5, second?.[2]]);
    await world.restart();
    expect(world.versions.history(EU).map(({ listPrices }) => listPrices.input)).toEqual([5000, 2000]);
  });

  test("comes into force by what the files said at the last good load, though they are broken now", async () => {
    world.write(TWICE);
    await world.open();
    world.write("vendor: real\nmodels: nothing\n");
    expect((await world.catalog.reload()).ok).toBe(false);
    world.time.advance(DAY);
    await world.settle();
    expect(world.price()[0]).toBe(3);
  });

  test("waits while the store cannot commit, says so, and is in force soon after", async () => {
    world.write(TWICE);
    await world.open();
    world.isFull = true;
    world.time.advance(DAY);
    await world.settle();
    expect([world.price()[0], world.failures.length]).toEqual([2, 1]);
    world.isFull = false;
    world.time.advance(SECOND);
    await world.settle();
    expect(world.price()[0]).toBe(3);
  });

  test("that a reload takes away does not come into force", async () => {
    world.write(TWICE);
    await world.open();
    world.write(modelFile([near("eu", 2)]));
    expect(await world.catalog.reload()).toEqual({ ok: true });
    world.time.advance(DAY);
    await world.settle();
    expect(world.price()[0]).toBe(2);
    // The endpoint that left was replaced by nothing, and has no prices any more.
    expect(world.catalog.current().scheduledPrices("ep_near_m_us")).toEqual([]);
  });

  test("needs no timer where the files have no dates", async () => {
    world.write(modelFile([near("eu", 2)]));
    await world.open();
    const before = world.catalog.current();
    world.time.advance(3 * DAY);
    await world.settle();
    expect(world.catalog.current()).toBe(before);
  });
});

describe("refused, with file and place", () => {
  test.each([
    ["a price of 0", [near("eu", 2, [[86_400, 0]])], "/scheduled/0/price/input", "gives input tokens away"],
    [
      "two dates in the wrong order",
      [
        near("eu", 2, [
          [86_400, 3],
          [100, 4],
        ]),
      ],
      "/scheduled/1/from",
      "must be later than the one before",
    ],
    [
      "a day without a time zone",
      [near("eu", 2, [[86_400, 3]]).replace("T10:00:00.000Z", "")],
      "/scheduled/0/from",
      "use an instant such as 2026-12-01T00:00:00Z",
    ],
  ])("%s", async (_, endpoints, pointer, message) => {
    world.write(modelFile([near("us", 2)]));
    await world.open();
    world.write(modelFile(endpoints));
    const result = await world.catalog.reload();
    const [problem] = result.ok ? [] : result.problems;
    expect(problem?.pointer).toBe(`/models/0/endpoints/0${pointer}`);
    expect(problem?.message).toContain(message);
  });
});
