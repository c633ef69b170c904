/**
 * Google's and Bedrock's own formats, which no client here speaks: through a whole gateway, however the network cuts them, what
 * they say reaches a client of chat completions, and the call is metered by what they reported.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";
import { eventFrame, sentOf } from "../../support/wire/converse.fixtures.ts";
import { eventsOf, unitsOf } from "./fixtures.ts";

interface Native {
  readonly dialect: "gemini" | "converse";
  readonly whole: string;
  readonly stream: Buffer;
  readonly said: {
    readonly reasoning: string;
    readonly text: string;
    readonly calls: readonly (readonly [string, object])[];
  };
  /** What only its maker can read, and must get back. */
  readonly signature: string;
  readonly metered: Readonly<Record<string, number>>;
}

const NATIVES: readonly Native[] = [
  {
    dialect: "gemini",
    whole: JSON.stringify({
      candidates: [
        {
          content: {
            role: "model",
            parts: [
              { text: "**Plan**\n\nTwo cities.\n", thought: true },
              { text: "Checking both." },
              {
                functionCall: { name: "get_weather", args: { city: "Köln", days: 2 } },
                thoughtSignature: "EvwBCvkBAXLI2nyW+/a==",
              },
              { functionCall: { name: "get_weather", args: { city: "Bonn", days: 2 } } },
            ],
          },
          finishReason: "STOP",
          index: 0,
          safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "NEGLIGIBLE" }],
          avgLogprobs: -0.1,
        },
      ],
      usageMetadata: {
        promptTokenCount: 72,
        candidatesTokenCount: 36,
        thoughtsTokenCount: 55,
        totalTokenCount: 163,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 72 }],
        trafficType: "ON_DEMAND",
      },
      modelVersion: "gemini-3-flash-preview",
      createTime: "2026-01-01T00:00:00Z",
      responseId: "mDYeabKQEsu_xN8P8cTHsAQ",
    }),
    stream: readFileSync(join(import.meta.dirname, "../../fixtures/gemini/thinking-tools.sse")),
    said: {
      reasoning: "**Plan**\n\nTwo cities.\n",
      text: "Checking both.",
      calls: [
        ["get_weather", { city: "Köln", days: 2 }],
        ["get_weather", { city: "Bonn", days: 2 }],
      ],
    },
    signature: "EvwBCvkBAXLI2nyW+/a==",
    metered: { input: 72, output: 91 },
  },
  {
    dialect: "converse",
    whole: JSON.stringify({
      metrics: { latencyMs: 512 },
      output: {
        message: {
          role: "assistant",
          content: [
            {
              reasoningContent: {
                reasoningText: { text: "Two cities.", signature: "EqoBCkgIBxABGAIqQL8/a==" },
              },
            },
            { reasoningContent: { redactedContent: "UkVEQUNURUQ=" } },
            { text: "Checking…" },
            { toolUse: { toolUseId: "tooluse_a", name: "get_weather", input: { city: "Zürich\n" } } },
            { toolUse: { toolUseId: "tooluse_b", name: "now", input: {} } },
          ],
        },
      },
      stopReason: "tool_use",
      usage: {
        inputTokens: 70,
        outputTokens: 88,
        totalTokens: 1358,
        cacheReadInputTokens: 1000,
        cacheWriteInputTokens: 200,
      },
      performanceConfig: { latency: "standard" },
    }),
    stream: Buffer.from(sentOf("thinking-tools").map(eventFrame).join(""), "latin1"),
    said: {
      reasoning: "Two cities.",
      text: "Checking…",
      calls: [
        ["get_weather", { city: "Zürich\n" }],
        ["now", {}],
      ],
    },
    signature: "EqoBCkgIBxABGAIqQL8/a==",
    metered: { input: 70, cache_read: 1000, cache_write: 200, output: 88 },
  },
];

let cut = 0;
let server: TestProvider;
let gateway: TestGateway;
beforeAll(async () => {
  server = await startProvider();
  server.answer = async ({ path }, response) => {
    const native = NATIVES.find(({ dialect }) => path.startsWith(`/${dialect}/`)) as Native;
    const isStream = /streamGenerateContent|converse-stream/.test(path);
    const type = native.dialect === "gemini" ? "text/event-stream" : "application/vnd.amazon.eventstream";
    response.writeHead(200, { "content-type": isStream ? type : "application/json" });
    const bytes = isStream ? native.stream : Buffer.from(native.whole);
    const size = cut === 0 ? bytes.length : cut;
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size));
      if (cut > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
  gateway = await testGateway({
    endpoints: NATIVES.map(({ dialect }) => ({
      provider: dialect,
      baseUrl: `${server.url}/${dialect}`,
      dialects: [dialect],
      entry: { price: { input: 1, output: 2, cache_read: 0.5, cache_write: 1.25 } },
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.close();
});

interface Message {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

/** What messages or deltas say, put together. */
function saidBy(messages: readonly Message[]): Native["said"] {
  const calls: { name: string; json: string }[] = [];
  for (const { tool_calls: list = [] } of messages) {
    for (const [position, { index = position, function: fn }] of list.entries()) {
      const call = calls[index] ?? { name: "", json: "" };
      calls[index] = { name: call.name + (fn.name ?? ""), json: call.json + (fn.arguments ?? "") };
    }
  }
  return {
    reasoning: messages.map((message) => message.reasoning_content ?? "").join(""),
    text: messages.map(({ content }) => content ?? "").join(""),
    calls: calls.map(({ name, json }) => [name, JSON.parse(json)] as const),
  };
}

const CASES = NATIVES.flatMap((native) =>
  [0, 13].flatMap((size) =>
    [false, true].map((stream) => [native.dialect, stream ? "streamed" : "whole", size, native] as const),
  ),
);

test.each(CASES)(
  "%s says the same %s, cut every %i bytes (0: not at all)",
  async (dialect, mode, size, native) => {
    cut = size;
    const answer = await gateway.chat({
      model: "test/model",
      max_tokens: 500,
      stream: mode === "streamed",
      tools: [{ function: { name: "get_weather", parameters: { type: "object" } } }],
      svc: { route: { providers: { only: [dialect] } } },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain(native.signature);
    if (mode === "whole") {
      const { choices, svc } = answer.json;
      expect(saidBy([choices[0].message])).toEqual(native.said);
      expect([choices[0].finish_reason, unitsOf(svc.cost.lines)]).toEqual(["tool_calls", native.metered]);
      return;
    }
    const chunks = eventsOf(answer.text)
      .filter(({ data }) => data !== "[DONE]")
      .map(({ data }) => JSON.parse(data));
    const choices = chunks.flatMap((chunk) => chunk.choices);
    expect(saidBy(choices.map(({ delta }) => delta))).toEqual(native.said);
    expect([choices.at(-1).finish_reason, unitsOf(chunks.at(-1).svc.cost.lines)]).toEqual([
      "tool_calls",
      native.metered,
    ]);
  },
);
