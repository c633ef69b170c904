/** What operators see of a cell, and times of last use over cells. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { keepBusy } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
/** In which a late machine is to answer all calls behind a stand. */
const MOST_STANDS = 5;
let gateway: TestGateway;
let cells: readonly string[] = [];
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({ cells: 3 });
  cells = gateway.cellUrls ?? [];
});
afterAll(() => gateway?.stop());

const textOf = async (url: string) => await (await fetch(url)).text();
const atAll = (path: string) => Promise.all(cells.map((cell) => textOf(`${cell}${path}`)));
const valueIn = (text: string, name: string) =>
  Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);

test.skipIf(missing)("each series of a cell has its name, and says how it stands to Redis", async () => {
  // One that stood still, as any does on a late machine, is in touch a moment later.
  const texts = await until(
    "all cells are in touch",
    () => atAll("/metrics"),
    (pages) => pages.every((page) => valueIn(page, "weir_cell_in_touch") === 1),
  );
  for (const [at, text] of texts.entries()) {
    const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(series.filter((line) => !line.includes(`cell="cell-${at}"`))).toEqual([]);
    const value = (name: string) => valueIn(text, name);
    expect([value("weir_cell_redis_connected"), value("weir_cell_in_touch")]).toEqual([1, 1]);
    expect(value("weir_cell_exchange_seconds_count")).toBeGreaterThan(0);
    expect(value("weir_cell_exchange_seconds_sum")).toBeGreaterThan(0);
    for (const name of ["lag_versions", "leased_micro_usd", "leased_orgs", "leased_slots"])
      expect(value(`weir_cell_${name}`)).toBeGreaterThanOrEqual(0);
    expect(value("weir_cell_beat_age_seconds")).toBeLessThan(30);
    expect(text).toMatch(/weir_cell_acts_total\{cell="cell-\d",outcome="committed"\} \d+/);
  }
});

test.skipIf(missing)("readiness says that a cell hears the others", async () => {
  const said = async () => (await atAll("/readyz")).map((text) => JSON.parse(text));
  const ready = { status: "ready", parts: { shared: true, store: true } };
  await until("all cells are ready", said, (all) => {
    for (const each of all) expect(each).toMatchObject(ready);
    return true;
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
    /** @returns what calls were answered that came before the cells stood still */
    const standStill = async (): Promise<string[]> => {
      const calls = cells.map((cell) =>
        fetch(`${cell}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] }),
        }),
      );
      // The event loop of this process is that of the cells.
      keepBusy(600);
      const answers = await Promise.all(calls);
      return await Promise.all(answers.map(async (answer) => `${answer.status} ${await answer.text()}`));
    };
    // A call waits for a second: where Redis takes longer to say what was missed, they all stand still once more.
    for (let n = 0; n < 4; n++) {
      let answers = await standStill();
      for (let stands = 1; answers.some((answer) => answer.startsWith("503 ")); stands++) {
        expect(stands, `${answers}`).toBeLessThan(MOST_STANDS);
        answers = await standStill();
      }
      for (const answer of answers) expect(answer).toMatch(/^200 /);
    }
  },
);
