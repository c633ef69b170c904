/** The arithmetic of every charge: integers, one rounding a line, no line below zero, days that end at local midnight. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { localDay } from "../../../src/base/clock.ts";
import type { Endpoint } from "../../../src/base/endpoint.ts";
import {
  lineMicroUsd,
  nanoFromUsdPerMillion,
  type UnitPrices,
  usdPerMillionFromNano,
  usdString,
  withMarkup,
} from "../../../src/base/money.ts";
import { costOf, NO_USAGE, type Usage } from "../../../src/base/usage.ts";
import { meter } from "../../../src/inference/exchange/meter.ts";
import type { ReplyFacts, RequestFacts } from "../../../src/wire/neutral/contract.ts";

const amount = fc.oneof(fc.nat(2000), fc.nat(10_000_000), fc.maxSafeNat());
const price = fc.oneof(fc.nat(20), fc.nat(1_000_000));
const usage = fc.record({
  inputTokens: fc.nat(2_000_000),
  outputTokens: fc.nat(500_000),
  cacheReadTokens: fc.nat(3_000_000),
  cacheWriteTokens: fc.nat(3_000_000),
  reasoningTokens: fc.nat(600_000),
});
const prices: fc.Arbitrary<UnitPrices> = fc
  .record(
    {
      input: price,
      output: price,
      cacheRead: price,
      cacheWrite: price,
      reasoning: price,
      request: price,
      image: price,
    },
    { requiredKeys: ["input", "output"] },
  )
  .map((p) => ({ ...p, version: "pv_test" }));

describe("a cost line", () => {
  test.each([
    [0, 999, 0],
    [1, 499, 0],
    [1, 500, 1],
    [1, 1499, 1],
    [1, 1500, 2],
    [3, 500, 2],
    [1000, 150, 150],
    [9_007_199_254, 1_000_000, 9_007_199_254_000],
    [Number.MAX_SAFE_INTEGER, 1000, Number.MAX_SAFE_INTEGER],
    // 9007199254740991 × 1001 has no exact double.
    [8_998_201_053_687, 1001, 9_007_199_254_741],
  ])("%d units at %d nano-USD is %d micro-USD, rounded half up", (units, nano, micro) => {
    expect(lineMicroUsd(units, nano)).toBe(micro);
  });

  test("is the exact quotient rounded half up, or refused where no safe integer holds it", () => {
    fc.assert(
      fc.property(amount, amount, (units, nano) => {
        const exact = (BigInt(units) * BigInt(nano) * 2n + 1000n) / 2000n;
        if (exact > BigInt(Number.MAX_SAFE_INTEGER)) expect(() => lineMicroUsd(units, nano)).toThrow("range");
        else expect(BigInt(lineMicroUsd(units, nano))).toBe(exact);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("refuses %d as a count", (n) => {
    expect(() => lineMicroUsd(n, 1)).toThrow("not a countable amount");
    expect(() => lineMicroUsd(1, n)).toThrow("not a countable amount");
  });
});

describe("a charge", () => {
  test("is the sum of its lines, each its units at its price rounded once; no line is negative or empty", () => {
    fc.assert(
      fc.property(usage, prices, fc.nat(5), (used, p, images) => {
        const cost = costOf(used, p, images);
        for (const line of cost.lines) {
          expect(line.units).toBeGreaterThan(0);
          expect(line.micro_usd).toBe(lineMicroUsd(line.units, line.unit_price_nano));
        }
        expect(cost.total_micro_usd).toBe(cost.lines.reduce((sum, line) => sum + line.micro_usd, 0));
        const unitsOf = (...kinds: string[]) =>
          cost.lines.filter((l) => kinds.includes(l.kind)).reduce((sum, l) => sum + l.units, 0);
        expect(unitsOf("input", "cache_read", "cache_write")).toBe(used.inputTokens);
        expect(unitsOf("output", "reasoning")).toBe(used.outputTokens);
        expect(cost.price_version).toBe("pv_test");
      }),
      { numRuns: 1000 },
    );
  });

  test("T31: 3 fresh tokens, 12,304 written to the cache, 550 out cost $0.05439", () => {
    // Claude Sonnet's prices: $3, $15, cache write $3.75, cache read $0.30 per million.
    const sonnet = { version: "pv_s", input: 3000, output: 15_000, cacheWrite: 3750, cacheRead: 300 };
    const used: Usage = {
      ...NO_USAGE,
      inputTokens: 3 + 12_304,
      cacheWriteTokens: 12_304,
      outputTokens: 550,
    };
    expect(costOf(used, sonnet)).toEqual({
      total_micro_usd: 54_399,
      price_version: "pv_s",
      lines: [
        { kind: "input", units: 3, unit_price_nano: 3000, micro_usd: 9 },
        { kind: "cache_write", units: 12_304, unit_price_nano: 3750, micro_usd: 46_140 },
        { kind: "output", units: 550, unit_price_nano: 15_000, micro_usd: 8250 },
      ],
    });
  });

  test("cached tokens without a price of their own cost as input; reasoning as output", () => {
    const used = { ...NO_USAGE, inputTokens: 10, cacheReadTokens: 4, outputTokens: 8, reasoningTokens: 5 };
    const cost = costOf(used, { version: "v", input: 7000, output: 9000 });
    expect(cost.total_micro_usd).toBe(10 * 7 + 8 * 9);
    expect(cost.lines.map((l) => l.kind)).toEqual(["input", "cache_read", "output"]);
  });
});

describe("what is metered", () => {
  const endpoint = { prices: { version: "v", input: 1000, output: 2000 } } as Endpoint;
  const request = { promptTokens: 100, imageCount: 0 } as RequestFacts;
  const facts = (given: Partial<ReplyFacts>): ReplyFacts => ({
    usage: undefined,
    stopReason: "",
    toolCalls: 0,
    outputBytes: 0,
    unreportedBytes: 0,
    ...given,
  });

  test("T22: what was delivered without a report is estimated, never free", () => {
    const metered = meter(request, endpoint, facts({ outputBytes: 1, unreportedBytes: 1 }));
    expect(metered).toMatchObject({ source: "estimated", usage: { inputTokens: 100, outputTokens: 1 } });
    expect(metered.cost.total_micro_usd).toBe(102);
  });

  test("T40: an estimate is never charged beyond what was held; an upstream's report is", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(500), fc.nat(500), (bytes, inputTokens, outputTokens) => {
        const long = facts({ outputBytes: bytes, unreportedBytes: bytes });
        const { usage: used } = meter(request, endpoint, long, { inputTokens, outputTokens });
        expect(used.inputTokens).toBeLessThanOrEqual(inputTokens);
        expect(used.outputTokens).toBeLessThanOrEqual(outputTokens);
      }),
    );
    const reported = { ...NO_USAGE, inputTokens: 900, outputTokens: 900 };
    const metered = meter(request, endpoint, facts({ usage: reported, outputBytes: 4 }), {
      inputTokens: 1,
      outputTokens: 1,
    });
    expect(metered).toMatchObject({ source: "provider", usage: reported });
  });
});

describe("prices", () => {
  test.each([
    [0, 0],
    [0.15, 150],
    [1.005, 1005],
    [0.1, 100],
    [0.0004, 1],
    [0.0000001, 1],
    [1e-300, 1],
    [75, 75_000],
    [1.0005, 1001],
  ])("$%d per million tokens is %d nano-USD a token; above zero stays above zero", (usd, nano) => {
    expect(nanoFromUsdPerMillion(usd)).toBe(nano);
  });

  test("come back as they were written", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), (nano) => {
        expect(nanoFromUsdPerMillion(usdPerMillionFromNano(nano))).toBe(nano);
      }),
    );
  });

  test("any price that a catalog may hold becomes a whole number above zero", () => {
    fc.assert(
      fc.property(fc.double({ min: Number.MIN_VALUE, max: 1_000_000, noNaN: true }), (usd) => {
        const nano = nanoFromUsdPerMillion(usd);
        expect(Number.isSafeInteger(nano) && nano > 0).toBe(true);
        expect(Math.abs(nano - usd * 1000)).toBeLessThanOrEqual(Math.max(1, usd * 1e-9));
      }),
      { numRuns: 1000 },
    );
  });

  test("a markup is rounded half up and never lowers a price", () => {
    expect([withMarkup(1000, 550), withMarkup(1, 5000), withMarkup(1, 4999), withMarkup(150, 0)]).toEqual([
      1055, 2, 1, 150,
    ]);
    fc.assert(
      fc.property(fc.nat(1_000_000_000), fc.nat(100_000), (nano, bps) => {
        const marked = withMarkup(nano, bps);
        expect(marked).toBeGreaterThanOrEqual(nano);
        expect(Math.abs(marked - nano * (1 + bps / 10_000))).toBeLessThanOrEqual(0.5 + nano * 1e-12 * bps);
      }),
    );
  });
});

test.each([
  [0, "0.00"],
  [25_000_000, "25.00"],
  [1, "0.000001"],
  [10, "0.00001"],
  [100, "0.0001"],
  [1000, "0.001"],
  [10_000, "0.01"],
  [123_456_789, "123.456789"],
  [-50_000_000, "-50.00"],
  [-1, "-0.000001"],
  [Number.MAX_SAFE_INTEGER, "9007199254.740991"],
])("%d micro-USD reads $%s", (micro, text) => {
  expect(usdString(micro)).toBe(text);
});

test("an amount as text is the amount", () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (micro) => {
      const [whole = "", fraction = ""] = usdString(micro).replace("-", "").split(".");
      expect(fraction.length).toBeGreaterThanOrEqual(2);
      const sign = micro < 0 ? -1n : 1n;
      expect(sign * (BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0")))).toBe(BigInt(micro));
    }),
  );
});

describe("T41: the local day", () => {
  test.each([
    // The instants around midnight, and around the hour that is left out or comes twice.
    ["Asia/Kolkata", "2026-03-01T18:29:59.999Z", "2026-03-01"],
    ["Asia/Kolkata", "2026-03-01T18:30:00.000Z", "2026-03-02"],
    ["America/New_York", "2026-03-08T04:59:59.999Z", "2026-03-07"],
    ["America/New_York", "2026-03-08T05:00:00.000Z", "2026-03-08"],
    ["America/New_York", "2026-03-09T03:59:59.999Z", "2026-03-08"],
    ["America/New_York", "2026-03-09T04:00:00.000Z", "2026-03-09"],
    ["America/New_York", "2026-11-02T04:59:59.999Z", "2026-11-01"],
    ["America/New_York", "2026-11-02T05:00:00.000Z", "2026-11-02"],
    // Midnight itself is left out there: the day begins at 01:00.
    ["Africa/Cairo", "2026-04-23T21:59:59.999Z", "2026-04-23"],
    ["Africa/Cairo", "2026-04-23T22:00:00.000Z", "2026-04-24"],
    ["Asia/Kathmandu", "2026-01-01T18:14:59.999Z", "2026-01-01"],
    ["Asia/Kathmandu", "2026-01-01T18:15:00.000Z", "2026-01-02"],
    ["Pacific/Kiritimati", "2025-12-31T10:00:00.000Z", "2026-01-01"],
  ])("in %s at %s is %s", (zone, at, day) => {
    expect(localDay(Date.parse(at), zone)).toBe(day);
  });

  test("is what the calendar says, in whatever order instants are asked", () => {
    const zones = ["UTC", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo"];
    const from = Date.parse("2026-01-01T00:00:00Z");
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(366 * 86_400_000), (zone, offset) => {
        const text = new Date(from + offset).toLocaleDateString("sv-SE", { timeZone: zone });
        expect(localDay(from + offset, zone)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});
