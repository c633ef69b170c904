/**
 * A prompt that is too long, refused by a provider of any dialect or by the gateway: each client hears its own format's code and words,
 * by which agents shorten the conversation, with the provider's reason behind them.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, type Got, modelOf, startField } from "../../support/field/field.ts";
import { ASKING, asEvent, asStatus, REFUSING, type Refusing } from "../../support/field/overflows.ts";
import { recordOf } from "../../support/observations.ts";

const NAMES = Object.keys(CLIENTS) as ClientName[];
/** Context of the models here, in tokens. */
const CONTEXT = 20_000;

let field: Field;
beforeAll(async () => {
  field = await startField({ model: { context: CONTEXT, max_output: 8000 } });
});
afterAll(() => field.stop());

/** The error that ended the answer, in a body or in events. */
function errorIn(client: ClientName, got: Got): Json {
  if (got.json !== undefined) return CLIENTS[client].errorOf(got.json);
  const last = got.events.at(-1);
  return last.error ?? last.response.error;
}

/** What agents look for. */
function expectWords(
  client: ClientName,
  message: string,
  { says, tokens, maximum }: Partial<Refusing>,
): void {
  const isAnthropic = client === "messages";
  expect(message).toMatch(
    isAnthropic ? /^prompt is too long/ : /maximum context length is \d+ tokens|context window/,
  );
  if (tokens !== undefined) {
    const numbers = isAnthropic
      ? `prompt is too long: ${tokens} tokens > ${maximum} maximum`
      : `This model's maximum context length is ${maximum} tokens. However, your messages resulted in ${tokens} tokens.`;
    expect(message).toContain(numbers);
  }
  // The provider's reason is told, once.
  if (says !== undefined) expect(message.split(says)).toHaveLength(2);
}

function expectError(client: ClientName, got: Got, refusing: Partial<Refusing>): void {
  const error = errorIn(client, got);
  expect(error.code, got.text).toBe("context_length_exceeded");
  if (client === "messages") expect(error.type).toBe("invalid_request_error");
  expectWords(client, error.message, refusing);
}

/** A stream of responses that fails with an answer of its own. */
function expectFailed(got: Got): void {
  expect(got.status).toBe(200);
  expect(got.headers.get("content-type")).toContain("text/event-stream");
  expect(got.events.map(({ type, sequence_number: number }) => [type, number])).toEqual([
    ["response.created", 0],
    ["response.failed", 1],
  ]);
  const [{ response: created }, { response: failed }] = got.events as [Json, Json];
  expect(created).toMatchObject({ object: "response", status: "in_progress", error: null, output: [] });
  expect(failed).toMatchObject({ id: created.id, object: "response", status: "failed", output: [] });
  expect(Object.keys(failed).sort()).toEqual(Object.keys(created).sort());
}

const recorded = (got: Got) => recordOf(field.gateway, got.headers.get("x-svc-request-id") ?? "");

describe.each(REFUSING)("refused by $name ($dialect)", (refusing) => {
  const { dialect } = refusing;

  test.each(NAMES)("whole: %s", async (client) => {
    field.up.script(asStatus(refusing));
    const got = await field.send(client, dialect, ASKING[client]);
    expect(got.status).toBe(400);
    expect(got.headers.get("x-should-retry")).toBe("false");
    expectError(client, got, refusing);
    expect(field.up.arrived).toHaveLength(1);
  });

  test.each(NAMES)("streamed, before the first byte: %s", async (client) => {
    field.up.script(asStatus(refusing));
    const got = await field.send(client, dialect, ASKING[client], { stream: true });
    if (client === "responses") expectFailed(got);
    else expect(got.status).toBe(400);
    expectError(client, got, refusing);
    expect(await recorded(got)).toMatchObject({
      status: "error",
      error_code: "context_length_exceeded",
      http_status: client === "responses" ? 200 : 400,
    });
  });

  test.each(NAMES)("within a stream, before any content: %s", async (client) => {
    field.up.script(asEvent(refusing));
    const got = await field.send(client, dialect, ASKING[client], { stream: true });
    expectError(client, got, refusing);
    if (client === "responses") expect(got.events.some(({ type }) => type === "response.failed")).toBe(true);
  });

  test.each(NAMES)("within a stream, behind a text: %s", async (client) => {
    field.up.script(asEvent(refusing, "Hello there."));
    const got = await field.send(client, dialect, ASKING[client], { stream: true });
    expect(got.status, got.text).toBe(200);
    expectError(client, got, refusing);
    if (client !== "responses") return;
    const [failed, error] = got.events.slice(-2);
    expect([failed.type, error.type]).toEqual(["response.failed", "error"]);
    expect(failed.response).toMatchObject({ status: "failed", error: { code: "context_length_exceeded" } });
    const numbers = got.events.map(({ sequence_number: number }) => number);
    expect(error.sequence_number - failed.sequence_number, numbers.join()).toBe(1);
  });
});

describe("refused by the gateway, which asks no provider", () => {
  const long = "word ".repeat(60_000);
  const asking = (client: ClientName, text: string, maxTokens?: number) =>
    CLIENTS[client].request(
      { turns: [{ user: [{ text }] }], ...(maxTokens !== undefined && { maxTokens }) },
      modelOf("chat"),
      false,
    );

  test.each(NAMES.filter((name) => name !== "completions"))("%s, whole and streamed", async (client) => {
    field.up.script();
    for (const stream of [false, true]) {
      const got = await field.send(client, "chat", { ...asking(client, long), stream }, { stream });
      if (stream && client === "responses") expectFailed(got);
      else expect(got.status).toBe(400);
      expectError(client, got, { maximum: CONTEXT });
      const [, counted] =
        /(?:resulted in about|too long:) (\d+) tokens/.exec(errorIn(client, got).message) ?? [];
      expect(Number(counted)).toBeGreaterThan(CONTEXT);
      expect(await recorded(got)).toMatchObject({ status: "rejected", cost_micro: 0 });
    }
    expect(field.up.arrived).toHaveLength(0);
  });

  test("a prompt that fits without its answer: Claude Code can lower max_tokens", async () => {
    const got = await field.send("messages", "chat", asking("messages", "word ".repeat(14_500), 7000));
    const [, input, answer, limit] =
      /^input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/.exec(
        got.json.error.message,
      ) ?? [];
    expect([answer, limit], got.text).toEqual(["7000", String(CONTEXT)]);
    expect(Number(input)).toBeLessThan(CONTEXT);
  });

  test("a prompt that leaves hardly any room: Claude Code has to compact", async () => {
    const got = await field.send("messages", "chat", asking("messages", "word ".repeat(19_000), 7000));
    expect(got.json.error.message).toMatch(
      /^prompt is too long: 2\d{4} tokens > 20000 maximum, with the 7000 of max_tokens/,
    );
  });
});

describe("the official SDKs", () => {
  test("OpenAI's throws a bad request with the code, and reads a stream of responses to its failed end", async () => {
    const client = new OpenAI({
      apiKey: field.gateway.liveKey,
      baseURL: `${field.gateway.url}/v1`,
      maxRetries: 3,
    });
    const [refusing] = REFUSING.filter(({ dialect }) => dialect === "messages") as [Refusing];
    const model = modelOf("messages");
    field.up.script(
      asStatus(refusing),
      asStatus(refusing),
      asStatus(refusing),
      asEvent(refusing, "Hello there."),
    );
    const chat = await client.chat.completions
      .create({ model, messages: [{ role: "user", content: "a" }] })
      .catch((error: unknown) => error);
    expect(chat).toBeInstanceOf(OpenAI.BadRequestError);
    expect(chat).toMatchObject({ status: 400, code: "context_length_exceeded", type: "invalid_request" });

    const whole = await client.responses.create({ model, input: "a" }).catch((error: unknown) => error);
    expect(whole).toMatchObject({ status: 400, code: "context_length_exceeded" });

    const stream = client.responses.stream({ model, input: "a" });
    expect(await stream.finalResponse()).toMatchObject({
      status: "failed",
      error: { code: "context_length_exceeded" },
    });

    const types: string[] = [];
    const broken = await (async () => {
      const events = await client.responses.create({ model, input: "a", stream: true });
      for await (const { type } of events) types.push(type);
    })().catch((error: unknown) => error);
    expect(types.at(-1)).toBe("response.failed");
    expect(broken).toMatchObject({ code: "context_length_exceeded" });
  });

  test("Anthropic's throws a bad request, and within a stream the error of its event", async () => {
    const client = new Anthropic({
      apiKey: field.gateway.liveKey,
      baseURL: field.gateway.url,
      maxRetries: 3,
    });
    const [refusing] = REFUSING as [Refusing];
    const ask = {
      model: modelOf("chat"),
      max_tokens: 100,
      messages: [{ role: "user", content: "a" }],
    } as const;
    field.up.script(asStatus(refusing), asEvent(refusing, "Hello there."));
    const whole = await client.messages
      .create({ ...ask, messages: [...ask.messages] })
      .catch((error: unknown) => error);
    expect(whole).toBeInstanceOf(Anthropic.BadRequestError);
    expect(whole).toMatchObject({
      status: 400,
      message: expect.stringContaining("prompt is too long: 9000 tokens > 8192 maximum"),
    });
    const streamed = await client.messages
      .stream({ ...ask, messages: [...ask.messages] })
      .finalMessage()
      .catch((error: unknown) => error);
    expect(streamed).toBeInstanceOf(Anthropic.APIError);
    expect(String(streamed)).toContain("prompt is too long: 9000 tokens > 8192 maximum");
  });
});

test("a repetition of the Idempotency-Key asks again: nothing was billed", async () => {
  const [refusing] = REFUSING as [Refusing];
  field.up.script(asStatus(refusing), answerOf("chat", { text: "ok" }, true));
  const headers = { "idempotency-key": "overflow-1" };
  const body = { model: modelOf("chat"), input: "a", stream: true };
  const first = await field.gateway.call("POST", "/v1/responses", { body, headers });
  expect(first.text).toContain("response.failed");
  const again = await field.gateway.call("POST", "/v1/responses", { body, headers });
  expect(again.text).toContain("response.completed");
});
