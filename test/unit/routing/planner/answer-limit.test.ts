/** What endpoints are told that cannot give as long an answer as is asked for, and where they stand in a plan. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import type { RouteOptions } from "../../../../src/base/route.ts";
import type { HealthView } from "../../../../src/routing/health/health.ts";
import { decideAlone } from "../../../../src/routing/language/policy.ts";
import type { PolicyBlock } from "../../../../src/routing/language/policy-document.ts";
import type { RouteFacts } from "../../../../src/routing/planner/eligibility.ts";
import { plan } from "../../../../src/routing/planner/planner.ts";
import { endpoint, FRESH, facts, health, model } from "../../../support/routing/fixtures.ts";
import { decided } from "../arbitraries.ts";

describe("a longer answer than an endpoint gives, where its limit may be lowered", () => {
  const asked = (given: Partial<RouteFacts> = {}) =>
    facts({ maxTokens: 5000, lowersLimit: true, promptTokens: 100, ...given });
  const planOf = (f: RouteFacts, ...endpoints: readonly Endpoint[]) =>
    plan(f, model(...endpoints), decideAlone({ sort: "price" }), health({}), seededRandom(1));
  const short = endpoint("short", { maxOutput: 2000 });
  const shorter = endpoint("shorter", { maxOutput: 1000 });
  const whole = endpoint("whole", { maxOutput: 5000 });

  test("each is told what it gives", () => {
    const { attempts, limits } = planOf(asked(), short, shorter);
    expect(attempts).toHaveLength(2);
    expect(limits).toEqual(
      new Map([
        ["short", 2000],
        ["shorter", 1000],
      ]),
    );
  });

  test("those that give all come first", () => {
    const result = planOf(asked(), short, whole);
    expect(result.attempts.map(({ id }) => id)).toEqual(["whole", "short"]);
    expect(result.limits).toEqual(new Map([["short", 2000]]));
    expect(result.trace()).toContain("its answers end at 2000 tokens");
  });

  const long = endpoint("long", { maxOutput: 5000, input: 900, output: 900 });
  const canary = (id: string) => ({
    canary: { endpoint: id, percent: 100, max_error_rate: 0.1, min_samples: 10 },
  });
  const experiment = (id: string) => ({
    experiment: { name: "x", arms: [{ arm: "new", endpoint: id, weight: 1 }] },
  });
  /** `long` gives all of it and costs most; `short` 2,000, `shorter` 1,000 tokens. */
  test.each<[string, PolicyBlock, RouteOptions, Partial<RouteFacts>, HealthView, string]>([
    ["nothing", {}, {}, {}, FRESH, "long short shorter"],
    ["the sort", { sort: "price" }, { sort: "price" }, {}, FRESH, "long short shorter"],
    ["the request's order", {}, { order: ["shorter", "short"] }, {}, FRESH, "shorter short long"],
    ["an order of which the rest is free", {}, { order: ["short"] }, {}, FRESH, "short long shorter"],
    ["only, which names all alike", {}, { only: ["shorter", "long"] }, {}, FRESH, "long shorter"],
    ["the policy's order", { order: ["short"] }, {}, {}, FRESH, "short long shorter"],
    ["the conversation's endpoint", {}, {}, { preferred: "shorter" }, FRESH, "shorter long short"],
    ["the canary's share", canary("shorter"), {}, {}, FRESH, "shorter long short"],
    ["the arm of an experiment", experiment("short"), {}, {}, FRESH, "short long shorter"],
    ["weights", { weights: { shorter: 1 } }, {}, {}, FRESH, "shorter long short"],
    ["a canary outside its share", canary("long"), {}, { isCanaryRed: true }, FRESH, "short shorter long"],
    ["health: it fails", {}, {}, {}, health({ long: { failing: true } }), "short shorter long"],
    ["health: it is full", {}, {}, {}, health({ long: { isFull: true } }), "long short shorter"],
    [
      "health: both fail",
      {},
      {},
      {},
      health({ long: { failing: true }, short: { failing: true } }),
      "shorter long short",
    ],
    [
      "health: a weighted one is full",
      { weights: { short: 1 } },
      {},
      {},
      health({ short: { isFull: true } }),
      "long short shorter",
    ],
  ])("%s", (_, block, route, given, view, order) => {
    const decision = decided(block, route);
    const result = plan(asked(given), model(shorter, short, long), decision, view, seededRandom(1));
    expect(result.attempts.map(({ id }) => id).join(" ")).toBe(order);
    const has = (id: string) => result.attempts.some((attempt) => attempt.id === id);
    expect(result.limits?.get("shorter")).toBe(has("shorter") ? 1000 : undefined);
  });

  test("where all must be lowered, those that give more come first", () => {
    const cheap = endpoint("cheap", { maxOutput: 1000, input: 1, output: 1 });
    const dear = endpoint("dear", { maxOutput: 3000, input: 900, output: 900 });
    expect(planOf(asked(), cheap, dear, short).attempts.map(({ id }) => id)).toEqual([
      "dear",
      "short",
      "cheap",
    ]);
    expect(planOf(asked(), cheap, endpoint("same", { maxOutput: 1000 })).attempts[0]?.id).toBe("cheap");
  });

  test("nothing is said where none is lowered", () => {
    expect(planOf(asked({ maxTokens: 1000 }), short, shorter).limits).toBeUndefined();
    expect(planOf(asked({ maxTokens: undefined }), short).limits).toBeUndefined();
  });

  test("the prompt leaves less: 1 at least", () => {
    const limitOf = (promptTokens: number) => planOf(asked({ promptTokens }), short).limits?.get("short");
    expect(limitOf(8000)).toBe(1200);
    expect(limitOf(9500)).toBe(1);
    const tooLong = planOf(asked({ promptTokens: 10_000 }), short);
    expect(tooLong.excluded).toMatchObject([{ kind: "context", reason: expect.stringContaining("10001") }]);
  });

  test("one that gives less is used while those that give all are out", () => {
    const out = health({ whole: { outForMs: 700 } });
    const result = plan(asked(), model(short, whole), decideAlone({}), out, seededRandom(1));
    expect(result.attempts.map(({ id }) => id)).toEqual(["short"]);
  });
});
