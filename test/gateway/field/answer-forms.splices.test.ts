/**
 * Answers in the other form between equal ends: what the gateway does not know of them reaches the client all the same, official clients
 * read them, and a call is charged and recorded once, as its answer says.
 */
import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Field, startField } from "../../support/field/field.ts";
import { ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, metric, start } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";
import { bytesOf, labelled, SAID, streamed, TEXT, whole } from "./answer-forms.fixtures.ts";

let field: Field;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  field = await startField();
  const { url, liveKey } = field.gateway;
  openai = new OpenAI({ apiKey: liveKey, baseURL: `${url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: liveKey, baseURL: url, maxRetries: 0 });
});
afterAll(() => field.stop());

const ASK = { messages: [{ role: "user" as const, content: "x" }] };
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

describe("chat", () => {
  const answer = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    system_fingerprint: "fp",
    search_results: [{ url: "https://a" }],
    choices: [0, 1].map((index) => ({
      index,
      message: {
        role: "assistant",
        content: `answer ${index}`,
        refusal: null,
        reasoning_content: "thought",
        tool_calls: [{ id: `t${index}`, type: "custom", custom: { name: "patch", input: "*** Begin" } }],
      },
      logprobs: { content: [{ token: "a", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null },
      finish_reason: "tool_calls",
      matched_stop: 7,
    })),
    usage: USAGE,
  };

  test("a whole answer for a stream, read by OpenAI's client", async () => {
    field.up.script({ body: JSON.stringify(answer) });
    const stream = await openai.chat.completions.create({
      model: "test/chat",
      n: 2,
      stream: true,
      stream_options: { include_usage: true },
      ...ASK,
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const text = (index: number) =>
      chunks.map(({ choices }) => choices.find((c) => c.index === index)?.delta.content ?? "").join("");
    expect([text(0), text(1)]).toEqual(["answer 0", "answer 1"]);
    const all = JSON.stringify(chunks);
    for (const kept of ["thought", "*** Begin", '"logprob":-1', "matched_stop", "search_results", '"fp"'])
      expect(all).toContain(kept);
    expect(chunks.at(-1)?.usage).toMatchObject(USAGE);
    expect(chunks.filter(({ choices }) => choices.some((c) => c.finish_reason !== null))).toHaveLength(2);
  });

  test("a stream for a whole answer, read by OpenAI's client", async () => {
    const chunk = (choices: object[], more: object = {}) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", search_results: [1], choices, ...more })}\n\n`;
    const pieces = [0, 1].flatMap((index) => [
      chunk([{ index, delta: { role: "assistant", reasoning_content: "tho" }, finish_reason: null }]),
      chunk([{ index, delta: { reasoning_content: "ught", content: "" }, finish_reason: null }]),
      chunk([{ index, delta: { content: `answer ${index}`, new_member: "a" }, finish_reason: null }]),
      // Two calls of one index, as some servers number them.
      chunk([
        {
          index,
          delta: {
            tool_calls: [
              { index: 0, id: `a${index}`, type: "function", function: { name: "f", arguments: "{}" } },
            ],
          },
          finish_reason: null,
        },
      ]),
      chunk([
        {
          index,
          delta: {
            tool_calls: [
              { index: 0, id: `b${index}`, type: "function", function: { name: "g", arguments: "{}" } },
            ],
          },
          finish_reason: null,
        },
      ]),
      chunk([{ index, delta: { new_member: "b" }, finish_reason: "tool_calls" }]),
    ]);
    field.up.script(
      labelled({ parts: [...pieces, chunk([], { usage: USAGE }), "data: [DONE]\n\n"] }, "text/event-stream"),
    );
    const got = await openai.chat.completions.create({ model: "test/chat", n: 2, ...ASK });
    expect(got.choices).toHaveLength(2);
    for (const [index, { message, finish_reason }] of got.choices.entries()) {
      expect(message).toMatchObject({
        role: "assistant",
        content: `answer ${index}`,
        reasoning_content: "thought",
        new_member: "ab",
        tool_calls: [
          { id: `a${index}`, function: { name: "f" } },
          { id: `b${index}`, function: { name: "g" } },
        ],
      });
      expect(finish_reason).toBe("tool_calls");
    }
    expect(got).toMatchObject({
      object: "chat.completion",
      model: "test/chat",
      search_results: [1],
      usage: USAGE,
    });
  });
});

test("responses: OpenAI's client reads both, with items that no contract knows", async () => {
  const item = {
    type: "local_shell_call",
    id: "ls",
    call_id: "c",
    status: "completed",
    action: { type: "exec", command: ["ls"], env: {} },
  };
  const body = JSON.parse(bytesOf(whole("responses", TEXT)).toString());
  body.output.push(item);
  field.up.script({ body: JSON.stringify(body) });
  const stream = openai.responses.stream({ model: "test/responses", input: "x" });
  const made = await stream.finalResponse();
  expect(made.output_text).toBe(TEXT.text);
  expect(made.output).toContainEqual(item);

  // As OpenAI answers ChatGPT accounts: the last event has no items.
  const events = bytesOf(streamed("responses", SAID)).toString().split("\n\n").filter(Boolean);
  const last = JSON.parse((events.pop() as string).split("data: ")[1] as string);
  last.response.output = [];
  const end = `event: response.completed\ndata: ${JSON.stringify(last)}\n\n`;
  field.up.script(labelled({ parts: [`${events.join("\n\n")}\n\n`, end] }, "text/event-stream"));
  const got = await openai.responses.create({ model: "test/responses", input: "x" });
  expect(got.output_text).toBe(SAID.text);
  expect(got.output.filter(({ type }) => type === "function_call")).toHaveLength(2);
});

test("responses: what came in the last event alone has the events that clients of streams read", async () => {
  const response = JSON.parse(bytesOf(whole("responses", SAID)).toString());
  const begun = { ...response, output: [], status: "in_progress" };
  const events = [
    { type: "response.created", response: begun },
    { type: "response.completed", response },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  field.up.script(labelled({ body }, "text/event-stream"));
  const stream = openai.responses.stream({ model: "test/responses", input: "x" });
  const types: string[] = [];
  stream.on("event", ({ type }) => types.push(type));
  expect((await stream.finalResponse()).output_text).toBe(SAID.text);
  const counts = Object.groupBy(types, (type) => type);
  expect(counts["response.created"]).toHaveLength(1);
  expect(counts["response.output_text.delta"]?.length).toBeGreaterThan(0);
  expect(counts["response.output_item.done"]).toHaveLength(3);
});

test("messages: Anthropic's client reads both, with blocks of server tools", async () => {
  const body = JSON.parse(bytesOf(whole("messages", TEXT)).toString());
  const used = { type: "server_tool_use", id: "srv", name: "web_search", input: { query: "q" } };
  const found = { type: "web_search_tool_result", tool_use_id: "srv", content: [] };
  const thought = { type: "thinking", thinking: "hm", signature: "c2ln" };
  body.content.unshift(thought, used, found);
  field.up.script({ body: JSON.stringify(body) });
  const stream = anthropic.messages.stream({ model: "test/messages", max_tokens: 9, ...ASK });
  const made = await stream.finalMessage();
  expect(made.content).toEqual([
    thought,
    used,
    found,
    expect.objectContaining({ type: "text", text: TEXT.text }),
  ]);
  expect(made.stop_reason).toBe("end_turn");

  field.up.script(streamed("messages", SAID, "application/json"));
  const got = await anthropic.messages.create({ model: "test/messages", max_tokens: 9, ...ASK });
  expect(got.content.map(({ type }) => type)).toEqual(["text", "tool_use", "tool_use"]);
  expect(got.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 });
});

test("an upstream that keeps its connection open behind the last event is not waited for", async () => {
  let close = () => {};
  const gap = new Promise<void>((resolve) => {
    close = resolve;
  });
  field.up.script({
    headers: { "content-type": "text/event-stream" },
    parts: [bytesOf(streamed("chat", TEXT)), () => gap],
  });
  const got = await openai.chat.completions.create({ model: "test/chat", ...ASK });
  close();
  expect(got.choices[0]?.message.content).toBe(TEXT.text);
});

test("a call in the other form is charged once, by what the answer reports", async () => {
  for (const stream of [false, true]) {
    const costs: number[] = [];
    for (const scripted of [
      stream ? streamed("chat", TEXT, "text/event-stream") : whole("chat", TEXT, "application/json"),
      stream ? whole("chat", TEXT, "application/json") : streamed("chat", TEXT, "text/event-stream"),
    ]) {
      field.up.script(scripted);
      const before = (await field.gateway.balance()).available;
      const got = await field.send("chat", "chat", ASK, { stream });
      const { usage, svc } = stream ? got.events.at(-1) : got.json;
      expect(usage).toMatchObject(USAGE);
      const after = await field.gateway.balance();
      expect(after.held).toBe(0);
      expect(before - after.available).toBe(svc.cost.total_micro_usd);
      costs.push(svc.cost.total_micro_usd);
    }
    expect(costs[0]).toBe(costs[1]);
  }
});

test("a client that leaves pays for an answer in the other form as for the right one", async () => {
  for (const stream of [false, true]) {
    for (const leaving of ["cancel", "drain"] as const) {
      const charged: number[] = [];
      for (const scripted of [whole("chat", TEXT), streamed("chat", TEXT, "text/event-stream")]) {
        const bytes = bytesOf(scripted);
        const { promise: gap, resolve: goOn } = Promise.withResolvers<void>();
        const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
        const wait = () => {
          reach();
          return gap;
        };
        // Nothing of a stream is delivered before its content, and nothing of a whole answer before its end.
        field.up.script({ ...scripted, parts: [bytes.subarray(0, 9), wait, bytes.subarray(9)] });
        const before = (await field.gateway.balance()).available;
        const leave = new AbortController();
        const options = { signal: leave.signal };
        const call = start(
          field.gateway,
          { model: "test/chat", stream, svc: { on_disconnect: leaving } },
          options,
        )
          .then((response) => response.text())
          .catch(() => "");
        await reached;
        leave.abort();
        await call;
        if (leaving === "drain")
          await until(
            "it is drained",
            async () => (await metric(field.gateway, "weir_calls_draining")) === 1,
          );
        else await atRest(field.gateway);
        goOn();
        await atRest(field.gateway);
        charged.push(before - (await field.gateway.balance()).available);
      }
      expect(charged, `${leaving}, streamed ${stream}`).toEqual(leaving === "drain" ? [25, 25] : [0, 0]);
    }
  }
});

describe("completions of the same dialect, and embeddings", () => {
  let up: ScriptedUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    up = await ScriptedUpstream.start();
    const baseUrl = `${up.url}/v1`;
    gateway = await testGateway({
      endpoints: [{ provider: "old", baseUrl, dialects: ["completions"] }],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await up.close();
  });

  const choice = {
    index: 0,
    text: "once upon",
    logprobs: {
      tokens: ["once", " upon"],
      token_logprobs: [-1, -2],
      top_logprobs: null,
      text_offset: [0, 4],
    },
    finish_reason: "length",
    token_ids: [1],
  };
  const answer = {
    id: "c",
    object: "text_completion",
    created: 1,
    model: "m",
    choices: [choice],
    usage: USAGE,
  };
  const send = (stream: boolean) =>
    gateway.call("POST", "/v1/completions", {
      body: {
        model: "test/model",
        prompt: "x",
        ...(stream && { stream, stream_options: { include_usage: true } }),
      },
    });

  test("a whole completion for a stream", async () => {
    up.script({ body: JSON.stringify(answer) });
    const { status, text } = await send(true);
    expect(status, text).toBe(200);
    for (const kept of [
      '"once upon"',
      '"token_ids":[1]',
      '"token_logprobs":[-1,-2]',
      '"total_tokens":18',
      "data: [DONE]",
    ])
      expect(text).toContain(kept);
  });

  test("a stream of one for a whole answer", async () => {
    const events = [
      {
        ...answer,
        usage: null,
        choices: [
          {
            ...choice,
            text: "once",
            logprobs: { ...choice.logprobs, tokens: ["once"], token_logprobs: [-1], text_offset: [0] },
            finish_reason: null,
          },
        ],
      },
      {
        ...answer,
        usage: null,
        choices: [
          {
            ...choice,
            text: " upon",
            logprobs: { ...choice.logprobs, tokens: [" upon"], token_logprobs: [-2], text_offset: [4] },
          },
        ],
      },
      { ...answer, choices: [] },
    ];
    up.script(
      labelled(
        { parts: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"] },
        "text/event-stream",
      ),
    );
    const { status, json } = await send(false);
    expect(status).toBe(200);
    expect(json).toMatchObject({ object: "text_completion", choices: [choice], usage: USAGE });
  });

  test("a compressed one", async () => {
    up.script({ headers: { "content-encoding": "gzip" }, parts: [gzipSync(JSON.stringify(answer))] });
    expect((await send(false)).json.choices[0].text).toBe("once upon");
  });
});
