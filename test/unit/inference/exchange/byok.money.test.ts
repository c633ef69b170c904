/** The money of an org's own provider keys: the fee to the micro, and holds that are never less than a charge. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoint, ProviderKey } from "../../../../src/base/endpoint.ts";
import type { UnitPrices } from "../../../../src/base/money.ts";
import { type ByokFee, byokCost, costOf, NO_USAGE, noCost, type Usage } from "../../../../src/base/usage.ts";
import { Call, type PlannedCall } from "../../../../src/inference/exchange/call.ts";
import { meter } from "../../../../src/inference/exchange/meter.ts";
import { worstCaseOf } from "../../../../src/inference/exchange/reservation/cost-bound.ts";
import { extend, type ReserveDeps, reserve } from "../../../../src/inference/exchange/reserve.ts";
import type { OwnKeys } from "../../../../src/routing/health/health.ts";
import { NO_EXTRAS } from "../../../../src/wire/neutral/asked-extras.ts";
import { NO_OPTIONS, type ReplyFacts, type RequestFacts } from "../../../../src/wire/neutral/contract.ts";

const FREE: ByokFee = { bps: 0, microUsdPerRequest: 0 };
const fees = fc.record({ bps: fc.nat(10_000), microUsdPerRequest: fc.oneof(fc.constant(0), fc.nat(5000)) });
const costing = (microUsd: number) => ({ total_micro_usd: microUsd, lines: [], price_version: "pv_1" });

describe("the fee", () => {
  test.each([
    [10_000, { bps: 500, microUsdPerRequest: 0 }, 500],
    [9, { bps: 500, microUsdPerRequest: 0 }, 0],
    [10, { bps: 500, microUsdPerRequest: 0 }, 1],
    [29, { bps: 500, microUsdPerRequest: 0 }, 1],
    [30, { bps: 500, microUsdPerRequest: 0 }, 2],
    [0, { bps: 500, microUsdPerRequest: 7 }, 7],
    [1_000_000, { bps: 10_000, microUsdPerRequest: 3 }, 1_000_003],
    [9_000_000_000_000, { bps: 9999, microUsdPerRequest: 0 }, 8_999_100_000_000],
  ])("for %d micro-USD at %j is %d, in one line", (cost, fee, microUsd) => {
    const line = { kind: "byok_fee", units: 1, unit_price_nano: microUsd * 1000, micro_usd: microUsd };
    expect(byokCost(costing(cost), fee)).toEqual({
      total_micro_usd: microUsd,
      lines: microUsd === 0 ? [] : [line],
      price_version: "pv_1",
    });
  });

  test("is the exact share rounded half up", () => {
    fc.assert(
      fc.property(fc.nat(1e12), fees, (cost, fee) => {
        const exact =
          (BigInt(cost) * BigInt(fee.bps) * 2n + 10_000n) / 20_000n + BigInt(fee.microUsdPerRequest);
        expect(BigInt(byokCost(costing(cost), fee).total_micro_usd)).toBe(exact);
      }),
    );
  });

  test("takes the place of tokens, which are counted all the same; a call that used nothing is free", () => {
    const endpoint = { prices: { version: "pv_1", input: 1000, output: 2000 } } as Endpoint;
    const request = { promptTokens: 100, imageCount: 0 } as RequestFacts;
    const said = { stopReason: "", toolCalls: 0, outputBytes: 9, unreportedBytes: 0 };
    const usage: Usage = { ...NO_USAGE, inputTokens: 4000, outputTokens: 3000 };
    const fee = { bps: 500, microUsdPerRequest: 1 };
    const metered = meter(request, endpoint, { ...said, usage }, undefined, fee);
    expect(metered).toMatchObject({ usage, source: "provider", cost: { total_micro_usd: 501 } });
    const silent = { ...said, usage: undefined };
    expect(meter(request, endpoint, { ...silent, unreportedBytes: 9 }, undefined, fee)).toMatchObject({
      source: "estimated",
      usage: { inputTokens: 100 },
      cost: { total_micro_usd: 6, lines: [{ kind: "byok_fee" }] },
    });
    const nothing: ReplyFacts = { ...silent, outputBytes: 0 };
    expect(meter(request, endpoint, nothing, undefined, fee).cost).toEqual(noCost("pv_1"));
    expect(meter(request, endpoint, { ...said, usage }, undefined, FREE).cost).toEqual(noCost("pv_1"));
  });
});

describe("what is held", () => {
  const price = fc.oneof(fc.nat(20), fc.nat(100_000));
  const prices: fc.Arbitrary<UnitPrices> = fc
    .record(
      {
        input: price,
        output: price,
        cacheRead: price,
        cacheWrite: price,
        cacheWrite1h: price,
        reasoning: price,
        request: price,
        image: price,
      },
      { requiredKeys: ["input", "output"] },
    )
    .map((p) => ({ ...p, version: "pv_1" }));
  /** By what may be used at an endpoint's provider: `own only` forbids the platform's key, `own alone` has none to forbid. */
  const keys = fc.constantFrom("platform", "own first", "own only", "own alone");
  type Keys = typeof keys extends fc.Arbitrary<infer K> ? K : never;
  const endpoints = fc.array(fc.record({ prices, keys }), { minLength: 1, maxLength: 4 });

  const own = (plan: readonly { keys: Keys }[]): OwnKeys => ({
    of: (id) => (plan[Number(id)]?.keys === "platform" ? [] : [{ isByok: true } as ProviderKey]),
    platformFallback: (id) => plan[Number(id)]?.keys !== "own only",
    modelFor: (model) => model,
  });
  const planned = (plan: readonly { prices: UnitPrices; keys: Keys }[], facts: Partial<RequestFacts>) =>
    ({
      key: { environment: "live", orgId: "org_1" },
      ownKeys: own(plan),
      withReservation: Call.prototype.withReservation,
      request: {
        svc: NO_OPTIONS,
        extras: NO_EXTRAS,
        facts: { promptTokens: 100, imageCount: 0, searchUnits: 0, choices: 1, maxTokens: 500, ...facts },
      },
      plan: {
        attempts: plan.map((at, i) => ({
          id: `ep_${i}`,
          provider: { id: String(i), keys: at.keys === "own alone" ? [] : [{ isByok: false }] },
          prices: at.prices,
          imageTokens: 0,
          maxOutput: 1000,
        })),
      },
    }) as unknown as PlannedCall;
  /** Books without end: every hold is given. */
  const reserved = (byokFee: ByokFee, at: PlannedCall) => {
    const held = { microUsd: 0 };
    const grow = (_: unknown, microUsd: number) => (held.microUsd += microUsd);
    const deps = {
      byokFee,
      defaultMaxTokens: 100,
      purse: {
        askAvailable: () => Number.MAX_SAFE_INTEGER,
        hold: (orgId: string, microUsd: number) => grow(0, microUsd) && { orgId, amountMicroUsd: microUsd },
        extend: grow,
      },
      budgets: { hold: () => ({ admitted: true }), extend: () => true },
    } as unknown as ReserveDeps;
    const taken = reserve(deps, at);
    if (taken instanceof Promise) throw new Error("not at once");
    return { deps, held, reservation: taken.reservation };
  };
  const used = (inputTokens: number, outputTokens: number): fc.Arbitrary<Usage> =>
    fc.record({
      inputTokens: fc.nat(inputTokens),
      outputTokens: fc.nat(outputTokens),
      cacheReadTokens: fc.nat(inputTokens),
      cacheWriteTokens: fc.nat(inputTokens),
      cacheWrite1hTokens: fc.nat(inputTokens),
      reasoningTokens: fc.nat(outputTokens),
    });

  test("T40: is never less than what may be charged, whichever key answers, grown holds included", () => {
    fc.assert(
      fc.property(
        fc.gen(),
        endpoints,
        fees,
        fc.nat(3),
        fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 3 }),
        (gen, plan, fee, imageCount, growth) => {
          const at = planned(plan, { imageCount });
          const { deps, held, reservation } = reserved(fee, at);
          const one = gen(fc.nat, plan.length - 1);
          const endpoint = at.plan.attempts[one] as Endpoint;
          const allowed = plan[one]?.keys;
          const byOwn = allowed !== "platform" && (allowed !== "own first" || gen(fc.boolean));
          for (const tokens of growth) extend(deps, reservation, endpoint, tokens, byOwn ? fee : undefined);
          const usage = gen(() => used(reservation.inputTokens, reservation.outputTokens));
          const tokens = costOf(usage, endpoint.prices, imageCount);
          const charged = byOwn ? byokCost(tokens, fee) : tokens;
          expect(charged.total_micro_usd).toBeLessThanOrEqual(held.microUsd);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("T40: grows in small steps by no less than the fee for all of them", () => {
    const steps = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(steps, fc.nat(5000), fees, (tokens, output, fee) => {
        const at = planned([{ prices: { version: "pv_1", input: 0, output }, keys: "own only" }], {});
        const { deps, held, reservation } = reserved(fee, at);
        const before = held.microUsd;
        for (const more of tokens) extend(deps, reservation, at.plan.attempts[0] as Endpoint, more, fee);
        const all = tokens.reduce((sum, more) => sum + more, 0);
        const cost = costOf({ ...NO_USAGE, outputTokens: all }, { version: "pv_1", input: 0, output });
        const grown = byokCost(cost, { ...fee, microUsdPerRequest: 0 }).total_micro_usd;
        expect(held.microUsd - before).toBeGreaterThanOrEqual(grown);
      }),
    );
  });

  test("is the fee alone where only an own key may be used, and what a dry run shows", () => {
    const dear = { version: "pv_1", input: 50_000, output: 100_000 };
    const held = (keys: Keys, fee: ByokFee) => {
      const at = planned([{ prices: dear, keys }], {});
      const { microUsd } = reserved(fee, at).held;
      expect(worstCaseOf({ defaultMaxTokens: 100, byokFee: fee }, at)).toBe(microUsd);
      return microUsd;
    };
    const fee = { bps: 500, microUsdPerRequest: 0 };
    const tokens = held("platform", fee);
    expect(held("own only", fee)).toBe(Math.round(tokens / 20));
    expect(held("own alone", fee)).toBe(Math.round(tokens / 20));
    expect(held("own first", fee)).toBe(tokens);
    expect(held("own only", { bps: 0, microUsdPerRequest: 70 })).toBe(70);
    expect(held("own first", { bps: 0, microUsdPerRequest: tokens + 1 })).toBe(tokens + 1);
    expect(held("platform", { bps: 0, microUsdPerRequest: tokens + 1 })).toBe(tokens);
    expect(held("own only", FREE)).toBe(0);
  });
});
