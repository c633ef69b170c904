/** Planner properties over random models, calls and requirements. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../src/clock.ts";
import type { Endpoint } from "../src/endpoint.ts";
import type { RouteOptions } from "../src/route.ts";
import type { RouteFacts } from "../src/routing/eligibility.ts";
import { plan } from "../src/routing/planner.ts";
import { decideAlone } from "../src/routing/policy.ts";
import { endpoint, FRESH, facts, ids, model } from "./routing.fixtures.ts";

describe("for any model and any call", () => {
  const sorts = fc.constantFrom("price", "latency", "throughput", "balanced") as fc.Arbitrary<
    RouteOptions["sort"]
  >;
  const endpoints = fc
    .array(
      fc.record({
        input: fc.integer({ min: 0, max: 2000 }),
        output: fc.integer({ min: 0, max: 8000 }),
        contextLength: fc.integer({ min: 1, max: 10_000 }),
        region: fc.constantFrom("eu", "us", "in"),
        zdr: fc.boolean(),
        trains: fc.boolean(),
        tools: fc.boolean(),
        vision: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8 },
    )
    .map((all) =>
      all.map(({ zdr, trains, tools, vision, ...rest }, i) =>
        endpoint(`e${i}`, {
          ...rest,
          capabilities: { tools, vision },
          dataPolicy: { trains, retentionDays: 0, zdr },
        }),
      ),
    );
  const call = fc.record({
    promptTokens: fc.nat(12_000),
    maxTokens: fc.option(fc.integer({ min: 1, max: 2_000 }), { nil: undefined }),
  });
  const seeds = fc.integer();

  test("the same seed gives the same plan, whatever the order of the catalog", () => {
    fc.assert(
      fc.property(endpoints, call, sorts, seeds, (all, f, sort, seed) => {
        const forward = plan(facts(f), model(...all), decideAlone({ sort }), FRESH, seededRandom(seed));
        const backward = plan(
          facts(f),
          model(...all.toReversed()),
          decideAlone({ sort }),
          FRESH,
          seededRandom(seed),
        );
        expect(backward.trace()).toBe(forward.trace());
        expect(backward.attempts).toEqual(forward.attempts);
      }),
    );
  });

  test("each endpoint is in exactly once: tried, or left out with a reason", () => {
    fc.assert(
      fc.property(endpoints, call, sorts, fc.boolean(), seeds, (all, f, sort, fallbacks, seed) => {
        const result = plan(
          facts({ ...f, hasTools: true }),
          model(...all),
          decideAlone({ sort, fallbacks }),
          FRESH,
          seededRandom(seed),
        );
        const seen = [...result.attempts.map((e) => e.id), ...result.excluded.map((x) => x.endpointId)];
        expect(seen.sort()).toEqual(all.map((e) => e.id));
        expect(result.excluded.every((x) => x.reason.length > 0)).toBe(true);
        expect(result.ranking().every((r) => r.reason.length > 0)).toBe(true);
      }),
    );
  });

  test("tightening a requirement never adds an endpoint", () => {
    type Tighter = { facts: Partial<RouteFacts>; route: RouteOptions };
    const policy = { zdr: false, noTrain: false, regions: [] as string[] };
    const tighter = fc.constantFrom<Tighter>(
      { facts: { hasTools: true }, route: {} },
      { facts: { hasImages: true }, route: {} },
      { facts: { orgPolicy: { ...policy, zdr: true } }, route: {} },
      { facts: { orgPolicy: { ...policy, noTrain: true } }, route: {} },
      { facts: { orgPolicy: { ...policy, regions: ["eu"] } }, route: {} },
      { facts: { environment: "test" }, route: {} },
      { facts: { promptTokens: 12_001 }, route: {} },
      { facts: {}, route: { require: { zdr: true } } },
      { facts: {}, route: { require: { max_price: { input: 1 } } } },
      { facts: {}, route: { only: ["e0", "p-e1"] } },
      { facts: {}, route: { ignore: ["e0"] } },
      { facts: {}, route: { fallbacks: false } },
      { facts: {}, route: { fallbacks: false, order: ["e1"] } },
    );
    fc.assert(
      fc.property(endpoints, call, sorts, seeds, tighter, (all, f, sort, seed, more) => {
        const loose = ids(model(...all), facts(f), { sort }, FRESH, seed);
        const tight = ids(
          model(...all),
          facts({ ...f, ...more.facts }),
          { sort, ...more.route },
          FRESH,
          seed,
        );
        expect(loose).toEqual(expect.arrayContaining(tight));
      }),
    );
  });

  test("tightening a price limit step by step only ever removes", () => {
    fc.assert(
      fc.property(endpoints, fc.array(fc.double({ min: 0, max: 2.5, noNaN: true })), (all, limits) => {
        const counts = limits
          .sort((x, y) => x - y)
          .map(
            (input) =>
              ids(model(...all), facts({ promptTokens: 1, maxTokens: undefined }), {
                require: { max_price: { input } },
              }).length,
          );
        expect(counts).toEqual([...counts].sort((x, y) => x - y));
      }),
    );
  });

  test("raising one endpoint's price never improves its rank under price", () => {
    fc.assert(
      fc.property(
        endpoints,
        call,
        fc.nat(7),
        fc.nat(5000),
        fc.nat(5000),
        (all, f, pick, moreInput, moreOutput) => {
          const at = pick % all.length;
          const target = all[at] as Endpoint;
          const dearer = {
            ...target,
            prices: {
              ...target.prices,
              input: target.prices.input + moreInput,
              output: target.prices.output + moreOutput,
            },
          };
          const before = ids(model(...all), facts(f), { sort: "price" }).indexOf(target.id);
          const after = ids(model(...all.with(at, dearer)), facts(f), { sort: "price" }).indexOf(target.id);
          expect(after).toBeGreaterThanOrEqual(before);
        },
      ),
    );
  });
});
