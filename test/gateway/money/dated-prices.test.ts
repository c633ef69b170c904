/** A dated price comes into force in a running gateway; a call keeps the price that it began with. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

test("a call over the instant is charged by the price of its beginning, the next by the new one", async () => {
  const gateway = await testGateway({ endpoints: [{ provider: "near", price: { input: 1, output: 2 } }] });
  try {
    // Long enough for the calls before it on a busy machine.
    const fromMs = Date.now() + 3000;
    const scheduled = [{ from: new Date(fromMs).toISOString(), price: { input: 100, output: 200 } }];
    const file = join(gateway.folder, "config/models/test.yaml");
    const models = parse(readFileSync(file, "utf8"));
    models.models[0].endpoints[0].scheduled = scheduled;
    writeFileSync(file, stringify(models));
    await gateway.reload();
    const stats = async () => (await gateway.call("GET", "/v1/models/test/model/stats")).json;
    const [announced] = (await stats()).scheduled_prices;
    expect(announced).toMatchObject({
      effective_at: new Date(fromMs).toISOString(),
      price: { input: 100, output: 200, cache_read: 100 },
    });
    const chat = (text: string) =>
      gateway.chat({ model: "test/model", max_tokens: 5, messages: [{ role: "user", content: text }] });
    const first = await chat("tokens=5");
    expect(Date.now()).toBeLessThan(fromMs);
    const over = chat(`tokens=5 first_ms=${fromMs - Date.now() + 500}`);
    await until("the price is in force", async () => (await stats()).scheduled_prices.length === 0);
    const next = await chat("tokens=5");
    const costs = [first, await over, next].map(({ json }) => json.svc.cost);
    const prices = (cost: { lines: { kind: string; unit_price_nano: number }[] }) =>
      cost.lines.map(({ kind, unit_price_nano: nano }) => [kind, nano]);
    const before = [
      ["input", 1000],
      ["output", 2000],
    ];
    expect(costs.map(prices)).toEqual([before, before, before.map(([kind, n]) => [kind, Number(n) * 100])]);
    expect(costs[1].price_version).toBe(costs[0].price_version);
    expect(costs[2].price_version).toBe(announced.price_version);
    const [entry] = (await stats()).changelog;
    expect(entry).toMatchObject({ kind: "price_change", effective_at: announced.effective_at });
    expect(Date.parse(entry.created_at)).toBeLessThan(fromMs);
  } finally {
    await gateway.stop();
  }
});
