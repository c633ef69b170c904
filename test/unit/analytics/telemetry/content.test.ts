import { expect, test } from "vitest";
import { contentAttributes } from "../../../../src/analytics/telemetry/call-content.ts";
import { canonicalRequest } from "../../../../src/wire/canonical.ts";
import type { FormatName } from "../../../../src/wire/format.ts";

/** What a body becomes, parsed. */
function contentOf(format: FormatName, body: object): Record<string, unknown> {
  const request = canonicalRequest(format, Buffer.from(JSON.stringify({ model: "m", ...body })));
  const attributes = contentAttributes({ request, candidates: [] });
  return Object.fromEntries(
    Object.entries(attributes).map(([name, json]) => [name, JSON.parse(String(json))]),
  );
}

test("tool calls and their results are parts by the conventions, tools are defined", () => {
  const tool = { name: "weather", description: "Tells it", parameters: { type: "object" } };
  const call = { id: "c1", type: "function", function: { name: "weather", arguments: '{"at":"Bonn"}' } };
  const messages = [
    { role: "user", content: "Rain?" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "Yes" },
  ];
  expect(contentOf("chat", { messages, tools: [{ type: "function", function: tool }] })).toEqual({
    "gen_ai.input.messages": [
      { role: "user", parts: [{ type: "text", content: "Rain?" }] },
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "c1", name: "weather", arguments: '{"at":"Bonn"}' }],
      },
      {
        role: "user",
        parts: [{ type: "tool_call_response", id: "c1", response: [{ type: "text", content: "Yes" }] }],
      },
    ],
    "gen_ai.tool.definitions": [{ type: "function", ...tool }],
  });
});

test("of images the address is told, or only the kind", () => {
  const images = ["https://example.com/a.png", "data:image/png;base64,aGVsbG8="];
  const content = images.map((url) => ({ type: "image_url", image_url: { url } }));
  const { "gen_ai.input.messages": input } = contentOf("chat", { messages: [{ role: "user", content }] });
  const parts = [
    { type: "uri", modality: "image", uri: images[0] },
    { type: "image", mime_type: "image/png" },
  ];
  expect(input).toEqual([{ role: "user", parts }]);
});

test("texts to embed are one message", () => {
  const input = [{ role: "user", parts: ["a", "b"].map((content) => ({ type: "text", content })) }];
  expect(contentOf("embeddings", { input: ["a", "b"] })).toEqual({ "gen_ai.input.messages": input });
});

test("a request that cannot be read has none", () => {
  expect(contentAttributes({ request: undefined, candidates: [] })).toEqual({});
});
