/**
 * Texts that are continued and gaps that are filled, as editors and evaluations ask for them: bytes pass where the endpoint speaks
 * completions; elsewhere the call goes out as chat, and what no chat can do is refused. All that is made is held and charged.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, sseData, type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";
import { equals, until } from "../../support/wait.ts";

/** Micro-USD a token. */
const OUTPUT = 15;
const price = { input: 1, output: OUTPUT };
const entry = { context: 200_000, max_output: 100_000 };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    model: { modalities: { in: ["text"], out: ["text"] }, context: 200_000, max_output: 100_000 },
    endpoints: [
      { provider: "chats", price, entry: { ...entry, dialects: ["chat"] } },
      { provider: "fills", price, entry: { ...entry, dialects: ["completions"] } },
      { provider: "does-both", price, entry: { ...entry, dialects: ["chat", "completions"] } },
      {
        provider: "silent",
        price,
        instruction: { usage: "none" },
        entry: { ...entry, dialects: ["completions"] },
      },
    ],
  });
});
afterAll(() => gateway?.stop());

const MODEL = "test/model";
const only = (...order: string[]) => ({ svc: { route: { providers: { order, only: order } } } });
const complete = (body: object, ...providers: string[]): Promise<Answer> =>
  gateway.call("POST", "/v1/completions", { body: { model: MODEL, ...only(...providers), ...body } });
const lastCall = () => gateway.simulator.calls.at(-1);
const sentBody = () => JSON.parse(lastCall()?.body.toString() ?? "");

/** The texts of an answer by choice, whole or streamed. */
function textsOf({ text, json }: Answer, stream: boolean): string[] {
  if (!stream) return json.choices.map((choice: { text: string }) => choice.text);
  const texts: string[] = [];
  for (const event of sseData(text) as { choices?: { index: number; text: string }[] }[])
    for (const { index, text: piece } of event.choices ?? []) texts[index] = (texts[index] ?? "") + piece;
  return texts;
}

const lastEvent = ({ text }: Answer): { usage: object; svc: { cost: { total_micro_usd: number } } } =>
  sseData(text).at(-2) as never;

const FIM = "<|fim_prefix|>def f(x):\n    <|fim_suffix|>\n    return y<|fim_middle|>";
const SCORING = { temperature: 0, logprobs: 1, echo: true, seed: 1234, max_tokens: 1 };

/** The bodies of clients, as their sources have them, without `model` and `stream`. */
const SHAPES: readonly (readonly [client: string, body: Record<string, unknown>, choices: number])[] = [
  [
    "Continue",
    {
      prompt: "function add(a, b) {\n  ",
      suffix: "\n}\n",
      max_tokens: 12,
      temperature: 0.01,
      stop: ["\n\n", "```", "<|fim_prefix|>"],
    },
    1,
  ],
  [
    "Tabby",
    {
      prompt: FIM,
      suffix: null,
      max_tokens: 8,
      temperature: 0.1,
      stop: ["\n\n"],
      presence_penalty: 0.5,
      seed: 7,
    },
    1,
  ],
  ["Zed", { prompt: FIM, max_tokens: 8, temperature: null, stop: ["<|endoftext|>", "<|cursor|>"] }, 1],
  ["minuet", { prompt: "-- é\nlocal x = ", suffix: "\nreturn x", max_tokens: 9, stop: ["\n\n"], n: 3 }, 3],
  ["an evaluation, token by token", { prompt: [9906, 1917, 11], ...SCORING }, 1],
  ["an evaluation of several", { prompt: [[9906, 1917], [40]], ...SCORING }, 2],
  ["an evaluation of texts", { prompt: ["The sky is blue", "Water is 水"], ...SCORING, max_tokens: 0 }, 2],
  [
    "LangChain",
    { prompt: ["a", "b", "c"], n: 2, best_of: 4, logit_bias: { "50256": -100 }, max_tokens: 5 },
    6,
  ],
  [
    "vLLM's own options",
    { prompt: "x", max_tokens: 4, min_p: 0.1, guided_regex: "[0-9]+", prompt_logprobs: 0, x: 1.5 },
    1,
  ],
];

describe.each(SHAPES)("%s", (_, body, choices) => {
  test.each([
    ["whole", false],
    ["streamed", true],
  ])("its bytes pass, and so does the answer: %s", async (_mode, stream) => {
    const answer = await complete({ ...body, ...(stream && { stream }) }, "fills");
    expect(answer.status, answer.text).toBe(200);
    expect(lastCall()?.path).toMatch(/\/v1\/completions$/);
    const { stream_options: asked, ...sent } = sentBody();
    expect(sent).toEqual({ model: "sim-test", ...body, ...(stream && { stream }) });
    expect(asked).toEqual(stream ? { include_usage: true } : undefined);
    const texts = textsOf(answer, stream);
    expect(texts).toHaveLength(choices);
    const prompts = [body.prompt].flat();
    if (body.echo === true && typeof prompts[0] === "string")
      expect(texts.every((text, at) => text.startsWith(String(prompts[at])))).toBe(true);
    const { usage, svc } = stream ? lastEvent(answer) : answer.json;
    expect(usage.completion_tokens * OUTPUT + usage.prompt_tokens).toBe(svc.cost.total_micro_usd);
  });
});

describe("a plan of chat and completions", () => {
  test.each<[string, object, object]>([
    ["a suffix", { prompt: "a", suffix: "b" }, {}],
    ["token ids", { prompt: [1, 2, 3] }, {}],
    ["several prompts", { prompt: ["a", "b"] }, {}],
    ["no output", { prompt: "a", echo: true, max_tokens: 0 }, {}],
    [
      "an option that chat has no place for, strictly",
      { prompt: "a", echo: true },
      { compat: { strict: true } },
    ],
  ])("%s: the endpoint that can do it answers", async (_, body, svc) => {
    const route = only("chats", "fills").svc;
    for (const stream of [false, true]) {
      const before = gateway.simulator.totalCalls;
      const answer = await complete({ ...body, stream, svc: { ...route, ...svc } });
      expect(answer.status, answer.text).toBe(200);
      expect(gateway.simulator.totalCalls, "the other one is not asked").toBe(before + 1);
      expect(lastCall()?.path).toContain("/v1/completions");
    }
  });

  test.each([
    ["a suffix", { prompt: "a", suffix: "b" }, "/suffix"],
    ["token ids", { prompt: [[1, 2, 3]] }, "/prompt"],
    ["several prompts", { prompt: ["a", "b"] }, "/prompt"],
    ["no output", { prompt: "a", max_tokens: 0 }, "/max_tokens"],
  ])("%s: 400 where only chat is left, and nothing is asked or charged", async (_, body, param) => {
    for (const stream of [false, true]) {
      const { available } = await gateway.balance();
      const before = gateway.simulator.totalCalls;
      const { status, json } = await complete({ ...body, stream }, "chats");
      expect([status, json.error.code, json.error.param]).toEqual([400, "capability_not_supported", param]);
      expect(gateway.simulator.totalCalls).toBe(before);
      await atRest(gateway);
      expect((await gateway.balance()).available).toBe(available);
    }
  });

  test("what chat can do goes out as chat, without what asks for nothing", async () => {
    const answer = await complete(
      { prompt: ["Hi"], suffix: "", echo: false, max_tokens: 3 },
      "chats",
      "fills",
    );
    expect(answer.json).toMatchObject({ object: "text_completion", svc: { warnings: [] } });
    expect(lastCall()?.path).toContain("/v1/chat/completions");
    expect(sentBody()).toEqual({
      model: "sim-test",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 3,
    });
  });

  test("an endpoint of both is asked in the client's own format", async () => {
    await complete({ prompt: "Hi" }, "does-both");
    expect(lastCall()?.path).toContain("/v1/completions");
    const chat = { model: MODEL, messages: [{ role: "user", content: "Hi" }], ...only("does-both") };
    expect((await gateway.chat(chat)).status).toBe(200);
    expect(lastCall()?.path).toContain("/v1/chat/completions");
  });
});

const OTHERS: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/messages", { messages: [{ role: "user", content: "Hi" }], max_tokens: 9 }],
  ["/v1/responses", { input: "Hi" }],
  ["/v1/svc/generate", { messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/svc/dry_run", { messages: [{ role: "user", content: "Hi" }] }],
];

test.each(OTHERS)("%s: a model that only continues texts is refused", async (path, body) => {
  const before = gateway.simulator.totalCalls;
  const { status, json } = await gateway.call("POST", path, {
    body: { model: "weir/sim-completions", ...body },
  });
  expect([status, json.error.message]).toEqual([400, expect.stringContaining("/v1/completions")]);
  expect(gateway.simulator.totalCalls).toBe(before);
});

test("an endpoint that only continues texts is no fallback of a chat", async () => {
  const body = { model: MODEL, messages: [{ role: "user", content: "Hi [[sim status=500]]" }] };
  const before = gateway.simulator.totalCalls;
  const { status } = await gateway.chat({ ...body, ...only("chats", "fills") });
  expect(status).toBe(502);
  expect(gateway.simulator.totalCalls).toBe(before + 1);
});

describe("money", () => {
  /** Micro-USD that a call which cannot be afforded would hold. */
  async function held(body: object): Promise<number> {
    const { status, json } = await complete({ max_tokens: 100_000, ...body }, "fills");
    expect([status, json.error.code]).toEqual([402, "insufficient_credits"]);
    return json.error.details.required_micro_usd;
  }

  test.each<[string, object, number]>([
    ["best_of", { prompt: "a", best_of: 20 }, 20],
    ["best_of above n", { prompt: "a", n: 2, best_of: 20 }, 20],
    ["n", { prompt: "a", n: 20 }, 20],
    ["prompts", { prompt: Array(20).fill("a") }, 20],
    ["prompts of best_of", { prompt: [[1], [2], [3], [4]], best_of: 5, n: 1 }, 20],
  ])("the hold covers every answer that is made: %s", async (_, body, answers) => {
    const microUsd = await held(body);
    expect(microUsd).toBeGreaterThanOrEqual(answers * 100_000 * OUTPUT);
    expect(microUsd).toBeLessThan(answers * 100_000 * OUTPUT + 1000);
  });

  test("token ids are held for as what they are", async () => {
    const ids = Array(50_000).fill(100_000);
    const rest = await held({ prompt: [1], n: 20 });
    const more = (await held({ prompt: ids, n: 20 })) - rest;
    expect(more).toBeGreaterThanOrEqual(49_999);
    expect(more).toBeLessThanOrEqual(2 * 50_000);
  });

  test("without a limit a whole answer is held for as the longest that the endpoint gives", async () => {
    const { json } = await complete({ prompt: Array(20).fill("a") }, "fills");
    expect(json.error.details.required_micro_usd).toBeGreaterThanOrEqual(20 * 100_000 * OUTPUT);
  });

  test("a call may be fitted to what there is: the limit is told in `max_tokens`", async () => {
    const svc = { ...only("fills").svc, hold: "fit" };
    for (const limit of [{ max_tokens: 100_000 }, {}]) {
      const { status } = await complete({ prompt: "a", best_of: 20, svc, ...limit });
      expect(status).toBe(200);
      const { max_tokens: told } = sentBody();
      expect(told).toBeGreaterThan(16);
      // 25 USD.
      expect(told * 20 * OUTPUT).toBeLessThanOrEqual(25_000_000);
    }
  });

  test("all that is made is charged, as the provider reports it", async () => {
    const { json } = await complete({ prompt: "abcd", n: 2, best_of: 6, max_tokens: 5 }, "fills");
    expect(json.choices).toHaveLength(2);
    expect(json.usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 30 });
    expect(json.svc.cost.total_micro_usd).toBe(1 + 30 * OUTPUT);
  });

  test("without a report the text is charged, the repeated prompt only as prompt", async () => {
    const prompt = "word ".repeat(400);
    for (const stream of [false, true]) {
      const answer = await complete({ prompt, echo: true, stream, max_tokens: 20 }, "silent");
      const { usage } = stream ? (lastEvent(answer) as never as Answer["json"]) : answer.json;
      expect(textsOf(answer, stream)[0]?.startsWith(prompt)).toBe(true);
      // 16 tokens of five bytes.
      expect(usage.completion_tokens).toBeGreaterThanOrEqual(15);
      expect(usage.completion_tokens).toBeLessThanOrEqual(21);
      expect(usage.prompt_tokens).toBeGreaterThanOrEqual(500);
    }
  });

  test("a client that leaves pays for what it got", async () => {
    const going = new AbortController();
    const response = await fetch(`${gateway.url}/v1/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: MODEL,
        prompt: "Go on [[sim tokens=5000 gap_ms=5]]",
        suffix: "the end",
        stream: true,
        ...only("fills"),
      }),
      signal: going.signal,
    });
    const id = response.headers.get("x-svc-request-id");
    const reader = response.body?.getReader();
    let text = "";
    while (text.split("data: ").length < 8) {
      const read = await reader?.read();
      text += Buffer.from(read?.value ?? []).toString();
    }
    going.abort();
    await until("the upstream call is closed", () => gateway.simulator.openCalls, equals(0));
    expect(lastCall()?.closedByPeer).toBe(true);
    await atRest(gateway);
    const { json } = await gateway.call("GET", `/v1/generation/${id}`);
    expect(json.usage.output_tokens).toBeGreaterThan(0);
    expect(json.usage.output_tokens).toBeLessThan(5000);
    expect(json.cost.total_micro_usd).toBeGreaterThan(0);
  });
});

test.each([undefined, "float", "base64"])(
  "an embedding's usage of 0 stays 0: %s",
  async (encoding_format) => {
    const { status, json, headers } = await gateway.call("POST", "/v1/embeddings", {
      body: {
        model: "weir/sim-embed",
        input: ["a", "b"],
        encoding_format,
        simulator: { usage: { prompt_tokens: 0, total_tokens: 0 } },
      },
    });
    expect(status).toBe(200);
    expect(json.usage).toEqual({ prompt_tokens: 0, total_tokens: 0 });
    expect(json.svc.cost.total_micro_usd).toBe(0);
    const record = await gateway.call("GET", `/v1/requests/${headers.get("x-svc-request-id")}`);
    expect(record.json).toMatchObject({ usage_source: "provider", cost_micro: 0 });
  },
);
