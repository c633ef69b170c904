/** A lane that takes only so many calls at once: what it refused is remembered, and calls beyond that go elsewhere first. */
import { beforeEach, describe, expect, test } from "vitest";
import type { ProviderKey } from "../../../src/base/endpoint.ts";
import { Health, type LaneLease } from "../../../src/routing/health/health.ts";
import type { LaneResult } from "../../../src/routing/health/lanes.ts";
import { DEFAULT_DECISION } from "../../../src/routing/planner/decision.ts";
import { plan } from "../../../src/routing/planner/planner.ts";
import { endpoint, facts, model, pooled } from "../../support/routing/fixtures.ts";

const OK: LaneResult = { outcome: "ok", errorClass: "" };
const SATURATED: LaneResult = { outcome: "rate_limited", errorClass: "capacity", retryAfterMs: 2000 };

const ONE = pooled("one", "sk-first-1");
const POOL = pooled("pool", "sk-first-1", "sk-second-2");

let nowMs: number;
let health: Health;
beforeEach(() => {
  nowMs = 1_000_000;
  health = new Health({ now: () => 0, monotonic: () => nowMs });
});

const isFull = (of = ONE) => health.of(of)?.isFull ?? false;

function begin(of = ONE, keys: readonly ProviderKey[] = of.provider.keys): LaneLease {
  const lane = health.begin(of, keys);
  if (lane === undefined) throw new Error("no lane was given");
  return lane;
}
const begun = (count: number, of = ONE, keys?: readonly ProviderKey[]) =>
  Array.from({ length: count }, () => begin(of, keys));
const end = (lanes: readonly LaneLease[], result: LaneResult) => {
  for (const lane of lanes) health.onResult(lane, result);
};

/** So many calls, one after the other, that the slow start is over. */
function answers(of = ONE, keys?: readonly ProviderKey[]): void {
  for (let i = 0; i < 6; i++) end(begun(1, of, keys), OK);
}

/** One call is answered; then it answers eight at once and refuses the ninth; then its pause passes, and the calls that try it are answered. */
function refuseTheNinth(of = ONE, keys?: readonly ProviderKey[]): void {
  end(begun(1, of, keys), OK);
  const eight = begun(8, of, keys);
  end(begun(1, of, keys), SATURATED);
  end(eight, OK);
  nowMs += 2000;
  answers(of, keys);
}

describe("after it refused the ninth call", () => {
  beforeEach(() => refuseTheNinth());

  test("an endpoint is full with eight, for half a minute after its pause", () => {
    const seven = begun(7);
    expect(isFull()).toBe(false);
    const eighth = begun(1);
    expect(isFull()).toBe(true);
    end(eighth, OK);
    expect(isFull()).toBe(false);
    begun(1);
    nowMs += 29_999;
    expect(isFull()).toBe(true);
    nowMs += 1;
    expect(isFull()).toBe(false);
    end(seven, OK);
  });

  test("it still serves calls without another endpoint, and answering more raises its known concurrency", () => {
    const ten = begun(10);
    expect(isFull()).toBe(true);
    end(ten, OK);
    begun(9);
    expect(isFull()).toBe(false);
    begun(1);
    expect(isFull()).toBe(true);
  });

  test("a refusal at lower concurrency has another reason: the endpoint's concurrency is then unknown", () => {
    end(begun(1), SATURATED);
    nowMs += 2000;
    answers();
    begun(20);
    expect(isFull()).toBe(false);
  });

  test("old concurrency is forgotten once the limit has expired", () => {
    nowMs += 90_000;
    end(begun(3), OK);
    const three = begun(3);
    end(begun(1), SATURATED);
    end(three, OK);
    nowMs += 2000;
    answers();
    begun(3);
    expect(isFull()).toBe(true);
  });
});

test("each key of a pool has its own concurrency; the endpoint is full when all keys are, except those that are out", () => {
  const [first, second] = POOL.provider.keys as [ProviderKey, ProviderKey];
  refuseTheNinth(POOL, [first]);
  begun(8, POOL, [first]);
  expect(isFull(POOL)).toBe(false);
  // The others go to the second, although it has more calls.
  const others = begun(12, POOL);
  expect(others.every(({ key }) => key === second)).toBe(true);
  end(others.slice(0, 1), SATURATED);
  expect(isFull(POOL)).toBe(true);
});

test("a refusal by an endpoint that never answered says nothing about its concurrency", () => {
  const two = begun(2);
  end(two, SATURATED);
  nowMs += 2000;
  answers();
  begun(20);
  expect(isFull()).toBe(false);
});

test("a replaced credential starts anew", () => {
  refuseTheNinth();
  begun(8);
  expect(isFull()).toBe(true);
  expect(isFull(pooled("one", "sk-other-9"))).toBe(false);
});

describe("in a plan", () => {
  const other = endpoint("other", { prices: { ...endpoint("other").prices, input: 1e9, output: 1e9 } });
  const ids = (more: object = {}) =>
    plan(facts(), model(ONE, other), { ...DEFAULT_DECISION, sort: "price", ...more }, health, () => 0.5);

  beforeEach(() => {
    refuseTheNinth();
    begun(8);
  });

  test("a full endpoint ranks behind those with free capacity, with a reason", () => {
    const ranking = ids().ranking();
    expect(ranking.map(({ endpointId }) => endpointId)).toEqual(["other", "one"]);
    expect(ranking[1]?.reason).toBe("has as many calls under way as it took of late");
  });

  test("but not if the request names it, nor if it is the only endpoint", () => {
    expect(ids({ order: ["one"] }).attempts[0]?.id).toBe("one");
    const alone = plan(facts(), model(ONE), DEFAULT_DECISION, health, () => 0.5);
    expect(alone.ranking()).toMatchObject([
      { endpointId: "one", reason: "the only endpoint that may serve the call" },
    ]);
  });
});
