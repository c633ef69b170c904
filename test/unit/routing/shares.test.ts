/** Weights, canary shares, experiment arms and shadows: each gets the part of the calls that its policy says. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import type { PolicyBlock } from "../../../src/routing/language/policy-document.ts";
import type { RouteFacts } from "../../../src/routing/planner/eligibility.ts";
import { type Plan, plan } from "../../../src/routing/planner/planner.ts";
import { endpoint, FRESH, facts, health, model } from "../../support/routing/fixtures.ts";
import { attemptIds, decided } from "./arbitraries.ts";

const CALLS = 10_000;
const four = model(endpoint("a"), endpoint("b"), endpoint("c"), endpoint("d"));

/** Plans of so many calls with one policy, each with the facts that its number gives it. */
function plansOf(
  block: PolicyBlock,
  given: (call: number) => Partial<RouteFacts> = () => ({}),
  view = FRESH,
): Plan[] {
  const random = seededRandom(11);
  const decision = decided({ sort: "price", ...block });
  return Array.from({ length: CALLS }, (_, i) => plan(facts(given(i)), four, decision, view, random));
}

const shareOf = (plans: readonly Plan[], is: (made: Plan) => boolean): number =>
  plans.filter(is).length / plans.length;

/** Within four standard deviations of the binomial distribution. */
function expectShare(actual: number, expected: number, calls = CALLS): void {
  const bound = 4 * Math.sqrt((expected * (1 - expected)) / calls);
  expect(Math.abs(actual - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(bound);
}

const firstId = (made: Plan): string | undefined => made.attempts[0]?.id;

describe("weights", () => {
  test("are the shares of the first attempts, and weighted endpoints follow each other", () => {
    const plans = plansOf({ weights: { d: 5, c: 3, b: 2 } });
    for (const [id, share] of [...Object.entries({ d: 0.5, c: 0.3, b: 0.2 }), ["a", 0] as const]) {
      expectShare(
        shareOf(plans, (made) => firstId(made) === id),
        share,
      );
    }
    // Without d, the next is drawn by what the other two weigh.
    const afterD = plans.filter((made) => firstId(made) === "d");
    expectShare(
      shareOf(afterD, (made) => made.attempts[1]?.id === "c"),
      0.6,
      afterD.length,
    );
    expect(plans.every((made) => made.attempts[3]?.id === "a")).toBe(true);
  });

  test("of 0, or for unknown endpoints, are ignored", () => {
    const plans = plansOf({ weights: { d: 1, b: 0, unknown: 100 } });
    expect(new Set(plans.map((made) => attemptIds(made).join()))).toEqual(new Set(["d,a,b,c"]));
  });

  test("the share of an endpoint that is out or failing goes to the others by their weights", () => {
    const out = plansOf({ weights: { d: 5, c: 3, b: 2 } }, undefined, health({ d: { outForMs: 5 } }));
    const failing = plansOf({ weights: { d: 5, c: 3, b: 2 } }, undefined, health({ d: { failing: true } }));
    for (const plans of [out, failing]) {
      expectShare(
        shareOf(plans, (made) => firstId(made) === "c"),
        0.6,
      );
    }
    expect(failing.every((made) => made.attempts[3]?.id === "d")).toBe(true);
  });

  test("however far apart, exclude nothing and give almost nothing to a tiny weight", () => {
    const plans = plansOf({ weights: { d: 1_000_000, b: Number.MIN_VALUE } });
    expect(new Set(plans.map((made) => attemptIds(made).join()))).toEqual(new Set(["d,b,a,c"]));
  });
});

const CANARY = { endpoint: "d", percent: 20, max_error_rate: 0.1, min_samples: 50 };

describe("a canary", () => {
  test("goes first for its share, and last for all others", () => {
    const plans = plansOf({ canary: CANARY });
    expectShare(
      shareOf(plans, (made) => made.canary === "d"),
      0.2,
    );
    const orders = new Set(plans.map((made) => `${made.canary}:${attemptIds(made).join()}`));
    expect(orders).toEqual(new Set(["d:d,a,b,c", ":a,b,c,d"]));
  });

  test.each<[string, Partial<RouteFacts>, number]>([
    ["red", { isCanaryRed: true }, 20],
    ["at 0 percent", {}, 0],
  ])("%s has no share and comes last", (_, given, percent) => {
    const plans = plansOf({ canary: { ...CANARY, percent } }, () => given);
    expect(new Set(plans.map((made) => attemptIds(made).join()))).toEqual(new Set(["a,b,c,d"]));
    expect(plans.every((made) => made.canary === "")).toBe(true);
  });

  test("at 100 percent gets all calls, even while it fails: its test decides", () => {
    const view = health({ d: { failing: true } });
    const plans = plansOf({ canary: { ...CANARY, percent: 100 } }, undefined, view);
    expect(plans.every((made) => firstId(made) === "d" && made.canary === "d")).toBe(true);
  });

  test("that may not serve the call has no share in it", () => {
    const plans = plansOf({ canary: CANARY }, undefined, health({ d: { outForMs: 5 } }));
    expect(plans.every((made) => made.canary === "" && firstId(made) === "a")).toBe(true);
  });

  test("leaves the rest to the weights", () => {
    const plans = plansOf({ canary: CANARY, weights: { a: 1, b: 3 } });
    expectShare(
      shareOf(plans, (made) => firstId(made) === "b"),
      0.8 * 0.75,
    );
  });
});

describe("an experiment", () => {
  const EXPERIMENT = {
    name: "x",
    arms: [
      { arm: "usual", endpoint: "a", weight: 7 },
      { arm: "new", endpoint: "c", weight: 2 },
      { arm: "other", endpoint: "d", weight: 1 },
    ],
  };
  const ENDPOINTS: Readonly<Record<string, string>> = { usual: "a", new: "c", other: "d" };
  const unit = (call: number) => ({ unit: `user-${call}` });

  test("divides callers by weight; the arm's endpoint goes first, the others follow as usual", () => {
    const plans = plansOf({ experiment: EXPERIMENT }, unit);
    for (const { arm, weight } of EXPERIMENT.arms) {
      expectShare(
        shareOf(plans, (made) => made.arm === arm),
        weight / 10,
      );
    }
    for (const made of plans) {
      const first = ENDPOINTS[made.arm] as string;
      const expected = [first, ...["a", "b", "c", "d"].filter((id) => id !== first)];
      if (attemptIds(made).join() !== expected.join()) expect(attemptIds(made)).toEqual(expected);
    }
  });

  test("keeps a caller in its arm, whatever the draws, the sort or exclusions", () => {
    const armsOf = (block: PolicyBlock, view = FRESH) =>
      plansOf({ experiment: EXPERIMENT, ...block }, unit, view).map((made) => made.arm);
    const arms = armsOf({});
    expect(armsOf({ sort: "balanced" })).toEqual(arms);
    expect(armsOf({}, health({ c: { outForMs: 5 }, d: { failing: true } }))).toEqual(arms);
  });

  test("an arm whose endpoint may not serve the call keeps its callers, whose calls are ordered as usual", () => {
    const plans = plansOf({ experiment: EXPERIMENT, ignore: ["c"] }, unit);
    const treated = plans.filter((made) => made.arm === "new");
    expectShare(treated.length / CALLS, 0.2);
    expect(new Set(treated.map((made) => attemptIds(made).join()))).toEqual(new Set(["a,b,d"]));
  });

  test("divides callers independently under another name", () => {
    const first = plansOf({ experiment: EXPERIMENT }, unit);
    const second = plansOf({ experiment: { ...EXPERIMENT, name: "y" } }, unit);
    const inBoth = first.filter((made, i) => made.arm === "new" && second[i]?.arm === "new").length;
    expectShare(inBoth / CALLS, 0.2 * 0.2);
  });

  test("assigns each call on its own without a user or session", () => {
    const plans = plansOf({ experiment: EXPERIMENT });
    expectShare(
      shareOf(plans, (made) => made.arm === "usual"),
      0.7,
    );
  });

  test("has the calls outside a canary's share only", () => {
    const plans = plansOf({ experiment: EXPERIMENT, canary: { ...CANARY, endpoint: "b" } }, unit);
    expect(plans.every((made) => made.canary === "" || firstId(made) === "b")).toBe(true);
    const others = plans.filter((made) => made.canary === "");
    expectShare(others.length / CALLS, 0.8);
    expect(plans.every((made) => (made.canary === "") === (made.arm !== ""))).toBe(true);
    expectShare(
      shareOf(others, (made) => made.arm === "new"),
      0.2,
      others.length,
    );
  });

  test("whose arms all have weight 0 is ignored", () => {
    const arms = EXPERIMENT.arms.map((arm) => ({ ...arm, weight: 0 }));
    const plans = plansOf({ experiment: { ...EXPERIMENT, arms } }, unit);
    expect(plans.every((made) => made.arm === "" && firstId(made) === "a")).toBe(true);
  });
});

describe("a shadow", () => {
  const SHADOW = { endpoint: "c", percent: 30, bill: "platform" } as const;

  test("gets copies of its share of the calls, and changes no plan", () => {
    const plans = plansOf({ shadow: SHADOW });
    expectShare(
      shareOf(plans, (made) => made.shadow?.id === "c"),
      0.3,
    );
    expect(new Set(plans.map((made) => attemptIds(made).join()))).toEqual(new Set(["a,b,c,d"]));
  });

  test.each<[string, PolicyBlock]>([
    ["answers itself", { order: ["c"] }],
    ["may not serve the call", { ignore: ["c"] }],
    ["does not exist", { shadow: { ...SHADOW, endpoint: "unknown", percent: 100 } }],
  ])("that %s gets none", (_, block) => {
    expect(plansOf({ shadow: SHADOW, ...block }).every((made) => made.shadow === undefined)).toBe(true);
  });

  test("gets copies even if it may not be a fallback", () => {
    for (const block of [{ fallbacks: false }, { max_attempts: 1 }]) {
      const plans = plansOf({ shadow: SHADOW, ...block });
      expectShare(
        shareOf(plans, (made) => made.shadow?.id === "c"),
        0.3,
      );
      expect(plans.every((made) => attemptIds(made).join() === "a")).toBe(true);
    }
  });
});
