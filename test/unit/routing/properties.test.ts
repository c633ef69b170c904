/** Planner properties over random models, calls, healths, policies and requests. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoint } from "../../../src/base/endpoint.ts";
import { MAX_ATTEMPTS, type RouteOptions } from "../../../src/base/route.ts";
import type { PolicyBlock } from "../../../src/routing/language/policy-document.ts";
import type { RouteFacts } from "../../../src/routing/planner/eligibility.ts";
import { rounds } from "../../support/effort.ts";
import { FRESH } from "../../support/routing/fixtures.ts";
import {
  attemptIds,
  type Case,
  calls,
  cases,
  catalogs,
  planned,
  preferences,
  requirements,
} from "./arbitraries.ts";

const RUNS = { numRuns: rounds(1_000) };

/**
 * `fallbacks: false` and `max_attempts` keep the best of what is left: where one is left out, another takes its place. So what
 * may serve a call is compared with both out of the way.
 */
const uncut = (made: Case): Case => ({
  ...made,
  block: made.block && { ...made.block, fallbacks: true, max_attempts: MAX_ATTEMPTS },
  route: { ...made.route, fallbacks: true, max_attempts: MAX_ATTEMPTS },
});

/** What a plan says, as text. */
const told = (made: Case) => {
  const { decision: _, ...rest } = planned(made);
  return JSON.stringify([rest, planned(made).ranking(), planned(made).trace()]);
};

describe("for any model, call, health, policy and request", () => {
  test("the same seed gives the same plan", () => {
    fc.assert(
      fc.property(cases, (made) => {
        expect(told(made)).toBe(told(made));
      }),
      RUNS,
    );
  });

  test("the order of the catalog does not matter", () => {
    const shuffled = cases.chain((made) =>
      fc.record({
        made: fc.constant(made),
        all: fc.shuffledSubarray([...made.all], { minLength: made.all.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ made, all }) => {
        expect(told({ ...made, all })).toBe(told(made));
      }),
      RUNS,
    );
  });

  test("each endpoint appears exactly once: tried or excluded, with a reason and a finite score", () => {
    fc.assert(
      fc.property(cases, (made) => {
        const result = planned(made);
        const ranking = result.ranking();
        expect(ranking.map((r) => r.endpointId)).toEqual(attemptIds(result));
        const seen = [...attemptIds(result), ...result.excluded.map((x) => x.endpointId)];
        expect(seen.sort()).toEqual(made.all.map((e) => e.id));
        for (const { reason } of [...ranking, ...result.excluded]) {
          expect(reason).toMatch(/^[^:]{4,}/);
          expect(reason).not.toMatch(/undefined|NaN|Infinity/);
        }
        for (const { score } of ranking) expect(Number.isFinite(score)).toBe(true);
      }),
      RUNS,
    );
  });

  test("a plan is empty because of saturation only if an endpoint was saturated, and then has a retry time", () => {
    fc.assert(
      fc.property(cases, (made) => {
        const { attempts, excluded, availability, retryAfterMs } = planned(made);
        const isNone = attempts.length === 0;
        const isSaturated = isNone && excluded.some((x) => x.kind === "saturated");
        const isRefused = isNone && !isSaturated && excluded.some((x) => x.kind === "refused");
        expect([availability === "saturated", availability === "refused"]).toEqual([isSaturated, isRefused]);
        expect(retryAfterMs).toBe(isSaturated || isRefused ? 701 : 0);
      }),
      RUNS,
    );
  });

  test("a shadow is never the first attempt, and always an eligible endpoint", () => {
    fc.assert(
      fc.property(cases, (made) => {
        const { shadow } = planned(made);
        if (shadow === undefined) return;
        expect(attemptIds(planned(made))[0]).not.toBe(shadow.id);
        expect(attemptIds(planned(uncut(made)))).toContain(shadow.id);
      }),
      RUNS,
    );
  });
});

describe("requirements", () => {
  type Tighter = { facts?: Partial<RouteFacts>; block?: PolicyBlock; route?: RouteOptions };
  const org = { zdr: false, noTrain: false, regions: [] as string[] };
  const tightenings = fc.oneof(
    fc.constantFrom<Tighter>(
      { facts: { hasTools: true } },
      { facts: { hasImages: true } },
      { facts: { orgPolicy: { ...org, zdr: true } } },
      { facts: { orgPolicy: { ...org, noTrain: true } } },
      { facts: { orgPolicy: { ...org, regions: ["eu"] } } },
      { facts: { environment: "test" } },
      { facts: { promptTokens: 12_001 } },
      { facts: { maxTokens: 2_001 } },
      { route: { only: ["e0", "p-e1"] } },
      { route: { ignore: ["e0", "p-e2"] } },
      { route: { fallbacks: false, order: ["e1"] } },
    ),
    requirements.map((require): Tighter => ({ block: { require } })),
    requirements.map((require): Tighter => ({ route: { require } })),
  );
  /** Nothing that a tightening would replace rather than add to. */
  const loose: fc.Arbitrary<Case> = fc.record({
    all: catalogs,
    call: calls.map((call) => ({ ...call, orgPolicy: org, maxTokens: 100 })),
    block: preferences,
    route: fc.record({ require: requirements }, { requiredKeys: [] }),
    view: fc.constant(FRESH),
    seed: fc.integer(),
  });

  test("tightening one never adds an endpoint", () => {
    let tighter = 0;
    fc.assert(
      fc.property(loose, tightenings, (made, more) => {
        // A second route would replace the first's requirements, not add to them.
        const base = more.route?.require === undefined ? made : { ...made, route: {} };
        const before = attemptIds(planned(base));
        const after = attemptIds(
          planned({
            ...base,
            call: { ...base.call, ...more.facts },
            block: { ...base.block, ...more.block },
            route: { ...base.route, ...more.route },
          }),
        );
        expect(before).toEqual(expect.arrayContaining(after));
        if (after.length < before.length) tighter++;
      }),
      RUNS,
    );
    expect(tighter).toBeGreaterThan(RUNS.numRuns / 10);
  });

  test("a request's requirements never loosen its policy's, and the other way round", () => {
    fc.assert(
      fc.property(loose, requirements, requirements, (made, ofPolicy, ofRequest) => {
        const allowed = (block: PolicyBlock, route: RouteOptions) =>
          attemptIds(planned({ ...made, block: { ...made.block, ...block }, route })).sort();
        const both = allowed({ require: ofPolicy }, { require: ofRequest });
        const first = allowed({ require: ofPolicy }, {});
        const second = allowed({}, { require: ofRequest });
        // Exactly what satisfies each of them.
        expect(both).toEqual(first.filter((id) => second.includes(id)));
      }),
      RUNS,
    );
  });

  test("a price limit that falls step by step only ever removes", () => {
    const limits = fc.array(fc.double({ min: 0, max: 2.5, noNaN: true }), { minLength: 2 });
    fc.assert(
      fc.property(loose, limits, (made, steps) => {
        const left = steps
          .sort((x, y) => y - x)
          .map((input) => attemptIds(planned({ ...made, route: { require: { max_price: { input } } } })));
        for (const [i, ids] of left.entries())
          expect(left[i - 1] ?? ids).toEqual(expect.arrayContaining(ids));
      }),
    );
  });
});

describe("preferences", () => {
  test("canary, experiment, weights, shadow, order and affinity never change which endpoints are tried", () => {
    let moved = 0;
    const OFF = { canary: false, experiment: false, shadow: false } as const;
    fc.assert(
      fc.property(cases, preferences, (given, some) => {
        const made = uncut(given);
        const { order: _, weights: __, ...limits } = { ...made.block, ...OFF };
        const plain = {
          ...made,
          block: limits,
          call: { ...made.call, preferred: undefined, affinityKey: "" },
        };
        const preferring = { ...made, block: { ...limits, ...some } };
        const usual = attemptIds(planned(plain));
        const moving = attemptIds(planned(preferring));
        if (usual.join() !== moving.join()) moved++;
        expect(moving.sort()).toEqual(usual.sort());
      }),
      RUNS,
    );
    expect(moved).toBeGreaterThan(RUNS.numRuns / 10);
  });
});

describe("under price", () => {
  const dearer = fc.record({ pick: fc.nat(7), input: fc.nat(5_000), output: fc.nat(5_000) });
  /** Few prices, so that many are equal and who is to stay has a choice. */
  const level = catalogs.map((all) =>
    all.map((e, i) => ({ ...e, prices: { ...e.prices, input: 100 * (i % 2), output: 400 } })),
  );

  test.each([
    ["random prices", catalogs],
    ["many equal prices", level],
  ])("raising one endpoint's price never improves its rank: %s", (_, all) => {
    fc.assert(
      fc.property(cases, all, dearer, (made, endpoints, more) => {
        const at = more.pick % endpoints.length;
        const target = endpoints[at] as Endpoint;
        const { input, output } = target.prices;
        const prices = { ...target.prices, input: input + more.input, output: output + more.output };
        const given = { ...made, block: undefined, route: { sort: "price" } as const };
        const before = attemptIds(planned({ ...given, all: endpoints })).indexOf(target.id);
        const after = attemptIds(
          planned({ ...given, all: endpoints.with(at, { ...target, prices }) }),
        ).indexOf(target.id);
        expect(after).toBeGreaterThanOrEqual(before);
      }),
      RUNS,
    );
  });
});
