/**
 * The official `openai` client, unchanged but for base URL and key, through the gateway to a provider on a real socket.
 * What the upstream must see is read from the simulator, which keeps every request as it came.
 */
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { REQUEST_ID } from "../../../src/base/ids.ts";
import type { ModelRecord } from "../../../src/catalog/models/records.ts";
import type { writeChatUsage } from "../../../src/wire/chat/usage.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";
import { sooner } from "../../support/pace.ts";
import { equals, until } from "../../support/wait.ts";
import { clientsOf } from "../sdk/fixtures.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ settings: { grant_usd: 1 } });
});
afterAll(() => gateway.stop());

const model = "weir/sim-small";
const says = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: "user", content }];

/** A client that counts its HTTP requests, retries included. */
function countingClient(options: { apiKey?: string; maxRetries?: number } = {}) {
  const sent = { count: 0 };
  const client = new OpenAI({
    apiKey: gateway.liveKey,
    baseURL: `${gateway.url}/v1`,
    ...options,
    fetch: (url, init) => {
      sent.count++;
      return fetch(url, init);
    },
  });
  return { client, sent };
}

/** The last request as the provider received it. */
const seenUpstream = () => JSON.parse(gateway.simulator.calls.at(-1)?.body.toString() ?? "{}");

async function readAll(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const textOf = (chunks: readonly OpenAI.ChatCompletionChunk[]) =>
  chunks.map((c) => c.choices[0]?.delta.content ?? "").join("");

describe("answers", () => {
  test("a completion, with the id its client can quote", async () => {
    const { data, response, request_id } = await gateway
      .openai()
      .chat.completions.create({ model, messages: says("What is a weir?") })
      .withResponse();
    expect(data).toMatchObject({
      id: `chatcmpl-${request_id}`,
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 },
      svc: { request_id, provider: "simulator" },
    });
    expect(data).toHaveProperty("_request_id", request_id);
    expect(request_id).toMatch(REQUEST_ID);
    for (const name of ["x-svc-request-id", "x-request-id", "request-id"]) {
      expect(response.headers.get(name)).toBe(request_id);
    }
    expect(response.headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
  });

  test("a stream says what the whole answer says", async () => {
    const request = { model, messages: says("The same question twice") };
    const whole = await gateway.openai().chat.completions.create(request);
    const chunks = await readAll(
      await gateway.openai().chat.completions.create({ ...request, stream: true }),
    );
    expect(textOf(chunks)).toBe(whole.choices[0]?.message.content);
    expect(new Set(chunks.map((c) => c.id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.map((c) => c.choices[0]?.finish_reason ?? null).filter(Boolean)).toEqual(["stop"]);
    expect(new Set(chunks.map((c) => c.model))).toEqual(new Set([model]));
  });

  test("T1: with include_usage one last chunk has usage and no choices, all others usage null", async () => {
    const stream = await gateway.openai().chat.completions.create({
      model,
      messages: says("Count"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await readAll(stream);
    const last = chunks.at(-1);
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 16 } });
    expect(last).toHaveProperty("svc.cost.total_micro_usd");
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk.choices).toHaveLength(1);
      expect(chunk.usage).toBeNull();
    }
  });

  test.each([
    ["unasked, the last chunk still carries usage and cost", undefined, true],
    ["refused by include_usage: false, no chunk does", { include_usage: false }, false],
  ])("%s", async (_, options, isSent) => {
    const stream = await gateway.openai().chat.completions.create({
      model,
      messages: says("Count again"),
      stream: true,
      ...(options && { stream_options: options }),
    });
    const chunks = await readAll(stream);
    const withUsage = chunks.filter((c) => c.usage != null);
    expect(withUsage).toEqual(isSent ? [chunks.at(-1)] : []);
    expect(chunks.filter((c) => c.choices.length === 0)).toEqual(withUsage);
    // Metered either way: the upstream is always asked.
    expect(seenUpstream().stream_options).toEqual({ include_usage: true });
  });

  test("the streaming helper assembles the final completion", async () => {
    const runner = gateway.openai().chat.completions.stream({ model, messages: says("Assemble") });
    let text = "";
    runner.on("content", (delta) => {
      text += delta;
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: text } });
    expect((await runner.totalUsage()).completion_tokens).toBe(16);
  });

  test("several choices, each with its own index", async () => {
    const reply = await gateway.openai().chat.completions.create({ model, messages: says("Thrice"), n: 3 });
    expect(reply.choices.map((c) => c.index)).toEqual([0, 1, 2]);
    expect(reply.usage?.completion_tokens).toBe(48);
  });
});

describe("what passes through", () => {
  const Level = z.object({ gauge: z.string(), metres: z.number(), rising: z.boolean() });
  const tools: OpenAI.ChatCompletionTool[] = [
    {
      type: "function",
      function: {
        name: "read_level",
        description: "Reads a gauge – “now”",
        strict: true,
        parameters: z.toJSONSchema(Level.pick({ gauge: true })) as Record<string, unknown>,
      },
    },
    { type: "function", function: { name: "open_gate", parameters: { type: "object", properties: {} } } },
  ];

  test("tool calls, over two turns", async () => {
    const client = gateway.openai();
    const question = says("How high is it? [[sim tool_calls=2]]");
    const first = await client.chat.completions.create({ model, messages: question, tools });
    expect(seenUpstream().tools).toEqual(tools);
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    const calls = choice?.message.tool_calls ?? [];
    expect(calls.map((c) => c.type === "function" && c.function.name)).toEqual(["read_level", "open_gate"]);

    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...question,
      { role: "assistant", content: null, tool_calls: calls },
      ...calls.map((c) => ({ role: "tool" as const, tool_call_id: c.id, content: '{"metres": 1.4}' })),
      { role: "user", content: "And now?" },
    ];
    const second = await client.chat.completions.create({ model, messages, tools, tool_choice: "none" });
    expect(seenUpstream()).toMatchObject({ messages, tools, tool_choice: "none" });
    expect(second.choices[0]?.finish_reason).toBe("stop");
  });

  test("streamed tool calls: the deltas add up to the whole call", async () => {
    const request = { model, messages: says("Stream it [[sim tool_calls=2 tokens=3]]"), tools };
    const whole = await gateway.openai().chat.completions.create(request);
    const final = await gateway.openai().chat.completions.stream(request).finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe("tool_calls");
    // The helper adds `parsed_arguments` to each call.
    expect(final.choices[0]?.message.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? []);
    expect(final.choices[0]?.message.tool_calls).toHaveLength(2);
  });

  test("the parsing helpers: a typed tool call and a typed answer", async () => {
    const client = gateway.openai();
    const called = await client.chat.completions.parse({
      model,
      messages: says("Which gauge?"),
      tools: [zodFunction({ name: "read_level", parameters: Level })],
      tool_choice: "required",
    });
    const call = called.choices[0]?.message.tool_calls?.[0];
    const parsedArguments = call?.type === "function" ? call.function.parsed_arguments : undefined;
    expect(Level.safeParse(parsedArguments).success).toBe(true);

    const response_format = zodResponseFormat(Level, "level");
    const parsed = await client.chat.completions.parse({
      model,
      messages: says("As JSON, please"),
      response_format,
    });
    expect(Level.safeParse(parsed.choices[0]?.message.parsed).success).toBe(true);
    expect(seenUpstream().response_format).toEqual(JSON.parse(JSON.stringify(response_format)));
  });

  test("T53: parameters that the gateway has no opinion on, and none of its own", async () => {
    const request = {
      model,
      messages: says("Untouched"),
      temperature: 0.7,
      top_p: 0.9,
      seed: 7,
      logit_bias: { "50256": -100 },
      metadata: { trip: "upstream" },
      service_tier: "default" as const,
      user: "u-1",
    };
    await gateway.openai().chat.completions.create(request);
    expect(seenUpstream()).toEqual({ ...request, model: "sim-small" });
  });
});

describe("a client that leaves", () => {
  test("aborts a stream: the upstream call ends, nothing stays held", async () => {
    const controller = new AbortController();
    const stream = await gateway
      .openai()
      .chat.completions.create(
        { model, messages: says("Go on [[sim tokens=5000 gap_ms=20]]"), stream: true },
        { signal: controller.signal },
      );
    let seen = 0;
    // The SDK ends an aborted stream without an error.
    for await (const _ of stream) if (++seen === 3) controller.abort();
    expect(seen).toBeLessThan(5000);
    await until("the simulator has no call open", () => gateway.simulator.openCalls, equals(0));
    expect(gateway.simulator.calls.at(-1)?.closedByPeer).toBe(true);
    await atRest(gateway);
  });

  test("aborts a call that is not streamed", async () => {
    const controller = new AbortController();
    const call = gateway
      .openai()
      .chat.completions.create(
        { model, messages: says("Never mind [[sim fault=hang]]") },
        { signal: controller.signal },
      );
    const outcome = expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await until("the call is open", () => gateway.simulator.openCalls, equals(1));
    controller.abort();
    await outcome;
    await until("the simulator has no call open", () => gateway.simulator.openCalls, equals(0));
    await atRest(gateway);
  });
});

describe("retries", () => {
  test("a 429 of the provider: the SDK waits retry-after-ms and gets its answer", async () => {
    const { client, sent } = countingClient({ maxRetries: 2 });
    const asked = client.chat.completions.create({
      model: "weir/sim-large",
      messages: says("Busy once [[sim status=429 retry_after_ms=300 times=1]]"),
      max_tokens: 5,
    });
    expect(await sooner(asked, 290)).toBe("the rest");
    expect((await asked).usage?.completion_tokens).toBe(5);
    // A retry that lands a hair early meets the cool-down's last millisecond, and the SDK asks once more.
    expect(sent.count).toBeGreaterThanOrEqual(2);
  });

  test("a limit of ours: the wait it names is enough", async () => {
    const { json } = await gateway.call("POST", "/v1/keys", {
      body: { name: "one at a time", limits: { concurrency: 1 } },
    });
    const going = new AbortController();
    const slow = { model, messages: says("Slow [[sim fault=hang]]") };
    const { signal } = going;
    const first = gateway.openai({ key: json.secret }).chat.completions.create(slow, { signal });
    const left = expect(first).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await until("the call is open", () => gateway.simulator.openCalls, equals(1));
    const { openai, sent } = clientsOf(gateway, { apiKey: json.secret, maxRetries: 8 });
    const second = openai.chat.completions.create({ model, messages: says("Quick") });
    // The first keeps its place until the second was refused, however late that is.
    await until("the second is refused", () => sent.refused > 0);
    going.abort();
    await left;
    await second;
    expect(sent.count).toBeGreaterThan(1);
  });
});

describe("errors in the SDK's own classes", () => {
  const create = (client: OpenAI, body: object) =>
    client.chat.completions.create({ model, messages: says("Hello"), ...body });

  async function failure(attempt: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
    const thrown = await attempt.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
    return thrown as InstanceType<typeof OpenAI.APIError>;
  }

  const brokeKey = async () =>
    (
      await gateway.call("POST", "/v1/keys", {
        body: { name: "broke", budget: { daily_micro: 1, hard: true } },
      })
    ).json.secret;

  test.each([
    ["400", OpenAI.BadRequestError, "invalid_value", { max_tokens: "many" }, undefined],
    ["401", OpenAI.AuthenticationError, "invalid_key", {}, async () => "svc-live-wrong"],
    ["402 for a budget", OpenAI.APIError, "budget_exceeded", {}, brokeKey],
    ["402 for credit", OpenAI.APIError, "insufficient_credits", { model: "weir/sim-large" }, undefined],
    ["404", OpenAI.NotFoundError, "model_not_found", { model: "weir/nope" }, undefined],
  ])("%s, and it is not retried", async (status, kind, code, body, key) => {
    const apiKey = (await key?.()) ?? gateway.liveKey;
    const { client, sent } = countingClient({ apiKey, maxRetries: 2 });
    const error = await failure(create(client, body));
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status: Number(status.slice(0, 3)), code });
    expect(error.requestID).toMatch(REQUEST_ID);
    expect(error.error).toMatchObject({ request_id: error.requestID });
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect(sent.count).toBe(1);
    expect(error.message).not.toContain(apiKey);
  });

  test("400 names the field; the provider's own refusal passes on its message", async () => {
    const ours = await failure(create(gateway.openai(), { max_tokens: "many" }));
    expect(ours.param).toBe("/max_tokens");
    const theirs = await failure(
      create(gateway.openai(), {
        messages: says('[[sim status=400 error_code=bad_gauge error_message="No such gauge."]]'),
      }),
    );
    expect(theirs).toBeInstanceOf(OpenAI.BadRequestError);
    expect(theirs.message).toContain("No such gauge.");
    expect(theirs.code).toBe("upstream_rejected");
  });

  test("429, then 503 while the only endpoint cools down, both with the wait", async () => {
    const body = { model: "weir/sim-reasoner", messages: says("[[sim status=429 retry_after_ms=30000]]") };
    const busy = await failure(create(gateway.openai(), body));
    expect(busy).toBeInstanceOf(OpenAI.RateLimitError);
    expect(busy).toMatchObject({ status: 429, type: "rate_limited", code: "upstream_capacity" });
    expect(busy.headers?.get("retry-after-ms")).toBe("30000");
    expect(busy.headers?.get("retry-after")).toBe("30");
    expect(busy.headers?.has("x-should-retry")).toBe(false);

    const out = await failure(create(gateway.openai(), body));
    expect(out).toBeInstanceOf(OpenAI.InternalServerError);
    expect(out).toMatchObject({ status: 503, type: "unavailable", code: "upstream_capacity" });
    const waitMs = Number(out.headers?.get("retry-after-ms"));
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(30_000);
    expect(out.headers?.get("retry-after")).toBe(String(Math.ceil(waitMs / 1000)));
  });

  test("an error inside a stream is thrown by the iterator, with its code", async () => {
    const stream = await gateway.openai().chat.completions.create({
      model: "weir/sim-large",
      messages: says("Half [[sim fault=reset_mid after=4]]"),
      max_tokens: 50,
      stream: true,
    });
    const error = await failure(readAll(stream));
    expect(error.code).toBe("upstream_error");
    await atRest(gateway);
  });
});

describe("models", () => {
  test("list and retrieve", async () => {
    const client = gateway.openai();
    const { data } = await client.models.list();
    expect(data.map((m) => m.id)).toEqual(expect.arrayContaining([model, "weir/sim-large"]));
    const one = await client.models.retrieve(model);
    expect(one).toMatchObject({ id: model, object: "model", owned_by: "weir" });
    expect(data).toContainEqual(expect.objectContaining(one));
  });

  test("one that does not exist is the SDK's NotFoundError", async () => {
    await expect(gateway.openai().models.retrieve("weir/nope")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

/** Held by the type-checker: what we write of our own is what the SDK reads. */
test("types of what we emit fit the SDK's", () => {
  expectTypeOf<ModelRecord>().toExtend<OpenAI.Model>();
  expectTypeOf<ReturnType<typeof writeChatUsage>>().toExtend<OpenAI.CompletionUsage>();
});
