/** What can be asked about a call without making it: token counts, and a dry run. Nothing is charged or recorded. */
import { encodeChat } from "gpt-tokenizer/model/gpt-4o";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, metric, start } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "first", price: { input: 1, output: 2 }, instruction: { first_ms: 60_000 } },
      { provider: "dear", price: { input: 3, output: 9 } },
    ],
  });
});
afterAll(() => gateway.stop());

const CONVERSATION = [
  { role: "system", content: "Answer in one line." },
  { role: "user", content: "Which river runs through Köln? 🌊" },
  { role: "assistant", content: "The Rhine." },
  { role: "user", content: "And how long is it?" },
];

const count = async (path: string, body: object) => (await gateway.call("POST", path, { body })).json;

describe("token counts", () => {
  test("by the provider's own endpoint: what it will report as input", async () => {
    const body = { model: "weir/sim-messages", messages: CONVERSATION };
    const counted = await count("/v1/svc/count_tokens", body);
    expect(counted).toMatchObject({ source: "provider" });
    const { json } = await gateway.call("POST", "/v1/svc/generate", { body });
    expect(counted.input_tokens).toBe(json.usage.input_tokens);
  });

  test.each(["weir/sim-messages", "weir/sim-gemini"])(
    "%s: Anthropic's shape for Anthropic's clients",
    async (model) => {
      const [system, ...messages] = CONVERSATION;
      const body = { model, system: system?.content, messages };
      const counted = await count("/v1/messages/count_tokens", body);
      expect(counted).toEqual({ input_tokens: expect.any(Number) });
      const { json } = await gateway.call("POST", "/v1/messages", { body: { ...body, max_tokens: 9 } });
      expect(counted.input_tokens).toBe(json.usage.input_tokens);
    },
  );

  test("with a public tokenizer: exact, its name given", async () => {
    const own = await testGateway({ endpoints: [{ provider: "p" }], model: { tokenizer: "o200k_base" } });
    const body = { model: "test/model", messages: CONVERSATION };
    const { json } = await own.call("POST", "/v1/svc/count_tokens", { body });
    const exact = encodeChat(CONVERSATION as Parameters<typeof encodeChat>[0], "gpt-4o").length;
    expect(json).toEqual({ input_tokens: exact, source: "exact", tokenizer: "o200k_base" });
    const tools = [{ name: "look_up", description: "Looks something up." }];
    const more = await own.call("POST", "/v1/svc/count_tokens", { body: { ...body, tools } });
    expect(more.json).toMatchObject({ source: "estimated" });
    expect(more.json.input_tokens).toBeGreaterThan(exact);
    await own.stop();
  });

  test("elsewhere an estimate, its method named", async () => {
    const counted = await count("/v1/svc/count_tokens", { model: "test/model", messages: CONVERSATION });
    expect(counted).toMatchObject({ source: "estimated", tokenizer: "o200k_base" });
  });

  test("T54: of a prompt of a million tokens", async () => {
    const content = "measure the water ".repeat(250_000);
    const messages = [{ role: "user", content }];
    const counted = await count("/v1/svc/count_tokens", { model: "test/model", messages });
    expect(counted.input_tokens).toBeGreaterThan(740_000);
  });

  test("what is wrong is told as of a call", async () => {
    const missing = await gateway.call("POST", "/v1/messages/count_tokens", {
      body: { model: "weir/none", messages: CONVERSATION.slice(1) },
    });
    expect([missing.status, missing.json.error.type]).toEqual([404, "not_found_error"]);
    const wrong = await gateway.call("POST", "/v1/svc/count_tokens", { body: { model: "test/model" } });
    expect([wrong.status, wrong.json.error.param]).toEqual([400, "/messages"]);
  });
});

describe("a dry run", () => {
  test("names the endpoints in order and what would be held; nothing is called, charged or kept", async () => {
    const route = { sort: "price" };
    const generation = { max_tokens: 500 };
    const messages = CONVERSATION;
    const calls = gateway.simulator.totalCalls;
    const { json } = await gateway.call("POST", "/v1/svc/dry_run", {
      body: { model: "test/model", messages, generation, route },
    });
    expect(json.plan.map((row: { provider: string }) => row.provider)).toEqual(["first", "dear"]);
    expect(json.plan[0].score).toBeLessThan(json.plan[1].score);
    expect(json.price_version).toMatch(/^pv_/);
    expect(gateway.simulator.totalCalls).toBe(calls);
    expect(await metric(gateway, "weir_held_micro_usd")).toBe(0);
    const left = new AbortController();
    const options = { signal: left.signal };
    const svc = { route };
    const call = start(gateway, { messages, max_tokens: 500, stream: true, svc }, options).catch(() => {});
    await until("it is held for", async () => (await metric(gateway, "weir_held_micro_usd")) > 0);
    const held = await metric(gateway, "weir_held_micro_usd");
    left.abort();
    await call;
    await atRest(gateway);
    // The formats differ by a few bytes of framing around the same prompt.
    expect(Math.abs(json.reserve_micro - held)).toBeLessThan(held * 0.05);
  });
});
