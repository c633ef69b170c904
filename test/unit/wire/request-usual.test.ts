/** The short way past the request's schema: what it lets through is what the schema lets through, unchanged. */
import { describe, expect, test } from "vitest";
import { chatRequestSchema, isUsualRequest } from "../../../src/wire/chat/schema.ts";

const USUAL = {
  model: "vendor/model",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "Hello" }], name: "a" },
    { role: "assistant", content: null, tool_calls: [{}] },
    { role: "tool" },
  ],
  stream: true,
  stream_options: { include_usage: true, more: 1 },
  max_tokens: 10,
  max_completion_tokens: 10,
  n: 128,
  temperature: 0.5,
  top_p: 1,
  stop: "x",
  tools: [{ type: "function", function: {} }],
  parallel_tool_calls: false,
  response_format: { type: "json_schema" },
  user: "u",
  seed: 5,
  svc: undefined,
};

/** Values of every JSON kind, and at the edges of what a number or a part may be. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  "",
  "text",
  0,
  1,
  1.5,
  -1,
  128,
  129,
  2 ** 53 - 1,
  2 ** 53,
  Infinity,
  NaN,

  [],
  {},
  ["text"],
  [1],
  [[]],
  [null],
  { type: "text" },
  { type: 1 },
  [{ type: "text" }],
  [{ type: null }],
  { include_usage: true },
  { include_usage: null },
  { include_usage: 1 },
  { fallbacks: true },
  { role: "user" },
  [{ role: "user" }],
  [{ role: 1 }],
  [{ role: "user" }, {}],
  ...[1, "", null, {}, [1], [[]], [{}], [{ type: "text" }], [{ type: "text" }, { type: 2 }]].map(
    (content) => [{ role: "user", content }],
  ),
];

describe("a usual request", () => {
  test("is one that sets every field to what its readers expect", () => {
    expect(isUsualRequest(USUAL)).toBe(true);
    expect(isUsualRequest({ model: "m", messages: [{ role: "user", content: "Hello" }] })).toBe(true);
  });

  test("is none where anything is amiss, or where our extension must be read", () => {
    for (const body of [null, [], "x", {}, { ...USUAL, svc: {} }, { ...USUAL, messages: [] }]) {
      expect(isUsualRequest(body)).toBe(false);
    }
  });

  test("is always accepted by the schema, as it stands", () => {
    let usual = 0;
    for (const field of Object.keys(USUAL)) {
      for (const value of VALUES) {
        const body = { ...USUAL, [field]: value };
        if (!isUsualRequest(body)) continue;
        usual++;
        expect(chatRequestSchema.safeParse(body)).toEqual({ success: true, data: body });
      }
    }
    expect(usual).toBeGreaterThan(50);
  });
});
