/** Usage as providers report it, in our own counts: what is billed as input, as output, from and to a cache. */
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../../src/base/endpoint.ts";
import type { Usage } from "../../../../src/base/usage.ts";
import { readChatUsage } from "../../../../src/wire/chat/usage.ts";
import { readConverseUsage } from "../../../../src/wire/converse/usage.ts";
import { readGeminiUsage } from "../../../../src/wire/gemini/usage.ts";
import { messagesFormat } from "../../../../src/wire/messages/format.ts";
import { readMessagesUsage, writeMessagesUsage } from "../../../../src/wire/messages/usage.ts";
import { passageTo } from "../../../../src/wire/passages.ts";
import { readResponsesUsage } from "../../../../src/wire/responses/usage.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";
import { type Json, usage } from "../../../support/wire/fixtures.ts";
import { IDENTITY } from "../chat.fixtures.ts";

type Read = (value: unknown) => Usage | undefined;
type Row = readonly [provider: string, read: Read, reported: Json, means: Usage];

/** From the providers' API references, but where the name says otherwise. */
const ROWS: readonly Row[] = [
  [
    "OpenAI, sound and prediction inside the counts",
    readChatUsage,
    {
      prompt_tokens: 1117,
      completion_tokens: 46,
      total_tokens: 1163,
      prompt_tokens_details: { cached_tokens: 128, audio_tokens: 1000 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 20,
        accepted_prediction_tokens: 5,
        rejected_prediction_tokens: 3,
      },
    },
    usage(1117, 46, { cacheReadTokens: 128 }),
  ],
  [
    "OpenAI, cache writes (prompt caching guide)",
    readChatUsage,
    {
      prompt_tokens: 2600,
      completion_tokens: 300,
      total_tokens: 2900,
      prompt_tokens_details: { cached_tokens: 2000, cache_write_tokens: 400 },
    },
    usage(2600, 300, { cacheReadTokens: 2000, cacheWriteTokens: 400 }),
  ],
  [
    "sound of the prompt beside it, told in the details",
    readChatUsage,
    {
      prompt_tokens: 14,
      completion_tokens: 6,
      total_tokens: 120,
      prompt_tokens_details: { audio_tokens: 100 },
    },
    usage(114, 6),
  ],
  [
    "sound of the prompt and reasoning, both beside",
    readChatUsage,
    {
      prompt_tokens: 14,
      completion_tokens: 6,
      total_tokens: 150,
      prompt_tokens_details: { audio_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    usage(114, 36, { reasoningTokens: 30 }),
  ],
  [
    "sound inside the prompt, hidden reasoning beside",
    readChatUsage,
    {
      prompt_tokens: 200,
      completion_tokens: 6,
      total_tokens: 256,
      prompt_tokens_details: { audio_tokens: 100 },
    },
    usage(200, 56, { reasoningTokens: 50 }),
  ],
  [
    "Mistral, sound by its seconds",
    readChatUsage,
    { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3264, completion_tokens: 635 },
    usage(2629, 635),
  ],
  [
    "sound by its seconds and reasoning, both beside",
    readChatUsage,
    {
      prompt_audio_seconds: 203,
      prompt_tokens: 4,
      total_tokens: 3294,
      completion_tokens: 635,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    usage(2629, 665, { reasoningTokens: 30 }),
  ],
  [
    "xAI, reasoning beside the completion",
    readChatUsage,
    {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      num_sources_used: 0,
      prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
    },
    usage(32, 103, { cacheReadTokens: 6, reasoningTokens: 94 }),
  ],
  [
    "Gemini's compatible endpoint, thoughts in the total alone",
    readChatUsage,
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 },
    usage(10, 105, { reasoningTokens: 100 }),
  ],
  [
    "Groq",
    readChatUsage,
    { queue_time: 0.04, prompt_tokens: 18, prompt_time: 0.0003, completion_tokens: 556, total_tokens: 574 },
    usage(18, 556),
  ],
  [
    "DeepSeek",
    readChatUsage,
    {
      prompt_tokens: 17,
      completion_tokens: 9,
      total_tokens: 26,
      prompt_cache_hit_tokens: 8,
      prompt_cache_miss_tokens: 9,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    usage(17, 9, { cacheReadTokens: 8, reasoningTokens: 4 }),
  ],
  [
    "Perplexity, citations and searches beside, not in the total",
    readChatUsage,
    {
      prompt_tokens: 33,
      completion_tokens: 7163,
      total_tokens: 7196,

      citation_tokens: 20016,
      num_search_queries: 18,
      reasoning_tokens: 73997,
      search_context_size: "low",
    },
    usage(33, 7163),
  ],
  [
    "OpenRouter",
    readChatUsage,
    {
      prompt_tokens: 10339,
      completion_tokens: 60,
      total_tokens: 10399,
      cost: 0.0012,
      is_byok: false,
      prompt_tokens_details: { cached_tokens: 10318, cache_write_tokens: 0, audio_tokens: 0 },
    },
    usage(10339, 60, { cacheReadTokens: 10318 }),
  ],
  [
    "the same tokens as read and as written",
    readChatUsage,
    {
      prompt_tokens: 120,
      completion_tokens: 5,
      total_tokens: 125,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 100 },
    },
    usage(120, 5, { cacheReadTokens: 100 }),
  ],
  [
    "as many read as written, of different tokens",
    readChatUsage,
    {
      prompt_tokens: 2100,
      completion_tokens: 5,
      total_tokens: 2105,
      prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 1024 },
    },
    usage(2100, 5, { cacheReadTokens: 1024, cacheWriteTokens: 1024 }),
  ],
  [
    "Alibaba's explicit cache",
    readChatUsage,
    {
      prompt_tokens: 3000,
      completion_tokens: 5,
      total_tokens: 3005,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 2048, cache_type: "ephemeral" },
    },
    usage(3000, 5, { cacheWriteTokens: 2048 }),
  ],
  [
    "OpenAI's responses, the same tokens as read and as written",
    readResponsesUsage,
    {
      input_tokens: 120,
      output_tokens: 5,
      total_tokens: 125,
      input_tokens_details: { cached_tokens: 100, cache_write_tokens: 100 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
    usage(120, 5, { cacheReadTokens: 100, reasoningTokens: 2 }),
  ],
  [
    "Anthropic, both lengths of stay and server tools",
    readMessagesUsage,
    {
      input_tokens: 3,
      output_tokens: 550,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      server_tool_use: { web_search_requests: 2 },
      service_tier: "standard",
    },
    usage(313, 550, { cacheReadTokens: 10, cacheWriteTokens: 300, cacheWrite1hTokens: 200 }),
  ],
  [
    "Gemini, tools, thoughts, sound and a cache",
    readGeminiUsage,
    {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      cachedContentTokenCount: 80,
      totalTokenCount: 157,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 40 },
        { modality: "AUDIO", tokenCount: 60 },
      ],
    },
    usage(107, 50, { cacheReadTokens: 80, reasoningTokens: 30 }),
  ],
  [
    "Bedrock",
    readConverseUsage,
    {
      inputTokens: 5,
      outputTokens: 9,
      totalTokens: 144,
      cacheReadInputTokens: 100,
      cacheWriteInputTokens: 30,
      cacheDetails: [{ ttl: "1h", inputTokens: 10 }],
    },
    usage(135, 9, { cacheReadTokens: 100, cacheWriteTokens: 30, cacheWrite1hTokens: 10 }),
  ],
  [
    "Bedrock, the same tokens as read and as written: the total counts them once",
    readConverseUsage,
    {
      inputTokens: 5,
      outputTokens: 9,
      totalTokens: 114,
      cacheReadInputTokens: 100,
      cacheWriteInputTokens: 100,
    },
    usage(105, 9, { cacheReadTokens: 100 }),
  ],
];

describe("O25: what a provider reports", () => {
  test.each(ROWS)("%s", (_, read, reported, means) => {
    expect(read(reported)).toEqual(means);
  });

  test.each(ROWS)(
    "T33: %s: told to a client of messages, the whole prompt stays the same",
    (_, read, reported) => {
      const counts = read(reported);
      if (counts === undefined) throw new Error("no usage");
      const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } =
        writeMessagesUsage(counts);
      expect(input_tokens + cache_creation_input_tokens + cache_read_input_tokens).toBe(counts.inputTokens);
    },
  );
});

describe("O25: message_start says what the prompt is where the first event tells", () => {
  const stream = (dialect: Dialect) => {
    const body = { model: "m", stream: true, max_tokens: 9, messages: [{ role: "user", content: "x" }] };
    const request = messagesFormat.read(Buffer.from(JSON.stringify(body)));
    const passage = passageTo(messagesFormat, endpoint("up", { dialects: [dialect] }))?.passage;
    if (passage === undefined) throw new Error("no way");
    return passage.stream(request, IDENTITY);
  };
  const started = (text: string): unknown => {
    const data = /^event: message_start\ndata: (.*)$/m.exec(text)?.[1];
    return JSON.parse(data ?? "{}").message?.usage;
  };

  test.each<[Dialect, Json]>([
    [
      "gemini",
      {
        candidates: [{ content: { parts: [{ text: "Hi" }] }, index: 0 }],
        usageMetadata: { promptTokenCount: 70, cachedContentTokenCount: 50, candidatesTokenCount: 4 },
      },
    ],
    [
      "chat",
      {
        choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }],
        usage: { prompt_tokens: 70, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 50 } },
      },
    ],
  ])("over %s, and no output yet", (dialect, first) => {
    const relayed = stream(dialect);
    const out = relayed.push(`data: ${JSON.stringify(first)}\n\n`);
    expect(started(out)).toMatchObject({ input_tokens: 20, cache_read_input_tokens: 50, output_tokens: 0 });
    expect(relayed.facts).toMatchObject({ usage: { inputTokens: 70, outputTokens: 4 }, unreportedBytes: 0 });
  });

  test("T22: over gemini, where the first event knows the prompt only, what follows is estimated", () => {
    const relayed = stream("gemini");
    const first = {
      candidates: [{ content: { parts: [{ text: "Hi" }] } }],
      usageMetadata: { promptTokenCount: 70 },
    };
    expect(started(relayed.push(`data: ${JSON.stringify(first)}\n\n`))).toMatchObject({ input_tokens: 70 });
    expect(relayed.facts).toMatchObject({ usage: { inputTokens: 70, outputTokens: 0 }, unreportedBytes: 2 });
  });
});
