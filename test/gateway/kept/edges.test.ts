/** S4: quotas of plans, and answers that are larger than anybody could expect. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { keptOf, newKey, respond } from "../../support/kept/fixtures.ts";
import { requestIdOf } from "../../support/observations.ts";

const MAX_TEST = 40_000;
const limits = { rpm: 10_000, tpm: 100_000_000, concurrency: 500, keys: 9, projects: 9 };
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [{ provider: "long", instruction: { bytes: 60_000 } }],
    plans: [{ id: "local", limits: { ...limits, kept_test_bytes: MAX_TEST, kept_bytes: 0 } }],
    settings: { limits: { max_kept_bytes: 1, max_payload_bytes: 0 } },
  });
});
afterAll(() => gateway.stop());

test("S4: a plan's quotas take the place of those of the settings; 0 is unlimited", async () => {
  expect((await keptOf(gateway, "test")).max_bytes).toBe(MAX_TEST);
  expect((await keptOf(gateway, "live")).max_bytes).toBe(0);
  expect((await respond(gateway, { store: true })).status).toBe(200);
  expect((await keptOf(gateway, "live")).responses_bytes).toBeGreaterThan(0);
});

test("S4: an answer beyond its room and all that is left is given, and not kept; the quota holds", async () => {
  const body = { model: "test/model", max_tokens: 1, messages: [{ role: "user", content: "Hi" }] };
  const options = { body, headers: newKey(), key: gateway.testKey };
  const ask = () => gateway.call("POST", "/v1/chat/completions", options);
  const first = await ask();
  expect(first.status, first.text.slice(0, 300)).toBe(200);
  expect(first.text.length).toBeGreaterThan(MAX_TEST);
  const again = await ask();
  expect([again.status, again.json.error.code]).toEqual([409, "state"]);
  expect(again.json.error.message).toContain("room");
  expect((await keptOf(gateway, "test")).answers_bytes).toBeLessThan(1_000);

  const stored = await respond(gateway, { model: "test/model", store: true }, { key: gateway.testKey });
  expect(stored.status, stored.text.slice(0, 300)).toBe(200);
  const asTest = { key: gateway.testKey };
  expect((await gateway.call("GET", `/v1/responses/${stored.json.id}`, asTest)).status).toBe(404);
  const { json } = await gateway.call("GET", `/v1/generation/${requestIdOf(stored)}`);
  expect(json.warnings).toContain("response_not_stored: quota");
  expect((await keptOf(gateway, "test")).bytes).toBeLessThanOrEqual(MAX_TEST);
});
