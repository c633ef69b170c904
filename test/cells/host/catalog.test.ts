/** The catalog is read again at one of three cells: the others look at their files too, and all charge by the same prices. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { Hopeless, until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = [0, 1, 2] as const;
let gateway: TestGateway;
let proxies: FaultProxy[];
const log: string[] = [];
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({
    cells: CELLS.length,
    log,
    endpoints: [{ provider: "near", price: { input: 1, output: 2 } }],
    between: async ({ url }) => {
      proxies = await Promise.all(CELLS.map(() => startFaultProxy(url)));
      return proxies.map((proxy) => proxy.url);
    },
  });
});
afterAll(async () => {
  for (const proxy of proxies ?? []) proxy.refuse(false);
  await gateway?.stop();
  for (const proxy of proxies ?? []) await proxy.close();
});

const file = () => join(gateway.folder, "config/models/test.yaml");

/** Sets the price of `test/model` in the file that all cells read. @param input USD a million tokens */
function write(input: number): void {
  const models = parse(readFileSync(file(), "utf8"));
  models.models[0].endpoints[0].price = { input, output: 2 };
  writeFileSync(file(), stringify(models));
}

interface Charged {
  /** USD a million tokens of input. */
  readonly price: number;
  readonly version: string;
}

/** By what a call at the cell is charged. An error where it is refused, so that a wait makes the call again. */
async function charged(cell: number): Promise<Charged> {
  const response = await fetch(`${gateway.cellUrls?.[cell]}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "test/model", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] }),
  });
  if (response.status === 503) throw new Error(`refused: ${await response.text()}`);
  if (response.status !== 200) throw new Hopeless(`${response.status}: ${await response.text()}`);
  const json = (await response.json()) as {
    svc?: { cost: { price_version: string; lines: { kind: string; unit_price_nano: number }[] } };
  };
  const input = json.svc?.cost.lines.find(({ kind }) => kind === "input");
  return { price: (input?.unit_price_nano ?? 0) / 1000, version: json.svc?.cost.price_version ?? "" };
}

/** Changes of the model's prices, newest first, as the cell shows them. */
async function priceChanges(cell: number): Promise<string[]> {
  const response = await fetch(`${gateway.cellUrls?.[cell]}/v1/models/test/model/stats`, {
    headers: { authorization: `Bearer ${gateway.liveKey}` },
  });
  const { changelog } = (await response.json()) as { changelog: { kind: string; summary: string }[] };
  return changelog.filter(({ kind }) => kind === "price_change").map(({ summary }) => summary);
}

const atAll = <T>(ask: (cell: number) => Promise<T>): Promise<T[]> => Promise.all(CELLS.map(ask));
const pricesAtAll = async () => (await atAll(charged)).map(({ price }) => price);
/** Whether each of the cells charges by this price. */
const isAt = async (cells: readonly number[], price: number) =>
  (await Promise.all(cells.map(charged))).every((each) => each.price === price);

test.skipIf(missing)("new prices are in force at all cells, as one version and one change", async () => {
  expect(await pricesAtAll()).toEqual([1, 1, 1]);
  write(3);
  // Nobody reads files unasked.
  expect(await pricesAtAll()).toEqual([1, 1, 1]);
  await gateway.reloadAt?.(1);
  expect((await charged(1)).price).toBe(3);
  await until("all charge by them", () => isAt(CELLS, 3));
  expect(new Set((await atAll(charged)).map(({ version }) => version)).size).toBe(1);
  const changes = await atAll(priceChanges);
  expect([changes[0]?.length, new Set(changes.map(String)).size]).toEqual([1, 1]);
});

test.skipIf(missing)(
  "files with a fault change nothing at any cell, and only the one that was asked tells",
  async () => {
    const good = readFileSync(file(), "utf8");
    const faults = () => log.filter((line) => line.includes("the last good catalog stays in force")).length;
    writeFileSync(file(), good.replace("price:", "prize:"));
    await gateway.reloadAt?.(0);
    const told = faults();
    expect(told).toBeGreaterThan(0);
    // What another cell was told of comes behind: it has read nothing until then.
    writeFileSync(file(), good);
    write(5);
    await gateway.reloadAt?.(2);
    await until("all charge by the next prices", () => isAt(CELLS, 5));
    expect(faults()).toBe(told);
  },
);

test.skipIf(missing)(
  "a cell that could not hear of it reads its files once it is in touch again",
  async () => {
    proxies[2]?.refuse(true);
    write(7);
    await gateway.reloadAt?.(0);
    await until("the others charge by them", () => isAt([0, 1], 7));
    proxies[2]?.refuse(false);
    await until("all charge by them", () => isAt(CELLS, 7));
  },
);

const saysOtherFiles = () => log.filter((line) => line.includes("other files of the catalog")).length;

test.skipIf(missing)("no cell said that another one has other files", () => expect(saysOtherFiles()).toBe(0));

test.skipIf(missing)(
  "a cell with other files than those that were read goes by its own and says so; asked itself, it tells the others",
  async () => {
    proxies[2]?.refuse(true);
    write(9);
    await gateway.reloadAt?.(0);
    await until("the others charge by them", () => isAt([0, 1], 9));
    write(11);
    proxies[2]?.refuse(false);
    await until("it says so", () => saysOtherFiles() > 0);
    // The cell has read its files when it says so, but may have no credit for a call before another connection is back.
    expect(await until("no call is refused", pricesAtAll)).toEqual([9, 9, 11]);
    const versions = (await atAll(charged)).map(({ version }) => version);
    expect(versions[0]).toBe(versions[1]);
    expect(versions[2]).not.toBe(versions[0]);
    await gateway.reloadAt?.(2);
    await until("all charge by the newest", () => isAt(CELLS, 11));
    expect(new Set((await atAll(charged)).map(({ version }) => version)).size).toBe(1);
    expect(saysOtherFiles()).toBe(1);
  },
);
