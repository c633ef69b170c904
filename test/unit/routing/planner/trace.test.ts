/** The line of a plan: what is written is read again, whatever people call their policies, rules, arms and regions. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { Decision } from "../../../../src/routing/planner/decision.ts";
import { type Plan, plan } from "../../../../src/routing/planner/planner.ts";
import { costInReason } from "../../../../src/routing/planner/sorts.ts";
import { type RecordedNames, readTrace } from "../../../../src/routing/planner/trace.ts";
import { rounds } from "../../../support/effort.ts";
import { endpoint, FRESH, facts, model } from "../../../support/routing/fixtures.ts";
import { type Case, cases, decided, planned } from "../arbitraries.ts";

/** As `exchange/record.ts` records it. */
const recordedOf = ({ decision, canary, arm }: Plan): RecordedNames => ({
  policy: decision.policy?.name ?? "",
  policyVersion: decision.policy?.version ?? 0,
  rule: decision.rule,
  canary,
  experiment: arm === "" ? "" : (decision.experiment?.name ?? ""),
  arm,
});

const told = (made: Plan) => ({
  sort: made.decision.sort,
  shadow: made.shadow?.id ?? "",
  tried: made.ranking().map(({ endpointId, reason }) => ({ endpointId, reason })),
  excluded: made.excluded,
});

/** Names that look like parts of the line. */
const names = fc.oneof(
  fc.constantFrom(
    "a), e2 (status: it is switched off",
    "x; out: e1 (route: no)",
    "); out: none",
    "1 e0 (",
    ") (",
    "none",
    " shadow=e7; try: 1 e7 (mine); out: none",
    "sort=price",
    "\n",
  ),
  fc.string({ minLength: 1, maxLength: 40, unit: "binary" }),
);

/** The same plan with a policy, a rule, arms and regions of these names. */
function renamed(made: Case, [policy, rule, experiment, arm, region]: readonly string[]): Plan {
  const { block, route, all, call, view, seed } = made;
  const decision = decided(block, route);
  const { regions } = decision.require;
  const named: Decision = {
    ...decision,
    policy: decision.policy && { name: policy ?? "", version: 7 },
    rule: decision.policy ? (rule ?? "") : "",
    experiment: decision.experiment && {
      name: experiment ?? "",
      arms: decision.experiment.arms.map((one, at) => ({ ...one, arm: `${arm}${at}` })),
    },
    require: { ...decision.require, ...(regions && { regions: [...regions, region ?? ""] }) },
  };
  return plan(call, model(...all), named, view, seededRandom(seed));
}

describe("the line of a plan", () => {
  test("is read as the plan that it was written of", () => {
    const property = fc.property(cases, (made) => {
      const result = planned(made);
      expect(readTrace(result.trace(), recordedOf(result))).toEqual(told(result));
    });
    fc.assert(property, { numRuns: rounds(1_000) });
  });

  test("is read so whatever names it has", () => {
    const five = fc.tuple(names, names, names, names, names);
    const property = fc.property(cases, five, (made, all) => {
      const result = renamed(made, all);
      expect(readTrace(result.trace(), recordedOf(result))).toEqual(told(result));
    });
    fc.assert(property, { numRuns: rounds(1_000) });
  });

  test("of another call's policy, rule, canary or arm is not read", () => {
    const block = { sort: "price" as const, canary: CANARY };
    const result = plan(facts(), model(endpoint("a"), endpoint("b")), decided(block), FRESH, seededRandom(1));
    const recorded = recordedOf(result);
    expect(readTrace(result.trace(), recorded)?.tried[0]?.endpointId).toBe("b");
    const others: Partial<RecordedNames>[] = [
      { policy: "q" },
      { policyVersion: 2 },
      { rule: "r" },
      { canary: "" },
      { experiment: "x", arm: "y" },
    ];
    for (const other of others) expect(readTrace(result.trace(), { ...recorded, ...other })).toBeUndefined();
  });

  test("cut off, changed or of another form is none, and throws nothing", () => {
    const none = { policy: "", policyVersion: 0, rule: "", canary: "", experiment: "", arm: "" };
    const lines = [
      "",
      "trace",
      "ep_acme_model_eu",
      "sort=fastest; try: none; out: none",
      "sort=price; try: none",
      "sort=price; try: 2 a (x); out: none",
      "sort=price; try: 1 a (x), 3 b (y); out: none",
      "sort=price; try: 1 a (x); out: b (mood: y)",
      "sort=price; try: 1 a (x); out: b (route: y",
    ];
    for (const line of lines) expect(readTrace(line, none)).toBeUndefined();
    const anything = fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      readTrace(`sort=price; try: ${text}`, none);
    });
    fc.assert(anything, { numRuns: rounds(1_000) });
  });
});

const CANARY = { endpoint: "b", percent: 100, max_error_rate: 0.1, min_samples: 10 };

test("the reason of the sort by price tells the cost that it compared", () => {
  const all = model(endpoint("a", { input: 100, output: 200 }), endpoint("b", { input: 300, output: 900 }));
  const result = plan(facts(), all, decided({ sort: "price" }), FRESH, seededRandom(1));
  for (const { reason, score } of result.ranking()) {
    const microUsd = score / 1000;
    expect(Math.abs((costInReason(reason) ?? 0) - microUsd)).toBeLessThanOrEqual(0.5 + microUsd / 200);
  }
  for (const reason of ["about x USD", "about 3", "210 ms", ""]) expect(costInReason(reason)).toBeUndefined();
  expect(costInReason("about 0.00123 USD, stays where this caller was")).toBe(1230);
});
