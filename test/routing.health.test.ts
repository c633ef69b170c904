/** Cool-down, half-open probe, fading error rate and latency, on a clock the test moves. */
import { beforeEach, describe, expect, test } from "vitest";
import { type AttemptResult, Health } from "../src/routing/health.ts";

const EP = "ep_p_m_r";
const OK: AttemptResult = { outcome: "ok", errorClass: "" };
const SATURATED: AttemptResult = { outcome: "rate_limited", errorClass: "capacity" };
const BROKEN: AttemptResult = { outcome: "http_error", errorClass: "server" };
const CLIENT_ERROR: AttemptResult = { outcome: "http_error", errorClass: "client" };

let nowMs = 0;
let health: Health;
beforeEach(() => {
  nowMs = 1_000_000;
  health = new Health({ now: () => 0, monotonic: () => nowMs });
});

const outForMs = () => health.of(EP)?.outForMs ?? 0;

describe("cool-down after saturation", () => {
  test("doubles from 1 s to 60 s without a Retry-After", () => {
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      health.onResult(EP, SATURATED);
      waits.push(outForMs());
      nowMs += outForMs();
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
  });

  test("honours Retry-After to the millisecond, bounded by an hour; nonsense is as none", () => {
    health.onResult(EP, { ...SATURATED, retryAfterMs: 2500 });
    nowMs += 2499;
    expect(health.begin(EP)).toBe(false);
    nowMs += 1;
    expect(health.begin(EP)).toBe(true);
    health.onResult(EP, { ...SATURATED, retryAfterMs: 1e15 });
    expect(outForMs()).toBe(3_600_000);
    health = new Health({ now: () => 0, monotonic: () => nowMs });
    health.onResult(EP, { ...SATURATED, retryAfterMs: -5 });
    expect(outForMs()).toBe(1000);
  });

  test("200 calls refused together are one step, and the longest Retry-After counts", () => {
    for (let i = 0; i < 200; i++) health.onResult(EP, SATURATED);
    expect(outForMs()).toBe(1000);
    health.onResult(EP, { ...SATURATED, retryAfterMs: 5000 });
    health.onResult(EP, { ...SATURATED, retryAfterMs: 3000 });
    expect(outForMs()).toBe(5000);
  });

  test("after it, exactly one of 200 callers goes through; its success opens the endpoint to all", () => {
    health.onResult(EP, SATURATED);
    nowMs += 1000;
    expect(outForMs()).toBe(0);
    expect(Array.from({ length: 200 }, () => health.begin(EP)).filter(Boolean)).toHaveLength(1);
    expect(outForMs()).toBeGreaterThan(0);
    health.onResult(EP, OK);
    expect(Array.from({ length: 200 }, () => health.begin(EP)).filter(Boolean)).toHaveLength(200);
    health.onResult(EP, SATURATED);
    expect(outForMs()).toBe(1000);
  });

  test("a probe that is refused steps the wait up; one that fails otherwise leaves the next call to probe", () => {
    health.onResult(EP, SATURATED);
    nowMs += 1000;
    health.begin(EP);
    health.onResult(EP, BROKEN);
    expect(health.begin(EP)).toBe(true);
    expect(health.begin(EP)).toBe(false);
    health.onResult(EP, SATURATED);
    expect(outForMs()).toBe(2000);
  });

  test("a probe whose caller never reports gives way after its lease", () => {
    health.onResult(EP, SATURATED);
    nowMs += 1000;
    expect(health.begin(EP)).toBe(true);
    nowMs += 29_999;
    expect(health.begin(EP)).toBe(false);
    nowMs += 1;
    expect(health.begin(EP)).toBe(true);
  });

  test("a call begun before the cool-down does not end it", () => {
    health.onResult(EP, { ...SATURATED, retryAfterMs: 5000 });
    health.onResult(EP, OK);
    expect(outForMs()).toBe(5000);
  });
});

describe("error rate", () => {
  test("counts the endpoint's failures, not the caller's", () => {
    for (let i = 0; i < 4; i++) health.onResult(EP, BROKEN);
    for (let i = 0; i < 50; i++) {
      health.onResult(EP, CLIENT_ERROR);
      health.onResult(EP, { outcome: "cancelled", errorClass: "" });
    }
    expect(health.of(EP)).toMatchObject({ errorRate: 1, failing: true });
    for (let i = 0; i < 4; i++) health.onResult(EP, OK);
    expect(health.of(EP)).toMatchObject({ errorRate: 0.5, failing: false });
  });

  test("fades: a quiet minute or two and the endpoint is tried in its place again", () => {
    for (let i = 0; i < 10; i++) health.onResult(EP, BROKEN);
    expect(health.of(EP)?.failing).toBe(true);
    nowMs += 60_000;
    expect(health.of(EP)?.failing).toBe(false);
    nowMs += 300_000;
    expect(health.of(EP)?.errorRate).toBe(0);
  });
});

test("latency and speed: recent calls weigh more, and old ones are forgotten", () => {
  health.onResult(EP, { ...OK, ttftMs: 1000, tokensPerSecond: 10 });
  expect(health.of(EP)).toMatchObject({ ttftMs: 1000, tokensPerSecond: 10 });
  nowMs += 300_000;
  // The first has half its weight: (1000 × ½ + 400) / 1½.
  health.onResult(EP, { ...OK, ttftMs: 400, tokensPerSecond: 40 });
  expect(health.of(EP)?.ttftMs).toBeCloseTo(600, 6);
  expect(health.of(EP)?.tokensPerSecond).toBeCloseTo(30, 6);
  nowMs += 5 * 300_000;
  expect(health.of(EP)).toMatchObject({ ttftMs: undefined, tokensPerSecond: undefined });
});

test("nothing is known of an endpoint that was never tried, and it may be", () => {
  expect(health.of("ep_new")).toBeUndefined();
  expect(health.begin("ep_new")).toBe(true);
});
