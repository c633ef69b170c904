/** Requests of the responses format: what every call needs of them, their history, and the neutral terms of them. */
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { responsesFormat } from "../../../src/wire/responses/format.ts";
import {
  expandInput,
  inputItems,
  promptTexts,
  readResponsesRequest,
} from "../../../src/wire/responses/request.ts";
import { withValues } from "../../support/wire/carried.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { neutralOf, requestOf } from "./responses.fixtures.ts";

function refusal(act: () => unknown): WeirError {
  try {
    act();
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const PNG = `data:image/png;base64,${"QUJD".repeat(2000)}`;

describe("facts", () => {
  test("what planning and money need", () => {
    const request = requestOf({
      stream: true,
      max_output_tokens: 99,
      tools: [{ type: "web_search" }],
      parallel_tool_calls: true,
      text: { format: { type: "json_schema", name: "n", schema: {} } },
      input: [
        { role: "user", content: [{ type: "input_image", image_url: PNG }] },
        {
          type: "function_call_output",
          call_id: "c",
          output: [{ type: "input_image", image_url: "https://x/y" }],
        },
        { role: "user", content: [{ type: "input_file", file_id: "file-1" }] },
        { type: "reasoning", summary: [], encrypted_content: "g" },
      ],
    });
    expect(request.facts).toMatchObject({
      model: "v/m",
      stream: true,
      maxTokens: 99,
      choices: 1,
      hasTools: true,
      parallelTools: true,
      hasImages: true,
      imageCount: 2,
      hasSchema: true,
      hasUncounted: true,
    });
    expect(request).toMatchObject({
      store: true,
      previousResponseId: undefined,
      hasReasoning: true,
      hasOpaque: true,
    });
    expect(request.facts.promptTokens).toBeLessThan(3_500);
  });

  test("store and previous_response_id", () => {
    const request = requestOf({ store: false, previous_response_id: "resp_ö", input: undefined });
    expect(request).toMatchObject({ store: false, previousResponseId: "resp_ö" });
    expect(promptTexts(requestOf({ instructions: "é", user: "u", stream: true, top_p: 1 }))).toEqual([
      '"Hi"',
      '"é"',
    ]);
  });

  test.each([
    ["conv_ö", "conv_ö"],
    [{ id: "conv_ö" }, "conv_ö"],
    [null, undefined],
  ])("conversation %j", (conversation, conversationId) => {
    expect(requestOf({ conversation })).toMatchObject({ conversationId });
    expect(promptTexts(requestOf({ conversation }))).toEqual(['"Hi"']);
  });

  test.each([
    [{ conversation: 1 }, "invalid_value", "/conversation"],
    [{ conversation: {} }, "invalid_value", "/conversation"],
    [{ conversation: "conv_1", previous_response_id: "resp_1" }, "invalid_value", "/conversation"],
    [{ input: null }, "invalid_value", "/input"],
    [{ input: 1 }, "invalid_value", "/input"],
    [{ max_output_tokens: -1 }, "invalid_value", "/max_output_tokens"],
  ])("%j is refused", (body, kind, param) => {
    expect(refusal(() => requestOf(body))).toMatchObject({ kind, param, status: 400 });
  });
});

describe("history", () => {
  const HISTORY =
    '{"role":"user","content":"Größe?"},{"type":"function_call_output","call_id":"c","output":"1"}';
  const items = JSON.parse(`[${HISTORY}]`) as Json[];

  test.each([
    ['Hi \\ "ö"', [{ type: "message", role: "user", content: 'Hi \\ "ö"' }]],
    [[{ role: "user", content: "x" }], [{ role: "user", content: "x" }]],
    [[], []],
    [undefined, []],
  ])("stands before an input of %j", (input, own) => {
    const bytes = Buffer.from(
      JSON.stringify({ previous_response_id: "r", model: "v/m", input, store: true }, null, 1),
    );
    const request = readResponsesRequest(bytes);
    const expanded = readResponsesRequest(expandInput(bytes, request, HISTORY));
    expect(JSON.parse(expanded.bytes.toString())).toEqual({
      model: "v/m",
      input: [...items, ...own],
      store: true,
    });
    expect(JSON.parse(`[${inputItems(expanded)}]`)).toEqual([...items, ...own]);
    expect(JSON.parse(`[${inputItems(request)}]`)).toEqual(own);
    const alone = JSON.parse(expandInput(bytes, request, "").toString()) as Json;
    expect(alone.input).toEqual(own);
  });

  test("the next turn's is this turn's input and output", () => {
    const { history } = responsesFormat;
    const request = requestOf({ input: [{ role: "user", content: "a, b" }], previous_response_id: "r" });
    expect([history?.previousOf(request), history?.keeps(request)]).toEqual(["r", true]);
    const answer = '{"id":"x","output": [ {"type":"message","content":[{"text":"],"}]} ] ,"svc":{}}';
    const historyAfter = (read: typeof request, text: string) =>
      JSON.parse(`[${history?.itemsAfter(read, text)}]`) as unknown;
    const said = { type: "message", content: [{ text: "]," }] };
    expect(historyAfter(request, answer)).toEqual([{ role: "user", content: "a, b" }, said]);
    expect(historyAfter(requestOf({ input: [] }), answer)).toEqual([said]);
    expect(historyAfter(requestOf({ input: [] }), '{"output":[]}')).toEqual([]);
    const expanded = readResponsesRequest(history?.expand(request, HISTORY) ?? Buffer.alloc(0));
    expect(expanded.previousResponseId).toBeUndefined();
    expect(history?.continuing(expanded, request, "p").previousResponseId).toBe("r");
  });

  test("wherever previous_response_id stands", () => {
    const body: Record<string, unknown> = {
      model: "v/m",
      input: "x",
      previous_response_id: "r",
      store: false,
    };
    const keys = Object.keys(body);
    for (let turn = 0; turn < keys.length; turn++) {
      keys.push(keys.shift() as string);
      const bytes = Buffer.from(JSON.stringify(Object.fromEntries(keys.map((key) => [key, body[key]]))));
      const expanded = expandInput(bytes, readResponsesRequest(bytes), HISTORY);
      expect(JSON.parse(expanded.toString())).toEqual({
        model: "v/m",
        input: [...items, { type: "message", role: "user", content: "x" }],
        store: false,
      });
    }
  });
});

describe("neutral terms", () => {
  test("roles, parts and places", () => {
    const { messages } = neutralOf({
      instructions: "Be kind.",
      input: [
        { role: "developer", content: "Dev" },
        { type: "message", role: "system", content: [{ type: "input_text", text: "Sys" }] },
        {
          role: "user",
          content: [
            { type: "input_text", text: "Look" },
            { type: "input_image", image_url: "data:image/png;base64,QUJD", detail: "low" },
            { type: "input_image", image_url: "https://x/y.png" },
            { type: "input_image", file_id: "file-1" },
            { type: "input_file", filename: "a.txt", file_data: "QUJD" },
            { type: "input_file", file_url: "https://x/y.pdf" },
          ],
        },
        { role: "assistant", content: "Before" },
        { role: "user", content: [] },
        { role: "user", content: "x" },
        { role: "assistant", content: [] },
      ],
    });
    const at = (index: number) => ({ at: `/input/2/content/${index}` });
    const image = (source: object, more = {}) => ({ type: "image", source, ...more });
    expect(messages).toEqual([
      { role: "system", at: "/instructions", parts: [{ type: "text", text: "Be kind." }] },
      { role: "system", at: "/input/0", parts: [{ type: "text", text: "Dev" }] },
      { role: "system", at: "/input/1", parts: [{ type: "text", text: "Sys" }] },
      {
        role: "user",
        at: "/input/2",
        parts: [
          { type: "text", text: "Look" },
          image({ kind: "data", mediaType: "image/png", data: "QUJD" }, { detail: "low", ...at(1) }),
          image({ kind: "url", url: "https://x/y.png" }, at(2)),
          image({ kind: "file", id: "file-1" }, at(3)),
          {
            type: "document",
            name: "a.txt",
            source: { kind: "data", mediaType: "text/plain", data: "QUJD" },
            ...at(4),
          },
          { type: "document", source: { kind: "url", url: "https://x/y.pdf" }, ...at(5) },
        ],
      },
      { role: "assistant", at: "/input/3", parts: [{ type: "text", text: "Before" }] },
      { role: "user", at: "/input/5", parts: [{ type: "text", text: "x" }] },
    ]);
  });

  test("T50: a turn of the model is one message, and so are the results of its calls, images and all", () => {
    const { messages } = neutralOf({
      input: [
        { role: "user", content: "Go" },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "S" }],
          encrypted_content: "gA",
        },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Ok" }] },
        { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' },
        { type: "function_call", call_id: "c2", name: "g", arguments: "" },
        { type: "function_call_output", call_id: "c1", output: "1" },
        {
          type: "function_call_output",
          call_id: "c2",
          output: [
            { type: "input_text", text: "see" },
            { type: "input_image", image_url: "data:image/gif;base64,R0lG" },
          ],
        },
        { role: "user", content: "And?" },
      ],
    });
    expect(messages.map(({ role, at }) => [role, at])).toEqual([
      ["user", "/input/0"],
      ["assistant", "/input/1"],
      ["user", "/input/5"],
      ["user", "/input/7"],
    ]);
    expect(messages[1]?.parts).toEqual([
      { type: "reasoning", text: "S", isSummary: true, seal: { by: "openai", data: "gA" } },
      { type: "text", text: "Ok" },
      { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1}' },
      { type: "tool_call", id: "c2", name: "g", arguments: "{}" },
    ]);
    expect(messages[2]?.parts).toEqual([
      { type: "tool_result", id: "c1", name: "f", isError: false, parts: [{ type: "text", text: "1" }] },
      {
        type: "tool_result",
        id: "c2",
        name: "g",
        isError: false,
        parts: [
          { type: "text", text: "see" },
          {
            type: "image",
            source: { kind: "data", mediaType: "image/gif", data: "R0lG" },
            at: "/input/6/output/1",
          },
        ],
      },
    ]);
  });

  test("options, each with the place where it was said", () => {
    const { options, tools, dropped } = neutralOf({
      max_output_tokens: 5,
      temperature: 0,
      top_p: 0.5,
      tools: [
        { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true },
      ],
      tool_choice: { type: "function", name: "f" },
      parallel_tool_calls: false,
      text: { format: { type: "json_schema", name: "n", schema: { a: 1 }, strict: true }, verbosity: "low" },
      reasoning: { effort: "xhigh", summary: "auto" },
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      top_logprobs: 3,
      safety_identifier: "s",
      prompt_cache_key: "k",
      service_tier: "flex",
      metadata: { a: "b" },
      truncation: "disabled",
      stream_options: { include_obfuscation: false },
      max_tool_calls: null,
    });
    expect(dropped).toEqual([]);
    expect(withValues(tools)).toEqual([
      { name: "f", description: "d", parameters: { type: "object" }, strict: true },
    ]);
    expect(withValues(options)).toEqual({
      maxTokens: { value: 5, at: "/max_output_tokens" },
      temperature: { value: 0, at: "/temperature" },
      topP: { value: 0.5, at: "/top_p" },
      toolChoice: { value: { name: "f" }, at: "/tool_choice" },
      parallelTools: { value: false, at: "/parallel_tool_calls" },
      format: {
        value: { type: "json_schema", name: "n", schema: { a: 1 }, strict: true },
        at: "/text/format",
      },
      verbosity: { value: "low", at: "/text/verbosity" },
      reasoning: { value: { effort: "xhigh", summary: "auto", show: true }, at: "/reasoning" },
      logprobs: { value: { top: 3 }, at: "/top_logprobs" },
      user: { value: "s", at: "/safety_identifier" },
      cacheKey: { value: "k", at: "/prompt_cache_key" },
      serviceTier: { value: "flex", at: "/service_tier" },
      metadata: { value: { a: "b" }, at: "/metadata" },
    });
  });

  test("what has no place is named: an agent's request", () => {
    const { messages, tools, dropped } = neutralOf({
      instructions: "You are an agent.",
      input: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "Rules" }] },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Do" }] },
        { type: "web_search_call", id: "ws_1", status: "completed" },
        { type: "custom_tool_call", call_id: "x", name: "patch", input: "…" },
      ],
      tools: [
        { type: "function", name: "shell", parameters: { type: "object" }, strict: false },
        { type: "namespace", name: "mcp", description: "", tools: [] },
        { type: "web_search" },
        { type: "custom", name: "patch" },
      ],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [] },
      parallel_tool_calls: false,
      reasoning: { effort: "medium", context: "auto" },
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content", "web_search_call.results"],
      prompt_cache_key: "session",
      client_metadata: { a: "b" },
      truncation: "auto",
      max_tool_calls: 3,
      user: "u",
      safety_identifier: "s",
    });
    expect(messages.map(({ role }) => role)).toEqual(["system", "system", "user", "assistant"]);
    expect(tools.map(({ name }) => name)).toEqual(["shell", "patch"]);
    expect([...dropped].sort()).toEqual([
      "/client_metadata",
      "/include/1",
      "/input/2",
      "/max_tool_calls",
      "/reasoning/context",
      "/tools/2",
      "/truncation",
      "/user",
    ]);
  });

  test.each([
    [{ prompt: { id: "p" } }, "unsupported_option", "/prompt"],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, "unsupported_option", "/input/0"],
    [{ input: [{ type: "function_call", name: "f", arguments: "" }] }, "invalid_value", "/input/0/call_id"],
    [{ input: [{ role: "tool", content: "x" }] }, "invalid_value", "/input/0/role"],
    [
      { input: [{ role: "user", content: [{ type: "input_image" }] }] },
      "invalid_value",
      "/input/0/content/0/image_url",
    ],
    [{ tools: [{ type: "function" }] }, "invalid_value", "/tools/0/name"],
    [{ text: { format: { type: "json_schema" } } }, "invalid_value", "/text/format/schema"],
  ])("%j is refused", (body, kind, param) => {
    expect(refusal(() => neutralOf(body))).toMatchObject({ kind, param, status: 400 });
  });

  test("T49, T57: long strings stay where they are, long seals included", () => {
    const text = `é${"x".repeat(5000)}"\\`;
    const seal = `weir.anthropic.${"Q".repeat(6000)}`;
    const request = requestOf({
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text },
            { type: "input_image", image_url: PNG },
          ],
        },
        { type: "reasoning", summary: [], encrypted_content: seal },
        { type: "reasoning", summary: [], encrypted_content: "Q".repeat(6000) },
      ],
    });
    expect(request.elided).toHaveLength(4);
    const { generation } = responsesFormat;
    const neutral = generation?.neutral(request, new Source(request.bytes, request.elided));
    expect(JSON.stringify(neutral).length).toBeLessThan(14_000);
    expect(neutral?.messages[1]?.parts).toEqual([
      { type: "reasoning", text: "", seal: { by: "anthropic", data: "Q".repeat(6000) } },
      { type: "reasoning", text: "", isRedacted: true, seal: { by: "openai", data: "Q".repeat(6000) } },
    ]);
  });
});
