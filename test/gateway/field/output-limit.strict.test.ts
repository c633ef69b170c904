/**
 * Output limits and `provider_options` where nothing may be changed (`svc.compat.strict`): 400 at the member, of every format and in every
 * spelling, and never a context overflow.
 */
import { describe, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { TargetName } from "../../support/field/field.ts";
import {
  ask,
  CLIENT_NAMES,
  fieldOf,
  LIMIT_AT,
  MODES,
  MOST,
  OPTIONS,
  optionsAt,
  startLimits,
  warningsOf,
} from "./output-limit.fixtures.ts";

startLimits();

describe("strictly", () => {
  test.each(
    OPTIONS.flatMap(([target, pointer, optionsOf]) =>
      CLIENT_NAMES.map((client) => ({ client, target, pointer, options: optionsOf(63_000) })),
    ),
  )("the limit is at fault: $client to $target, $pointer", async ({ client, target, options }) => {
    const { up } = fieldOf(MOST);
    const got = await ask(client, target, {}, { options, svc: { compat: { strict: true } } });
    expect([got.status, got.json.error.code ?? got.json.error.type], got.text).toEqual([
      400,
      "invalid_value",
    ]);
    expect(got.json.error.param).toBe(LIMIT_AT[client]);
    expect(got.text).not.toMatch(/context_length|context limit|too long/);
    expect(up.arrived).toEqual([]);
  });

  /** Limits that the gateway has to know are members of the body alone. */
  const LIMITS: readonly (readonly [TargetName, string, Json])[] = [
    ["chat", "/max_tokens", { max_tokens: 9 }],
    ["chat", "/max_completion_tokens", { max_completion_tokens: 9 }],
    ["chat", "/maxCompletionTokens", { maxCompletionTokens: 9 }],
    ["responses", "/max_output_tokens", { max_output_tokens: 9 }],
    ["messages", "/max_tokens", { max_tokens: 9 }],
    ["gemini", "/maxOutputTokens", { maxOutputTokens: 9 }],
    ["gemini", "/generationConfig/maxOutputTokens", { generationConfig: { maxOutputTokens: 9 } }],
    ["gemini", "/generation_config/max_output_tokens", { generation_config: { max_output_tokens: 9 } }],
    ["converse", "/inferenceConfig/maxTokens", { inferenceConfig: { maxTokens: 9 } }],
    [
      "converse",
      "/additionalModelRequestFields/max_tokens",
      { additionalModelRequestFields: { max_tokens: 9 } },
    ],
    [
      "converse-nova",
      "/additionalModelRequestFields/inferenceConfig/max_new_tokens",
      { additionalModelRequestFields: { inferenceConfig: { max_new_tokens: 9, topK: 3 } } },
    ],
  ];
  for (const [target, pointer, options] of LIMITS) {
    test.each(CLIENT_NAMES)(`a limit in options for ${target}${pointer}: %s`, async (client) => {
      const { up } = fieldOf(MOST);
      const at = `${optionsAt(client, target)}${pointer}`;
      for (const stream of MODES) {
        const got = await ask(client, target, {}, { options, stream, tokens: 500 });
        expect(got.status, got.text).toBe(200);
        expect(up.last.raw).not.toMatch(/:9\b/);
        expect(warningsOf(got)).toEqual([`dropped: ${at}`]);
        const strict = { options, stream, tokens: 500, svc: { compat: { strict: true } } };
        const refused = await ask(client, target, {}, strict);
        expect(refused.status, refused.text).toBe(400);
        expect(refused.json.error.param).toBe(at);
        expect(up.arrived).toEqual([]);
      }
    });
  }
});
