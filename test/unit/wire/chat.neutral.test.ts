/** The conversation of a chat request in neutral terms: every role, every part, reasoning and its seals. */
import { describe, expect, test } from "vitest";
import { writeChatRequest } from "../../../src/wire/chat/write-request.ts";
import type { Part } from "../../../src/wire/neutral/neutral.ts";
import { bytesOf } from "../../../src/wire/neutral/source.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { CALL, neutral, neutralised, PNG, refusedAt } from "./chat.fixtures.ts";

/** The parts of the last of the messages. */
const partsOf = (...messages: Json[]): readonly Part[] => neutral({ messages }).messages.at(-1)?.parts ?? [];
const userParts = (...content: Json[]) => partsOf({ role: "user", content });

describe("messages", () => {
  test("roles, in place; developer speaks as system", () => {
    const roles = ["system", "user", "developer", "assistant"];
    const { messages } = neutral({ messages: roles.map((role) => ({ role, content: role })) });
    expect(messages).toEqual(
      ["system", "user", "system", "assistant"].map((role, index) => ({
        role,
        parts: [{ type: "text", text: roles[index] }],
        at: `/messages/${index}`,
      })),
    );
  });

  test("content parts of every kind", () => {
    expect(
      userParts(
        { type: "text", text: "t" },
        { type: "image_url", image_url: { url: "https://a.example/x.png", detail: "low" } },
        { type: "image_url", image_url: { url: PNG } },
        { type: "image_url", image_url: { url: "data:image/svg+xml,%3Csvg%2F%3E" } },
        { type: "image_url", image_url: { url: "data:base64,iVBORw0K" } },
        { type: "input_audio", input_audio: { data: "UklG", format: "wav" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,JVBE", filename: "a.pdf" } },
        { type: "file", file: { file_data: "JVBE" } },
        { type: "file", file: { file_id: "file-1" } },
        { type: "file", file: { file_data: "https://a.example/a.pdf" } },
        { type: "file", file: { file_data: "data:text/plain;base64,R3LDvMOf", filename: "a.txt" } },
        { type: "video_url", video_url: { url: "https://a.example/v.mp4" } },
      ),
    ).toEqual([
      { type: "text", text: "t" },
      ...[
        { type: "image", source: { kind: "url", url: "https://a.example/x.png" }, detail: "low" },
        { type: "image", source: { kind: "data", mediaType: "image/png", data: "iVBORw0KGgo=" } },
        { type: "image", source: { kind: "data", mediaType: "image/svg+xml", data: "PHN2Zy8+" } },
        { type: "image", source: { kind: "data", mediaType: "", data: "iVBORw0K" } },
        { type: "audio", source: { kind: "data", mediaType: "audio/wav", data: "UklG" } },
        {
          type: "document",
          source: { kind: "data", mediaType: "application/pdf", data: "JVBE" },
          name: "a.pdf",
        },
        { type: "document", source: { kind: "data", mediaType: "", data: "JVBE" } },
        { type: "document", source: { kind: "file", id: "file-1" } },
        { type: "document", source: { kind: "url", url: "https://a.example/a.pdf" } },
        {
          type: "document",
          source: { kind: "data", mediaType: "text/plain", data: "R3LDvMOf" },
          name: "a.txt",
        },
        { type: "video", source: { kind: "url", url: "https://a.example/v.mp4" } },
      ].map((part, index) => ({ ...part, at: `/messages/0/content/${index + 1}` })),
    ]);
  });

  test("T45: an assistant's calls; arguments are the text of an object, never empty", () => {
    const calls = [CALL, { ...CALL, id: "c2", function: { name: "g", arguments: "" } }];
    const custom = { id: "c3", type: "custom", custom: { name: "h", input: 'say "hi"' } };
    expect(partsOf({ role: "assistant", content: null, tool_calls: [...calls, custom] })).toEqual([
      { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1}' },
      { type: "tool_call", id: "c2", name: "g", arguments: "{}" },
      { type: "tool_call", id: "c3", name: "h", arguments: 'say "hi"', kind: "custom" },
    ]);
  });

  test("tool results that follow one another are one message; their tool is named by the call", () => {
    const { messages } = neutral({
      messages: [
        { role: "assistant", tool_calls: [CALL, { ...CALL, id: "c2" }] },
        { role: "tool", tool_call_id: "c1", content: "one" },
        {
          role: "tool",
          tool_call_id: "c2",
          content: [
            { type: "text", text: "two" },
            { type: "image_url", image_url: PNG },
          ],
        },
        { role: "user", content: "go on" },
        { role: "tool", tool_call_id: "lost", content: null },
      ],
    });
    expect(messages.map(({ role, at }) => [role, at])).toEqual([
      ["assistant", "/messages/0"],
      ["user", "/messages/1"],
      ["user", "/messages/3"],
      ["user", "/messages/4"],
    ]);
    const image = {
      type: "image",
      source: { kind: "data", mediaType: "image/png", data: "iVBORw0KGgo=" },
      at: "/messages/2/content/1",
    };
    expect(messages[1]?.parts).toEqual([
      { type: "tool_result", id: "c1", name: "f", parts: [{ type: "text", text: "one" }], isError: false },
      {
        type: "tool_result",
        id: "c2",
        name: "f",
        parts: [{ type: "text", text: "two" }, image],
        isError: false,
      },
    ]);
    expect(messages[3]?.parts).toMatchObject([{ id: "lost", name: "", parts: [] }]);
  });

  test("function messages answer the last call of their name", () => {
    const { messages } = neutral({
      messages: [
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "r" },
      ],
    });
    const [call, result] = messages.map(({ parts }) => parts[0] as { id: string });
    expect(call?.id).not.toBe("");
    expect(result).toMatchObject({ type: "tool_result", id: call?.id, name: "f" });
  });

  test("T47: reasoning comes back with its seals, in order and to the byte, whole or as the pieces of a stream", () => {
    const whole = [
      { type: "reasoning.text", text: "Hm, so", signature: "S+/=", format: "anthropic-claude-v1", index: 0 },
      { type: "reasoning.encrypted", data: "R==", format: "anthropic-claude-v1", index: 1 },
      { type: "reasoning.summary", summary: "Sum", format: "openai-responses-v1", index: 2 },
      { type: "reasoning.encrypted", data: "gAAA", id: "rs", format: "openai-responses-v1", index: 2 },
    ];
    const pieces = [
      { type: "reasoning.text", text: "Hm,", index: 0 },
      { type: "reasoning.text", text: " so", index: 0 },
      { type: "reasoning.text", text: "", signature: "S+/=", format: "anthropic-claude-v1", index: 0 },
      ...whole.slice(1),
    ];
    for (const reasoning_details of [whole, pieces]) {
      const message = { role: "assistant", content: "t", reasoning: "Hm, so", reasoning_details };
      expect(partsOf(message)).toEqual([
        { type: "reasoning", text: "Hm, so", seal: { by: "anthropic", data: "S+/=" } },
        { type: "reasoning", text: "", isRedacted: true, seal: { by: "anthropic", data: "R==" } },
        {
          type: "reasoning",
          text: "Sum",
          isSummary: true,
          isRedacted: true,
          seal: { by: "openai", data: "gAAA" },
        },
        { type: "text", text: "t" },
      ]);
    }
    expect(partsOf({ role: "assistant", content: "t", reasoning_content: "r" })[0]).toEqual({
      type: "reasoning",
      text: "r",
    });
  });

  test("T48: Google's signatures come back on their call, in Google's place or OpenRouter's", () => {
    const seal = { by: "google", data: "G/=" };
    const google = { ...CALL, extra_content: { google: { thought_signature: "G/=" } } };
    const details = [
      { type: "reasoning.encrypted", data: "G/=", id: "c1", format: "google-gemini-v1", index: 0 },
    ];
    expect(partsOf({ role: "assistant", tool_calls: [google] })).toMatchObject([{ type: "tool_call", seal }]);
    expect(partsOf({ role: "assistant", tool_calls: [CALL], reasoning_details: details })).toEqual([
      { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1}', seal },
    ]);
  });

  test("T50: cache marks of parts, messages, results and tools", () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const cache = { ttl: "1h" };
    expect(userParts({ type: "text", text: "t", cache_control: { type: "ephemeral" } })).toMatchObject([
      { cache: {} },
    ]);
    expect(userParts({ type: "image_url", image_url: { url: PNG }, cache_control })).toMatchObject([
      { cache },
    ]);
    expect(userParts({ type: "file", file: { file_id: "f" }, cache_control })).toMatchObject([{ cache }]);
    expect(partsOf({ role: "system", content: "s", cache_control })).toEqual([
      { type: "text", text: "s", cache },
    ]);
    expect(partsOf({ role: "tool", tool_call_id: "x", content: "r", cache_control })).toMatchObject([
      { cache },
    ]);
    expect(partsOf({ role: "assistant", tool_calls: [CALL], cache_control })).toMatchObject([{ cache }]);
    const tools = [
      { type: "function", function: { name: "f" }, cache_control },
      { type: "function", function: { name: "g", cache_control } },
    ];
    expect(neutral({ tools }).tools).toMatchObject([{ cache }, { cache }]);
  });

  test("T57: long strings stay where they are; the head of a data URL is told", () => {
    const data = "QUJD".repeat(4000);
    const text = "ß".repeat(9000);
    const { request, source, bytes } = neutralised({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text },
            { type: "image_url", image_url: { url: `data:image/jpeg;base64,${data}` } },
          ],
        },
      ],
    });
    const [prose, image] = request.messages[0]?.parts ?? [];
    if (prose?.type !== "text" || image?.type !== "image" || image.source.kind !== "data")
      return expect.fail();
    expect(prose.text.length).toBeLessThan(100);
    expect(image.source).toMatchObject({ mediaType: "image/jpeg" });
    expect(image.source.data.length).toBeLessThan(100);
    const { body } = writeChatRequest(request, endpoint("e"));
    const sent = JSON.parse(Buffer.concat(bytesOf(bytes, source.piecesOf(body))).toString()) as Json;
    expect(sent.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text },
          { type: "image_url", image_url: { url: `data:image/jpeg;base64,${data}` } },
        ],
      },
    ]);
  });

  test("long arguments are read whole", () => {
    const args = JSON.stringify({ a: 'ü"'.repeat(5000) });
    const [call] = partsOf({
      role: "assistant",
      tool_calls: [{ ...CALL, function: { name: "f", arguments: args } }],
    });
    expect(call).toMatchObject({ arguments: args });
  });

  test.each([
    ["/messages/0/role", { role: "robot", content: "x" }],
    ["/messages/0/role", { role: "constructor", content: "x" }],
    ["/messages/0/content/0/text", { role: "user", content: [{ type: "text", text: 1 }] }],
    ["/messages/0/content/0/image_url", { role: "user", content: [{ type: "image_url" }] }],
    [
      "/messages/0/content/0/image_url/url",
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png" } }] },
    ],
    [
      "/messages/0/content/0/input_audio/data",
      { role: "user", content: [{ type: "input_audio", input_audio: {} }] },
    ],
    ["/messages/0/content/0/file", { role: "user", content: [{ type: "file", file: {} }] }],
    ["/messages/0/tool_call_id", { role: "tool", content: "x" }],
    ["/messages/0/name", { role: "function", content: "x" }],
    ["/messages/0/tool_calls", { role: "assistant", tool_calls: {} }],
    ["/messages/0/tool_calls/0/id", { role: "assistant", tool_calls: [{ ...CALL, id: 1 }] }],
  ])("%s is named where it is wrong", (param, message) => {
    expect(refusedAt({ messages: [message as Json] })).toBe(param);
  });
});
