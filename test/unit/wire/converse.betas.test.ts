/** Which of Anthropic's betas Bedrock takes for a model: others are refused with the whole call ("invalid beta flag"). */
import { describe, expect, test } from "vitest";
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

describe("an org's own key, with options of its own", () => {
  const at = endpoint("m", { dialects: ["converse"], upstreamModel: SONNET_4_5 });
  const KEPT = ["interleaved-thinking-2025-05-14", "context-management-2025-06-27"];
  const pointer = `/svc/provider_options/${at.provider.id}/additionalModelRequestFields`;

  /** The fields that are sent, and what is named as left out. */
  function sent(additionalModelRequestFields: object, names: readonly string[] = KEPT) {
    const svc = { provider_options: { [at.provider.id]: { additionalModelRequestFields } } };
    const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }], svc };
    const request = {
      ...FORMATS.messages.read(Buffer.from(JSON.stringify(body))),
      features: { header: "anthropic-beta", names } as const,
    };
    const { write } = (passageTo(FORMATS.messages, at) as Passable).passage;
    const { parts, dropped } = write(request, at, "org");
    return [JSON.parse(Buffer.concat(parts).toString()).additionalModelRequestFields, dropped];
  }

  test("lists are joined and bounded, and what is beyond the bound is named", () => {
    const many = Array.from({ length: 35 }, (_, index) => `beta-${index}`);
    expect(sent({ anthropic_beta: [...many, "beta-0"] })).toEqual([
      { anthropic_beta: [...KEPT, ...many.slice(0, 32)] },
      [`${pointer}/anthropic_beta/32`, `${pointer}/anthropic_beta/33`, `${pointer}/anthropic_beta/34`],
    ]);
  });

  test("what is no list stays, and the header's betas are named", () => {
    expect(sent({ anthropic_beta: "beta-0" })).toEqual([
      { anthropic_beta: "beta-0" },
      KEPT.map((name) => `anthropic-beta: ${name}`),
    ]);
  });

  test("what Converse has members for is left out, and an object of which nothing is left", () => {
    const fields = {
      max_tokens: 9,
      maxTokens: 9,
      system: "x",
      inferenceConfig: { max_new_tokens: 9 },
      top_k: 3,
    };
    const names = ["max_tokens", "maxTokens", "system", "inferenceConfig/max_new_tokens"];
    const dropped = names.map((name) => `${pointer}/${name}`);
    expect(sent(fields, [])).toEqual([{ top_k: 3 }, dropped]);
    expect(sent({ max_tokens: 9 }, [])).toEqual([undefined, [`${pointer}/max_tokens`]]);
  });
});
