/** The end of a stream over real sockets: an upstream that dawdles, and one that breaks off, behind the last words. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { charges } from "../../../support/observations.ts";
import { until } from "../../../support/wait.ts";

const sse = (...events: unknown[]): string =>
  events.map((e) => `data: ${typeof e === "string" ? e : JSON.stringify(e)}\n\n`).join("");
const chunk = (delta: object, finish_reason: string | null) => ({
  id: "up",
  object: "chat.completion.chunk",
  created: 5,
  model: "up",
  choices: [{ index: 0, delta, finish_reason }],
});
const candidate = (text: string, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text }] }, index: 0, ...more }],
});

/** What each upstream has said when it stops to speak. */
const BEFORE: Readonly<Record<string, string>> = {
  chat: sse(chunk({ role: "assistant", content: "first " }, null), chunk({ content: "last words" }, "stop")),
  gemini: sse(candidate("first "), candidate("last words", { finishReason: "STOP" })),
};
const AFTER: Readonly<Record<string, string>> = { chat: sse("[DONE]"), gemini: "" };

/** Answers that wait for the test: they have said all but what stands in AFTER. */
const waiting: { readonly dialect: string; readonly response: ServerResponse }[] = [];
const upstream = createServer((request, response) => {
  const dialect = request.url?.includes("streamGenerateContent") ? "gemini" : "chat";
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(BEFORE[dialect]);
    waiting.push({ dialect, response });
  });
});
let gateway: TestGateway;

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const endpoints = ["chat", "gemini"].map((dialect) => ({
    provider: dialect,
    baseUrl,
    dialects: [dialect],
  }));
  gateway = await testGateway({ endpoints });
});
afterAll(async () => {
  await gateway?.stop();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

const ROUTES = {
  chat: ["/v1/chat/completions", { messages: [{ role: "user", content: "x" }] }],
  completions: ["/v1/completions", { prompt: "x" }],
  messages: ["/v1/messages", { messages: [{ role: "user", content: "x" }], max_tokens: 100 }],
  responses: ["/v1/responses", { input: "x" }],
  generate: ["/v1/svc/generate", { messages: [{ role: "user", content: "x" }] }],
} as const;
const PAIRS = Object.keys(ROUTES).flatMap((client) =>
  Object.keys(BEFORE).map((dialect) => [client as keyof typeof ROUTES, dialect] as const),
);
/** Says why an answer ended, in any of the formats. */
const REASON = /"finish_reason":"stop"|message_delta|response\.completed|generation\.completed/;

interface Streaming {
  readonly id: string;
  /** What came so far. */
  text: string;
  isOver: boolean;
}

async function streaming(client: keyof typeof ROUTES, dialect: string): Promise<Streaming> {
  const [path, body] = ROUTES[client];
  const route = { providers: { only: [dialect] } };
  const more = client === "generate" ? { route } : { svc: { route } };
  const answer = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "test/model", stream: true, ...body, ...more }),
  });
  expect(answer.status).toBe(200);
  const stream: Streaming = { id: answer.headers.get("x-request-id") ?? "", text: "", isOver: false };
  const read = async () => {
    for await (const bytes of answer.body ?? []) stream.text += Buffer.from(bytes).toString();
  };
  void read().finally(() => {
    stream.isOver = true;
  });
  return stream;
}

const chargedFor = async (id: string): Promise<readonly number[]> => (await charges(gateway)).get(id) ?? [];

describe.each(PAIRS)("%s over %s", (client, dialect) => {
  test("O22: the last words are there before the upstream ends, the reason and the charge behind it", async () => {
    const stream = await streaming(client, dialect);
    await until("the last words are there", () => stream.text.includes("last words"));
    expect(stream.text).not.toMatch(REASON);
    expect(await chargedFor(stream.id)).toEqual([]);
    const held = waiting.pop();
    held?.response.end(AFTER[held.dialect]);
    await until("the answer is over", () => stream.isOver);
    expect(stream.text).toMatch(REASON);
    expect(await chargedFor(stream.id)).toHaveLength(1);
  });

  test("O22, T20: where the upstream breaks off behind them, they were delivered and are billed", async () => {
    const stream = await streaming(client, dialect);
    await until("the last words are there", () => stream.text.includes("last words"));
    waiting.pop()?.response.destroy();
    await until("the answer is over", () => stream.isOver);
    expect(stream.text).toContain("upstream_");
    expect(stream.text).not.toMatch(REASON);
    const [microUsd] = await chargedFor(stream.id);
    expect(microUsd).toBeLessThan(0);
  });
});
