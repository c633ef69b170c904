/**
 * Answers of which the provider says that they are none (NousResearch/hermes-agent#83882, anomalyco/opencode#46193): Gemini's
 * `MALFORMED_FUNCTION_CALL` and its like in other dialects. They fail, never an empty success: another endpoint answers, or the client
 * gets an error that it may retry.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChatUpstreamName, ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import {
  type Run as AnyRun,
  endpointsOf,
  HELP,
  make,
  makeAll,
  type Seen,
  scriptedOf,
} from "../../support/field/runs.ts";
import { type Scripted, ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { eventFrame } from "../../support/wire/converse.fixtures.ts";

const FORMATS: readonly ClientName[] = ["chat", "responses", "messages", "generate"];
const SAID = "I will read the file.";
const COUNTS = { prompt: 8, output: 5 };

const sse = (...events: readonly object[]): Scripted => ({
  headers: { "content-type": "text/event-stream" },
  parts: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
});
const json = (body: object): Scripted => ({ body: JSON.stringify(body) });

/** How each dialect ends an answer for a reason, with or without a text before it. */
type Ended = (reason: string, text: string | undefined, stream: boolean) => Scripted;

const gemini: Ended = (finishReason, text, stream) => {
  const parts = text === undefined ? undefined : [{ text }];
  const usageMetadata = { promptTokenCount: COUNTS.prompt, totalTokenCount: COUNTS.prompt };
  const last = { finishReason, finishMessage: "print(default_api.f(", index: 0 };
  if (!stream) return json({ candidates: [{ content: parts ? { parts } : {}, ...last }], usageMetadata });
  const before =
    parts === undefined ? [] : [{ candidates: [{ content: { role: "model", parts }, index: 0 }] }];
  return sse(...before, { candidates: [{ content: {}, ...last }], usageMetadata });
};

const chat: Ended = (finish_reason, content, stream) => {
  const usage = { prompt_tokens: COUNTS.prompt, completion_tokens: COUNTS.output, total_tokens: 13 };
  const frame = { id: "c1", created: 1, model: "m" };
  if (!stream) {
    const message = { role: "assistant", content: content ?? null };
    return json({
      ...frame,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
  }
  const chunk = (delta: object, finish: string | null) => ({
    ...frame,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const before = content === undefined ? [] : [chunk({ content }, null)];
  return sse(chunk({ role: "assistant", content: "" }, null), ...before, chunk({}, finish_reason));
};

const converse: Ended = (stopReason, text, stream) => {
  const usage = { inputTokens: COUNTS.prompt, outputTokens: COUNTS.output, totalTokens: 13 };
  if (!stream) {
    const content = text === undefined ? [] : [{ text }];
    return json({ output: { message: { role: "assistant", content } }, stopReason, usage });
  }
  const frames = [
    eventFrame({ event: "messageStart", payload: { role: "assistant" } }),
    ...(text === undefined
      ? []
      : [eventFrame({ event: "contentBlockDelta", payload: { contentBlockIndex: 0, delta: { text } } })]),
    eventFrame({ event: "messageStop", payload: { stopReason } }),
    eventFrame({ event: "metadata", payload: { usage } }),
  ];
  return {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
    parts: frames.map((frame) => Buffer.from(frame, "latin1")),
  };
};

const messages: Ended = (stop_reason, text, stream) => {
  const usage = { input_tokens: COUNTS.prompt, output_tokens: COUNTS.output };
  const frame = { id: "m1", type: "message", role: "assistant", model: "m", stop_sequence: null, usage };
  const content = text === undefined ? [] : [{ type: "text", text }];
  if (!stream) return json({ ...frame, content, stop_reason });
  const block = { type: "content_block_start", index: 0, content_block: content[0] };
  return sse(
    { type: "message_start", message: { ...frame, content: [], stop_reason: null } },
    ...(text === undefined ? [] : [block, { type: "content_block_stop", index: 0 }]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  );
};

const responses: Ended = (reason, text, stream) => {
  const content = [{ type: "output_text", text, annotations: [] }];
  const item = { type: "message", id: "msg_1", role: "assistant", status: "incomplete", content };
  const frame = { id: "r1", object: "response", created_at: 1, model: "m" };
  const output = text === undefined ? [] : [item];
  const usage = { input_tokens: COUNTS.prompt, output_tokens: COUNTS.output, total_tokens: 13 };
  const response = { ...frame, status: "incomplete", incomplete_details: { reason }, output, usage };
  if (!stream) return json(response);
  const done = { type: "response.output_item.done", output_index: 0, item };
  return sse(
    { type: "response.created", response: { ...frame, status: "in_progress", output: [] } },
    ...(text === undefined ? [] : [done]),
    { type: "response.incomplete", response },
  );
};

const ENDED = { gemini, chat, converse, messages, responses } as const;

interface Reason {
  readonly dialect: keyof typeof ENDED;
  readonly reason: string;
  /** With a text it is an answer. */
  readonly isOfEmpty?: boolean;
}

const REASONS: readonly Reason[] = [
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"].map(ofGemini),
  ...["MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE"].map(ofGemini),
  ...["OTHER", "NO_IMAGE", "IMAGE_OTHER", "NOT_KNOWN_YET"].map((reason) => ({
    ...ofGemini(reason),
    isOfEmpty: true,
  })),
  ...["malformed_tool_use", "malformed_model_output"].map((reason) => ({
    dialect: "converse" as const,
    reason,
  })),
  { dialect: "chat", reason: "not_known_yet", isOfEmpty: true },
  ...(["converse", "messages", "responses"] as const).flatMap((dialect) =>
    ["", "not_known_yet"].map((reason) => ({ dialect, reason, isOfEmpty: true })),
  ),
  ...["error", "abort", "insufficient_system_resource", "function_call_filter: MALFORMED_FUNCTION_CALL"].map(
    (reason) => ({ dialect: "chat" as const, reason }),
  ),
];

function ofGemini(reason: string): Reason {
  return { dialect: "gemini", reason };
}

interface Run extends AnyRun {
  readonly check: (seen: Seen) => void;
}

const FAILED = "invalid_response 200 protocol";

/** An error that may be retried; nothing was delivered, so nothing is charged. */
const failed = ({ answer, attempts, charged, client, record }: Seen): void => {
  expect(attempts).toEqual([FAILED]);
  expect(answer.status).toBe(502);
  expect(CLIENTS[client].errorOf(answer.json)).toBeDefined();
  expect(answer.text).not.toContain("default_api");
  expect(record.error_code).toBe("upstream_invalid_response");
  expect(charged).toBeUndefined();
};

const helped = ({ answer, attempts }: Seen): void => {
  expect(attempts).toEqual([FAILED, "ok 200"]);
  expect(answer.status).toBe(200);
  expect(answer.text.replaceAll(/[^.\w ]/g, "")).not.toContain(SAID);
};

/** The text was delivered, and is charged; the end is an error. */
const broken = ({ answer, attempts, charged, client }: Seen): void => {
  expect(attempts).toEqual([FAILED]);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain(SAID);
  expect(CLIENTS[client].streamError(answer.text)).toBe("upstream_invalid_response");
  expect(charged).toHaveLength(1);
};

const answered = ({ answer, attempts }: Seen): void => {
  expect(attempts).toEqual(["ok 200"]);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain(SAID);
};

function runsOf({ dialect, reason, isOfEmpty }: Reason): Run[] {
  return FORMATS.flatMap((client) =>
    [false, true].flatMap((stream): Run[] => {
      const common = { dialect: dialect as ChatUpstreamName, client, stream, hasTools: true };
      const name = (how: string) => `${dialect} ${reason}, ${how}`;
      const script = (text?: string) => ENDED[dialect](reason, text, stream);
      const withText = isOfEmpty ? answered : stream ? broken : failed;
      return [
        { ...common, name: name("alone"), script: script(), check: failed },
        { ...common, name: name("with another endpoint"), script: script(), isHelped: true, check: helped },
        { ...common, name: name("after a text"), script: script(SAID), check: withText },
      ];
    }),
  );
}

/** A blocked prompt is a refusal, and an empty answer that ended well is one. */
const NO_FAILURES: readonly Run[] = FORMATS.flatMap((client) =>
  [false, true].flatMap((stream): Run[] => {
    const common = { dialect: "gemini" as const, client, stream };
    const blocked = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 8 },
    };
    const stops = (word: "content_filter" | "stop") => (seen: Seen) => {
      expect(seen.attempts).toEqual(["ok 200"]);
      const { client: by, answer } = seen;
      const heard = stream ? CLIENTS[by].streamed(answer.text) : CLIENTS[by].whole(answer.json);
      expect(heard.choices[0]?.stop).toBe(CLIENTS[by].stops[word]);
    };
    return [
      {
        ...common,
        name: "a blocked prompt",
        script: stream ? sse(blocked) : json(blocked),
        check: stops("content_filter"),
      },
      {
        ...common,
        name: "an unsupported language",
        script: gemini("LANGUAGE", undefined, stream),
        check: stops("content_filter"),
      },
      {
        ...common,
        name: "an empty answer that stopped",
        script: gemini("STOP", undefined, stream),
        check: stops("stop"),
      },
      {
        ...common,
        name: "no candidates at all",
        script: stream ? sse({ usageMetadata: { promptTokenCount: 8 } }) : json({ candidates: [] }),
        check({ attempts, answer, charged }) {
          expect(attempts[0]).toMatch(/^(invalid_response|stream_error) 200 protocol$/);
          expect(answer.status).toBe(502);
          expect(charged).toBeUndefined();
        },
      },
    ];
  }),
);

const RUNS: readonly Run[] = [...REASONS.flatMap(runsOf), ...NO_FAILURES];

let up: ScriptedUpstream;
let gateway: TestGateway;
const seen = new Map<Run, Seen>();

beforeAll(async () => {
  up = await ScriptedUpstream.start();
  up.script(
    ...Array.from(
      { length: 2 * RUNS.length },
      () => (arrived: Parameters<typeof scriptedOf>[1]) => scriptedOf(RUNS, arrived),
    ),
  );
  gateway = await testGateway({
    model: { capabilities: ["tools", "reasoning"] },
    endpoints: RUNS.flatMap((run, at) => endpointsOf(up, run, at)),
    settings: { timeouts: { keep_alive_ms: 0 } },
  });
  await makeAll(RUNS.length, 20, async (at) => {
    const run = RUNS[at] as Run;
    seen.set(run, await make(gateway, run, at));
  });
});
afterAll(async () => {
  await gateway?.stop();
  await up.close();
});

describe.each([...new Set(RUNS.map(({ name }) => name))])("%s", (name) => {
  const runs = RUNS.filter((run) => run.name === name);
  test.each(runs.map((run) => [`${run.client}, ${run.stream ? "streamed" : "whole"}`, run] as const))(
    "%s",
    (_, run) => {
      run.check(seen.get(run) as Seen);
    },
  );
});

test("a helped call has the text of the second endpoint alone", () => {
  const texts = [...seen].filter(([run]) => run.isHelped && !run.stream).map(([, { answer }]) => answer.text);
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) expect(text).toContain(HELP);
});
