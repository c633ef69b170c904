/**
 * What the fuzz damages: requests of every format, and answers of every dialect, whole and streamed, as the simulator gives
 * them and as they were recorded. All latin1, one character a byte.
 */

import { readdirSync, readFileSync } from "node:fs";
import { startSimulator } from "../../../simulator/simulator.ts";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { WeirError } from "../../../src/base/errors.ts";
import type { FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { passageTo } from "../../../src/wire/passages.ts";
import type { Ask, Json } from "../conformance/ask.ts";
import { ANSWERS } from "../conformance/cases.ts";
import type { ClientName } from "../conformance/ends.ts";
import { CLIENTS } from "../conformance/pairs.ts";
import { asks, TOOLS } from "../conformance/prompts.ts";
import { endpoint } from "../routing/fixtures.ts";
import { STREAMS } from "../wire/completions.fixtures.ts";
import { latin1Of as converseRecorded, NAMES } from "../wire/converse.fixtures.ts";
import { REPLIES } from "../wire/embeddings.fixtures.ts";

export const GENERATION: readonly Dialect[] = ["chat", "responses", "messages", "gemini", "converse"];
/** Dialects that only clients of the format of their name reach. */
export const SPLICED = ["completions"] as const satisfies readonly (Dialect & ClientName)[];
export const EMBEDDING = Object.keys(REPLIES) as readonly Dialect[];
export const RERANKING: readonly Dialect[] = ["cohere", "jina", "voyage"];

/** Larger ones say no more, and damage to them takes long. */
const MAX_BYTES = 70_000;
const MAX_ANSWER_BYTES = 16_000;

const latin1 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("latin1");

// -- requests --

/** Words of ours that no case of conformance says. */
const OURS = {
  route: {
    sort: "price",
    providers: { order: ["p-fuzz"], ignore: ["x"] },
    require: { zdr: true, max_price: { input: 1 } },
  },
  metadata: { app: "é", user_id: "u", tags: { a: "b" } },
  on_disconnect: "drain",
  provider_options: {
    "p-fuzz": { top_k: 3, seed: 1, model: "no", generationConfig: { topK: 1, maxOutputTokens: 9 }, ü: "é" },
  },
};

/** Members of each format beyond what the conformance cases say. */
const MORE: Readonly<Record<ClientName, readonly Json[]>> = {
  chat: [
    {
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { "1": 2 },
      user: "u",
      metadata: { a: "b" },
      service_tier: "auto",
      svc: OURS,
    },
    {
      max_completion_tokens: 5,
      reasoning_effort: "low",
      verbosity: "low",
      prompt_cache_key: "k",
      presence_penalty: 1,
      stop: "x",
    },
    {
      messages: [
        { role: "developer", content: [{ type: "text", text: "d" }], name: "n" },
        { role: "user", content: [{ type: "input_audio", input_audio: { data: "QUJD", format: "wav" } }] },
        {
          role: "assistant",
          content: [{ type: "refusal", refusal: "no" }],
          reasoning_content: "r",
          reasoning_details: [
            { type: "reasoning.text", text: "t", signature: "s", format: "anthropic-claude-v1", index: 0 },
            { type: "reasoning.encrypted", data: "d", id: "i", format: "openai-responses-v1", index: 1 },
            { type: "reasoning.summary", summary: "s", format: "google-gemini-v1", index: 2 },
          ],
          tool_calls: [
            {
              id: "c",
              type: "function",
              function: { name: "f", arguments: "" },
              extra_content: { google: { thought_signature: "g" } },
            },
          ],
        },
        { role: "tool", tool_call_id: "c", content: "r" },
        { role: "function", name: "f", content: "r" },
      ],
      functions: [{ name: "f", parameters: {} }],
      function_call: { name: "f" },
    },
  ],
  completions: [
    { prompt: ["a"], logprobs: 2, user: "u", svc: OURS },
    { prompt: [[1, 2], [3]], suffix: "é", echo: true, best_of: 3, n: 2, max_tokens: 0 },
    { prompt: ["a", "ü"], suffix: "", echo: true, n_predict: 5, service_tier: "flex" },
    { logit_bias: { "1": 2 }, presence_penalty: 1, frequency_penalty: -1, top_p: 0.5 },
  ],
  responses: [
    {
      instructions: "Sei nett",
      previous_response_id: "resp_1",
      include: ["message.output_text.logprobs"],
      top_logprobs: 2,
      text: { verbosity: "low", format: { type: "text" } },
      metadata: { a: "b" },
      svc: OURS,
    },
    {
      input: [
        {
          type: "reasoning",
          id: "rs",
          summary: [{ type: "summary_text", text: "s" }],
          encrypted_content: "weir.google.x",
        },
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "1" }] },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "a", annotations: [] }],
        },
        { type: "item_reference", id: "x" },
      ],
      store: true,
    },
    { input: "Hi" },
  ],
  messages: [
    {
      system: [{ type: "text", text: "Sei nett. 世", cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "document", source: { type: "text", media_type: "text/plain", data: "d" }, title: "t" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "h", signature: "s" },
            { type: "redacted_thinking", data: "weir.openai.x" },
            { type: "thinking", thinking: "", signature: "weir.google.x" },
            { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "r", is_error: true }] },
      ],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      top_k: 4,
      metadata: { user_id: "u" },
      svc: OURS,
    },
  ],
  generate: [
    {
      ...OURS,
      generation: { top_k: 3, logprobs: 2, stop: ["x"], candidates: 2, reasoning: { effort: "low" } },
    },
  ],
};

const OTHERS: Partial<Readonly<Record<FormatName, readonly Json[]>>> = {
  embeddings: [
    {
      input: ["a", "Größe 世"],
      encoding_format: "base64",
      dimensions: 8,
      user: "u",
      input_type: "query",
      svc: OURS,
    },
    { input: [[1, 2], [3]] },
    { input: [1, 2, 3], stream: false },
    { input: "x".repeat(5000) },
  ],
  embed: [{ input: ["a", "Größe 世"], dimensions: 8, input_type: "document", ...OURS }, { input: ["one"] }],
  rerank: [
    { query: "Wo?", documents: ["dort", "hier ü", "da"], top_n: 2, return_documents: true, ...OURS },
    { query: "q", documents: ["x".repeat(5000), "y"], return_documents: true },
  ],
};

/** Bodies that the format takes. */
export function requestSeeds(format: FormatName): string[] {
  if (!(format in CLIENTS)) return (OTHERS[format] ?? []).map((body) => latin1({ model: "v/m", ...body }));
  const name = format as ClientName;
  const cases = ANSWERS.filter(({ needs }) =>
    needs.every((feature) => CLIENTS[name].lacks[feature] === undefined),
  );
  const said = (ask: Ask, more: Json = {}) => latin1({ ...CLIENTS[name].request(ask, "v/m", true), ...more });
  const usual = asks("Hello", {}, { tools: TOOLS });
  return [...cases.map(({ ask }) => said(ask)), ...MORE[name].map((more) => said(usual, more))].filter(
    (text) => text.length < MAX_BYTES,
  );
}

// -- answers --

const ASKS: readonly Ask[] = [
  ...ANSWERS.filter(({ name }) => !/KB|cut at|kilobytes/.test(name)).map(({ ask }) => ask),
  asks("Hello", { usage: "every" }),
  asks("Hello", { fault: "error_mid" }),
  asks("Hello", { fault: "malformed" }),
  asks("Both?", { reasoning: 5, tokens: 4, tool_calls: 3, unicode: true }, { tools: TOOLS, thinks: true }),
];

const PATHS: Readonly<Record<string, readonly [whole: string, stream: string]>> = {
  chat: ["/v1/chat/completions", "/v1/chat/completions"],
  responses: ["/v1/responses", "/v1/responses"],
  messages: ["/v1/messages", "/v1/messages"],
  gemini: ["/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"],
  converse: ["/model/m/converse", "/model/m/converse-stream"],
  completions: ["/v1/completions", "/v1/completions"],
};
const HEADERS = {
  "content-type": "application/json",
  authorization: "Bearer k",
  "anthropic-version": "2023-06-01",
};

/** What the simulator answers to the conformance cases, as a whole or streamed, and the streams that were recorded. */
export async function answerSeeds(stream: boolean): Promise<ReadonlyMap<Dialect, readonly string[]>> {
  const simulator = await startSimulator();
  try {
    const found = new Map<Dialect, readonly string[]>();
    for (const dialect of [...GENERATION, ...SPLICED]) {
      const path = PATHS[dialect]?.[stream ? 1 : 0];
      const bodies = ASKS.flatMap((said) => requestTo(dialect, said, stream) ?? []);
      const texts = await Promise.all(
        bodies.map(async (body) => {
          const reply = await fetch(`http://127.0.0.1:${simulator.port}${path}`, {
            method: "POST",
            headers: HEADERS,
            body,
          });
          const text = Buffer.from(await reply.arrayBuffer()).toString("latin1");
          return reply.ok && text.length < MAX_ANSWER_BYTES ? [text] : [];
        }),
      );
      found.set(dialect, [...new Set(texts.flat()), ...(stream ? recordedStreams(dialect) : [])]);
    }
    return found;
  } finally {
    await simulator.close();
  }
}

/** Undefined where the dialect takes no media of the kind. */
function requestTo(dialect: Dialect, ask: Ask, stream: boolean): string | undefined {
  const name = SPLICED.find((spliced) => spliced === dialect) ?? "generate";
  const format = FORMATS[name];
  const request = format.read(Buffer.from(JSON.stringify(CLIENTS[name].request(ask, "v/m", stream))));
  const to = endpoint("fuzz", { dialects: [dialect], upstreamModel: "m" });
  try {
    const parts = passageTo(format, to)?.passage.write(request, to).parts ?? [];
    return Buffer.concat(parts).toString();
  } catch (error) {
    if (error instanceof WeirError && error.kind === "capability_not_supported") return undefined;
    throw error;
  }
}

/** Streams of real providers as they were recorded. */
export function recordedStreams(dialect: Dialect): string[] {
  if (dialect === "completions") return STREAMS.map(({ text }) => Buffer.from(text).toString("latin1"));
  if (dialect === "converse") return NAMES.map(converseRecorded);
  const folder = new URL(`../../fixtures/${dialect}/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".sse"))
    .map((file) => readFileSync(new URL(file, folder)).toString("latin1"));
}

const RESULTS = [
  { index: 1, relevance_score: 0.98 },
  { index: 0, relevance_score: 0.25 },
];

/** Answers of dialects that generate nothing, to two inputs. */
export function otherAnswers(format: FormatName, dialect: Dialect): string[] {
  if (format !== "rerank") {
    const { float, base64 } = REPLIES[dialect] ?? {};
    return [float, base64, { error: { message: "no", code: 400 } }].map(latin1);
  }
  const replies = [
    { id: "0", results: RESULTS, meta: { billed_units: { search_units: 1 } } },
    {
      object: "list",
      results: RESULTS,
      data: RESULTS,
      model: "up",
      usage: { prompt_tokens: 0, total_tokens: 815 },
    },
  ];
  return replies.map(latin1);
}
