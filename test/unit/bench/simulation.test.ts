/**
 * What routing promises in trouble, held in virtual time by the simulation of bench/simulation: the product's own policy, planner,
 * health, lanes, attempts and relays between made-up callers and endpoints.
 */
import { describe, expect, test } from "vitest";
import type { SimulatedEndpoint } from "../../../bench/simulation/catalog.ts";
import { type Row, simulateRouting } from "../../../bench/simulation/routing.ts";
import { tableOf } from "../../../bench/simulation/table.ts";
import { TROUBLES, type Trouble } from "../../../bench/simulation/troubles.ts";
import { type Called, run, type Seen } from "../../../bench/simulation/world.ts";
import type { PolicyBlock } from "../../../src/routing/language/policy-document.ts";

const SEED = 7;
/** Where a recovery is told more calls are made, until after it. */
const REQUESTS = 2000;

/** Half as busy as in the bench where it is not how busy it is that matters, for speed. */
function trouble(name: string, ways?: readonly string[]): Trouble {
  const found = TROUBLES.find((t) => t.name === name);
  if (found === undefined) throw new Error(`there is no trouble "${name}"`);
  const isLastResort = found.endpoints.some(({ maxInFlight, quota }) => maxInFlight ?? quota);
  const chosen = found.ways.filter((way) => ways?.includes(way.name) ?? true);
  if (chosen.length < (ways?.length ?? 1)) throw new Error(`"${name}" has not all of ${ways?.join(", ")}`);
  return { ...found, ways: chosen, requestsPerSecond: found.requestsPerSecond / (isLastResort ? 1 : 2) };
}

type Rows = ReadonlyMap<string, Row>;

/** By the names of the ways; all ways unless some are given. */
async function rowsOf(name: string, ways?: readonly string[], requests = REQUESTS): Promise<Rows> {
  const rows = await simulateRouting(requests, SEED, [trouble(name, ways)]);
  return new Map(rows.map((row) => [row.way, row]));
}

function rowOf(rows: Rows, way: string): Row {
  const row = rows.get(way);
  if (row === undefined) throw new Error(`there is no row "${way}"`);
  return row;
}

/** Runs a trouble's endpoints with a policy of the test's own. */
const seenIn = (name: string, policy: PolicyBlock, requests: number): Promise<Seen> =>
  run({ ...trouble(name), seed: SEED, policy, requests });

const share = (calls: readonly Called[], endpointId: string): number =>
  calls.filter((call) => call.endpointId === endpointId).length / calls.length;

describe("the simulation itself", () => {
  test("the same seed gives the same table, another seed another one", async () => {
    const tableFrom = async (seed: number) => {
      const troubles = [trouble("flaky", ["balanced"]), trouble("long tail", ["hedge after 2 s"])];
      return tableOf(await simulateRouting(300, seed, troubles), troubles);
    };
    const table = await tableFrom(1);
    expect(await tableFrom(1)).toBe(table);
    expect(await tableFrom(2)).not.toBe(table);
  });

  test("in calm a call costs what its tokens cost, and nobody pays for more than was sent", async () => {
    const rows = await rowsOf("calm", ["price", "weights a 3, b 1"]);
    // 120 tokens at 1, 2 or 3 micro-USD each.
    expect(rowOf(rows, "price")).toMatchObject({ chargedPerAnswer: 120, billedPerAnswer: 120, success: 1 });
    expect(rowOf(rows, "price").shares).toEqual({ a: 1, b: 0, c: 0 });
    const { shares, chargedPerAnswer } = rowOf(rows, "weights a 3, b 1");
    expect(shares.a).toBeCloseTo(0.75, 1);
    expect(chargedPerAnswer).toBeCloseTo(120 * ((shares.a ?? 0) + 2 * (shares.b ?? 0)), 6);
  });

  test("a dead endpoint answers nobody: the measure of success is not blind", async () => {
    const dead: SimulatedEndpoint = {
      id: "a",
      price: 1,
      ttftMs: 400,
      spread: 0.3,
      tokensPerSecond: 80,
      spells: [{ fromS: 0, untilS: 1e6, kind: "error" }],
    };
    const world = { seed: 1, endpoints: [dead], requests: 50, requestsPerSecond: 10, policy: {} };
    const { calls } = await run(world);
    expect(calls).toHaveLength(50);
    expect(calls.filter(({ isOk }) => isOk)).toEqual([]);
  });
});

describe("when one endpoint is out for a minute", () => {
  test.each(["error", "refused"])("%s: with fallbacks no caller notices", async (kind) => {
    const rows = await rowsOf(`outage: ${kind}`, ["balanced, no fallbacks", "balanced", "price"]);
    expect(rowOf(rows, "balanced, no fallbacks").success).toBeLessThan(1);
    for (const way of ["balanced", "price"]) {
      const { success, sentPerAnswer, p99Ms, recoveryS } = rowOf(rows, way);
      expect(success, way).toBe(1);
      expect(sentPerAnswer, way).toBeLessThan(1.02);
      expect(p99Ms, way).toBeLessThan(1100);
      expect(recoveryS, way).toBeLessThanOrEqual(10);
    }
  });

  test("silent: all are answered, and a timeout or a hedge bounds what they wait", async () => {
    const timeout = "price, timeout 6 s";
    const hedge = "price, hedge after 2 s";
    const rows = await rowsOf("outage: silent", ["price", timeout, hedge]);
    for (const [way, { success, sentPerAnswer, recoveryS }] of rows) {
      expect(success, way).toBeGreaterThanOrEqual(0.999);
      expect(sentPerAnswer, way).toBeLessThan(1.03);
      // Half a minute is the longest that nobody tries; one more call finds out.
      expect(recoveryS, way).toBeLessThanOrEqual(35);
    }
    // A third of the six seconds at the first endpoint, then the second answers.
    expect(rowOf(rows, timeout).p999Ms).toBeLessThan(4500);
    expect(rowOf(rows, hedge).p999Ms).toBeLessThan(4500);
  });

  test("silent: a hedge does not hide it, few are asked of it in vain", async () => {
    const { sent } = await seenIn("outage: silent", { sort: "price", hedge_after_ms: 2000 }, 1800);
    const inVain = sent.filter(({ endpointId, atS }) => endpointId === "a" && atS >= 70 && atS < 119);
    // There are 735 calls.
    expect(inVain.length).toBeLessThan(10);
  });

  test("silent, whole answers: the same", async () => {
    const rows = await rowsOf("outage: silent, whole answers", ["balanced", "price, hedge after 2 s"]);
    for (const [way, { success, sentPerAnswer }] of rows) {
      expect(success, way).toBeGreaterThanOrEqual(0.999);
      expect(sentPerAnswer, way).toBeLessThan(1.03);
    }
  });
});

test("two endpoints that fail together leave the third, and both come back", async () => {
  const rows = await rowsOf("two fail together", ["balanced", "price"]);
  for (const way of ["balanced", "price"]) {
    const { success, recoveryS } = rowOf(rows, way);
    expect(success, way).toBe(1);
    expect(recoveryS, way).toBeLessThanOrEqual(10);
  }
});

test("brown-outs that go round cost no answer, and few calls more", async () => {
  for (const name of ["rolling brown-out", "flaky"]) {
    for (const { way, success, sentPerAnswer } of (
      await rowsOf(name, ["balanced", "price"], 2700)
    ).values()) {
      expect(success, `${name}, ${way}`).toBeGreaterThanOrEqual(0.999);
      expect(sentPerAnswer, `${name}, ${way}`).toBeLessThan(1.2);
    }
  }
});

test("a hedge after 2 s halves the longest waits at least, for a few calls more", async () => {
  for (const name of ["long tail", "long tail, whole answers"]) {
    const rows = await rowsOf(name, ["no hedge", "hedge after 2 s"], 3000);
    const without = rowOf(rows, "no hedge");
    const hedged = rowOf(rows, "hedge after 2 s");
    expect(hedged.p99Ms * 2, name).toBeLessThanOrEqual(without.p99Ms);
    expect(hedged.sentPerAnswer, name).toBeLessThanOrEqual(1.05);
    // The caller pays for one answer; the gateway for the prompts of those that lost.
    expect(hedged.chargedPerAnswer, name).toBe(without.chargedPerAnswer);
    expect(hedged.billedPerAnswer / without.billedPerAnswer, name).toBeLessThanOrEqual(1.05);
  }
});

describe("saturation", () => {
  test("nobody is sent where a Retry-After has not passed, and all come back after it", async () => {
    const { calls, sent } = await seenIn("Retry-After of 60 s", { sort: "price" }, 2250);
    expect(calls.every(({ isOk }) => isOk)).toBe(true);
    const asked = sent.filter(({ endpointId, atS }) => endpointId === "a" && atS >= 60 && atS < 125);
    const first = asked[0]?.atS ?? 0;
    // Those under way when the first refusal came back, 30 ms later.
    const during = asked.filter(({ atS }) => atS > first + 0.031 && atS < first + 60);
    expect(during).toEqual([]);
    expect(
      share(
        calls.filter(({ atS }) => atS > 125),
        "a",
      ),
    ).toBe(1);
  });

  test("what an endpoint refuses goes elsewhere, and little is refused", async () => {
    for (const name of ["quota", "quota of a second", "sporadic 429"]) {
      for (const { way, success, sentPerAnswer } of (await rowsOf(name)).values()) {
        expect(success, `${name}, ${way}`).toBe(1);
        expect(sentPerAnswer, `${name}, ${way}`).toBeLessThan(1.2);
      }
    }
  });

  test("an endpoint that takes eight calls at once gets nearly as many as it can carry", async () => {
    // It could carry 30 % of the calls; 8 % were what it got when nothing of its refusals was remembered.
    for (const { way, shares, sentPerAnswer } of (await rowsOf("saturation")).values()) {
      expect(shares.a, way).toBeGreaterThan(0.22);
      expect(sentPerAnswer, way).toBeLessThan(1.01);
    }
    const pool = rowOf(await rowsOf("key pool"), "price");
    expect(pool.shares.a).toBeGreaterThan(0.7);
    expect(pool.sentPerAnswer).toBeLessThan(1.02);
  });

  test("a pool's keys are used evenly", async () => {
    const pool: SimulatedEndpoint = {
      id: "a",
      price: 1,
      ttftMs: 400,
      spread: 0.35,
      tokensPerSecond: 80,
      keys: 4,
    };
    const { calls } = await run({
      seed: SEED,
      endpoints: [pool],
      requests: 2000,
      requestsPerSecond: 30,
      policy: {},
    });
    const byKey = Map.groupBy(calls, ({ keyId }) => keyId);
    expect(byKey.size).toBe(4);
    for (const of of byKey.values()) {
      expect(of.length).toBeGreaterThan(450);
      expect(of.length).toBeLessThan(550);
    }
  });
});

test("an endpoint that slows down is left, under latency, and found again within a minute", async () => {
  const { calls } = await seenIn("slowdown", { sort: "latency" }, 3000);
  const between = (fromS: number, untilS: number) => calls.filter(({ atS }) => atS >= fromS && atS < untilS);
  expect(calls.every(({ isOk }) => isOk)).toBe(true);
  expect(share(between(30, 60), "a")).toBeGreaterThan(0.7);
  expect(share(between(70, 120), "a")).toBeLessThan(0.05);
  expect(share(between(185, 195), "a")).toBeGreaterThan(0.7);
});

describe("canaries", () => {
  test("one that fails 30 % is found out after some dozens of calls; with fallbacks no caller sees it", async () => {
    const ways = ["10 %, no fallbacks", "10 %"];
    const rows = await rowsOf("canary", ways, 3000);
    for (const way of ways) {
      const { extra, success } = rowOf(rows, way);
      expect(extra["red at second"], way).toBeDefined();
      expect(extra["in its share"], way).toBeLessThan(150);
      if (way !== "10 %, no fallbacks") expect(success, way).toBe(1);
    }
    expect(rowOf(rows, "10 %, no fallbacks").extra["of them failed"]).toBeGreaterThan(0);
  });

  test("one within its bound keeps its share", async () => {
    const { extra, shares } = rowOf(await rowsOf("good canary"), "10 %");
    expect(extra["red at second"]).toBeUndefined();
    expect(shares.b).toBeCloseTo(0.1, 1);
  });
});

test("sessions stay where they are through another's outage, and go back after their own", async () => {
  const staying = ["balanced, session", "price, session"];
  const rows = await rowsOf("affinity", [...staying, "balanced, none"]);
  for (const way of staying) {
    const { extra, success } = rowOf(rows, way);
    expect(success, way).toBe(1);
    expect(extra["stay %"], way).toBeGreaterThan(85);
    expect(extra["of the others in the outage %"], way).toBeGreaterThan(97);
    expect(extra["back where they were %"], way).toBeGreaterThan(80);
  }
  expect(rowOf(rows, "balanced, none").extra["stay %"]).toBeLessThan(50);
});

test("200 callers who come before anything is known do not all wait at one endpoint", async () => {
  const { shares } = rowOf(await rowsOf("cold start"), "latency");
  for (const id of ["a", "b", "c"]) expect(shares[id], id).toBeGreaterThan(0.2);
});
