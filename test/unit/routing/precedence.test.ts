/** What goes first: each claim to the first place beside the next weaker one, with the reason that the plan gives. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import type { RouteOptions } from "../../../src/base/route.ts";
import type { HealthView } from "../../../src/routing/health/health.ts";
import type { PolicyBlock } from "../../../src/routing/language/policy-document.ts";
import type { RouteFacts } from "../../../src/routing/planner/eligibility.ts";
import { plan } from "../../../src/routing/planner/planner.ts";
import { endpoint, FRESH, facts, health, model } from "../../support/routing/fixtures.ts";
import { attemptIds, decided } from "./arbitraries.ts";

describe("the first place", () => {
  const all = model(endpoint("a"), endpoint("b"), endpoint("c"), endpoint("d"));
  const canary = (id: string, percent: number) => ({
    canary: { endpoint: id, percent, max_error_rate: 0.1, min_samples: 10 },
  });
  // Its other arm takes nobody.
  const experiment = (id: string) => ({
    experiment: {
      name: "x",
      arms: [
        { arm: "usual", endpoint: "a", weight: 0 },
        { arm: "new", endpoint: id, weight: 1 },
      ],
    },
  });

  /** Each case names two that claim a place, the stronger first; what neither claims is by price and id. */
  test.each<[string, PolicyBlock, RouteOptions, Partial<RouteFacts>, HealthView, string[], string[]]>([
    [
      "the request's order, then what knows the conversation",
      {},
      { order: ["d"] },
      { preferred: "c" },
      FRESH,
      ["d", "c", "a", "b"],
      ["asked for first", "knows the conversation"],
    ],
    [
      "the request's order, then nothing of its policy's",
      { order: ["c"], ...canary("c", 100), ...experiment("c"), weights: { c: 1 } },
      { order: ["d"] },
      {},
      FRESH,
      ["d", "a", "b", "c"],
      [
        "asked for first",
        "about 0.0000500 USD",
        "about 0.0000500 USD",
        "a canary outside its share is tried last",
      ],
    ],
    [
      "what knows the conversation, then the policy's order",
      { order: ["p-d", "c"] },
      {},
      { preferred: "b" },
      FRESH,
      ["b", "d", "c", "a"],
      ["knows the conversation", "asked for first", "asked for by name"],
    ],
    [
      "what knows the conversation, then the policy's order, where the request only says what is allowed",
      { order: ["d"] },
      { only: ["a", "b", "d"] },
      { preferred: "b" },
      FRESH,
      ["b", "d", "a"],
      ["knows the conversation", "asked for first"],
    ],
    [
      "what knows the conversation, though it fails",
      {},
      {},
      { preferred: "d" },
      health({ d: { failing: true } }),
      ["d", "a", "b", "c"],
      ["knows the conversation"],
    ],
    [
      "what knows the conversation, and no canary and no arm",
      { ...canary("c", 100), ...experiment("b") },
      {},
      { preferred: "d" },
      FRESH,
      ["d", "a", "b", "c"],
      ["knows the conversation", "about 0.0000500 USD"],
    ],
    [
      "the canary's share, then the policy's order",
      { order: ["d"], ...canary("c", 100) },
      {},
      {},
      FRESH,
      ["c", "d", "a", "b"],
      ["canary share of 100 %", "asked for first"],
    ],
    [
      "the arm, then the policy's order",
      { order: ["d", "p-c"], ...experiment("b") },
      {},
      {},
      FRESH,
      ["b", "d", "c", "a"],
      ["arm new of x", "asked for first", "asked for by name"],
    ],
    [
      "the policy's order, then the weights",
      { order: ["d"], weights: { c: 1 } },
      {},
      {},
      FRESH,
      ["d", "c", "a", "b"],
      ["asked for first", "weight 1"],
    ],
    [
      "the canary's share, and no arm",
      { ...canary("d", 100), ...experiment("c") },
      {},
      {},
      FRESH,
      ["d", "a", "b", "c"],
      ["canary share of 100 %", "about 0.0000500 USD"],
    ],
    [
      "the arm, then the weights",
      { ...experiment("d"), weights: { c: 1 } },
      {},
      {},
      FRESH,
      ["d", "c", "a", "b"],
      ["arm new of x", "weight 1"],
    ],
    [
      "the weights, then the sort",
      { weights: { d: 2 } },
      {},
      {},
      FRESH,
      ["d", "a", "b", "c"],
      ["weight 2", "about 0.0000500 USD"],
    ],
    [
      "the sort, then what is full, then what fails",
      { ...experiment("a"), weights: { b: 1 } },
      {},
      {},
      health({ a: { failing: true, isFull: true }, b: { isFull: true } }),
      ["c", "d", "b", "a"],
      [
        "about 0.0000500 USD",
        "about 0.0000500 USD",
        "has as many calls under way as it took of late",
        "recent calls failed",
      ],
    ],
    [
      "the sort, then what fails, arm and weights or not",
      { ...experiment("a"), weights: { b: 1 } },
      {},
      {},
      health({ a: { failing: true }, b: { failing: true } }),
      ["c", "d", "a", "b"],
      ["about 0.0000500 USD", "about 0.0000500 USD", "recent calls failed", "recent calls failed"],
    ],
    [
      "what fails, then a canary outside its share",
      { ...canary("a", 0) },
      {},
      {},
      health({ b: { failing: true } }),
      ["c", "d", "b", "a"],
      [
        "about 0.0000500 USD",
        "about 0.0000500 USD",
        "recent calls failed",
        "a canary outside its share is tried last",
      ],
    ],
  ])("%s", (_, block, route, f, view, expected, reasons) => {
    const decision = decided({ sort: "price", ...block }, route);
    const result = plan(facts(f), all, decision, view, seededRandom(1));
    expect(attemptIds(result)).toEqual(expected);
    expect(
      result
        .ranking()
        .map((r) => r.reason)
        .slice(0, reasons.length),
    ).toEqual(reasons);
  });

  test.each<RouteOptions>([{ order: ["a"] }, { only: ["a", "b", "c", "d"] }])(
    "a request with %j is in no canary, no arm and under no weights",
    (route) => {
      const block = { sort: "price", ...canary("d", 100), ...experiment("c"), weights: { b: 1 } } as const;
      const result = plan(facts({ unit: "u" }), all, decided(block, route), FRESH, seededRandom(1));
      expect([result.canary, result.arm, attemptIds(result)]).toEqual(["", "", ["a", "b", "c", "d"]]);
    },
  );

  test("a canary outside its share is last whatever the policy's order says, but where the request names it", () => {
    const block: PolicyBlock = { sort: "price", order: ["c", "d"], ...canary("c", 0) };
    const made = (route: RouteOptions = {}, f: Partial<RouteFacts> = {}) =>
      attemptIds(plan(facts(f), all, decided(block, route), FRESH, seededRandom(1)));
    expect(made()).toEqual(["d", "a", "b", "c"]);
    expect(made({}, { isCanaryRed: true })).toEqual(["d", "a", "b", "c"]);
    expect(made({ order: ["p-c"] })).toEqual(["c", "a", "b", "d"]);
    expect(made({ order: ["b"] })).toEqual(["b", "a", "d", "c"]);
    expect(made({ order: [], only: ["a", "c"] })).toEqual(["a", "c"]);
  });

  test("an empty order in the request removes only the policy's order", () => {
    const block: PolicyBlock = { sort: "price", order: ["d"], ...canary("c", 100) };
    const result = plan(facts(), all, decided(block, { order: [] }), FRESH, seededRandom(1));
    expect([result.canary, attemptIds(result)]).toEqual(["c", ["c", "a", "b", "d"]]);
  });

  test("the trace names policy, rule, canary, arm and shadow", () => {
    const shadow = { endpoint: "b", percent: 100, bill: "platform" } as const;
    const told = (block: PolicyBlock) =>
      plan(facts(), all, decided({ sort: "price", ...block }), FRESH, seededRandom(1)).trace();
    expect(told({ ...canary("d", 100), shadow })).toContain(
      "policy=p@1; sort=price canary=d shadow=b; try: 1 d",
    );
    expect(told(experiment("c"))).toContain("policy=p@1; sort=price experiment=x arm=new; try: 1 c");
  });
});
