/** Answers as a client of the responses format gets them, whole and streamed. */
import { ResponseStream } from "openai/lib/responses/ResponseStream";
import type {
  EasyInputMessage,
  Response,
  ResponseCreateParamsBase,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import { describe, expect, expectTypeOf, test } from "vitest";
import type {
  NeutralChoice,
  NeutralReply,
  ReplyPart,
  StreamEvent,
} from "../../../src/wire/neutral/neutral.ts";
import type { CallItem, CustomCallItem } from "../../../src/wire/responses/calls.ts";
import { outputItems } from "../../../src/wire/responses/items.ts";
import type {
  EventFields,
  EventType,
  MessageItem,
  ReasoningItem,
} from "../../../src/wire/responses/objects.ts";
import { readResponsesRequest } from "../../../src/wire/responses/request.ts";
import type { ResponseHead, ResponseState } from "../../../src/wire/responses/response-object.ts";
import type { writeResponsesUsage } from "../../../src/wire/responses/usage.ts";
import type { InputItem } from "../../../src/wire/responses/write-messages.ts";
import { writeResponsesReply } from "../../../src/wire/responses/write-reply.ts";
import type { FunctionToolBody } from "../../../src/wire/responses/write-request.ts";
import type { Said } from "../../support/wire/carried.ts";
import { type Json, SVC, usage } from "../../support/wire/fixtures.ts";
import { eventsOf } from "./assembled.ts";
import {
  eventsIn,
  IDENTITY,
  neutralOf,
  RECORDED,
  reader,
  recorded,
  requestOf,
  streamed,
  written,
} from "./responses.fixtures.ts";

test("what is written are the SDK's types", () => {
  type Written = { [T in EventType]: EventFields[T] & { type: T; sequence_number: number } }[EventType];
  expectTypeOf<Written>().toExtend<ResponseStreamEvent>();
  expectTypeOf<MessageItem | CallItem | CustomCallItem | ReasoningItem>().toExtend<ResponseOutputItem>();
  expectTypeOf<MessageItem | CallItem | CustomCallItem | ReasoningItem>().toExtend<ResponseInputItem>();
  expectTypeOf<ResponseHead & ResponseState>().toExtend<
    Pick<Response, keyof (ResponseHead & ResponseState) & keyof Response>
  >();
  expectTypeOf<ReturnType<typeof writeResponsesUsage>>().toExtend<ResponseUsage>();
  expectTypeOf<Said<FunctionToolBody>>().toExtend<NonNullable<ResponseCreateParamsBase["tools"]>[number]>();
  // What the SDK wants of messages sent back is the id of their first delivery, which the API does without.
  type Sent = Exclude<InputItem, { role: "assistant" }>;
  expectTypeOf<Sent>().toExtend<ResponseInputItem>();
  expectTypeOf<Extract<InputItem, { role: "user" | "system" }>>().toExtend<EasyInputMessage>();
});

const reply = (parts: readonly ReplyPart[], more: Partial<NeutralChoice> = {}): NeutralReply => ({
  choices: [{ parts, stop: { reason: "stop" }, ...more }],
  usage: undefined,
});

const CITED: ReplyPart = {
  type: "text",
  text: "Größe “zählt”\n🎉",
  citations: [{ type: "url", url: "https://example.org/ö", title: "Ö", start: 0, end: 5 }],
};

const REPLIES: Readonly<Record<string, NeutralReply>> = {
  text: reply([{ type: "text", text: 'Héllo 世界 🎉 "ok"\\ \n\u2028 end' }]),
  empty: reply([]),
  nothing: { choices: [], usage: undefined },
  "two texts, one cited": reply([{ type: "text", text: "So: " }, CITED]),
  refusal: reply([{ type: "refusal", text: "No. 🙅" }], { stop: { reason: "refusal" } }),
  "signed thinking and calls": reply(
    [
      { type: "reasoning", text: "Hm, größe…", seal: { by: "anthropic", data: "EqQBCkYIBRgCKkA+/w==" } },
      { type: "reasoning", text: "", isRedacted: true, seal: { by: "anthropic", data: "EmwKAhgB/+==" } },
      { type: "reasoning", text: "", seal: { by: "anthropic", data: "EqSigOnly==" } },
      { type: "text", text: "Let me look." },
      { type: "tool_call", id: "toolu_1", name: "größe", arguments: '{"a":"Zürich\\n"}' },
      { type: "tool_call", id: "toolu_2", name: "now", arguments: "{}" },
    ],
    { stop: { reason: "tool_calls" } },
  ),
  "Google's signatures": reply(
    [
      { type: "reasoning", text: "Also", isSummary: true },
      { type: "text", text: "Gut.", seal: { by: "google", data: "TextSig==" } },
      {
        type: "tool_call",
        id: "c1",
        name: "f",
        arguments: '{"a":1}',
        seal: { by: "google", data: "CallSig==" },
      },
      { type: "tool_call", id: "c2", name: "f", arguments: '{"a":2}' },
    ],
    { stop: { reason: "tool_calls" } },
  ),
  "own reasoning": reply([
    { type: "reasoning", text: "Sum", isSummary: true, seal: { by: "openai", data: "gAAAA+/==" } },
    { type: "reasoning", text: "", isRedacted: true, seal: { by: "openai", data: "gBBBB" } },
    { type: "text", text: "Ja." },
  ]),
  cut: reply([{ type: "text", text: "Und dann" }], { stop: { reason: "length" } }),
};

const wholeOf = (answer: NeutralReply, body: Json = {}): Json =>
  JSON.parse(
    writeResponsesReply(
      answer,
      requestOf(body),
      IDENTITY,
      usage(7, 5, { cacheReadTokens: 2, reasoningTokens: 1 }),
      SVC,
    ),
  ) as Json;

/** What the SDK makes of a stream: it refuses events that are out of their order or lack a member. */
async function accumulated(latin1: string): Promise<Json> {
  const lines = eventsIn(latin1).map((event) => `${JSON.stringify(event)}\n`);
  const body = new ReadableStream({
    start(controller) {
      for (const line of lines) controller.enqueue(new TextEncoder().encode(line));
      controller.close();
    },
  });
  const final = await ResponseStream.fromReadableStream(body).finalResponse();
  return JSON.parse(JSON.stringify(final)) as Json;
}

describe("streams", () => {
  test.each(Object.keys(REPLIES))("%s: the stream ends with the whole answer", (name) => {
    const answer = REPLIES[name] as NeutralReply;
    for (const size of [1, 3, 1000]) {
      const { text, response } = written(streamed(answer, size));
      expect(response).toEqual(wholeOf(answer));
      expect(eventsIn(text).at(-1)?.response).toEqual(response);
    }
  });

  test.each(Object.keys(REPLIES))(
    "%s: events are numbered, named, and hold what the SDK wants",
    async (name) => {
      const { text, response } = written(streamed(REPLIES[name] as NeutralReply));
      const events = eventsIn(text);
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
      const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
      expect(names).toEqual(events.map(({ type }) => type));
      expect(names.slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
      if (response.status === "completed") {
        const seen = await accumulated(text);
        expect(seen.output).toMatchObject(response.output as object);
      }
      expect(text).not.toContain("\ufffd");
    },
  );

  test.each(RECORDED)("%s: from an upstream of the same dialect, deltas add up to the item", (name) => {
    const { text, response } = written(eventsOf(reader(), [recorded(name)]));
    const said = new Map<string, string>();
    for (const { type, item_id, delta } of eventsIn(text)) {
      if (!String(type).endsWith(".delta")) continue;
      said.set(String(item_id), `${said.get(String(item_id)) ?? ""}${delta}`);
    }
    const whole = (response.output as Json[]).map((item) => {
      const list = [...((item.summary ?? []) as Json[]), ...((item.content ?? []) as Json[])];
      const texts = list.map((part) => `${part.text ?? part.refusal}`).join("");
      return [item.id, item.type === "function_call" ? item.arguments : texts];
    });
    expect([...said]).toEqual(whole.filter(([, value]) => value !== ""));
  });

  test("the order of a text's events is the API's", () => {
    const { text } = written(streamed(REPLIES.cut as NeutralReply, 4));
    expect(eventsIn(text).map(({ type }) => String(type).replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "incomplete",
    ]);
  });

  test("T44: parts that are open at a time are items of their own places", () => {
    const call = (part: number) => ({ choice: 0, part });
    const events: StreamEvent[] = [
      { type: "begin", ...call(0), kind: "text" },
      { type: "delta", ...call(0), text: "a" },
      { type: "begin", ...call(1), kind: "tool_call", id: "c1", name: "f" },
      { type: "begin", ...call(2), kind: "tool_call", id: "c2", name: "g" },
      { type: "delta", ...call(1), text: "{" },
      { type: "delta", ...call(2), text: "{" },
      { type: "delta", ...call(0), text: "b" },
      { type: "delta", ...call(2), text: "}" },
      { type: "end", ...call(0) },
      { type: "delta", ...call(1), text: "}" },
      { type: "end", ...call(2) },
      { type: "stop", choice: 0, stop: { reason: "tool_calls" } },
    ];
    const { response } = written(events);
    expect(response.output).toMatchObject([
      { type: "message", content: [{ text: "ab" }] },
      { call_id: "c1", arguments: "{}" },
      { call_id: "c2", arguments: "{}" },
    ]);
  });

  test("T45: a call without arguments has an empty object", () => {
    const { response } = written([
      { type: "begin", choice: 0, part: 0, kind: "tool_call", id: "c", name: "f" },
      { type: "end", choice: 0, part: 0 },
      { type: "stop", choice: 0, stop: { reason: "tool_calls" } },
    ]);
    expect(response.output).toMatchObject([{ arguments: "{}", status: "completed" }]);
  });

  test("log probabilities stand beside their text and in the item", () => {
    const logprobs = [{ token: "é", logprob: -0.5, bytes: null, top_logprobs: [] }];
    const answer = reply([{ type: "text", text: "é" }], { logprobs });
    const shown = [{ token: "é", logprob: -0.5, bytes: [], top_logprobs: [] }];
    expect(wholeOf(answer).output).toMatchObject([{ content: [{ logprobs: shown }] }]);
    const { text } = written([
      { type: "begin", choice: 0, part: 0, kind: "text" },
      { type: "delta", choice: 0, part: 0, text: "\u00c3\u00a9", logprobs },
    ]);
    const delta = eventsIn(text).find(({ type }) => type === "response.output_text.delta");
    expect(delta).toMatchObject({ delta: "é", logprobs: shown });
  });
});

describe("the response", () => {
  test("repeats the request, and says the API's defaults for the rest", () => {
    const { response } = written(streamed(REPLIES.text as NeutralReply));
    expect(response).toMatchObject({
      id: IDENTITY.id,
      object: "response",
      created_at: IDENTITY.createdS,
      model: IDENTITY.model,
      status: "completed",
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      previous_response_id: null,
      store: true,
      temperature: 1,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_p: 1,
      truncation: "disabled",
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 12,
      },
      svc: SVC,
    });
    const said = {
      instructions: "Sei nett. 世",
      temperature: 0.25,
      tools: [{ type: "function", name: "f", parameters: {}, strict: true }],
      tool_choice: { type: "function", name: "f" },
      text: { verbosity: "low" },
      metadata: { größe: "ß" },
      store: false,
      user: "u",
    };
    const pretty = written(streamed(REPLIES.text as NeutralReply), requestOf(said));
    expect(pretty.response).toMatchObject({ ...said, text: { format: { type: "text" }, verbosity: "low" } });
  });

  test("a body on many lines is repeated on one", () => {
    const body = JSON.stringify(
      { model: "v/m", input: "x", tools: [{ type: "function", name: "f" }] },
      null,
      2,
    );
    const pretty = written([], readResponsesRequest(Buffer.from(body)));
    expect(pretty.response.tools).toMatchObject([{ type: "function", name: "f" }]);
    expect(pretty.text).toMatch(/^(event: [^\n]+\ndata: [^\n]+\n\n)+$/);
  });

  test.each([
    ["length", "incomplete", "max_output_tokens"],
    ["content_filter", "incomplete", "content_filter"],
    ["refusal", "incomplete", "content_filter"],
    ["stop_sequence", "completed", undefined],
    ["pause", "completed", undefined],
  ] as const)("T46: %s is %s", (reason, status, why) => {
    const response = wholeOf(reply([{ type: "text", text: "x" }], { stop: { reason } }));
    expect(response.status).toBe(status);
    expect(response.incomplete_details).toEqual(why === undefined ? null : { reason: why });
    expect(response.output).toMatchObject([{ status: status === "incomplete" ? "incomplete" : "completed" }]);
  });
});

test("a refusal that stands in the answer completes it", () => {
  const { response } = written(streamed(REPLIES.refusal as NeutralReply));
  expect(response).toMatchObject({ status: "completed", output: [{ content: [{ refusal: "No. 🙅" }] }] });
});

describe("what comes back", () => {
  test.each(["signed thinking and calls", "Google's signatures", "own reasoning"])(
    "T47, T48: %s: seals return to the byte, in their order",
    (name) => {
      const answer = REPLIES[name] as NeutralReply;
      const { response } = written(streamed(answer));
      const output = outputItems(JSON.stringify(response));
      expect(JSON.parse(`[${output}]`)).toEqual(response.output);
      const { messages } = neutralOf({ input: JSON.parse(`[${output}]`) });
      expect(messages).toEqual([{ role: "assistant", at: "/input/0", parts: answer.choices[0]?.parts }]);
    },
  );

  test("T48: a call's signature that comes late stands behind the call, and returns to it", () => {
    const call: ReplyPart = { type: "tool_call", id: "c", name: "f", arguments: '{"a":1}' };
    const seal = { by: "google", data: "Late==" } as const;
    const events = streamed(reply([call]), 2);
    events.splice(-2, 0, { type: "seal", choice: 0, part: 0, seal });
    const { response } = written(events);
    expect(response.output).toMatchObject([{ type: "function_call" }, { type: "reasoning" }]);
    const { messages } = neutralOf({ input: response.output });
    expect(messages[0]?.parts).toEqual([{ ...call, seal }]);
  });

  test("T47: thinking keeps its signature with clients that send summary and encrypted content only", () => {
    const { response } = written(streamed(REPLIES["signed thinking and calls"] as NeutralReply));
    const input = (response.output as Json[])
      .filter(({ type }) => type === "reasoning")
      .map(({ type, summary, encrypted_content }) => ({ type, summary, encrypted_content }));
    expect(neutralOf({ input }).messages[0]?.parts).toEqual([
      { type: "reasoning", text: "", seal: { by: "anthropic", data: "EqQBCkYIBRgCKkA+/w==" } },
      { type: "reasoning", text: "", isRedacted: true, seal: { by: "anthropic", data: "EmwKAhgB/+==" } },
      { type: "reasoning", text: "", seal: { by: "anthropic", data: "EqSigOnly==" } },
    ]);
  });
});
