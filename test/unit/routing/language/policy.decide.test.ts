/** What a compiled policy decides about a call: which rule applies, what it makes of the defaults, and of the request. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RouteOptions } from "../../../../src/base/route.ts";
import {
  type CompiledPolicy,
  compilePolicy,
  decideAlone,
  withRequestOptions,
} from "../../../../src/routing/language/policy.ts";
import { fits, fitsModel, type PolicyFacts } from "../../../../src/routing/language/policy-match.ts";
import { readPolicy } from "../../../../src/routing/language/policy-reading.ts";
import { DEFAULT_DECISION, type Decision } from "../../../../src/routing/planner/decision.ts";
import { exclusionOf } from "../../../../src/routing/planner/eligibility.ts";
import { callFacts } from "../../../support/policy.good-samples.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";
import { endpoint, facts, provider } from "../../../support/routing/fixtures.ts";

function policyOf(...lines: string[]): CompiledPolicy {
  const reading = readPolicy(["version: 1", ...lines].join("\n"));
  if (!reading.ok) expect.fail(reading.problems.map(({ message }) => message).join("\n"));
  return compilePolicy(reading.document, { name: "p", version: 1 });
}

const decided = (
  policy: CompiledPolicy,
  given: Partial<PolicyFacts> = {},
  route: RouteOptions = {},
): Decision => policy.decide(callFacts(given), route);

/** Whether the one rule with this `match` takes the call. */
const takes = (match: string, given: Partial<PolicyFacts>): boolean =>
  decided(policyOf("rules:", `  - {name: it, match: ${match}}`), given).rule === "it";

describe("a rule takes a call", () => {
  test.each<[match: string, given: Partial<PolicyFacts>, taken: boolean]>([
    ["{}", {}, true],
    ["{model: openai/gpt-5}", { modelId: "openai/gpt-5" }, true],
    ["{model: openai/gpt-5}", { modelId: "openai/gpt-5-mini" }, false],
    ["{model: openai/gpt-5}", { modelId: "azure/gpt-5" }, false],
    ["{model: gpt-5}", { modelId: "openai/gpt-5" }, true],
    ["{model: gpt-5}", { modelId: "azure/gpt-5" }, true],
    ["{model: gpt-5}", { modelId: "openai/gpt-50" }, false],
    ["{model: openai}", { modelId: "openai/gpt-5" }, false],
    ['{model: "*"}', { modelId: "openai/gpt-5" }, true],
    ['{model: "openai/*"}', { modelId: "openai/gpt-5" }, true],
    ['{model: "openai/*"}', { modelId: "openai2/gpt-5" }, false],
    ['{model: "*/gpt-*"}', { modelId: "azure/gpt-4.1" }, true],
    ['{model: "gpt-?"}', { modelId: "openai/gpt-5" }, true],
    ['{model: "gpt-?"}', { modelId: "openai/gpt-" }, false],
    ['{model: "gpt-?"}', { modelId: "openai/gpt-50" }, false],
    // A dot is a dot, and letters are as they are written.
    ["{model: gpt-4.1}", { modelId: "openai/gpt-4x1" }, false],
    ["{model: GPT-5}", { modelId: "openai/gpt-5" }, false],
    ['{model: [claude-x, "gpt-*"]}', { modelId: "openai/gpt-5" }, true],
    ["{model: [a, b]}", { modelId: "openai/gpt-5" }, false],
    // Only the first slash parts the vendor from the name.
    ['{model: "x/*"}', { modelId: "vendor/x/y" }, false],
    ["{project: prj_1}", { projectId: "prj_1", projectSlug: "search" }, true],
    ["{project: search}", { projectId: "prj_1", projectSlug: "search" }, true],
    ["{project: [mail, search]}", { projectSlug: "search" }, true],
    ['{project: "sea*"}', { projectSlug: "search" }, false],
    ["{project: prj_2}", { projectId: "prj_1", projectSlug: "search" }, false],
    ["{key: key_1}", { keyId: "key_1" }, true],
    ["{key: [key_2]}", { keyId: "key_1" }, false],
    ["{app: chat}", { app: "chat" }, true],
    ["{app: chat}", { app: "" }, false],
    ["{tag: urgent}", { tags: { urgent: "" } }, true],
    ["{tag: urgent}", { tags: { team: "urgent" } }, false],
    ["{tag: team=a}", { tags: { team: "a" } }, true],
    ["{tag: team=a}", { tags: { team: "b" } }, false],
    ["{tag: 'expr=a=b'}", { tags: { expr: "a=b" } }, true],
    ["{tag: 'team='}", { tags: { team: "" } }, true],
    ["{tag: 'team='}", { tags: { team: "a" } }, false],
    ["{tag: [urgent, team=a]}", { tags: { team: "a" } }, true],
    ["{tag: [urgent, team=a]}", { tags: { team: "b" } }, false],
    ["{tag: {team: a, tier: gold}}", { tags: { team: "a", tier: "gold", more: "x" } }, true],
    ["{tag: {team: a, tier: gold}}", { tags: { team: "a" } }, false],
    ["{tag: {}}", { tags: {} }, true],
    // What every object has is no tag.
    ["{tag: constructor}", { tags: {} }, false],
    ["{stream: true}", { stream: true }, true],
    ["{stream: true}", { stream: false }, false],
    ["{stream: false}", { stream: false }, true],
    ["{tools: true}", { hasTools: true }, true],
    ["{tools: false}", { hasTools: true }, false],
    ["{images: true}", { hasImages: true }, true],
    ["{images: true}", { hasImages: false }, false],
    ["{min_input_tokens: 100}", { inputTokens: 99 }, false],
    ["{min_input_tokens: 100}", { inputTokens: 100 }, true],
    ["{max_input_tokens: 100}", { inputTokens: 100 }, true],
    ["{max_input_tokens: 100}", { inputTokens: 101 }, false],
    ["{min_input_tokens: 7, max_input_tokens: 7}", { inputTokens: 7 }, true],
    ["{max_input_tokens: 0}", { inputTokens: 0 }, true],
    // All of it must fit.
    ["{app: chat, stream: true}", { app: "chat", stream: true }, true],
    ["{app: chat, stream: true}", { app: "chat", stream: false }, false],
    ["{app: chat, model: other}", { app: "chat" }, false],
  ])("%s, %o: %s", (match, given, taken) => {
    expect(takes(match, given)).toBe(taken);
  });

  test("the first that matches applies, and no other", () => {
    const policy = policyOf(
      "rules:",
      "  - {name: chat, match: {app: chat}, then: {sort: price}}",
      "  - {name: openai, match: {model: openai/*}, then: {max_attempts: 2}}",
      "  - {name: never, match: {app: chat}, then: {deny: {message: no}}}",
    );
    expect(decided(policy, { app: "chat" })).toMatchObject({ rule: "chat", sort: "price", maxAttempts: 8 });
    expect(decided(policy)).toMatchObject({ rule: "openai", sort: "balanced", maxAttempts: 2 });
    expect(decided(policy, { modelId: "acme/x" })).toEqual({
      ...DEFAULT_DECISION,
      policy: { name: "p", version: 1 },
    });
  });

  test("cached results of one model do not apply to another", () => {
    const policy = policyOf("rules:", "  - {name: openai, match: {model: openai/*}}");
    const rulesOf = () =>
      ["openai/a", "acme/a", "openai/a"].map((modelId) => decided(policy, { modelId }).rule);
    expect(rulesOf()).toEqual(["openai", "", "openai"]);
  });
});

describe("globs", () => {
  /** Short texts of few letters, so that they fit often. */
  const text = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 9 });

  test("match what the equivalent regular expression matches", () => {
    let fitting = 0;
    fc.assert(
      fc.property(text("ab./*?"), text("ab./"), (glob, said) => {
        const source = glob.replace(/[.*?/]/g, (c) => (c === "*" ? ".*" : c === "?" ? "." : `\\${c}`));
        const expected = new RegExp(`^${source}$`).test(said);
        if (expected) fitting++;
        expect(fits(glob, said)).toBe(expected);
      }),
      { numRuns: 5_000, seed: 1 },
    );
    expect(fitting).toBeGreaterThan(100);
  });

  test("a pattern without a vendor fits as it would with any", () => {
    fc.assert(
      fc.property(text("ab*?"), text("ab"), text("ab/"), (glob, vendor, name) => {
        expect(fitsModel(glob, `${vendor}/${name}`)).toBe(fits(glob, name));
      }),
    );
  });

  test.each([
    ["stars that all give way", `${"a*".repeat(100)}b`, "a".repeat(200)],
    ["stars alone", `${"*".repeat(199)}b`, "a".repeat(200)],
    ["stars and question marks", `${"*?".repeat(99)}b`, "a".repeat(200)],
  ])("%s take no time to speak of", (_what, glob, said) => {
    expect(fits(glob, said)).toBe(false);
    expect(leastProcessorMs(() => fits(glob, said))).toBeLessThan(50);
  });
});

describe("a rule and the defaults", () => {
  test("merge key by key", () => {
    const policy = policyOf(
      "sort: price",
      "defaults: {order: [a, b], max_attempts: 3, timeout_ms: 500, fallbacks: false, weights: {x: 1}}",
      "rules:",
      "  - then: {order: [c], sort: latency, weights: {y: 2}}",
    );
    expect(decided(policy)).toMatchObject({
      order: ["c"],
      sort: "latency",
      weights: new Map([["y", 2]]),
      maxAttempts: 3,
      timeoutMs: 500,
      fallbacks: false,
    });
  });

  test("merge requirements member by member, also to loosen one", () => {
    const policy = policyOf(
      "defaults: {sort: latency, require: {zdr: true, regions: [eu], max_price: {input: 1, output: 2}}}",
      "rules:",
      "  - {name: wider, match: {app: wider}, then: {sort: price, require: {regions: [eu, us], no_train: true}}}",
      "  - {name: open, match: {app: open}, then: {require: {zdr: false, max_price: {input: 9}}}}",
    );
    const max_price = { input: 1, output: 2 };
    expect(decided(policy).require).toEqual({ zdr: true, regions: ["eu"], max_price });
    expect(decided(policy, { app: "wider" }).sort).toBe("price");
    expect(decided(policy, { app: "wider" }).require).toEqual({
      zdr: true,
      regions: ["eu", "us"],
      no_train: true,
      max_price,
    });
    // The pair of prices is one member.
    expect(decided(policy, { app: "open" }).require).toEqual({
      zdr: false,
      regions: ["eu"],
      max_price: { input: 9 },
    });
  });

  test("false and 0 remove the defaults' value; a rule without the key keeps it", () => {
    const policy = policyOf(
      "defaults:",
      "  deny: {message: closed}",
      "  canary: {endpoint: e, percent: 5, max_error_rate: 0.1, min_samples: 10}",
      "  shadow: {endpoint: e, percent: 5}",
      "  experiment: {name: x, arms: [{arm: a, endpoint: e}, {arm: b, endpoint: f}]}",
      "  hedge_after_ms: 900",
      "rules:",
      "  - match: {app: free}",
      "    then: {deny: false, canary: false, shadow: false, experiment: false, hedge_after_ms: 0}",
      "  - then: {sort: price}",
    );
    expect(decided(policy, { app: "free" })).toMatchObject({
      deny: undefined,
      canary: undefined,
      shadow: undefined,
      experiment: undefined,
      hedgeAfterMs: undefined,
    });
    expect(decided(policy)).toMatchObject({
      deny: "closed",
      canary: { endpoint: "e", percent: 5, maxErrorRate: 0.1, minSamples: 10 },
      shadow: { endpoint: "e", percent: 5, bill: "platform" },
      experiment: { name: "x", arms: [{ weight: 1 }, { weight: 1 }] },
      hedgeAfterMs: 900,
    });
  });
});

test("what becomes of a call without its client is the rule's word, else the defaults', else not said", () => {
  const policy = policyOf(
    "defaults: {on_disconnect: drain}",
    "rules:",
    "  - match: {app: agents}",
    "    then: {on_disconnect: detach}",
    "  - match: {app: chat}",
    "    then: {on_disconnect: cancel}",
    "  - match: {app: other}",
    "    then: {sort: price}",
  );
  const ofApp = (app: string) => decided(policy, { app }).onDisconnect;
  expect(["agents", "chat", "other", "none"].map(ofApp)).toEqual(["detach", "cancel", "drain", "drain"]);
  expect(decided(policyOf("sort: price")).onDisconnect).toBeUndefined();
  expect(decided(policy, { app: "agents" }, { sort: "price" }).onDisconnect).toBe("detach");
});

describe("a request", () => {
  const house = policyOf(
    "sort: price",
    "defaults:",
    "  order: [a]",
    "  only: [a, b]",
    "  ignore: [c]",
    "  fallbacks: false",
    "  max_attempts: 2",
    "  timeout_ms: 1000",
    "  affinity: none",
    "  require: {regions: [eu, us], max_price: {input: 5}}",
    "  weights: {a: 1}",
    "  deny: {message: closed}",
  );

  test("that says nothing is given the same frozen decision every time", () => {
    const first = decided(house);
    expect(decided(house)).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
    expect(decideAlone({})).toBe(DEFAULT_DECISION);
  });

  test("overrides the policy in every option of its own", () => {
    const route: RouteOptions = {
      order: ["z"],
      only: ["z"],
      ignore: [],
      fallbacks: true,
      sort: "latency",
      max_attempts: 8,
      timeout_ms: 60_000,
      affinity: "user",
    };
    const decision = decided(house, {}, route);
    expect(decision).toMatchObject({
      order: ["z"],
      only: ["z"],
      ignore: [],
      fallbacks: true,
      sort: "latency",
      maxAttempts: 8,
      timeoutMs: 60_000,
      affinity: "user",
      isChosenByRequest: true,
    });
    expect(decision).toMatchObject({ policy: { name: "p", version: 1 }, weights: new Map([["a", 1]]) });
  });

  test("cannot lift a refusal, whatever it says", () => {
    expect(decided(house, {}, { order: ["a"], require: { zdr: false } }).deny).toBe("closed");
  });

  test("asks for an order only by order or only", () => {
    expect(decided(house, {}, { only: ["a"] }).isChosenByRequest).toBe(true);
    expect(decided(house, {}, { ignore: ["a"], sort: "price" }).isChosenByRequest).toBe(false);
  });

  test("only tightens requirements", () => {
    const require = { regions: ["us", "ap"], zdr: true, max_price: { input: 9, output: 3 } };
    expect(decided(house, {}, { require }).require).toEqual({
      zdr: true,
      no_train: false,
      regions: ["us"],
      max_price: { input: 5, output: 3 },
    });
    expect(decided(house, {}, { require: { regions: ["ap"] } }).require.regions).toEqual([]);
  });

  test("never admits an endpoint excluded by the policy's requirements or its own", () => {
    const regions = fc.subarray(["eu", "us", "ap"]);
    const limit = fc.constantFrom(0.5, 1, 3);
    const usd = fc.constantFrom(0, 0.5, 0.9, 1, 2);
    const price = fc.record({ input: limit, output: limit }, { requiredKeys: [] });
    const requirements = fc.record(
      { zdr: fc.boolean(), no_train: fc.boolean(), regions, max_price: price },
      { requiredKeys: [] },
    );
    const endpoints = fc
      .record({
        region: fc.constantFrom("eu", "us", "ap"),
        zdr: fc.boolean(),
        trains: fc.boolean(),
        input: usd,
        output: usd,
      })
      .map(({ region, zdr, trains, input, output }) =>
        endpoint("e", {
          region,
          provider: provider("p"),
          dataPolicy: { zdr, trains, retentionDays: 0 },
          // Nano-USD a token, which is USD per million times a thousand.
          input: input * 1000,
          output: output * 1000,
        }),
      );
    const seen = { in: 0, out: 0 };
    fc.assert(
      fc.property(requirements, requirements, endpoints, (ofPolicy, ofRequest, target) => {
        const isRefused = (decision: Decision) => exclusionOf(target, facts(), decision) !== undefined;
        const policy: Decision = { ...DEFAULT_DECISION, require: ofPolicy };
        const expected = isRefused(policy) || isRefused({ ...DEFAULT_DECISION, require: ofRequest });
        seen[expected ? "out" : "in"]++;
        // Both hold, and nothing more than both.
        expect(isRefused(withRequestOptions(policy, { require: ofRequest }))).toBe(expected);
      }),
      { numRuns: 2_000, seed: 1 },
    );
    expect(Math.min(seen.in, seen.out)).toBeGreaterThan(100);
  });
});
