/**
 * Errors as the official clients throw them: their own classes with our codes, on every route; what they retry and what
 * they do not; errors inside streams.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REQUEST_ID } from "../../../src/base/ids.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";
import { sooner } from "../../support/pace.ts";
import { until } from "../../support/wait.ts";
import {
  type ClientOptions,
  clientsOf,
  collect,
  DIALECTS,
  type Json,
  modelOf,
  thrownBy,
} from "./fixtures.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    settings: { grant_usd: 1 },
    endpoints: [{ provider: "busy" }],
  });
});
afterAll(() => gateway?.stop());

type Clients = ReturnType<typeof clientsOf>;
interface Say {
  readonly model?: string;
  readonly text?: string;
  /** Members of the body that are wrong on purpose. */
  readonly wrong?: object;
}

/** One call by each client's method. */
const CALLS: Readonly<Record<string, (clients: Clients, say: Say) => PromiseLike<unknown>>> = {
  messages: ({ anthropic }, { model = modelOf("chat"), text = "Hello", wrong }) =>
    anthropic.messages.create({
      model,
      max_tokens: 50,
      messages: [{ role: "user", content: text }],
      ...wrong,
    }),
  chat: ({ openai }, { model = modelOf("messages"), text = "Hello", wrong }) =>
    openai.chat.completions.create({ model, messages: [{ role: "user", content: text }], ...wrong }),
  responses: ({ openai }, { model = modelOf("chat"), text = "Hello", wrong }) =>
    openai.responses.create({ model, input: text, ...wrong }),
  completions: ({ openai }, { model = modelOf("chat"), text = "Hello", wrong }) =>
    openai.completions.create({ model, prompt: text, ...wrong }),
  embeddings: ({ openai }, { model = "weir/sim-embed", text = "Hello", wrong }) =>
    openai.embeddings.create({ model, input: text, ...wrong }),
};

/** What both SDKs' errors have; Anthropic's keep our code in the body. */
interface Thrown {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly requestId: string;
  readonly headers: Headers;
  readonly message: string;
  readonly sent: number;
}

async function refusal(
  route: string,
  say: Say,
  options: ClientOptions = {},
): Promise<Thrown & { error: unknown }> {
  const clients = clientsOf(gateway, options);
  const error = await thrownBy(CALLS[route]?.(clients, say) ?? Promise.resolve());
  const sent = clients.sent.count;
  if (error instanceof Anthropic.APIError) {
    const { status = 0, requestID, headers, type, message } = error;
    const body: Json = error.error;
    const { code } = body.error;
    return {
      error,
      status,
      code,
      type: String(type),
      requestId: String(requestID),
      headers: headers ?? new Headers(),
      message,
      sent,
    };
  }
  expect(error).toBeInstanceOf(OpenAI.APIError);
  const {
    status = 0,
    code,
    requestID,
    headers,
    type,
    message,
  } = error as InstanceType<typeof OpenAI.APIError>;
  const id = String(requestID);
  return {
    error,
    status,
    code: String(code),
    type: String(type),
    requestId: id,
    headers: headers ?? new Headers(),
    message,
    sent,
  };
}

const isOf = (route: string, error: unknown, name: keyof typeof OpenAI & keyof typeof Anthropic): boolean => {
  const kind = route === "messages" ? Anthropic[name] : OpenAI[name];
  return typeof kind === "function" && error instanceof kind;
};

describe.each(Object.keys(CALLS))("%s", (route) => {
  test("400 names what is wrong and is not retried", async () => {
    const wrong = route === "embeddings" ? { dimensions: "many" } : { temperature: "hot" };
    const { error, status, code, requestId, headers, sent } = await refusal(
      route,
      { wrong },
      { maxRetries: 2 },
    );
    expect(isOf(route, error, "BadRequestError")).toBe(true);
    expect({ status, code, sent }).toEqual({ status: 400, code: "invalid_value", sent: 1 });
    expect(requestId).toMatch(REQUEST_ID);
    expect(headers.get("x-should-retry")).toBe("false");
    expect(error).toHaveProperty(
      route === "messages" ? "error.error.param" : "param",
      route === "embeddings" ? "/dimensions" : "/temperature",
    );
  });

  test("401 for a wrong key, which no message repeats", async () => {
    const { error, status, code, message, sent } = await refusal(
      route,
      {},
      { apiKey: "svc-live-wrong", maxRetries: 2 },
    );
    expect(isOf(route, error, "AuthenticationError")).toBe(true);
    expect({ status, code, sent }).toEqual({ status: 401, code: "invalid_key", sent: 1 });
    expect(message).not.toContain("svc-live-wrong");
  });

  test("402 for a spent budget, not retried", async () => {
    const body = { name: `broke ${route}`, budget: { daily_micro: 1, hard: true } };
    const { json } = await gateway.call("POST", "/v1/keys", { body });
    const text = "A prompt that costs more than that. ".repeat(20);
    const { error, status, code, type, sent } = await refusal(
      route,
      { text },
      { apiKey: json.secret, maxRetries: 2 },
    );
    expect({ status, code, sent }).toEqual({ status: 402, code: "budget_exceeded", sent: 1 });
    expect(type).toBe(route === "messages" ? "billing_error" : "insufficient_credits");
    if (route === "messages") expect(error).toBeInstanceOf(Anthropic.PaymentRequiredError);
  });

  test("404 for a model that is not there", async () => {
    const { error, status, code } = await refusal(route, { model: "weir/nope" });
    expect(isOf(route, error, "NotFoundError")).toBe(true);
    expect({ status, code }).toEqual({ status: 404, code: "model_not_found" });
  });

  test("403 for a key that may not", async () => {
    const body = { name: `reader ${route}`, scopes: ["read:usage"] };
    const { json } = await gateway.call("POST", "/v1/keys", { body });
    const { error, status, code } = await refusal(route, {}, { apiKey: json.secret });
    expect(isOf(route, error, "PermissionDeniedError")).toBe(true);
    expect({ status, code }).toEqual({ status: 403, code: "scope" });
  });
});

describe.concurrent.each(Object.keys(CALLS))("%s", (route) => {
  // Each waits for a second, with a key of its own and a call that keeps its place until another one was refused.
  test("429 of our own limit: waited for and cured by the SDK's retry", async ({ expect }) => {
    const body = { name: `one ${route}`, limits: { concurrency: 1 } };
    const { json } = await gateway.call("POST", "/v1/keys", { body });
    const apiKey = json.secret;
    const going = new AbortController();
    const slow = thrownBy(
      gateway.openai({ key: apiKey }).chat.completions.create(
        {
          model: modelOf("chat"),
          messages: [{ role: "user", content: `Slow ${route} [[sim fault=hang]]` }],
        },
        { signal: going.signal },
      ),
    );
    await until("the slow call has reached the simulator", () =>
      gateway.simulator.calls.some(({ body }) => body.includes(`Slow ${route} `)),
    );
    const { error, status, code, headers } = await refusal(route, {}, { apiKey });
    expect(isOf(route, error, "RateLimitError")).toBe(true);
    expect({ status, code }).toEqual({ status: 429, code: "concurrency" });
    expect(Number(headers.get("retry-after-ms"))).toBeGreaterThan(0);
    expect(headers.has("x-should-retry")).toBe(false);
    const clients = clientsOf(gateway, { apiKey, maxRetries: 8 });
    const retried = CALLS[route]?.(clients, {});
    await until("it is refused", () => clients.sent.refused > 0);
    going.abort();
    await retried;
    expect(clients.sent.count).toBeGreaterThan(1);
    expect(await slow).toBeInstanceOf(OpenAI.APIUserAbortError);
  });
});

const SAYS: readonly (readonly [status: number, ours: number, code: string])[] = [
  [400, 400, "upstream_rejected"],
  [401, 502, "upstream_error"],
  [403, 502, "upstream_error"],
  [404, 404, "upstream_rejected"],
  [422, 422, "upstream_rejected"],
  [500, 502, "upstream_error"],
];

describe.each(DIALECTS)("an error of a %s upstream", (dialect) => {
  const model = modelOf(dialect);
  const routes = ["chat", "messages", "responses", "completions"];

  test.each(SAYS)("%s becomes %s for every client, and tells no secret", async (theirs, status, code) => {
    for (const route of routes) {
      const text = `[[sim status=${theirs} error_message="No such gauge."]]`;
      const thrown = await refusal(route, { model, text });
      expect({ status: thrown.status, code: thrown.code }).toEqual({ status, code });
      if (status === 502) expect(isOf(route, thrown.error, "InternalServerError")).toBe(true);
      if (code === "upstream_rejected") expect(thrown.message).toContain("No such gauge.");
      else expect(thrown.message).not.toContain("No such gauge.");
    }
  });

  test("inside a stream it is thrown by the iterator of every client, with its code", async () => {
    const { openai, anthropic } = clientsOf(gateway);
    const text = "Half [[sim fault=error_mid after=8 tokens=50]]";
    const messages = [{ role: "user" as const, content: text }];
    const stream = true as const;
    const streams: Readonly<Record<string, () => PromiseLike<AsyncIterable<unknown>>>> = {
      chat: () => openai.chat.completions.create({ model, messages, stream }),
      messages: () => anthropic.messages.create({ model, messages, max_tokens: 90, stream }),
      responses: () => openai.responses.create({ model, input: text, stream }),
      completions: () => openai.completions.create({ model, prompt: text, stream }),
    };
    for (const [route, open] of Object.entries(streams)) {
      const error = await thrownBy(open().then(collect));
      expect(error, route).toBeInstanceOf(route === "messages" ? Anthropic.APIError : OpenAI.APIError);
      expect(JSON.stringify(error), route).toContain("upstream_error");
    }
    await atRest(gateway);
  });

  test("T14: an error as the first event is an ordinary error", async () => {
    const { openai, anthropic } = clientsOf(gateway);
    const content = "Never begun [[sim fault=error_first]]";
    const messages = [{ role: "user" as const, content }];
    const stream = true as const;
    const attempts: readonly (() => PromiseLike<unknown>)[] = [
      () => openai.chat.completions.create({ model, messages, stream }),
      () => anthropic.messages.create({ model, messages, max_tokens: 90, stream }),
      () => openai.responses.create({ model, input: content, stream }),
    ];
    for (const attempt of attempts) expect(await thrownBy(attempt())).toHaveProperty("status", 502);
  });
});

test("a provider that is busy once: the Anthropic client waits and has its answer", async () => {
  const { anthropic, sent } = clientsOf(gateway, { maxRetries: 3 });
  const asked = anthropic.messages.create({
    model: "test/model",
    max_tokens: 5,
    messages: [{ role: "user", content: "Busy once [[sim status=429 retry_after_ms=300 times=1]]" }],
  });
  expect(await sooner(asked, 290)).toBe("the rest");
  expect((await asked).usage.output_tokens).toBe(5);
  expect(sent.count).toBeGreaterThanOrEqual(2);
});
