/** A dated price comes into force in a running gateway; a call keeps the price that it began with. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

/** Long enough for the calls before the instant; where the machine was late with them, the next one decides. */
const AHEAD_MS = [3000, 6000, 12_000];
const BEFORE = [
  ["input", 1000],
  ["output", 2000],
];
const AFTER = BEFORE.map(([kind, nano]) => [kind, Number(nano) * 100]);

interface Cost {
  readonly lines: readonly { readonly kind: string; readonly unit_price_nano: number }[];
  readonly price_version: number;
}
const pricesOf = ({ lines }: Cost) => lines.map(({ kind, unit_price_nano: nano }) => [kind, nano]);

test("a call over the instant is charged by the price of its beginning, the next by the new one", async () => {
  let seen = await callsOverTheInstant(AHEAD_MS[0] as number);
  for (const aheadMs of AHEAD_MS.slice(1)) if (seen.wasLate) seen = await callsOverTheInstant(aheadMs);
  expect(seen.wasLate).toBe(false);
  const [before, over, after] = seen.costs;
  expect(seen.announced).toMatchObject({
    effective_at: new Date(seen.fromMs).toISOString(),
    price: { input: 100, output: 200, cache_read: 100 },
  });
  expect(seen.costs.map(pricesOf)).toEqual([BEFORE, BEFORE, AFTER]);
  expect(over?.price_version).toBe(before?.price_version);
  expect(after?.price_version).toBe(seen.announced.price_version);
  expect(seen.entry).toMatchObject({ kind: "price_change", effective_at: seen.announced.effective_at });
  expect(Date.parse(seen.entry.created_at)).toBeLessThan(seen.fromMs);
});

/** What a call before the instant costs, one that begins before it and ends behind it, and one behind it. */
async function callsOverTheInstant(aheadMs: number) {
  const gateway = await testGateway({ endpoints: [{ provider: "near", price: { input: 1, output: 2 } }] });
  try {
    const fromMs = Date.now() + aheadMs;
    const scheduled = [{ from: new Date(fromMs).toISOString(), price: { input: 100, output: 200 } }];
    const file = join(gateway.folder, "config/models/test.yaml");
    const models = parse(readFileSync(file, "utf8"));
    models.models[0].endpoints[0].scheduled = scheduled;
    writeFileSync(file, stringify(models));
    await gateway.reload();
    const stats = async () => (await gateway.call("GET", "/v1/models/test/model/stats")).json;
    const [announced] = (await stats()).scheduled_prices;
    const chat = (text: string) =>
      gateway.chat({ model: "test/model", max_tokens: 5, messages: [{ role: "user", content: text }] });
    const first = await chat("tokens=5");
    const isHeld = async () => (await gateway.balance()).held > 0;
    await until("the first call is settled", async () => !(await isHeld()));
    const over = chat(`tokens=5 first_ms=${Math.max(fromMs - Date.now(), 0) + 500}`);
    await until("the next call has begun", isHeld);
    const wasLate = Date.now() >= fromMs;
    await until("the price is in force", async () => (await stats()).scheduled_prices.length === 0);
    const next = await chat("tokens=5");
    const costs: Cost[] = [first, await over, next].map(({ json }) => json.svc.cost);
    const [entry] = (await stats()).changelog;
    return { fromMs, wasLate, announced, costs, entry };
  } finally {
    await gateway.stop();
  }
}
