/** Who is to stay stays: the same endpoint for the same caller, shares as drawn, and only its own callers move with an endpoint. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import type { Endpoint } from "../../../src/base/endpoint.ts";
import { hashOf, mixed } from "../../../src/routing/hash.ts";
import type { HealthView } from "../../../src/routing/health/health.ts";
import type { PolicyBlock } from "../../../src/routing/language/policy-document.ts";
import { plan } from "../../../src/routing/planner/planner.ts";
import { endpoint, FRESH, facts, health, model } from "../../support/routing/fixtures.ts";
import { attemptIds, decided } from "./arbitraries.ts";

const CALLERS = 10_000;
const EIGHT = ["a", "b", "c", "d", "e", "f", "g", "h"];
const equal = model(...EIGHT.map((id) => endpoint(id)));

/** A policy's decision for all its callers: it knows nothing of them. */
const decisions = new Map<PolicyBlock, ReturnType<typeof decided>>();
const USUAL: PolicyBlock = {};

const orderFor = (
  affinityKey: string,
  m = equal,
  block: PolicyBlock = USUAL,
  view: HealthView = FRESH,
  seed = 1,
) => {
  const decision = decisions.get(block) ?? decided(block);
  decisions.set(block, decision);
  return attemptIds(plan(facts({ affinityKey }), m, decision, view, seededRandom(seed)));
};

/** Called thousands of times: `expect` looks only at what differs. */
function expectOrder(order: readonly string[], expected: readonly string[]): void {
  if (order.join() !== expected.join()) expect(order).toEqual(expected);
}

/** The first endpoint of each of many callers. */
const firstOfAll = (
  m = equal,
  block: PolicyBlock = USUAL,
  view: HealthView = FRESH,
): (string | undefined)[] =>
  Array.from({ length: CALLERS }, (_, i) => orderFor(`session-${i}`, m, block, view)[0]);

function expectShare(firsts: readonly unknown[], id: string, expected: number): void {
  const actual = firsts.filter((first) => first === id).length / firsts.length;
  const bound = 4 * Math.sqrt((expected * (1 - expected)) / firsts.length);
  expect(Math.abs(actual - expected), `${id}: ${actual} instead of ${expected}`).toBeLessThanOrEqual(bound);
}

describe("the hashes", () => {
  // Every process and every version must send a caller to the same place, so they are pinned to published values.
  test.each([
    ["", 0x811c9dc5],
    ["a", 0xe40c292c],
    ["foobar", 0xbf9cf968],
  ])("FNV-1a of %j", (text, hash) => {
    expect(hashOf(text)).toBe(hash);
  });

  test("MurmurHash3's finalizer gives the published value for an empty text and seed 1", () => {
    expect([mixed(0), mixed(1)]).toEqual([0, 0x514e28b7]);
  });
});

describe.each<[string, PolicyBlock]>([
  ["balanced", {}],
  ["weights", { sort: "price", weights: { a: 5, b: 3, c: 2 } }],
])("under %s", (_, block) => {
  test("a caller always gets the same order, independent of other draws", () => {
    const first = orderFor("someone", equal, block);
    for (let seed = 0; seed < 1_000; seed++) {
      expectOrder(orderFor("someone", equal, block, FRESH, seed), first);
    }
  });

  test("calls without a caller's name are drawn anew each time", () => {
    const seen = new Set<string | undefined>();
    for (let seed = 0; seed < 100; seed++) seen.add(orderFor("", equal, block, FRESH, seed)[0]);
    expect(seen.size).toBeGreaterThan(2);
  });

  test("removing an endpoint moves only its own callers, each to its next choice", () => {
    const without = model(...equal.endpoints.filter((e) => e.id !== "b"));
    let moved = 0;
    for (let i = 0; i < 2_000; i++) {
      const before = orderFor(`session-${i}`, equal, block);
      expectOrder(
        orderFor(`session-${i}`, without, block),
        before.filter((id) => id !== "b"),
      );
      if (before[0] === "b") moved++;
    }
    expect(moved).toBeGreaterThan(100);
  });

  test("the same holds while it cools down", () => {
    const view = health({ b: { outForMs: 1_000 } });
    for (let i = 0; i < 2_000; i++) {
      const before = orderFor(`session-${i}`, equal, block);
      expectOrder(
        orderFor(`session-${i}`, equal, block, view),
        before.filter((id) => id !== "b"),
      );
    }
  });
});

describe("shares over callers", () => {
  test("are even among equals", () => {
    const firsts = firstOfAll();
    for (const id of EIGHT) expectShare(firsts, id, 1 / 8);
  });

  test("follow the weights", () => {
    const firsts = firstOfAll(equal, { weights: { a: 5, b: 3, c: 2 } });
    for (const [id, share] of Object.entries({ a: 0.5, b: 0.3, c: 0.2, d: 0 }))
      expectShare(firsts, id, share);
  });

  test("follow what balanced weighs: twice the price is a quarter of the callers", () => {
    const m = model(endpoint("cheap"), endpoint("dear", { input: 200, output: 800 }));
    expectShare(firstOfAll(m), "cheap", 0.8);
  });

  test("lowering a weight only moves callers away from that endpoint", () => {
    const before = firstOfAll(equal, { weights: { a: 5, b: 3, c: 2 } });
    const after = firstOfAll(equal, { weights: { a: 4, b: 3, c: 2 } });
    const moved = before.filter((first, i) => first !== after[i]);
    expect(new Set(moved)).toEqual(new Set(["a"]));
    // From 1/2 to 4/9 of all.
    expect(moved.length / CALLERS).toBeCloseTo(1 / 2 - 4 / 9, 2);
  });

  test("callers whose names differ in one letter are as independent as any two", () => {
    const firsts = firstOfAll();
    const alike = firsts.filter((first, i) => first === firsts[(i + 1) % CALLERS]);
    expect(alike.length / CALLERS).toBeCloseTo(1 / 8, 1);
  });

  test("callers of a removed endpoint are spread over all others", () => {
    const before = firstOfAll();
    const after = firstOfAll(model(...equal.endpoints.filter((e) => e.id !== "b")));
    const moved = after.filter((_, i) => before[i] === "b");
    for (const id of EIGHT.filter((each) => each !== "b")) expectShare(moved, id, 1 / 7);
  });
});

describe("under price", () => {
  test("callers are spread among equal prices, and higher prices come after", () => {
    const m = model(endpoint("dear", { input: 101 }), endpoint("a"), endpoint("b"), endpoint("c"));
    const firsts = firstOfAll(m, { sort: "price" });
    for (const id of ["a", "b", "c"]) expectShare(firsts, id, 1 / 3);
    for (let i = 0; i < 100; i++) expect(orderFor(`session-${i}`, m, { sort: "price" })[3]).toBe("dear");
  });

  test("a slightly different price is not equal", () => {
    const m = model(endpoint("a", { input: 101 }), endpoint("b"));
    expect(new Set(firstOfAll(m, { sort: "price" }))).toEqual(new Set(["b"]));
  });
});

describe.each<[PolicyBlock["sort"], HealthView]>([
  ["latency", health({ a: { ttftMs: 100 }, b: { ttftMs: 125 }, c: { ttftMs: 126 }, d: { ttftMs: 900 } })],
  [
    "throughput",
    health({
      a: { tokensPerSecond: 100 },
      b: { tokensPerSecond: 80 },
      c: { tokensPerSecond: 79 },
      d: { tokensPerSecond: 10 },
    }),
  ],
])("under %s", (sort, view) => {
  const four = model(...["a", "b", "c", "d"].map((id) => endpoint(id)));

  test("callers are spread over those within a quarter of the best, and the others come after", () => {
    const firsts = firstOfAll(four, { sort }, view);
    for (const [id, share] of Object.entries({ a: 0.5, b: 0.5, c: 0, d: 0 })) expectShare(firsts, id, share);
    for (let i = 0; i < 100; i++) {
      expect(orderFor(`session-${i}`, four, { sort }, view).slice(2)).toEqual(["c", "d"]);
    }
  });

  test("calls without a caller's name go to the best endpoint", () => {
    expect(orderFor("", four, { sort }, view)).toEqual(["a", "b", "c", "d"]);
  });

  test("an unmeasured endpoint comes first even with affinity", () => {
    const more = model(...four.endpoints, endpoint("new") as Endpoint);
    expect(new Set(firstOfAll(more, { sort }, view))).toEqual(new Set(["new"]));
  });
});
