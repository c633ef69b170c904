/** The first moments: many calls come before anything is known of the endpoints. */
import { expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { Health } from "../../../src/routing/health/health.ts";
import { DEFAULT_DECISION } from "../../../src/routing/planner/decision.ts";
import { plan } from "../../../src/routing/planner/planner.ts";
import { endpoint, facts, model } from "../../support/routing/fixtures.ts";

test.each(["latency", "throughput"] as const)(
  "under %s each endpoint is found out by one of 200 callers, and the others spread over all",
  (sort) => {
    const health = new Health({ now: () => 0, monotonic: () => 1_000_000 });
    const endpoints = ["a", "b", "c"].map((id) => endpoint(id));
    const random = seededRandom(1);
    const firsts: string[] = [];
    for (let i = 0; i < 200; i++) {
      const [first] = plan(
        facts(),
        model(...endpoints),
        { ...DEFAULT_DECISION, sort },
        health,
        random,
      ).attempts;
      if (first === undefined) throw new Error("nothing is left");
      health.begin(first, first.provider.keys);
      firsts.push(first.id);
    }
    expect(firsts.slice(0, 3)).toEqual(["a", "b", "c"]);
    for (const id of ["a", "b", "c"]) {
      expect(firsts.filter((first) => first === id).length).toBeGreaterThan(45);
    }
  },
);
