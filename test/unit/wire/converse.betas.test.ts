/** Which of Anthropic's betas Bedrock takes for a model: others are refused with the whole call ("invalid beta flag"). */
import { expect, test } from "vitest";
import { takesBeta } from "../../../src/wire/converse/betas.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { type Passable, passageTo } from "../../../src/wire/passages.ts";
import { endpoint } from "../../support/routing/fixtures.ts";

const OPUS_4_6 = "global.anthropic.claude-opus-4-6-v1";
const SONNET_3_7 = "us.anthropic.claude-3-7-sonnet-20250219-v1:0";
const SONNET_4 = "anthropic.claude-sonnet-4-20250514-v1:0";
const SONNET_4_5 = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const OPUS_4_5 = "anthropic.claude-opus-4-5-20251101-v1:0";
const HAIKU_4_5 = "anthropic.claude-haiku-4-5-20251001-v1:0";
const ALL = [SONNET_3_7, SONNET_4, SONNET_4_5, OPUS_4_5, HAIKU_4_5, OPUS_4_6];
const NONE = [
  "anthropic.claude-3-haiku-20240307-v1:0",
  "eu.anthropic.claude-opus-4-7",
  "anthropic.claude-sonnet-5",
  "amazon.nova-pro-v1:0",
  "openai.gpt-oss-120b-1:0",
  "qwen.qwen3-coder-480b-a35b-v1:0",
];

test.each<[string, readonly string[]]>([
  ["computer-use-2025-01-24", ALL],
  ["computer-use-2025-11-24", [OPUS_4_5, OPUS_4_6]],
  ["token-efficient-tools-2025-02-19", ALL],
  ["output-128k-2025-02-19", [SONNET_3_7]],
  ["interleaved-thinking-2025-05-14", [SONNET_4, SONNET_4_5, OPUS_4_5, HAIKU_4_5, OPUS_4_6]],
  ["dev-full-thinking-2025-05-14", [SONNET_4, SONNET_4_5, OPUS_4_5, HAIKU_4_5, OPUS_4_6]],
  ["context-1m-2025-08-07", [SONNET_4, SONNET_4_5, OPUS_4_5, OPUS_4_6]],
  ["context-management-2025-06-27", [SONNET_4_5, OPUS_4_5, HAIKU_4_5, OPUS_4_6]],
  ["effort-2025-11-24", [OPUS_4_5]],
  ["tool-examples-2025-10-29", [SONNET_4_5, OPUS_4_5, OPUS_4_6]],
  // Not of Converse.
  ["tool-search-tool-2025-10-19", []],
  ["advanced-tool-use-2025-11-20", []],
  ["claude-code-20250219", []],
  ["prompt-caching-scope-2026-01-05", []],
  ["files-api-2025-04-14", []],
  ["interleaved-thinking-2099-01-01", []],
  ["toString", []],
])("%s", (beta, models) => {
  expect(ALL.filter((model) => takesBeta(beta, model))).toEqual(
    ALL.filter((model) => models.includes(model)),
  );
  expect(NONE.filter((model) => takesBeta(beta, model))).toEqual([]);
});

test("that of the first computer use", () => {
  const beta = "computer-use-2024-10-22";
  expect(takesBeta(beta, "anthropic.claude-3-5-sonnet-20241022-v2:0")).toBe(true);
  expect([...ALL, "anthropic.claude-3-5-haiku-20241022-v1:0"].some((model) => takesBeta(beta, model))).toBe(
    false,
  );
});

test("what is paid apart is sent with an org's own key only", () => {
  const at = endpoint("m", { dialects: ["converse"], upstreamModel: SONNET_4_5 });
  const { write } = (passageTo(FORMATS.messages, at) as Passable).passage;
  const text = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}';
  const names = ["context-1m-2025-08-07", "interleaved-thinking-2025-05-14"];
  const request = {
    ...FORMATS.messages.read(Buffer.from(text)),
    features: { header: "anthropic-beta", names } as const,
  };
  const sent = (billed: "platform" | "org") => {
    const { parts, dropped, extras } = write(request, at, billed);
    const { additionalModelRequestFields: fields } = JSON.parse(Buffer.concat(parts).toString());
    return [fields, dropped, extras?.unpriced];
  };
  expect(sent("org")).toEqual([{ anthropic_beta: names }, [], []]);
  expect(sent("platform")).toEqual([
    { anthropic_beta: names.slice(1) },
    ["anthropic-beta: context-1m-2025-08-07"],
    names.slice(0, 1),
  ]);
});
