/**
 * The usual shapes of named providers pass a whole gateway spliced: the provider gets the client's bytes but for what
 * docs/formats.md names, the client gets the provider's, however the network cuts them, and the call is metered by what the
 * provider reported. A wire format's own changes: `id`, `model`, `svc`; in chat's streams `usage` moves to the last chunk.
 */
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import { type Asked, startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";
import { eventsOf, membersBut, SHAPES, type Shape, type SseEvent, unitsOf, valueAt } from "./fixtures.ts";

/** Bytes a write; 0: all in one. */
let cut = 0;
/** From here on single bytes are no news, and larger pieces are faster. */
const LONG_BYTES = 1500;
let server: TestProvider;
let gateway: TestGateway;
const SERVER_TOOLS = {
  web_search: 10,
  web_search_options: 10,
  live_search: 25,
  code_execution: 5,
  mcp: 0,
};
/** It refuses the switch that asks for usage. */
const WITHOUT_SWITCH = "cohere";

beforeAll(async () => {
  server = await startProvider();
  server.answer = (asked, response) => void play(asked, response);
  gateway = await testGateway({
    endpoints: SHAPES.map(({ name, dialect }) => ({
      provider: name,
      baseUrl: `${server.url}/${name}/v1`,
      dialects: [dialect],
      // What the requests ask for has a price, so that all of it is sent and charged.
      entry: {
        price: { input: 1, output: 2, cache_read: 0.5, cache_write: 1.25, server_tools: SERVER_TOOLS },
      },
      ...(name === WITHOUT_SWITCH && { quirks: { stream_usage: false } }),
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.close();
});

async function play({ path, body }: Asked, response: ServerResponse): Promise<void> {
  const shape = SHAPES.find(({ name }) => path.startsWith(`/${name}/`));
  if (shape === undefined) throw new Error(`nobody lives at ${path}`);
  const isStream = JSON.parse(body).stream === true;
  const bytes = Buffer.from(isStream ? shape.stream : shape.reply);
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  const size = cut === 0 ? bytes.length : cut;
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = at + (at < LONG_BYTES ? size : Math.max(size, 61));
    response.write(bytes.subarray(at, end));
    if (cut > 0) await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

/** What the client sends, and what the provider must get. */
function requestOf({ name, dialect, request }: Shape, isStream: boolean): { sent: string; expected: string } {
  const rest = `${request.slice(1, -1)}${isStream ? ',"stream":true' : ""}`;
  const svc = `{"route":{"providers":{"only":["${name}"]}}}`;
  const asksUsage = isStream && dialect === "chat" && name !== WITHOUT_SWITCH;
  return {
    sent: `{"model":"test/model",${rest},"svc":${svc}}`,
    expected: `{${asksUsage ? '"stream_options":{"include_usage":true},' : ""}"model":"sim-test",${rest}}`,
  };
}

async function exchanged(shape: Shape, isStream: boolean): Promise<Answer> {
  const { sent, expected } = requestOf(shape, isStream);
  server.asked.length = 0;
  const headers = { "anthropic-version": "2023-06-01" };
  const answer = await gateway.call("POST", shape.path, { body: sent, headers });
  expect(answer.status, answer.text).toBe(200);
  expect(server.asked.map(({ body }) => body)).toEqual([expected]);
  return answer;
}

const PREFIXES = { chat: "chatcmpl-", messages: "msg_", responses: "resp_" } as const;

/** A whole answer, or what of a stream has its members. */
function expectOurs({ dialect }: Shape, text: string, requestId: string | null): void {
  expect([valueAt(text, "id"), valueAt(text, "model")]).toEqual([
    `"${PREFIXES[dialect]}${requestId}"`,
    '"test/model"',
  ]);
}

function expectMetered({ metered }: Shape, svc: string | undefined): void {
  const { cost, warnings } = JSON.parse(svc ?? "{}");
  expect(unitsOf(cost.lines)).toEqual(metered);
  expect(warnings).toEqual([]);
}

const idOf = (answer: Answer): string | null => answer.headers.get("x-svc-request-id");

/** What a chunk that holds nothing but text may have beside its choices. */
const ENVELOPE = [
  "id",
  "object",
  "created",
  "model",
  "usage",
  "system_fingerprint",
  "service_tier",
  "provider",
];

/** Text in the chunk of the finish reason comes as a chunk of its own; the reason, and all else of the chunk, behind it. */
function textFirst(event: SseEvent): SseEvent[] {
  const chunk = JSON.parse(event.data);
  const [choice] = chunk.choices;
  const says = choice?.delta?.content || choice?.delta?.tool_calls || choice?.delta?.reasoning_content;
  if (typeof choice?.finish_reason !== "string" || !says) return [event];
  const spoken = ["index", "delta", "logprobs", "finish_reason"];
  const kept = (object: object, keys: readonly string[]) =>
    Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));
  const early = { ...kept(choice, spoken), finish_reason: null };
  const now = { ...kept(chunk, [...ENVELOPE, "choices"]), choices: [early] };
  const later = { ...chunk, choices: [{ ...choice, delta: {} }] };
  return [now, later].map((data) => ({ ...event, data: JSON.stringify(data) }));
}

function expectChatStream(shape: Shape, answer: Answer): void {
  const got = eventsOf(answer.text);
  const told = eventsOf(shape.stream).filter(({ data }) => data !== "[DONE]");
  expect(got.pop()?.data).toBe("[DONE]");
  const last = got.pop()?.data ?? "";
  const hasUsage = ({ data }: SseEvent) => valueAt(data, "usage")?.startsWith("{") === true;
  const isUsageOnly = (event: SseEvent) => valueAt(event.data, "choices") === "[]" && hasUsage(event);
  const passing = told.filter((event) => !isUsageOnly(event)).flatMap(textFirst);
  expect(got.length).toBe(passing.length);
  for (const [index, { data }] of got.entries()) {
    expectOurs(shape, data, idOf(answer));
    expect(valueAt(data, "usage")).toBe("null");
    const own = ["id", "model", "usage"];
    expect(membersBut(data, ...own)).toEqual(membersBut(passing[index]?.data ?? "", ...own));
  }
  expectOurs(shape, last, idOf(answer));
  expectMetered(shape, valueAt(last, "svc"));
  const report = told.findLast(hasUsage)?.data ?? "";
  expect(valueAt(last, "usage")).toBe(valueAt(report, "usage"));
  const usageOnly = told.findLast(isUsageOnly)?.data;
  if (usageOnly !== undefined)
    expect(membersBut(last, "id", "model", "svc")).toEqual(membersBut(usageOnly, "id", "model"));
}

/** Messages and responses: all events pass, and only what holds the answer as a whole has members of ours. */
function expectEvents(shape: Shape, answer: Answer, holder: "message" | "response"): void {
  const got = eventsOf(answer.text);
  const told = eventsOf(shape.stream);
  expect(got.map(({ name }) => name)).toEqual(told.map(({ name }) => name));
  let svc: string | undefined;
  for (const [index, { data }] of got.entries()) {
    const original = told[index]?.data ?? "";
    const held = valueAt(data, holder);
    svc = valueAt(held ?? data, "svc") ?? svc;
    expect(membersBut(data, holder, "svc")).toEqual(membersBut(original, holder));
    if (held === undefined) {
      if (valueAt(data, "svc") === undefined) expect(data).toBe(original);
      continue;
    }
    expectOurs(shape, held, idOf(answer));
    expect(membersBut(held, "id", "model", "svc")).toEqual(
      membersBut(valueAt(original, holder) ?? "", "id", "model"),
    );
  }
  expectMetered(shape, svc);
}

test("at least fourteen providers are here", () => {
  expect(SHAPES.length).toBeGreaterThanOrEqual(14);
});

describe.each(SHAPES.map((shape) => [shape.name, shape] as const))("%s", (_, shape) => {
  test.each([
    ["in one piece", 0],
    ["cut every 7 bytes", 7],
  ])("passes whole, %s", async (_how, size) => {
    cut = size;
    const answer = await exchanged(shape, false);
    expectOurs(shape, answer.text, idOf(answer));
    expect(membersBut(answer.text, "id", "model", "svc")).toEqual(membersBut(shape.reply, "id", "model"));
    expectMetered(shape, valueAt(answer.text, "svc"));
  });

  test.each([
    ["in one piece", 0],
    ["cut every 11 bytes", 11],
    ["byte by byte", 1],
  ])("passes streamed, %s", async (_how, size) => {
    cut = size;
    const answer = await exchanged(shape, true);
    if (shape.dialect === "chat") expectChatStream(shape, answer);
    else expectEvents(shape, answer, shape.dialect === "messages" ? "message" : "response");
  });
});
