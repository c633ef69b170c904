/** Cool-down, half-open probe, fading error rate and latency, on a clock the test moves. */
import { beforeEach, describe, expect, test } from "vitest";
import { platformKey } from "../../../../src/base/provider-key.ts";
import { type AttemptResult, Health, type LaneLease } from "../../../../src/routing/health/health.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";
import { ownPool, pooled } from "../../../support/routing/fixtures.ts";

const EP = pooled("one", "sk-platform-1");
const OK: AttemptResult = { outcome: "ok", errorClass: "" };
const SATURATED: AttemptResult = { outcome: "rate_limited", errorClass: "capacity" };
const BROKEN: AttemptResult = { outcome: "http_error", errorClass: "server" };
const REVOKED: AttemptResult = { outcome: "http_error", errorClass: "auth", httpStatus: 401 };
const CLIENT_ERROR: AttemptResult = { outcome: "http_error", errorClass: "client" };

let nowMs = 0;
let health: Health;
beforeEach(() => {
  nowMs = 1_000_000;
  health = new Health({ now: () => 0, monotonic: () => nowMs });
});

const begin = () => health.begin(EP, EP.provider.keys);
const begun = (count: number) => Array.from({ length: count }, begin);
const outForMs = () => health.of(EP)?.outForMs ?? 0;

/** A call that starts now and ends so at once. */
function report(result: AttemptResult, count = 1): void {
  for (const lane of begun(count)) end(lane, result);
}

function end(lane: LaneLease | undefined, result: AttemptResult): void {
  if (lane === undefined) throw new Error("no lane was given");
  health.onResult(lane, result);
}

describe("cool-down after saturation", () => {
  test("doubles from 1 s to 60 s without a Retry-After", () => {
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      report(SATURATED);
      waits.push(outForMs());
      nowMs += outForMs();
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
  });

  test("honours Retry-After to the millisecond, bounded by an hour; invalid values are ignored", () => {
    report({ ...SATURATED, retryAfterMs: 2500 });
    nowMs += 2499;
    expect(begin()).toBeUndefined();
    nowMs += 1;
    report({ ...SATURATED, retryAfterMs: 1e15 });
    expect(outForMs()).toBe(3_600_000);
    health = new Health({ now: () => 0, monotonic: () => nowMs });
    report({ ...SATURATED, retryAfterMs: -5 });
    expect(outForMs()).toBe(1000);
  });

  test("200 calls refused together count as one refusal, with the longest Retry-After", () => {
    const [slow, slower, ...others] = begun(202);
    for (const lane of others) end(lane, SATURATED);
    expect(outForMs()).toBe(1000);
    end(slow, { ...SATURATED, retryAfterMs: 5000 });
    end(slower, { ...SATURATED, retryAfterMs: 3000 });
    expect(outForMs()).toBe(5000);
  });

  test("O18: after it, exactly one of 200 callers goes through; with each success twice as many may", () => {
    report(SATURATED);
    nowMs += 1000;
    expect(outForMs()).toBe(0);
    const through = () => begun(200).filter((lane) => lane !== undefined);
    const counts: number[] = [];
    let trials = through();
    while (trials.length < 200) {
      counts.push(trials.length);
      expect(outForMs()).toBeGreaterThan(0);
      end(trials[0], OK);
      trials = [...trials.slice(1), ...through()];
    }
    expect(counts).toEqual([1, 2, 4, 8, 16, 32]);
    end(trials.at(-1), SATURATED);
    expect(outForMs()).toBe(1000);
  });

  test("a refused probe lengthens the wait; after another failure the next call probes", () => {
    report(SATURATED);
    nowMs += 1000;
    report(BROKEN);
    const probe = begin();
    expect(begin()).toBeUndefined();
    end(probe, SATURATED);
    expect(outForMs()).toBe(2000);
  });

  test("O18: a probe that is silent was not refused: after three seconds two may try", () => {
    report(SATURATED);
    nowMs += 1000;
    expect(begin()).toBeDefined();
    nowMs += 2_999;
    expect(begin()).toBeUndefined();
    expect(outForMs()).toBe(1);
    nowMs += 1;
    expect(begun(9).filter((lane) => lane !== undefined)).toHaveLength(2);
    // It counts as refused for all that: the next rest is the second.
    nowMs += 3_000;
    end(begin(), SATURATED);
    expect(outForMs()).toBe(2000);
  });

  test("a call started before the cool-down ends neither it nor the slow start", () => {
    const [first, early, late] = begun(3);
    end(first, { ...SATURATED, retryAfterMs: 5000 });
    end(early, OK);
    expect(outForMs()).toBe(5000);
    nowMs += 5000;
    expect(begin()).toBeDefined();
    end(late, OK);
    expect(begin()).toBeUndefined();
  });
});

describe("error rate", () => {
  test("counts the endpoint's failures, not the caller's", () => {
    report(BROKEN, 4);
    report(CLIENT_ERROR, 50);
    report({ outcome: "cancelled", errorClass: "" }, 50);
    expect(health.of(EP)).toMatchObject({ errorRate: 1, failing: true });
  });

  test("decays with time and with further calls: many successes do not hide recent failures", () => {
    report(OK, 1000);
    report(BROKEN, 4);
    expect(health.of(EP)?.errorRate).toBeCloseTo(1 - 2 ** (-4 / 20), 3);
    nowMs += 30_000;
    report(OK);
    nowMs += 500_000;
    expect(health.of(EP)?.errorRate).toBe(0);
  });
});

describe("trouble", () => {
  const failing = () => health.of(EP)?.failing === true;

  test("begins with three failures of an unknown endpoint", () => {
    report(BROKEN, 2);
    expect(failing()).toBe(false);
    report(BROKEN);
    expect(failing()).toBe(true);
  });

  test("begins with five failures in a row, however many successes came before", () => {
    report(OK, 10_000);
    report(BROKEN, 4);
    expect(failing()).toBe(false);
    report(BROKEN);
    expect(failing()).toBe(true);
  });

  test("begins when more than half of the recent calls failed", () => {
    report(OK, 100);
    for (let i = 0; i < 100 && !failing(); i++) {
      report(BROKEN, 3);
      report(OK);
    }
    expect(failing()).toBe(true);
  });

  test("one call probes after a second; the pause doubles up to half a minute", () => {
    report(BROKEN, 3);
    const pauses: number[] = [];
    for (let i = 0; i < 7; i++) {
      let ms = 0;
      while (failing()) {
        nowMs += 100;
        ms += 100;
      }
      pauses.push(ms);
      const probe = begin();
      // For everybody else it is in trouble until the probe is back.
      expect(failing()).toBe(true);
      end(probe, BROKEN);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  test("ends, and is forgotten, after two successes in a row", () => {
    report(BROKEN, 30);
    nowMs += 1000;
    expect(failing()).toBe(false);
    end(begin(), OK);
    expect(failing()).toBe(false);
    const second = begin();
    expect(failing()).toBe(true);
    end(second, OK);
    expect(health.of(EP)).toMatchObject({ failing: false, errorRate: 0 });
    report(BROKEN, 2);
    expect(failing()).toBe(false);
  });

  test("results of calls started before it are ignored", () => {
    const early = begun(20);
    report(BROKEN, 3);
    for (const lane of early.slice(0, 10)) end(lane, OK);
    expect(failing()).toBe(true);
    nowMs += 1000;
    const probe = begin();
    for (const lane of early.slice(10)) end(lane, BROKEN);
    end(probe, OK);
    // Late failures did not begin a longer pause: the next one may try at once.
    expect(failing()).toBe(false);
  });

  test("a probe without a result gives way to the next", () => {
    report(BROKEN, 3);
    nowMs += 1000;
    end(begin(), { outcome: "cancelled", errorClass: "" });
    expect(failing()).toBe(false);
  });

  test("a late call counts as a failure before it ends", () => {
    report({ ...OK, ttftMs: 1000 });
    expect([health.patienceMs(EP, true, []), health.patienceMs(EP, false, [])]).toEqual([5000, 60_000]);
    const silent = begun(5);
    for (const lane of silent) if (lane !== undefined) health.onSilence(lane);
    expect(failing()).toBe(true);
  });
});

describe("latency and speed", () => {
  test("recent calls weigh more", () => {
    report({ ...OK, ttftMs: 1000, tokensPerSecond: 10 });
    expect(health.of(EP)).toMatchObject({ ttftMs: 1000, tokensPerSecond: 10, wholeMs: undefined });
    nowMs += 60_000;
    report({ ...OK, ttftMs: 400, tokensPerSecond: 40 });
    const left = 2 ** (-60 / 300 - 1 / 50);
    expect(health.of(EP)?.ttftMs).toBeCloseTo((1000 * left + 400) / (left + 1), 6);
    expect(health.of(EP)?.tokensPerSecond).toBeCloseTo((10 * left + 40) / (left + 1), 6);
  });

  test("a measurement older than a minute is repeated by one call; others use the old one meanwhile", () => {
    report({ ...OK, ttftMs: 1000, wholeMs: 5000 });
    nowMs += 60_001;
    expect(health.of(EP)).toMatchObject({ ttftMs: undefined, wholeMs: undefined, isBeingMeasured: false });
    const trial = begin();
    expect(health.of(EP)).toMatchObject({ ttftMs: 1000, wholeMs: 5000, isBeingMeasured: true });
    end(trial, { ...OK, ttftMs: 200 });
    expect(health.of(EP)).toMatchObject({ ttftMs: 200, isBeingMeasured: false });
  });

  test("a call that measured nothing is not repeated at once", () => {
    end(begin(), { outcome: "cancelled", errorClass: "" });
    expect(health.of(EP)).toMatchObject({ ttftMs: undefined, isBeingMeasured: true });
    nowMs += 10_000;
    expect(health.of(EP)?.isBeingMeasured).toBe(false);
  });
});

test("an endpoint that was never tried has no health and may be tried", () => {
  expect(health.of(EP)).toBeUndefined();
  expect(health.live(EP)).toBeUndefined();
  expect(begin()).toBeDefined();
});

describe("an org's own keys", () => {
  const own = ownPool(EP, "pk_1", "sk-own-1");
  const ownKeys = own.of(EP.provider.id);
  const beginOwn = () => health.begin(EP, ownKeys);
  const seenByOwner = (platformFallback = true) =>
    health.with({ ...own, platformFallback: () => platformFallback }).of(EP);

  test("do not affect the endpoint when they are refused or used up, but its failures count", () => {
    end(beginOwn(), { ...SATURATED });
    expect(health.of(EP)).toMatchObject({ outForMs: 0, errorRate: 0 });
    nowMs += 1000;
    end(beginOwn(), REVOKED);
    expect(health.of(EP)).toMatchObject({ outForMs: 0, errorRate: 0 });
    nowMs += 60_000;
    end(beginOwn(), BROKEN);
    expect(health.of(EP)?.errorRate).toBe(1);
    end(beginOwn(), { ...OK, ttftMs: 100 });
    expect(health.of(EP)?.errorRate).toBeCloseTo(0.49, 2);
    expect(health.of(EP)?.ttftMs).toBe(100);
  });

  test("keep the endpoint usable for their org only, while the platform's are out", () => {
    report({ ...SATURATED, retryAfterMs: 9000 });
    expect(seenByOwner()).toMatchObject({ outForMs: 0 });
    expect(outForMs()).toBe(9000);
    end(beginOwn(), { ...SATURATED, retryAfterMs: 4000 });
    expect(seenByOwner()).toMatchObject({ outForMs: 4000 });
    expect(seenByOwner(false)).toMatchObject({ outForMs: 4000 });
  });

  test("that are out are replaced by the platform's, if the org allows it", () => {
    report(OK);
    end(beginOwn(), { ...SATURATED, retryAfterMs: 4000 });
    expect(seenByOwner()).toMatchObject({ outForMs: 0 });
    expect(seenByOwner(false)).toMatchObject({ outForMs: 4000 });
  });

  test("reach an endpoint without a platform key", () => {
    const alone = { ...EP, id: "alone", provider: { ...EP.provider, keys: [] } };
    expect(health.of(alone)).toBeUndefined();
    expect(health.begin(alone, alone.provider.keys)).toBeUndefined();
    end(health.begin(alone, ownKeys), { ...SATURATED, retryAfterMs: 4000 });
    expect(health.of(alone)).toMatchObject({ outForMs: 0 });
    expect(health.with(own).of(alone)).toMatchObject({ outForMs: 4000 });
  });
});

describe("in one word", () => {
  const state = () => health.live(EP)?.state;

  test("matches the figures", () => {
    report(OK, 8);
    expect(state()).toBe("healthy");
    report(BROKEN);
    expect(state()).toBe("degraded");
    report(BROKEN, 9);
    expect(state()).toBe("failing");
    report(SATURATED);
    expect(state()).toBe("saturated");
    nowMs += 3_600_000;
    expect(state()).toBe("unknown");
  });

  test("distinguishes refused credentials from saturation", () => {
    report(REVOKED);
    expect(health.of(EP)).toMatchObject({ outForMs: 60_000, isRefused: true });
    health = new Health({ now: () => 0, monotonic: () => nowMs });
    report(SATURATED);
    expect(health.of(EP)).toMatchObject({ outForMs: 1000, isRefused: false });
  });
});

test("counts each key that is out anywhere once", () => {
  const other = { ...EP, id: "two" };
  const third = pooled("three", "sk-platform-3");
  expect(health.keysCooling()).toBe(0);
  report(SATURATED);
  end(health.begin(other, other.provider.keys), SATURATED);
  end(health.begin(third, third.provider.keys), REVOKED);
  expect(health.keysCooling()).toBe(2);
  nowMs += 1000;
  expect(health.keysCooling()).toBe(1);
});

test("starting, reporting and reading are cheap", () => {
  const lanes = 20_000;
  const keys = Array.from({ length: 16 }, (_, i) => platformKey("p", i + 1, `sk-platform-${i}`));
  const busy = { ...EP, provider: { ...EP.provider, keys } };
  const run = () => {
    for (let i = 0; i < lanes; i++) {
      const lane = health.begin(busy, keys, { affinityKey: `caller ${i % 100}` });
      health.of(busy);
      end(lane, OK);
    }
  };
  run();
  // A pool of 16 with a wish is the dearest case; ten times what it takes, for a busy machine.
  expect((1000 * leastProcessorMs(run, 3)) / lanes).toBeLessThan(30);
});
