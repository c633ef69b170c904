/** What endpoints are told that cannot give as long an answer as is asked for, and where they stand in a plan. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { decideAlone } from "../../../../src/routing/language/policy.ts";
import type { RouteFacts } from "../../../../src/routing/planner/eligibility.ts";
import { plan } from "../../../../src/routing/planner/planner.ts";
import { endpoint, facts, health, model } from "../../../support/routing/fixtures.ts";

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
