/**
 * What a fitted hold covers at each endpoint, for any prices, keys and credit: never less than may be charged there, never more than
 * there is, and no token less than that allows.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoint, ProviderKey } from "../../../../../src/base/endpoint.ts";
import type { UnitPrices } from "../../../../../src/base/money.ts";
import { byokCost, costOf, NO_CHARGED_EXTRAS, NO_USAGE } from "../../../../../src/base/usage.ts";
import type { PlannedCall } from "../../../../../src/inference/exchange/call.ts";
import { Fitting } from "../../../../../src/inference/exchange/reservation/fit.ts";
import type { OwnKeys } from "../../../../../src/routing/health/health.ts";
import { chatFormat } from "../../../../../src/wire/chat/format.ts";
import { readChatRequest } from "../../../../../src/wire/chat/request.ts";
import { leastLimitFor } from "../../../../../src/wire/claude.ts";
import { messagesFormat } from "../../../../../src/wire/messages/format.ts";
import { mostThinkingIn } from "../../../../../src/wire/relay/budgets.ts";
import { takesLimit, thinkingBudget } from "../../../../../src/wire/relay/output-limit.ts";

const MIN_FIT_TOKENS = 100;
const INPUT_TOKENS = 40;
const MESSAGES = [{ role: "user", content: "Hello" }];

const price = fc.oneof(fc.nat(2000), fc.nat(200_000));
const prices: fc.Arbitrary<UnitPrices> = fc
  .record(
    { input: price, output: price, reasoning: price, request: price },
    { requiredKeys: ["input", "output"] },
  )
  .map((p) => ({ ...p, version: "pv_1" }));
const KEYS = ["platform", "own", "both"] as const;
const endpoints = fc.array(
  fc.record({ prices, keys: fc.constantFrom(...KEYS), maxOutput: fc.integer({ min: 1, max: 5000 }) }),
  { minLength: 1, maxLength: 4 },
);

interface At {
  readonly prices: UnitPrices;
  readonly keys: (typeof KEYS)[number];
  readonly maxOutput: number;
}

function planned(plan: readonly At[], body: object): PlannedCall {
  const ownKeys: OwnKeys = {
    of: (id) => (plan[Number(id)]?.keys === "platform" ? [] : [{ isByok: true } as ProviderKey]),
    platformFallback: (id) => plan[Number(id)]?.keys !== "own",
    modelFor: (model) => model,
  };
  const attempts = plan.map((at, i) => ({
    id: `ep_${i}`,
    dialects: ["chat"],
    imageTokens: 0,
    contextLength: 100_000,

    provider: { id: String(i), keys: [{ isByok: false }], quirks: {} },
    prices: at.prices,
    maxOutput: at.maxOutput,
  }));
  return {
    ownKeys,
    incoming: { format: chatFormat },
    request: readChatRequest(Buffer.from(JSON.stringify({ model: "m", messages: MESSAGES, ...body }))),
    plan: { attempts },
  } as unknown as PlannedCall;
}

/** What endpoints are told that give fewer tokens than are asked for, as a plan has it. */
function lowerTo(plan: readonly At[], maxTokens: number | undefined): Map<string, number> | undefined {
  const lower = plan.flatMap(({ maxOutput }, i) =>
    maxTokens !== undefined && maxOutput < maxTokens ? [[`ep_${i}`, maxOutput] as const] : [],
  );
  return lower.length === 0 ? undefined : new Map(lower);
}

const deps = (bps: number) => ({
  defaultMaxTokens: 1000,
  minFitTokens: MIN_FIT_TOKENS,
  byokFee: { bps, microUsdPerRequest: 3 },
});

describe("C14: a fitted hold", () => {
  test("is within the credit, covers what may be charged at each endpoint, and uses what there is", () => {
    fc.assert(
      fc.property(
        endpoints,
        fc.record(
          {
            max_tokens: fc.integer({ min: 1, max: 6000 }),
            n: fc.integer({ min: 1, max: 3 }),
            stream: fc.boolean(),
            thinking_budget: fc.integer({ min: 1, max: 6000 }),
          },
          { requiredKeys: [] },
        ),
        fc.integer({ min: 0, max: 300_000 }),
        fc.constantFrom(0, 500),
        (plan, body, creditMicroUsd, bps) => {
          const call = planned(plan, body);
          const limits = lowerTo(plan, body.max_tokens);
          Object.assign(call.plan, { limits });
          const fitting = new Fitting(deps(bps), call, INPUT_TOKENS);
          const fitted = fitting.within(creditMicroUsd);
          expect(fitted === undefined).toBe(creditMicroUsd < fitting.leastMicroUsd);
          if (fitted === undefined) return;
          expect(fitted.microUsd).toBeLessThanOrEqual(creditMicroUsd);
          for (const [id, { limit, outputTokens }] of fitted.fit) {
            const at = call.plan.attempts.find((endpoint) => endpoint.id === id) as Endpoint;
            if (limit !== undefined) {
              const longest = limits?.get(id);
              const told = Math.min(body.thinking_budget ?? 0, longest ? mostThinkingIn(longest) : 6000);
              expect(limit).toBeGreaterThanOrEqual(MIN_FIT_TOKENS + told);
              expect(limit).toBeLessThan(longest ?? body.max_tokens ?? at.maxOutput);
              expect(outputTokens).toBe(limit * (body.n ?? 1));
            }
            const { keys } = plan[Number(id.slice(3))] as At;
            const usage = { ...NO_USAGE, inputTokens: INPUT_TOKENS, outputTokens };
            const tokens = costOf(usage, at.prices, 0, NO_CHARGED_EXTRAS);
            const fee = byokCost(tokens, deps(bps).byokFee);
            if (keys !== "own") expect(tokens.total_micro_usd).toBeLessThanOrEqual(fitted.microUsd);
            if (keys !== "platform") expect(fee.total_micro_usd).toBeLessThanOrEqual(fitted.microUsd);
          }
          // With a micro less than its hold something of it does not fit.
          const less = fitting.within(fitted.microUsd - 1);
          expect(less?.fit).not.toEqual(fitted.fit);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const THINKS = { reasoning: true };

/**
 * The least that the first endpoint may be limited to, of a call that may have 5,000 tokens.
 * @param limit that the endpoint is told instead
 */
function leastAt(body: object, more: object = {}, limit?: number): number | undefined {
  const at = {
    keys: "platform",
    maxOutput: 5000,
    prices: { version: "pv_1", input: 0, output: 1000 },
  } as const;
  const call = planned([at], { max_tokens: 5000, ...body });
  Object.assign(call.plan.attempts[0] as Endpoint, more);
  if (limit !== undefined) Object.assign(call.plan, { limits: new Map([["ep_0", limit]]) });
  const fitting = new Fitting(deps(0), call, 0);
  return fitting.within(fitting.leastMicroUsd)?.fit.get("ep_0")?.outputTokens;
}

describe("C14: the least that a call is limited to", () => {
  test.each<[string, object, number]>([
    ["without more", {}, MIN_FIT_TOKENS],
    ["a smaller min_tokens", { min_tokens: 50 }, MIN_FIT_TOKENS],
    ["min_tokens", { min_tokens: 700 }, 700],
    ["min_tokens beside a budget", { min_tokens: 700, thinking_budget: 650 }, 750],
    ["more than the longest", { min_tokens: 9000 }, 5000],
    [
      "min_tokens of the provider's options",
      { svc: { provider_options: { "0": { min_tokens: 700 } } } },
      700,
    ],
    [
      "those of another provider",
      { svc: { provider_options: { "1": { min_tokens: 700 } } } },
      MIN_FIT_TOKENS,
    ],
  ])("is no less than the request asks for: %s", (_, body, tokens) => {
    expect(leastAt(body)).toBe(tokens);
  });

  const claude = (upstreamModel: string) => ({ dialects: ["messages"], upstreamModel, capabilities: THINKS });
  const gemini = (upstreamModel: string) => ({ dialects: ["gemini"], upstreamModel, capabilities: THINKS });
  const bedrock = {
    dialects: ["converse"],
    upstreamModel: "anthropic.claude-sonnet-4-5",
    capabilities: THINKS,
  };

  test.each<[string, object, object, number]>([
    // The least that it takes for thinking is a share of 0.8.
    ["Claude's by share", { reasoning_effort: "high" }, claude("claude-sonnet-4-5"), 1280],
    ["Claude's at Bedrock", { reasoning: { effort: "low" } }, bedrock, 1280],
    ["where it is only switched on", { reasoning: { enabled: true } }, bedrock, 1280],
    [
      "Claude's own adaptive thinking",
      { reasoning_effort: "high" },
      claude("claude-opus-4-6"),
      MIN_FIT_TOKENS,
    ],
    [
      "a Claude that does not think",
      { reasoning_effort: "high" },
      { ...claude("claude-3-5-haiku"), capabilities: {} },
      MIN_FIT_TOKENS,
    ],
    ["Gemini's low", { reasoning_effort: "low" }, gemini("gemini-2.5-pro"), 1024 + MIN_FIT_TOKENS],
    ["Gemini's high, above the longest", { reasoning_effort: "high" }, gemini("gemini-2.5-flash"), 5000],
    ["Gemini's none", { reasoning_effort: "none" }, gemini("gemini-2.5-flash"), MIN_FIT_TOKENS],
    ["Gemini's levels", { reasoning_effort: "high" }, gemini("gemini-3-pro"), MIN_FIT_TOKENS],
    [
      "a budget beside it",
      { reasoning: { effort: "high", max_tokens: 1500 } },
      gemini("gemini-2.5-pro"),
      1600,
    ],
    [
      "the client's own dialect",
      { reasoning_effort: "high" },
      { upstreamModel: "gemini-2.5-pro", capabilities: THINKS },
      MIN_FIT_TOKENS,
    ],
    ["no effort at all", {}, gemini("gemini-2.5-pro"), MIN_FIT_TOKENS],
  ])(
    "leaves room for thinking where the gateway makes a budget of an effort: %s",
    (_, body, more, tokens) => {
      expect(leastAt(body, more)).toBe(tokens);
    },
  );

  describe("beside thinking that a lowered limit has lowered", () => {
    /** 5,000 tokens are asked for; 80 % of the limit is told for thinking. */
    const leastWithin = (limit: number, body: object, more: object = {}) => leastAt(body, more, limit);
    const options = (own: object) => ({ svc: { provider_options: { "0": own } } });

    test.each<[string, number, object, object, number]>([
      ["a budget", 2000, { thinking_budget: 4900 }, {}, 1600 + MIN_FIT_TOKENS],
      ["one of the provider's options", 2000, options({ thinking_budget: 4900 }), {}, 1600 + MIN_FIT_TOKENS],
      ["one that leaves enough", 2000, { thinking_budget: 900 }, {}, 900 + MIN_FIT_TOKENS],
      ["one that is left out", 1200, { thinking: { budget_tokens: 4900 } }, {}, MIN_FIT_TOKENS],
      [
        "one of the options that is left out",
        1200,
        options({ thinking: { budget_tokens: 4900 } }),
        {},
        MIN_FIT_TOKENS,
      ],
      ["none", 2000, {}, {}, MIN_FIT_TOKENS],
      ["a least answer above it", 2000, { min_tokens: 3000 }, {}, 2000],
      [
        "Gemini's effort",
        2000,
        { reasoning_effort: "high" },
        gemini("gemini-2.5-flash"),
        1600 + MIN_FIT_TOKENS,
      ],
      ["no room for both", 200, { thinking_budget: 4900 }, {}, 200],
    ])("%s", (_, limit, body, more, tokens) => {
      expect(leastWithin(limit, body, more)).toBe(tokens);
    });
  });

  test("with a budget that is a share, leaves the answer its part of it", () => {
    const room = leastLimitFor("high", 1024);
    expect(room - Math.floor(room * 0.8)).toBeGreaterThanOrEqual(1024);
    expect(leastLimitFor("low", 1024)).toBe(2048);
  });
});

describe("C14: a budget of thinking", () => {
  const endpoint = { provider: { id: "p" } } as Endpoint;
  const chat = (more: object) =>
    chatFormat.read(Buffer.from(JSON.stringify({ model: "m", messages: MESSAGES, ...more })));

  test.each<[string, object, number]>([
    ["none", {}, 0],
    ["Anthropic's", { thinking: { type: "enabled", budget_tokens: 3000 } }, 3000],
    ["OpenRouter's", { reasoning: { max_tokens: 3000 } }, 3000],
    ["an effort", { reasoning: { effort: "high" } }, 0],
    ["a bare one", { thinking_budget: 3000 }, 3000],
    ["an option's", { svc: { provider_options: { p: { thinking: { budget_tokens: 3000 } } } } }, 3000],
    [
      "an option's of Google",
      { svc: { provider_options: { p: { generationConfig: { thinkingConfig: { thinkingBudget: 70 } } } } } },
      70,
    ],
    [
      "another provider's option",
      { svc: { provider_options: { q: { thinking: { budget_tokens: 3000 } } } } },
      0,
    ],
    ["none that is a number", { thinking: "much", thinking_budget: -1, reasoning: { max_tokens: 1e99 } }, 0],
  ])("is found: %s", (_, body, tokens) => {
    expect(thinkingBudget(chat(body), endpoint)).toBe(tokens);
  });

  test("is found in messages", () => {
    const body = {
      model: "m",
      max_tokens: 9,
      messages: MESSAGES,
      thinking: { type: "enabled", budget_tokens: 5000 },
    };
    expect(thinkingBudget(messagesFormat.read(Buffer.from(JSON.stringify(body))), endpoint)).toBe(5000);
  });
});

test("C14: a provider whose quirks touch the limit's member cannot be told one", () => {
  const none = { rename: {}, unsupported: [], omit: [], set: {} };
  const at = (quirks: object | undefined) =>
    ({ provider: { quirks: { bodies: quirks && { chat: { ...none, ...quirks } } } } }) as unknown as Endpoint;
  expect(takesLimit(at(undefined), "chat")).toBe(true);
  expect(takesLimit(at({ unsupported: ["top_k"] }), "chat")).toBe(true);
  expect(takesLimit(at({ unsupported: ["max_tokens"] }), "chat")).toBe(false);
  expect(takesLimit(at({ omit: ["max_completion_tokens"] }), "chat")).toBe(false);
  expect(takesLimit(at({ set: { max_tokens: 9 } }), "chat")).toBe(false);
  expect(takesLimit(at({ rename: { max_tokens: "tokens" } }), "chat")).toBe(false);
  expect(takesLimit(at({ set: { max_tokens: 9 } }), "messages")).toBe(true);
  expect(takesLimit(at(undefined), "cohere")).toBe(false);
});
