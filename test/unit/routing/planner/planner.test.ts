/** Who may serve a call, in which order, and why. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { RouteOptions } from "../../../../src/base/route.ts";
import type { HealthView } from "../../../../src/routing/health/health.ts";
import { decideAlone } from "../../../../src/routing/language/policy.ts";
import type { RouteFacts } from "../../../../src/routing/planner/eligibility.ts";
import { plan } from "../../../../src/routing/planner/planner.ts";
import {
  endpoint,
  FRESH,
  facts,
  type Given,
  health,
  ids,
  model,
  provider,
} from "../../../support/routing/fixtures.ts";
import { attemptIds, decided } from "../arbitraries.ts";

describe("exclusions", () => {
  test.each<[string, Given, Partial<RouteFacts>, RouteOptions, string, RegExp]>([
    ["switched off", { status: "inactive" }, {}, {}, "status", /switched off/],
    [
      "a provider switched off",
      { provider: { ...provider("p"), status: "inactive" } },
      {},
      {},
      "status",
      /switched off/,
    ],
    ["a test key", {}, { environment: "test" }, {}, "environment", /only the simulator/],
    ["tools", { capabilities: { tools: false } }, { hasTools: true }, {}, "capability", /tools/],
    [
      "parallel tools",
      { capabilities: { parallelTools: false } },
      { parallelTools: true },
      {},
      "capability",
      /parallel/,
    ],
    ["images", { capabilities: { vision: false } }, { hasImages: true }, {}, "capability", /images/],
    ["audio", { capabilities: { audio: false } }, { hasAudio: true }, {}, "capability", /audio/],
    ["a schema", { capabilities: { jsonSchema: false } }, { hasSchema: true }, {}, "capability", /JSON/],
    ["reasoning", { capabilities: { reasoning: false } }, { reasoning: true }, {}, "capability", /reasoning/],
    ["a long prompt", {}, { promptTokens: 9_901 }, {}, "context", /about 10001 tokens, its context is 10000/],
    ["a full context", {}, { promptTokens: 10_000, maxTokens: undefined }, {}, "context", /10001/],
    ["a long answer", {}, { maxTokens: 2_001 }, {}, "context", /its limit is 2000/],
    [
      "the org's zero retention",
      { dataPolicy: { trains: false, retentionDays: 30, zdr: false } },
      { orgPolicy: { zdr: true, noTrain: false, regions: [] } },
      {},
      "data_policy",
      /zero data retention/,
    ],
    [
      "the request's zero retention",
      { dataPolicy: { trains: false, retentionDays: 30, zdr: false } },
      {},
      { require: { zdr: true } },
      "data_policy",
      /zero data retention/,
    ],
    [
      "no training",
      { dataPolicy: { trains: true, retentionDays: 0, zdr: true } },
      { orgPolicy: { zdr: false, noTrain: true, regions: [] } },
      {},
      "data_policy",
      /train/,
    ],
    [
      "a region",
      { region: "us" },
      { orgPolicy: { zdr: false, noTrain: false, regions: ["eu", "in"] } },
      {},
      "region",
      /us is not among eu, in/,
    ],
    [
      "a price of input",
      { input: 1001 },
      {},
      { require: { max_price: { input: 1 } } },
      "price",
      /input costs 1.001 USD.*limit is 1/,
    ],
    ["a price of output", { output: 2001 }, {}, { require: { max_price: { output: 2 } } }, "price", /output/],
    ["only", {}, {}, { only: ["p-b"] }, "route", /only/],
    ["ignore by endpoint", {}, {}, { ignore: ["a"] }, "route", /ignore/],
    ["ignore by provider", {}, {}, { ignore: ["p-a"] }, "route", /ignore/],
  ])("for %s", (_, given, f, route, kind, reason) => {
    const result = plan(facts(f), model(endpoint("a", given)), decideAlone(route), FRESH, seededRandom(1));
    expect(result.attempts).toEqual([]);
    expect(result.excluded).toEqual([{ endpointId: "a", kind, reason: expect.stringMatching(reason) }]);
    expect(result.availability).toBe("none");
    expect(result.trace()).toContain(`a (${kind}: `);
  });

  test("an endpoint that just meets the limit is admitted", () => {
    const m = model(endpoint("a", { input: 1000, output: 2000 }));
    expect(
      ids(m, facts({ promptTokens: 9_900 }), { require: { max_price: { input: 1, output: 2 } } }),
    ).toEqual(["a"]);
    expect(ids(m, facts({ promptTokens: 9_999, maxTokens: undefined }))).toEqual(["a"]);
  });

  test("a test key reaches the simulator, and nothing else of a mixed model", () => {
    const m = model(endpoint("a"), endpoint("sim", { provider: provider("simulator", true) }));
    expect(ids(m, facts({ environment: "test" }))).toEqual(["sim"]);
  });

  test("a model without endpoints has an empty plan", () => {
    const result = plan(facts(), model(), decideAlone({}), FRESH, seededRandom(1));
    expect([result.attempts, result.excluded, result.availability]).toEqual([[], [], "none"]);
  });
});

describe("the order", () => {
  const three = model(
    endpoint("c", { input: 100, output: 900 }),
    endpoint("a", { input: 300, output: 300 }),
    endpoint("b", { input: 200, output: 400 }),
  );

  test("by price, weighted by the call's own prompt and answer", () => {
    // 100 prompt tokens, 100 of answer: 100, 60 and 60 thousand nano-USD; a tie goes to the lower id.
    expect(ids(three, facts(), { sort: "price" })).toEqual(["a", "b", "c"]);
    expect(ids(three, facts({ promptTokens: 9_000, maxTokens: 10 }), { sort: "price" })).toEqual([
      "c",
      "b",
      "a",
    ]);
  });

  test("by latency and by throughput; what was not measured lately comes first", () => {
    const view = health({ a: { ttftMs: 300, tokensPerSecond: 50 }, b: { ttftMs: 200, tokensPerSecond: 20 } });
    expect(ids(three, facts(), { sort: "latency" }, view)).toEqual(["c", "b", "a"]);
    expect(ids(three, facts(), { sort: "throughput" }, view)).toEqual(["c", "a", "b"]);
  });

  test("balanced sends most calls to cheap endpoints, some to each, fewer to failing or slow ones", () => {
    const m = model(endpoint("cheap"), endpoint("dear", { input: 200, output: 800 }));
    const first = (view: HealthView) => {
      const random = seededRandom(7);
      let cheap = 0;
      for (let i = 0; i < 2000; i++) {
        if (plan(facts(), m, decideAlone({}), view, random).attempts[0]?.id === "cheap") cheap++;
      }
      return cheap / 2000;
    };
    // Twice the price is a quarter of the weight: 4 in 5.
    expect(first(FRESH)).toBeCloseTo(0.8, 1);
    expect(first(health({ cheap: { errorRate: 0.5 } }))).toBeCloseTo(0.5, 1);
    expect(first(health({ cheap: { ttftMs: 1000 }, dear: { ttftMs: 499.5 } }))).toBeCloseTo(2 / 3, 1);
  });

  test("`order` by provider or endpoint first, then the rest", () => {
    expect(ids(three, facts(), { sort: "price", order: ["p-c", "b"] })).toEqual(["c", "b", "a"]);
    expect(ids(three, facts(), { sort: "price", order: ["unknown", "c"] })).toEqual(["c", "a", "b"]);
  });

  test("T15: without fallbacks only the first, or what `order` names", () => {
    const result = plan(
      facts(),
      three,
      decideAlone({ sort: "price", fallbacks: false }),
      FRESH,
      seededRandom(1),
    );
    expect(result.attempts.map((e) => e.id)).toEqual(["a"]);
    expect(result.excluded.map((x) => [x.endpointId, x.kind])).toEqual([
      ["b", "route"],
      ["c", "route"],
    ]);
    expect(ids(three, facts(), { order: ["c", "b"], fallbacks: false })).toEqual(["c", "b"]);
    expect(ids(three, facts(), { sort: "price", order: [], fallbacks: false })).toEqual(["a"]);
  });

  test("an endpoint that keeps failing comes last, unless the request orders it first", () => {
    const view = health({ a: { failing: true, errorRate: 1 } });
    expect(ids(three, facts(), { sort: "price" }, view)).toEqual(["b", "c", "a"]);
    expect(ids(three, facts(), { sort: "price", order: ["a"] }, view)).toEqual(["a", "b", "c"]);
  });

  test("every attempt has a reason, and the trace has the whole plan in one line", () => {
    const result = plan(
      facts(),
      three,
      decideAlone({ sort: "price", ignore: ["c"] }),
      FRESH,
      seededRandom(1),
    );
    expect(result.ranking().map((r) => r.reason)).toEqual(["about 0.0000600 USD", "about 0.0000600 USD"]);
    expect(result.trace()).toBe(
      "sort=price; try: 1 a (about 0.0000600 USD), 2 b (about 0.0000600 USD); out: c (route: it is left out by name (ignore))",
    );
  });
});

describe("how many are tried", () => {
  const eight = model(...["a", "b", "c", "d", "e", "f", "g", "h"].map((id) => endpoint(id)));
  const EIGHT = eight.endpoints.map((e) => e.id);

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "max_attempts %i leaves so many, and says why not the others",
    (most) => {
      const result = plan(
        facts(),
        eight,
        decideAlone({ sort: "price", max_attempts: most }),
        FRESH,
        seededRandom(1),
      );
      expect(attemptIds(result)).toEqual(EIGHT.slice(0, most));
      const reason =
        most === 1
          ? "only one attempt is allowed, and another endpoint ranks first"
          : `only ${most} attempts are allowed, and others rank before it`;
      expect(result.excluded).toEqual(
        EIGHT.slice(most).map((endpointId) => ({ endpointId, kind: "route", reason })),
      );
    },
  );

  test("the last of several endpoints is not called the only one", () => {
    for (const route of [{ max_attempts: 1 }, { fallbacks: false }]) {
      const decision = decideAlone({ sort: "price", ...route });
      const [first] = plan(facts(), eight, decision, FRESH, seededRandom(1)).ranking();
      expect(first?.reason).toBe("about 0.0000500 USD");
    }
    const decision = decideAlone({ sort: "price", only: ["h"] });
    const [only] = plan(facts(), eight, decision, FRESH, seededRandom(1)).ranking();
    expect(only?.reason).toBe("the only endpoint that may serve the call");
  });

  test("max_attempts drops the last ones: a canary outside its share first", () => {
    const canary = { endpoint: "a", percent: 0, max_error_rate: 0.1, min_samples: 10 };
    const decision = decided({ sort: "price", max_attempts: 7, canary });
    const result = plan(facts(), eight, decision, FRESH, seededRandom(1));
    expect(attemptIds(result)).toEqual(EIGHT.slice(1));
  });
});

describe("latency", () => {
  const three = model(endpoint("a"), endpoint("b"), endpoint("c"));
  const byLatency = (stream: boolean, view: HealthView) =>
    ids(three, facts({ stream }), { sort: "latency" }, view);

  test("is the time to the first token of a stream, and to the end of a non-streamed answer", () => {
    const view = health({
      a: { ttftMs: 100, wholeMs: 9_000 },
      b: { ttftMs: 200, wholeMs: 3_000 },
      c: { ttftMs: 300, wholeMs: 5_000 },
    });
    expect(byLatency(true, view)).toEqual(["a", "b", "c"]);
    expect(byLatency(false, view)).toEqual(["b", "c", "a"]);
  });

  test("of the other kind of answer is used where nothing else is known", () => {
    const view = health({ a: { wholeMs: 250 }, b: { ttftMs: 200 }, c: { ttftMs: 300, wholeMs: 100 } });
    expect(byLatency(true, view)).toEqual(["b", "a", "c"]);
    expect(byLatency(false, view)).toEqual(["c", "b", "a"]);
  });

  test("is measured by one call where it is unknown: for other calls the endpoint is last", () => {
    const known = { a: { ttftMs: 100 }, b: { ttftMs: 200 } };
    expect(byLatency(true, health(known))).toEqual(["c", "a", "b"]);
    expect(byLatency(true, health({ ...known, c: { isBeingMeasured: false } }))).toEqual(["c", "a", "b"]);
    expect(byLatency(true, health({ ...known, c: { isBeingMeasured: true } }))).toEqual(["a", "b", "c"]);
  });

  test("and throughput mark endpoints without a measurement", () => {
    for (const sort of ["latency", "throughput"] as const) {
      const view = health({ a: { isBeingMeasured: true } });
      const result = plan(facts(), three, decideAlone({ sort }), view, seededRandom(1));
      expect(result.ranking().map((r) => r.reason)).toEqual(Array(3).fill("not measured lately"));
      expect(attemptIds(result)).toEqual(["b", "c", "a"]);
    }
  });
});

describe("saturation", () => {
  const two = model(endpoint("a"), endpoint("b"));

  test("a saturated endpoint is excluded", () => {
    const result = plan(facts(), two, decideAlone({}), health({ a: { outForMs: 700.2 } }), seededRandom(1));
    expect(result.attempts.map((e) => e.id)).toEqual(["b"]);
    expect(result.excluded).toEqual([
      { endpointId: "a", kind: "saturated", reason: "it is saturated and cools down for 701 ms" },
    ]);
    expect([result.availability, result.retryAfterMs]).toEqual(["some", 0]);
  });

  test("a refused credential is not called saturation", () => {
    const view = health({ a: { outForMs: 59_000, isRefused: true } });
    expect(plan(facts(), two, decideAlone({}), view, seededRandom(1)).excluded).toEqual([
      {
        endpointId: "a",
        kind: "refused",
        reason: "its credential was refused; it is tried again in 59000 ms",
      },
    ]);
  });

  test("when all that could serve the call are out, the plan says when the first returns", () => {
    const m = model(...two.endpoints, endpoint("off", { status: "inactive" }));
    const view = health({ a: { outForMs: 700.2 }, b: { outForMs: 300 } });
    const result = plan(facts(), m, decideAlone({}), view, seededRandom(1));
    expect([result.attempts, result.availability, result.retryAfterMs]).toEqual([[], "saturated", 300]);
  });

  test("O18: where all that is left rests by the gateway's own caution, the call is tried all the same", () => {
    const view = health({
      a: { outForMs: 30_000, lastResortOutForMs: 0 },
      b: { outForMs: 30_000, lastResortOutForMs: 30_000 },
    });
    const pressed = plan(facts(), two, decideAlone({}), view, seededRandom(1));
    expect([attemptIds(pressed), pressed.isLastResort, pressed.availability]).toEqual([["a"], true, "some"]);
    expect(pressed.excluded.map((x) => x.endpointId)).toEqual(["b"]);
    // Not while another endpoint is well.
    const well = plan(
      facts(),
      model(...two.endpoints, endpoint("c")),
      decideAlone({}),
      view,
      seededRandom(1),
    );
    expect([attemptIds(well), well.isLastResort]).toEqual([["c"], false]);
    const soon = health({
      a: { outForMs: 30_000, lastResortOutForMs: 1_500 },
      b: { outForMs: 9_000, isRefused: true },
    });
    const none = plan(facts(), two, decideAlone({}), soon, seededRandom(1));
    expect([none.availability, none.retryAfterMs, none.isLastResort]).toEqual(["saturated", 1_500, false]);
    expect(none.excluded[0]?.reason).toContain("1500 ms");
  });

  test("O18: where each credential was refused, the plan does not say that they are saturated", () => {
    const refused = { outForMs: 59_000, lastResortOutForMs: 59_000, isRefused: true };
    const result = plan(facts(), two, decideAlone({}), health({ a: refused, b: refused }), seededRandom(1));
    expect([result.availability, result.retryAfterMs]).toEqual(["refused", 59_000]);
  });

  test("one that could not serve the call anyway does not count as saturated", () => {
    const result = plan(
      facts({ maxTokens: 5000 }),
      two,
      decideAlone({}),
      health({ a: { outForMs: 700 } }),
      seededRandom(1),
    );
    expect(result.availability).toBe("none");
    expect(result.excluded.map((x) => x.kind)).toEqual(["context", "context"]);
  });
});
