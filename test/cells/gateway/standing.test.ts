/** What operators see of a cell, and times of last use over cells. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { keepBusy } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
let gateway: TestGateway;
let cells: readonly string[] = [];
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({ cells: 3 });
  cells = gateway.cellUrls ?? [];
});
afterAll(() => gateway?.stop());

const textOf = async (url: string) => await (await fetch(url)).text();

test.skipIf(missing)("each series of a cell has its name, and says how it stands to Redis", async () => {
  const texts = await Promise.all(cells.map((cell) => textOf(`${cell}/metrics`)));
  for (const [at, text] of texts.entries()) {
    const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(series.filter((line) => !line.includes(`cell="cell-${at}"`))).toEqual([]);
    const value = (name: string) =>
      Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    expect([value("weir_cell_redis_connected"), value("weir_cell_in_touch")]).toEqual([1, 1]);
    expect(value("weir_cell_exchange_seconds_count")).toBeGreaterThan(0);
    expect(value("weir_cell_exchange_seconds_sum")).toBeGreaterThan(0);
    for (const name of ["lag_versions", "leased_micro_usd", "leased_orgs", "leased_slots"])
      expect(value(`weir_cell_${name}`)).toBeGreaterThanOrEqual(0);
    expect(value("weir_cell_beat_age_seconds")).toBeLessThan(30);
    expect(text).toMatch(/weir_cell_acts_total\{outcome="committed",cell="cell-\d"\} \d+/);
  }
});

test.skipIf(missing)("readiness says that a cell hears the others", async () => {
  for (const cell of cells)
    expect(JSON.parse(await textOf(`${cell}/readyz`))).toMatchObject({
      ...{ status: "ready", parts: { shared: true, store: true } },
    });
});

test.skipIf(missing)("a key that was used at one cell is shown so at all", async () => {
  const ask = async (cell: string, path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" };
    return await fetch(`${cell}${path}`, { ...init, headers });
  };
  const [first = "", second = "", third = ""] = cells;
  const body = JSON.stringify({ name: "used", environment: "test" });
  const key = (await (await ask(first, "/v1/keys", { method: "POST", body })).json()) as Record<
    string,
    string
  >;
  const used = async (cell: string) =>
    ((await (await ask(cell, `/v1/keys/${key.id}`)).json()) as Record<string, string>).last_used_at;
  expect(await used(third)).toBeUndefined();
  const answer = await fetch(`${second}/v1/models`, { headers: { authorization: `Bearer ${key.secret}` } });
  expect(answer.status).toBe(200);
  await answer.text();
  await until("all show the same", async () => {
    const shown = await Promise.all(cells.map(used));
    return shown[0] !== undefined && new Set(shown).size === 1;
  });
});

test.skipIf(missing)(
  "calls that come when a cell stood still are answered once it has caught up",
  async () => {
    await gateway.chat();
    for (let n = 0; n < 4; n++) {
      const calls = cells.map((cell) =>
        fetch(`${cell}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] }),
        }),
      );
      // The event loop of this process is that of the cells.
      keepBusy(600);
      for (const answer of await Promise.all(calls)) expect(answer.status, await answer.text()).toBe(200);
    }
  },
);
