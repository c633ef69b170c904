/** An org's budget, its low credit and their events, as clients see them over HTTP and over a restart. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { idle } from "../../support/money/fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-org-limits-"));
const options = { folder, endpoints: [{ provider: "good", price: { input: 1, output: 2 } }] };
const body = {
  model: "test/model",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  simulator: { tokens: 100 },
};

let gateway: TestGateway;
let orgId: string;
beforeAll(async () => {
  gateway = await testGateway(options);
  orgId = (await gateway.call("GET", "/v1/orgs")).json.data[0].id;
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const set = async (settings: object) => {
  const { status, json } = await gateway.call("PATCH", `/v1/orgs/${orgId}`, { body: { settings } });
  expect(status, JSON.stringify(json)).toBe(200);
  return json.settings;
};
const spent = async () => (await gateway.call("GET", "/v1/limits")).json.org.spend_month_micro;
const eventsOf = async (type: string) => (await gateway.call("GET", `/v1/events?type=${type}`)).json.data;

test("settings of money can be sent back as they were read", async () => {
  const settings = await set({
    credits_low_micro: 7,
    budget: { monthly_micro: 900, hard: false, spike_alert_pct: 20 },
  });
  expect(await set({ credits_low_micro: settings.credits_low_micro, budget: settings.budget })).toEqual(
    settings,
  );
  await set({ credits_low_micro: null, budget: { monthly_micro: null, spike_alert_pct: null } });
});

test("a soft budget lets calls pass, is told of once, and a deleted project's spend stays", async () => {
  expect((await gateway.chat(body)).status).toBe(200);
  await set({ budget: { monthly_micro: (await spent()) + 1, hard: false } });
  const project = { slug: "gone", name: "Gone", environment: "live" };
  const { id } = (await gateway.call("POST", "/v1/projects", { body: project })).json;
  const made = await gateway.call("POST", "/v1/keys", { body: { name: "gone", project_id: id } });
  for (let i = 0; i < 3; i++) expect((await gateway.chat(body, { key: made.json.secret })).status).toBe(200);
  const before = await spent();
  expect(await eventsOf("budget.exceeded")).toMatchObject([
    { data: { budget: "org_monthly", hard: false, project_id: id, key_id: made.json.id } },
  ]);
  expect((await gateway.call("DELETE", `/v1/projects/${id}`)).status).toBe(204);
  await idle(gateway);
  expect(await spent()).toBe(before);
  await gateway.stop();
  gateway = await testGateway(options);
  expect(await spent()).toBe(before);
});

test("a hard budget refuses the next call, also after a restart, on every route that is billed", async () => {
  await set({ budget: { monthly_micro: await spent(), hard: true } });
  for (const life of [1, 2]) {
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      const { status, json, headers } = await gateway.call("POST", path, { body });
      expect([life, status, json.error.code]).toEqual([life, 402, "budget_exceeded"]);
      expect(json.error.message).toContain("organisation's monthly budget");
      expect(headers.get("x-should-retry")).toBe("false");
    }
    await gateway.stop();
    gateway = await testGateway(options);
  }
  await set({ budget: { monthly_micro: null } });
  expect((await gateway.chat(body)).status).toBe(200);
});

test("credit that falls below the org's amount is told of once", async () => {
  const { available_micro_usd: available } = (await gateway.call("GET", "/v1/credits")).json;
  await set({ credits_low_micro: available });
  for (let i = 0; i < 2; i++) expect((await gateway.chat(body)).status).toBe(200);
  await idle(gateway);
  const told = await eventsOf("credits.low");
  expect(told).toMatchObject([{ org_id: orgId, data: { credits_low_micro: available } }]);
  expect(told[0].data.balance_micro_usd).toBeLessThan(available);
});
