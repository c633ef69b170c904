/** The changelog has each change once, over reloads, restarts and dated prices. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { storedPriceVersions } from "../../../../src/catalog/models/price-versions.ts";
import { openStore } from "../../../../src/store/store.ts";
import { CatalogWorld, modelFile, near } from "../../../support/catalog/world.fixtures.ts";
import { DAY, START } from "../../../support/jobs/fixtures.ts";

let world: CatalogWorld;
beforeEach(() => {
  world = new CatalogWorld();
});
afterEach(() => world.end());

const DAY_S = DAY / 1000;
const FIRST = [
  ["model_added", "Model was added", 0, 0],
  ["endpoint_added", "Served by Near Inc., eu", 0, 0],
];

/** Opens with one endpoint, and leaves out what that wrote. */
async function started(): Promise<void> {
  world.write(modelFile([near("eu", 2)]));
  await world.open();
  expect(world.log()).toEqual(FIRST);
  world.time.advance(1000);
}
const since = () => world.log().slice(FIRST.length);
async function reloaded(text: string): Promise<void> {
  world.write(text);
  expect(await world.catalog.reload()).toEqual({ ok: true });
}

test("every kind, and nothing where nothing changed", async () => {
  await started();
  await world.restart();
  expect(since()).toEqual([]);
  await reloaded(modelFile([near("eu", 2), near("us", 3)]));
  await reloaded(modelFile([near("eu", 2.5)], "context: 2000\n    max_output: 100\n    status: deprecated"));
  await reloaded(modelFile([near("eu", 2.5)], "context: 2000\n    max_output: 50"));
  await world.restart();
  expect(since()).toEqual([
    ["endpoint_added", "Served by Near Inc., us", 1, 1],
    ["deprecated", "Model is deprecated", 1, 1],
    ["endpoint_removed", "No longer served by Near Inc., us", 1, 1],
    ["limits_change", "Near Inc., eu: context 1000 → 2000 tokens", 1, 1],
    ["price_change", "Near Inc., eu: input $2 → $2.5 per 1M tokens", 1, 1],
    ["deprecated", "Model is no longer deprecated", 1, 1],
    ["limits_change", "Near Inc., eu: longest answer 100 → 50 tokens", 1, 1],
  ]);
  const ids = world.changelog.of("real/model").map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
});

test("a model that leaves the files and comes back", async () => {
  await started();
  world.write(modelFile([near("us", 1)]).replaceAll("real", "other"), "other");
  await reloaded(modelFile([near("eu", 2)]));
  world.write(modelFile([near("us", 1)]).replaceAll("real", "other"), "real");
  world.write(modelFile([near("eu", 2)]).replaceAll("real", "third"), "other");
  expect(await world.catalog.reload()).toEqual({ ok: true });
  await reloaded(modelFile([near("us", 2)]));
  expect(since()).toEqual([
    ["endpoint_removed", "No longer served by Near Inc., eu", 1, 1],
    ["model_added", "Model was added", 1, 1],
    ["endpoint_added", "Served by Near Inc., us", 1, 1],
  ]);
});

test("a dated price is there before its instant, once, and nothing is added when it comes", async () => {
  await started();
  await reloaded(modelFile([near("eu", 2, [[DAY_S, 3]])]));
  const announced = [["price_change", "Near Inc., eu: input $2 → $3 per 1M tokens", DAY_S, 1]];
  expect(since()).toEqual(announced);
  await world.restart();
  world.time.advance(DAY);
  await world.settle();
  expect([world.price()[0], since()]).toEqual([3, announced]);
  // Its date is taken out of the file, and the price stays.
  await reloaded(modelFile([near("eu", 3)]));
  expect(since()).toEqual(announced);
});

test("a dated price that came into force while no process ran", async () => {
  await started();
  await reloaded(
    modelFile([
      near("eu", 2, [
        [DAY_S, 3],
        [2 * DAY_S, 5],
      ]),
    ]),
  );
  await world.stop();
  world.time.advance(3 * DAY);
  await world.open();
  expect(since()).toEqual([
    ["price_change", "Near Inc., eu: input $2 → $3 per 1M tokens", DAY_S, 1],
    ["price_change", "Near Inc., eu: input $3 → $5 per 1M tokens", 2 * DAY_S, 1],
  ]);
});

test("a dated price that is taken back, or moved, is said to be", async () => {
  await started();
  await reloaded(modelFile([near("eu", 2, [[DAY_S, 3]])]));
  world.time.advance(1000);
  await reloaded(modelFile([near("eu", 2, [[2 * DAY_S, 3]])]));
  const instant = new Date(START + DAY).toISOString();
  expect(since().slice(1)).toEqual([
    ["price_change", `Near Inc., eu: the price announced for ${instant} was taken back`, DAY_S, 2],
    ["price_change", "Near Inc., eu: input $2 → $3 per 1M tokens", 2 * DAY_S, 2],
  ]);
});

test("a store of the last release, which has only versions of prices, is told from these", async () => {
  const endpointId = "ep_near_m_eu";
  const priced = (input: number) => ({
    endpointId,
    prices: { input, output: 4000 },
    listPrices: { input, output: 4000 },
    markupBps: 0,
  });
  const store = openStore(`${world.dir}/data`);
  const versions = storedPriceVersions(store, world.time);
  await versions.assign([priced(1000)]);
  world.time.advance(1000);
  await versions.assign([priced(2000)]);
  await store.close();
  world.time.advance(1000);
  world.write(modelFile([near("eu", 2.5, [[DAY_S, 3]])]));
  await world.open();
  const told = [
    ["endpoint_added", "Served by Near Inc., eu", 0, 0],
    ["price_change", "Near Inc., eu: input $1 → $2 per 1M tokens", 1, 1],
    ["price_change", "Near Inc., eu: input $2 → $2.5 per 1M tokens", 2, 2],
    ["price_change", "Near Inc., eu: input $2.5 → $3 per 1M tokens", DAY_S, 2],
  ];
  expect(world.log()).toEqual(told);
  // Ids of the last release stay: clients may have kept them.
  const ids = world.changelog.of("real/model").map(({ id }) => id);
  expect(ids).toContain(START * 1024);
  await world.restart();
  expect(world.log()).toEqual(told);
});

test("at most 100 entries of a model are kept, and a model that left is forgotten after 400 days", async () => {
  await started();
  for (let n = 0; n < 105; n++) await reloaded(modelFile([near("eu", 3 + n)]));
  const entries = () => [...world.store.table("catalog.changelog").range()];
  expect([world.log().length, entries().length]).toEqual([100, 100]);
  expect(world.log().at(-1)?.[1]).toContain("$106 → $107");
  await reloaded(modelFile([near("us", 2)]).replaceAll("real", "other"));
  expect(world.log().at(-1)?.[0]).toBe("endpoint_removed");
  world.time.advance(401 * DAY);
  await reloaded(modelFile([near("us", 2)]).replaceAll("real", "other"));
  expect(world.log()).toEqual([]);
  const known = [...world.store.table("catalog.known_models").range()].map(({ key }) => key);
  expect(known).toEqual(["other/model"]);
});
