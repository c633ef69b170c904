/** Two gateways of one installation, each with files of its own: one reads them again when the other has. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { type Catalog, type Followed, openCatalog } from "../../../../src/catalog/models/catalog.ts";
import { storedPriceVersions } from "../../../../src/catalog/models/price-versions.ts";
import { storedReadings } from "../../../../src/catalog/models/readings.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { modelFile, near, PROVIDERS } from "../../../support/catalog/world.fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

interface Gateway {
  readonly catalog: Catalog;
  /** What came of each time that somebody had read files, in order. */
  readonly followed: Followed[];
  write(text: string): void;
  /** The price of input, USD a million tokens. */
  price(): number;
}

let dir: string;
let store: Store;
/** Notes of what was read. */
let notes: number;
let opened: Catalog[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "weir-readings-"));
  store = openStore(join(dir, "data"));
  notes = 0;
  opened = [];
  storedReadings(store).watch(() => notes++);
});
afterEach(async () => {
  for (const catalog of opened) catalog.close();
  await store.close();
  rmSync(dir, { recursive: true });
});

const priced = (input: number) => modelFile([near("eu", input)]);

async function open(name: string, input: number): Promise<Gateway> {
  const configDir = join(dir, name);
  mkdirSync(join(configDir, "models"), { recursive: true });
  writeFileSync(join(configDir, "providers.yaml"), PROVIDERS);
  const write = (text: string) => writeFileSync(join(configDir, "models/real.yaml"), text);
  write(priced(input));
  const followed: Followed[] = [];
  const catalog = await openCatalog({
    configDir,
    env: {},
    simulatorUrl: undefined,
    clock: systemClock,
    readings: storedReadings(store),
    priceVersions: storedPriceVersions(store, systemClock),
    onFollowing: (how) => void how.then((done) => followed.push(done)),
  });
  opened.push(catalog);
  const price = () => (catalog.current().resolve("real/model")?.endpoints[0]?.listPrices.input ?? 0) / 1000;
  return { catalog, followed, write, price };
}

test("a start notes what it read only where that is something else", async () => {
  await open("a", 2);
  await open("b", 2);
  expect(notes).toBe(1);
  await open("c", 3);
  await until("both notes are written", () => notes, equals(2));
});

test("equal files are read again by both, and by neither a second time", async () => {
  const [a, b] = [await open("a", 2), await open("b", 2)];
  for (const { write } of [a, b]) write(priced(3));
  await a.catalog.reload();
  await until(
    "the other has followed the change",
    () => b.followed,
    (seen) => seen.some(equals({ result: { ok: true }, hasChanged: true, isSame: true })),
  );
  expect([a.price(), b.price(), notes]).toEqual([3, 3, 2]);
});

test("other files stay in force, and say so; asked once more, what they have become is read", async () => {
  const [a, b] = [await open("a", 2), await open("b", 2)];
  a.write(priced(3));
  await a.catalog.reload();
  await until(
    "the other has followed what changed nothing",
    () => b.followed,
    (seen) => seen.some(equals({ result: { ok: true }, hasChanged: false, isSame: false })),
  );
  expect([a.price(), b.price()]).toEqual([3, 2]);
  b.write(priced(3));
  await a.catalog.reload();
  await until("the price has changed", () => b.price(), equals(3));
  expect(notes).toBe(3);
});

test("files with a fault change nothing", async () => {
  const [a, b] = [await open("a", 2), await open("b", 2)];
  a.write(priced(3));
  b.write(priced(3).replace("context", "contexts"));
  await a.catalog.reload();
  await until("the other has followed the refusal", () => b.followed.at(-1)?.result.ok, equals(false));
  expect(b.price()).toBe(2);
  // Its own reload fails as well, and tells nobody.
  expect((await b.catalog.reload()).ok).toBe(false);
  expect(notes).toBe(2);
});
