/** Names of models: what each means, what none means, and which are named instead. */
import { beforeEach, describe, expect, test } from "vitest";
import { nextTurn } from "../../../../src/base/clock.ts";
import type { Model } from "../../../../src/base/endpoint.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import { modelNames } from "../../../../src/catalog/models/model-names.ts";
import { model } from "../../../support/routing/fixtures.ts";

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  "anthropic/claude-sonnet-4-0": ["claude-sonnet-4"],
  "anthropic/claude-haiku-4-5": ["claude-haiku-4.5", "acme/small:v1"],
};
const models = new Map(
  [
    "anthropic/claude-haiku-4-5",
    "anthropic/claude-sonnet-4-0",
    "openai/gpt-4",
    "openai/gpt-4o",
    "openai/gpt-4o-2024-11-20",
    "openai/gpt-4o-mini",
    "mistralai/codestral-latest",
    "mistralai/mistral-small-2506",
    "deepseek/deepseek-v4-pro",
    "google/gemini-3-flash-preview",
    "first/shared",
    "second/shared",
  ].map((id): [string, Model] => {
    const vendor = id.slice(0, id.indexOf("/"));
    return [id, { ...model(), id, vendor, aliases: ALIASES[id] ?? [] }];
  }),
);
let names = modelNames(models);
beforeEach(() => {
  names = modelNames(models);
});

const meaningOf = (name: string): string => (names.resolve(name) ?? names.meant(name)).id;
const refusal = (name: string, param?: string): WeirError => {
  try {
    names.meant(name, param);
  } catch (error) {
    if (error instanceof WeirError) return error;
  }
  throw new Error(`${name} is no unknown model`);
};

test.each([
  // By its own name.
  ["anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5"],
  ["claude-haiku-4-5", "anthropic/claude-haiku-4-5"],
  ["openai/gpt-4o-2024-11-20", "openai/gpt-4o-2024-11-20"],
  ["gpt-4o-2024-11-20", "openai/gpt-4o-2024-11-20"],
  // A date, as each provider writes it; also another one than that of the catalog's model.
  ["claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"],
  ["anthropic/claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"],
  ["claude-haiku-4-5@20251001", "anthropic/claude-haiku-4-5"],
  ["openai/gpt-4o-2024-05-13", "openai/gpt-4o"],
  ["gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"],
  ["gpt-4-0613", "openai/gpt-4"],
  ["codestral-2508", "mistralai/codestral-latest"],
  ["deepseek-v4-pro-0813", "deepseek/deepseek-v4-pro"],
  ["deepseek-v4-pro-250813", "deepseek/deepseek-v4-pro"],
  ["gemini-3-flash-preview-09-2025", "google/gemini-3-flash-preview"],
  ["gemini-3-flash-preview-05-20", "google/gemini-3-flash-preview"],
  // The newest.
  ["gpt-4o-latest", "openai/gpt-4o"],
  ["anthropic/claude-haiku-4-5-latest", "anthropic/claude-haiku-4-5"],
  ["gpt-4o:latest", "openai/gpt-4o"],
  ["claude-haiku-4-5@default", "anthropic/claude-haiku-4-5"],
  // Claude Code's choice of a long context.
  ["claude-haiku-4-5[1m]", "anthropic/claude-haiku-4-5"],
  ["claude-haiku-4-5-20251001[1M][1m]", "anthropic/claude-haiku-4-5"],
  // Prefixes of clients.
  ["openai/claude-haiku-4-5", "anthropic/claude-haiku-4-5"],
  ["openrouter/anthropic/claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"],
  ["models/gemini-3-flash-preview", "google/gemini-3-flash-preview"],
  ["azure/gpt-4o-2024-11-20", "openai/gpt-4o-2024-11-20"],
  // Aliases, and the same behind them and before them.
  ["claude-haiku-4.5", "anthropic/claude-haiku-4-5"],
  ["anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5"],
  ["claude-sonnet-4-20250514", "anthropic/claude-sonnet-4-0"],
  ["openrouter/anthropic/claude-sonnet-4", "anthropic/claude-sonnet-4-0"],
  ["acme/small:v1", "anthropic/claude-haiku-4-5"],
])("%s is %s", (name, id) => {
  expect(meaningOf(name)).toBe(id);
});

describe("what is none", () => {
  test.each([
    // Another model, price or behaviour.
    "gpt-4o:free",
    "gpt-4o:online",
    "gpt-4o-turbo",
    "gpt-4o-audio-preview",
    "claude-haiku-4-5-2025",
    "gpt-4o-2024-13-20",
    "gpt-4o-2049",
    // Another date than that of a dated id.
    "mistral-small-2503",
    // No maker that is known, and a name that two have.
    "unknown/gpt-4o",
    "shared",
    "shared-20251001",
    "small:v1",
    // Nothing before the ending.
    "-latest",
    "[1m]",
    "openai/",
    "/",
    "",
    "constructor",
    "a".repeat(1_000_000),
    `gpt-4o${"-latest".repeat(9)}`,
    `${"openai/".repeat(4)}gpt-4o`,
  ])("%.40s", (name) => {
    expect(refusal(name)).toMatchObject({ kind: "model_not_found", status: 404 });
  });
});

test.each(["", "/", "openai/", "-latest", "[1m]", "ft:", "us.", "x", "ab", "a.b.c", "::", " ", "\n"])(
  "%j suggests no model",
  (name) => {
    expect(refusal(name).message).not.toContain("did you mean");
  },
);

test.each([
  ["claude-haiku-4-6", ["anthropic/claude-haiku-4-5"]],
  ["antropic/claude-haiku-4-5", ["anthropic/claude-haiku-4-5"]],
  ["gpt-4o-mni-2024-07-18", ["openai/gpt-4o-mini"]],
  ["openai/gpt-4x", ["openai/gpt-4", "openai/gpt-4o"]],
  ["gpt-4o:free", ["openai/gpt-4o"]],
  ["CLAUDE-HAIKU-4-5", ["anthropic/claude-haiku-4-5"]],
  ["shard", ["first/shared", "second/shared"]],
  // As providers, other gateways and people write it.
  ["us.anthropic.claude-haiku-4-5-20251001-v1:0", ["anthropic/claude-haiku-4-5"]],
  ["bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0", ["anthropic/claude-haiku-4-5"]],
  ["us-gov.anthropic.claude-haiku-4-5-v1", ["anthropic/claude-haiku-4-5"]],
  ["anthropic.claude-haiku-4.5", ["anthropic/claude-haiku-4-5"]],
  ["ft:gpt-4o-mini-2024-07-18:acme::AbC123", ["openai/gpt-4o-mini"]],
  ["ft:gpt-4o-mini", ["openai/gpt-4o-mini"]],
  [" gpt-4o-mini\n", ["openai/gpt-4o-mini"]],
  ["openai/gpt-4o-mini:free", ["openai/gpt-4o-mini"]],
  ["OpenAI/GPT-4o", ["openai/gpt-4o"]],
  ["gpt_4o_mini", ["openai/gpt-4o-mini"]],
  ["claude-haiku-4.6-20251001-latest", ["anthropic/claude-haiku-4-5"]],
])("a refusal of %s names the nearest, no more than three", (name, ids) => {
  const { message } = refusal(name, "/model");
  for (const id of ids) expect(message).toContain(`"${id}"`);
  expect(message.match(/"[a-z]+\/[^"]+"/g)?.filter((id) => id !== `"${name}"`).length).toBeLessThanOrEqual(3);
});

test("a refusal names the model of the vendor that was asked for, where several have the name", () => {
  expect(refusal("second/shard").message).toBe('No model second/shard; did you mean "second/shared"?');
});

test("hundreds of names in one turn are not all looked up; one that was looked up is", async () => {
  const suggests = (name: string) => refusal(name).message.includes("did you mean");
  const wrong = Array.from(
    { length: 300 },
    (_, at) => `claude-haiku-4-${String.fromCharCode(97 + (at % 26))}${at}`,
  );
  const all = wrong.map(suggests);
  expect(all.slice(0, 8)).toEqual(Array(8).fill(true));
  expect(all.slice(8)).toEqual(Array(292).fill(false));
  expect(suggests(wrong[0] as string)).toBe(true);
  await nextTurn();
  expect(suggests(wrong[299] as string)).toBe(true);
});

test.each([
  ["gpt\u001b[31m", "gpt\\u001b[31m"],
  ["a\r\nb", "a\\u000d\\u000ab"],
  ["gpt\u202e-4o", "gpt\\u202e-4o"],
  ["\ud83d", "\\ud83d"],
  ["\u0000\u007f\u0085\u2028\ufeff", "\\u0000\\u007f\\u0085\\u2028\\ufeff"],
  ["模型 🎉 é", "模型 🎉 é"],
  [`${"a".repeat(199)}🎉`, `${"a".repeat(199)}\\ud83c`],
])("a refusal of %j is one line that shows what is in it", (name, shown) => {
  expect(refusal(name, "/model").message).toMatch(/^There is no model "[^\p{Cc}\p{Cf}\p{Cs}\u2028]*"/u);
  expect(refusal(name, "/model").message).toContain(`"${shown}"`);
  expect(refusal(name).message).toContain(`No model ${shown}`);
});

test("a refusal is bounded, names what is wrong, and suggests nothing where nothing is near", () => {
  expect(refusal("a".repeat(1_000_000)).message.length).toBeLessThan(300);
  expect(refusal("quite-another-thing", "/model")).toMatchObject({
    param: "/model",
    message: 'There is no model "quite-another-thing".',
  });
});
