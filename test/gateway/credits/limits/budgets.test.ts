/** `GET /v1/usage/budgets` over HTTP: what budgets are in force, how near to their end, and how long the credit lasts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newKey } from "../../../../src/account/key.ts";
import { newSecret } from "../../../../src/account/secret.ts";
import { NEWEST_SVC_VERSION } from "../../../../src/account/versions.ts";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { idle } from "../../../support/money/fixtures.ts";
import { until } from "../../../support/wait.ts";

/** More than are looked at one by one. */
const MANY = 205;
const isInstantOrNull = (at: string | null) => at === null || !Number.isNaN(Date.parse(at));
/** A call of these costs some 20,000 micro-USD: 100 tokens at 200 USD a million. */
const body = {
  model: "test/model",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  simulator: { tokens: 100 },
};

let folder: string;
let gateway: TestGateway;
let orgId: string;
beforeAll(async () => {
  folder = await seededFolder(() => {});
  gateway = await testGateway({
    folder,
    endpoints: [{ provider: "good", price: { input: 100, output: 200 } }],
  });
  orgId = (await gateway.call("GET", "/v1/orgs")).json.data[0].id;
});
afterAll(async () => {
  await gateway.stop();
  removeFolder(folder);
});

const made = async (path: string, body: object) => {
  const { status, json, text } = await gateway.call("POST", path, { body });
  expect(status, text).toBe(201);
  return json;
};
const budgets = async (key?: string, query = "") => {
  const { status, json, text } = await gateway.call("GET", `/v1/usage/budgets${query}`, key ? { key } : {});
  expect(status, text).toBe(200);
  return json;
};
const call = async (key: string) => {
  expect((await gateway.chat(body, { key })).status).toBe(200);
  await idle(gateway);
};

test("without a budget nothing is listed, and credit that is not spent lasts", async () => {
  const { data, more, less_used_left_out, credit } = await budgets();
  expect([data, more, less_used_left_out]).toEqual([[], false, false]);
  const { available } = await gateway.balance();
  expect(credit).toEqual({
    balance_micro: available,
    held_micro: 0,
    available_micro: available,
    forecast_days_left: null,
    empty_at: null,
  });
});

test("budgets of org, project and key are listed, the one nearest to its end first", async () => {
  const project = await made("/v1/projects", { slug: "shop", name: "Shop", environment: "live" });
  const month = { body: { budget: { monthly_micro: 10_000_000, hard: false } } };
  expect((await gateway.call("PATCH", `/v1/projects/${project.id}`, month)).status).toBe(200);
  const settings = { budget: { monthly_micro: 1_000_000, hard: true } };
  expect((await gateway.call("PATCH", `/v1/orgs/${orgId}`, { body: { settings } })).status).toBe(200);
  const key = await made("/v1/keys", {
    name: "Robot",
    project_id: project.id,
    budget: { daily_micro: 100_000, hard: true },
  });
  await call(key.secret);
  const spent = 25_000_000 - (await gateway.balance()).available;
  const { data, credit, rate, more } = await budgets();
  expect(
    data.map((row: { scope: string; id: string; name: string }) => [row.scope, row.id, row.name]),
  ).toEqual([
    ["key", key.id, "Robot"],
    ["org", orgId, expect.any(String)],
    ["project", project.id, "Shop"],
  ]);
  for (const row of data) {
    const { window, spent_micro, forecast_micro, held_micro } = row;
    expect([spent_micro, held_micro]).toEqual([spent, 0]);
    expect(forecast_micro).toBeGreaterThanOrEqual(spent);
    const now = new Date().toISOString();
    expect(window.from <= now && now < window.to).toBe(true);
  }
  expect(data.map((row: { hard: boolean; limit_micro: number }) => [row.hard, row.limit_micro])).toEqual([
    [true, 100_000],
    [true, 1_000_000],
    [false, 10_000_000],
  ]);
  // ClickHouse is away.
  expect([rate, more]).toEqual(["window", false]);
  expect(credit.forecast_days_left).toBeGreaterThan(0);
  expect(credit.empty_at > data[0].window.from).toBe(true);
  const [first] = (await budgets(undefined, "?limit=1")).data;
  expect([first.id, (await budgets(undefined, "?limit=1")).more]).toEqual([key.id, true]);
});

test("a key sees what its scopes list, and one of tests no budget of live calls", async () => {
  const narrow = await made("/v1/keys", { name: "narrow", scopes: ["read:usage"] });
  const { data, credit } = await budgets(narrow.secret);
  expect([data.length, data.every(({ name }: { name: string }) => name === ""), credit]).toEqual([
    3,
    true,
    undefined,
  ]);
  expect((await budgets(gateway.testKey)).data).toEqual([]);
  const other = await made("/v1/keys", { name: "other", scopes: ["inference"] });
  expect((await gateway.call("GET", "/v1/usage/budgets", { key: other.secret })).status).toBe(403);
});

test("of many keys those are listed of which half is used, also after a restart", async () => {
  const own = await seededFolder((accounts, { orgId, projectId }) => {
    for (let n = 0; n < MANY; n++) {
      const secret = newSecret("live");
      const row = {
        orgId,
        projectId,
        name: `key ${n}`,
        environment: "live" as const,
        scopes: ["inference" as const],
        limits: {},
        budget: { dailyMicroUsd: 1_000_000, hard: true },
        onDisconnect: "cancel" as const,
        svcVersion: NEWEST_SVC_VERSION,
        lifetimeMs: null,
        rotatedFrom: null,
      };
      accounts.addKey(newKey(row, secret, Date.now()));
    }
  });
  const options = { folder: own, endpoints: [{ provider: "good", price: { input: 1, output: 2 } }] };
  const list = async (at: TestGateway) => (await at.call("GET", "/v1/usage/budgets")).json;
  try {
    const first = await testGateway(options);
    expect(await list(first)).toMatchObject({ data: [], more: true, less_used_left_out: true });
    const body = { name: "small", budget: { daily_micro: 300, hard: false } };
    const { id, secret } = (await first.call("POST", "/v1/keys", { body })).json;
    await first.chat({ model: "test/model", max_tokens: 100, simulator: { tokens: 100 } }, { key: secret });
    await idle(first);
    const listed = await until(
      "the key is noted",
      () => list(first),
      ({ data }) => data.length > 0,
    );
    expect(listed.data).toMatchObject([{ scope: "key", id, name: "small", hard: false, limit_micro: 300 }]);
    await first.stop();
    const second = await testGateway(options);
    // What is forecast depends on the time of the day: near its end no limit is reached before that.
    const now = { forecast_micro: expect.any(Number), reached_at: expect.toSatisfy(isInstantOrNull) };
    expect((await list(second)).data).toEqual(listed.data.map((row: object) => ({ ...row, ...now })));
    await second.stop();
  } finally {
    removeFolder(own);
  }
});
