/**
 * Shadow calls through the whole gateway: whatever the shadow does, the caller gets what it would have got without one, for
 * what it would have paid; and what the shadow did stands in the report of its policy.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  type Answer,
  closedPort,
  type GatewayOptions,
  type TestEndpoint,
  type TestGateway,
  testGateway,
} from "../../../support/gateway.ts";
import { charges, metric, requestIdOf, start } from "../../../support/observations.ts";
import { equals, until } from "../../../support/wait.ts";

/** What the shadows do, by their providers' names. */
const SHADOWS: Readonly<Record<string, Record<string, unknown>>> = {
  answers: { tokens: 7 },
  hangs: { fault: "hang" },
  fails: { status: 500 },
  breaks: { fault: "reset_mid" },
  floods: { total_bytes: 10_000_000 },
};

async function gatewayOf(shadows: readonly string[], options: GatewayOptions = {}): Promise<TestGateway> {
  const price = { input: 10, output: 20 };
  const endpoints: TestEndpoint[] = shadows.map((provider) => {
    return { provider, price, instruction: SHADOWS[provider] as Record<string, unknown> };
  });
  const absent = { provider: "absent", price, baseUrl: `http://127.0.0.1:${await closedPort()}/v1` };
  return testGateway({ engine: true, ...options, endpoints: [{ provider: "main" }, absent, ...endpoints] });
}

let policies = 0;
/** From here on every call is copied to the provider's endpoint. @returns the policy that says so */
async function shadow(gateway: TestGateway, provider: string, bill = "platform"): Promise<string> {
  const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
  const { id } = json.data.find((e: { id: string }) => e.id.startsWith(`ep_${provider}_`));
  const name = `house-${++policies}`;
  const defaults = { shadow: { endpoint: id, percent: 100, bill } };
  const yaml = stringify({ version: 1, policy: name, defaults });
  const created = await gateway.call("POST", "/v1/policies", { body: { name, yaml } });
  const activated = await gateway.call("POST", `/v1/policies/${name}/activate`, { body: { version: 1 } });
  expect([created.status, activated.status]).toEqual([201, 200]);
  return name;
}

const SVC = { route: { providers: { order: ["main"] } } };
const BODY = {
  model: "test/model",
  max_tokens: 20,
  messages: [{ role: "user", content: "Hello" }],
  svc: SVC,
};

/** What differs between two equal calls: their ids and their second. */
const plain = (answer: Answer): string =>
  answer.text.replaceAll(requestIdOf(answer), "ID").replace(/"created":\d+/g, '"created":0');

/** The policy's one summary, once it counts so many runs. */
async function summaryOf(gateway: TestGateway, policy: string, runs: number) {
  const report = async () => (await gateway.call("GET", `/v1/policies/${policy}/shadows`)).json.data;
  await until(`${policy} has ${runs} runs`, async () => (await report())[0]?.runs === runs);
  return (await report())[0];
}

describe("one gateway", () => {
  let gateway: TestGateway;
  let alone: { whole: Answer; stream: Answer };
  const ask = (body: object = {}) => gateway.chat({ ...BODY, ...body });

  beforeAll(async () => {
    gateway = await gatewayOf(Object.keys(SHADOWS));
    alone = { whole: await ask(), stream: await ask({ stream: true }) };
    expect([alone.whole.status, alone.stream.status]).toEqual([200, 200]);
  });
  afterAll(() => gateway.stop());

  test.each([...Object.keys(SHADOWS), "absent"])(
    "a shadow that %s changes nothing for callers",
    async (provider) => {
      const policy = await shadow(gateway, provider);
      const calls = gateway.simulator.totalCalls;
      const whole = await Promise.all([ask(), ask()]);
      const stream = await Promise.all([ask({ stream: true }), ask({ stream: true })]);
      if (provider !== "absent")
        await until(
          "all calls and their shadows were made",
          () => gateway.simulator.totalCalls,
          equals(calls + 8),
        );
      for (const answer of whole) expect(plain(answer)).toBe(plain(alone.whole));
      for (const answer of stream) expect(plain(answer)).toBe(plain(alone.stream));
      const cost = alone.whole.json.svc.cost.total_micro_usd;
      const charged = await charges(gateway);
      for (const answer of [...whole, ...stream]) expect(charged.get(requestIdOf(answer))).toEqual([-cost]);
      // Nothing but calls was charged.
      expect(charged.size).toBe(2 + 4 * policies);
      if (provider === "hangs" || provider === "floods") return;
      const errors = provider === "answers" ? 0 : 4;
      expect(await summaryOf(gateway, policy, 4)).toMatchObject({ errors, compared: 4 - errors });
    },
  );

  test("the report compares cost, first token and stop reason", async () => {
    const policy = await shadow(gateway, "answers");
    const cost = 2 * alone.whole.json.svc.cost.total_micro_usd;
    // Only the stream has a first token of its own.
    await Promise.all([ask(), ask({ stream: true })]);
    const summary = await summaryOf(gateway, policy, 2);
    expect(summary).toMatchObject({
      policy_version: 1,
      bill: "platform",
      errors: 0,
      primary_cost_micro: cost,
    });
    expect(summary.primary_endpoint).toMatch(/^ep_main_/);
    expect(summary.shadow_endpoint).toMatch(/^ep_answers_/);
    // Ten times the price, 7 tokens of the 16 that the other answers with.
    expect(summary.shadow_cost_micro).toBeGreaterThan(cost);
    expect(summary.cost_delta_micro).toBe(summary.shadow_cost_micro - cost);
    expect(summary.primary_ttft_ms).toBeGreaterThan(0);
    expect(summary.shadow_ttft_ms).toBeGreaterThan(0);
  });

  test("the client leaves: both are cancelled, and nothing is compared", async () => {
    await shadow(gateway, "hangs");
    // Copies of tests before hang until their time is over, at any moment: only calls from here on count.
    const { totalCalls } = gateway.simulator;
    const open = () => {
      const since = gateway.simulator.totalCalls - totalCalls;
      return since === 0 ? [] : gateway.simulator.calls.slice(-since).filter(({ ended }) => !ended);
    };
    const controller = new AbortController();
    const messages = [{ role: "user", content: "Hi [[sim tokens=1000 gap_ms=20]]" }];
    const body = { ...BODY, max_tokens: 1000, stream: true, messages };
    const response = await start(gateway, body, { signal: controller.signal });
    await until("both shadows are open", () => open().length, equals(2));
    controller.abort();
    await until("both shadows are over", () => open().length, equals(0));
    expect(response.status).toBe(200);
  });

  test("a shadow that the org pays for has an entry of its own, and its call costs what it cost", async () => {
    const before = await charges(gateway);
    const policy = await shadow(gateway, "answers", "org");
    const answer = await ask();
    expect(answer.json.svc.cost).toEqual(alone.whole.json.svc.cost);
    const summary = await summaryOf(gateway, policy, 1);
    const since = [...(await charges(gateway))].filter(([id]) => !before.has(id));
    const copies = since.filter(([id]) => id !== requestIdOf(answer));
    expect(since).toHaveLength(2);
    expect(copies.map(([, amounts]) => amounts)).toEqual([[-summary.shadow_cost_micro]]);
    const { available, held } = await gateway.balance();
    const spent = [...(await charges(gateway)).values()].flat().reduce((sum, micro) => sum - micro, 0);
    expect([available, held]).toEqual([25_000_000 - spent, 0]);
  });
});

test("no more than max_shadows at once; the calls go on, and the gateway stops without waiting for a copy", async () => {
  const settings = { limits: { max_shadows: 2 }, timeouts: { shutdown_ms: 60_000 } };
  const gateway = await gatewayOf(["hangs"], { settings });
  try {
    await shadow(gateway, "hangs", "org");
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.chat(BODY)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await metric(gateway, "weir_shadows_live")).toBe(2);
    expect(await metric(gateway, "weir_shadows_dropped_total")).toBe(18);
  } finally {
    // Within the time of a test.
    await gateway.stop();
  }
});
