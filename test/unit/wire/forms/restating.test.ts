/**
 * A whole answer told as a stream and put together again is that answer: nothing that has a place in the dialect is lost, known to this
 * code or not.
 */
import { describe, expect, test } from "vitest";
import { chatRestating } from "../../../../src/wire/chat/restating.ts";
import { completionsRestating } from "../../../../src/wire/completions/restating.ts";
import { converseRestating } from "../../../../src/wire/converse/restating.ts";
import type { Restating } from "../../../../src/wire/forms/restating.ts";
import { geminiRestating } from "../../../../src/wire/gemini/restating.ts";
import { messagesRestating } from "../../../../src/wire/messages/restating.ts";
import { responsesRestating } from "../../../../src/wire/responses/restating.ts";

const LONG = 'Grüß 🎉 \\ "x" \n'.repeat(4000);
const BIG = '{"id":12345678901234567890,"f":1.0,"2":0,"1":1e400}';
const RAW = "@@RAW@@";

interface Case {
  readonly restating: Restating;
  readonly answer: object;
}

const token = (text: string) => ({ token: text, logprob: -0.5, bytes: [1], top_logprobs: [] });

const CASES: Readonly<Record<string, Case>> = {
  chat: {
    restating: chatRestating,
    answer: {
      id: "c1",
      object: "chat.completion",
      created: 7,
      model: "m",
      system_fingerprint: "fp",
      service_tier: "priority",
      citations: ["https://a", "https://b"],
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: LONG,
            refusal: null,
            reasoning_content: "Let me think.",
            reasoning_details: [
              {
                type: "reasoning.text",
                text: "Let me think.",
                signature: "c2ln",
                format: "anthropic-claude-v1",
                index: 0,
              },
              { type: "reasoning.encrypted", data: "ZW5j", format: "openai-responses-v1", index: 1 },
            ],
            annotations: [
              {
                type: "url_citation",
                url_citation: { url: "https://a", title: "A", start_index: 0, end_index: 3 },
              },
            ],
            extra_content: { google: { thought_signature: "Z29v" } },
            provider_specific_fields: { deep: { list: [1, 2] } },
            tool_calls: [
              { id: "a", type: "function", function: { name: "f", arguments: BIG } },
              { id: "b", type: "custom", custom: { name: "p", input: "*** Begin" } },
              { id: "c", type: "function", function: { name: "g", arguments: "{}" } },
            ],
          },
          logprobs: null,
          finish_reason: "tool_calls",
          stop_reason: 128001,
        },
        {
          index: 1,
          message: { role: "assistant", content: "ab", refusal: null },
          logprobs: { content: [token("a"), token("b")], refusal: null },
          finish_reason: "length",
        },
        {
          index: 2,
          message: { role: "assistant", content: null, refusal: "No." },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        cost: 0.25,
        prompt_tokens_details: { cached_tokens: 1 },
      },
    },
  },
  completions: {
    restating: completionsRestating,
    answer: {
      id: "c1",
      object: "text_completion",
      created: 7,
      model: "m",
      choices: [
        {
          index: 0,
          text: LONG,
          logprobs: { tokens: ["a"], token_logprobs: [-1], top_logprobs: [{ a: -1 }], text_offset: [0] },
          finish_reason: "stop",
          token_ids: [1, 2],
        },
        { index: 1, text: "", logprobs: null, finish_reason: "length" },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    },
  },
  messages: {
    restating: messagesRestating,
    answer: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "thinking", thinking: LONG, signature: "c2ln" },
        { type: "redacted_thinking", data: "ZW5j" },
        {
          type: "text",
          text: "Hi",
          citations: [
            {
              type: "char_location",
              cited_text: "x",
              document_index: 0,
              start_char_index: 0,
              end_char_index: 1,
            },
          ],
        },
        { type: "server_tool_use", id: "srv", name: "web_search", input: { query: "q" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "srv",
          content: [{ type: "web_search_result", url: "https://a", encrypted_content: "x" }],
        },
        { type: "tool_use", id: "a", name: "f", input: RAW },
        { type: "tool_use", id: "b", name: "g", input: {} },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      container: { id: "ctr" },
      usage: {
        input_tokens: 3,
        output_tokens: 4,
        cache_read_input_tokens: 2,
        server_tool_use: { web_search_requests: 1 },
      },
    },
  },
  responses: {
    restating: responsesRestating,
    answer: {
      id: "resp_1",
      object: "response",
      created_at: 7,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      error: null,
      model: "m",
      output: [
        {
          type: "reasoning",
          id: "rs",
          summary: [{ type: "summary_text", text: "Thought" }],
          encrypted_content: "ZW5j",
        },
        { type: "web_search_call", id: "ws", status: "completed", action: { type: "search", query: "q" } },
        {
          type: "message",
          id: "msg",
          status: "completed",
          role: "assistant",
          content: [
            {
              type: "output_text",
              text: LONG,
              annotations: [
                { type: "url_citation", url: "https://a", title: "A", start_index: 0, end_index: 1 },
              ],
              logprobs: [],
            },
            { type: "refusal", refusal: "No." },
          ],
        },
        { type: "function_call", id: "fc", call_id: "a", name: "f", arguments: BIG, status: "completed" },
        {
          type: "custom_tool_call",
          id: "ct",
          call_id: "b",
          name: "p",
          input: "*** Begin",
          status: "completed",
        },
        {
          type: "local_shell_call",
          id: "ls",
          call_id: "c",
          status: "completed",
          action: { type: "exec", command: ["ls"] },
        },
      ],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    },
  },
  gemini: {
    restating: geminiRestating,
    answer: {
      candidates: [
        {
          index: 0,
          content: {
            role: "model",
            parts: [
              { text: "Thought", thought: true },
              { text: LONG, thoughtSignature: "c2ln" },
              { functionCall: { id: "a", name: "f", args: RAW } },
              { inlineData: { mimeType: "image/png", data: "aW1n" } },
              { executableCode: { language: "PYTHON", code: "1" } },
            ],
          },
          finishReason: "STOP",
          groundingMetadata: { groundingChunks: [{ web: { uri: "https://a" } }] },
          citationMetadata: { citations: [{ uri: "https://b" }] },
          logprobsResult: { chosenCandidates: [{ token: "a", logProbability: -1 }] },
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
      modelVersion: "m",
    },
  },
  converse: {
    restating: converseRestating,
    answer: {
      output: {
        message: {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: LONG, signature: "c2ln" } } },
            { reasoningContent: { redactedContent: "ZW5j" } },
            { text: "Hi" },
            {
              citationsContent: {
                content: [{ text: "cited" }],
                citations: [
                  { title: "A", location: { documentChar: { documentIndex: 0, start: 0, end: 1 } } },
                ],
              },
            },
            { image: { format: "png", source: { bytes: "aW1n" } } },
            { toolUse: { toolUseId: "a", name: "f", input: RAW } },
            { toolUse: { toolUseId: "b", name: "g", input: {} } },
          ],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      metrics: { latencyMs: 1 },
      serviceTier: { type: "priority" },
    },
  },
};

describe.each(Object.entries(CASES))("%s", (_, { restating, answer }) => {
  const text = JSON.stringify(answer).replaceAll(`"${RAW}"`, BIG);
  const events = restating.events(Buffer.from(text));

  test("a whole answer survives the way to a stream and back", () => {
    const folding = restating.folding(1 << 24);
    folding.push(events);
    folding.end();
    expect(folding.error).toBeUndefined();
    expect(folding.complete || folding.done).toBe(true);
    const back = folding.whole().toString();
    expect(JSON.parse(back)).toEqual(JSON.parse(text));
    // What is only carried is the text that was written.
    if (text.includes(BIG)) expect(back).toContain(BIG);
  });

  test("in pieces of any size", () => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const folding = restating.folding(1 << 24);
      for (let at = 0; at < events.length; at += size) folding.push(events.slice(at, at + size));
      folding.end();
      expect(JSON.parse(folding.whole().toString())).toEqual(JSON.parse(text));
    }
  });

  test("a long text comes in several events", () => {
    for (const event of events.split("\n\n"))
      if (!event.includes("response.completed")) expect(event.length).toBeLessThan(200_000);
  });
});

const many = (count: number, value: object) => Array.from({ length: count }, () => value);
const bodyOf = (answer: object) => Buffer.from(JSON.stringify(answer));

test.each<readonly [string, Restating, object]>([
  ["chat's choices", chatRestating, { choices: many(30_000, {}) }],
  ["responses' items", responsesRestating, { output: many(30_000, { type: "message" }) }],
  [
    "responses' annotations",
    responsesRestating,
    { output: [{ type: "message", content: [{ type: "output_text", annotations: many(30_000, {}) }] }] },
  ],
  ["messages' blocks", messagesRestating, { content: many(30_000, { type: "text", text: "" }) }],
  ["converse's blocks", converseRestating, { output: { message: { content: many(30_000, {}) } } }],
])("%s beyond any answer's are refused, not told one by one", (_, restating, answer) => {
  expect(() => restating.events(bodyOf(answer))).toThrow("more parts than the gateway takes");
});

test("what belongs to all of a completion is told once, not with each piece", () => {
  const member = "m".repeat(100_000);
  const message = { role: "assistant", content: "c".repeat(400_000) };
  const events = chatRestating.events(bodyOf({ id: "c", prompt: member, choices: [{ index: 0, message }] }));
  expect(events.length).toBeLessThan(600_000);
});
