/** Which credential a call gets: least loaded, wished for, not cooling down; and that each is given back once. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { ProviderKey } from "../../../../src/base/endpoint.ts";
import { platformKey } from "../../../../src/base/provider-key.ts";
import {
  type LaneLease,
  type LanePreference,
  type LaneResult,
  Lanes,
} from "../../../../src/routing/health/lanes.ts";
import { Recent } from "../../../../src/routing/health/recent.ts";
import { ownPool, pooled } from "../../../support/routing/fixtures.ts";

const OK: LaneResult = { outcome: "ok", errorClass: "" };
const SATURATED: LaneResult = { outcome: "rate_limited", errorClass: "capacity" };
const BROKEN: LaneResult = { outcome: "http_error", errorClass: "server" };
const REVOKED: LaneResult = { outcome: "http_error", errorClass: "auth", httpStatus: 401 };
const FORBIDDEN: LaneResult = { outcome: "http_error", errorClass: "auth", httpStatus: 403 };

const EP = pooled("one", "sk-first-1", "sk-second-2", "sk-third-3");
/** Another endpoint of the same provider. */
const TWIN = { ...EP, id: "twin" };
const { keys } = EP.provider;
const [first, second, third] = keys as [ProviderKey, ProviderKey, ProviderKey];

let nowMs: number;
let lanes: Lanes;
beforeEach(() => {
  nowMs = 1_000_000;
  lanes = new Lanes();
});

const takeAt = (endpoint: typeof EP, among: readonly ProviderKey[] = keys, wish?: LanePreference) =>
  lanes.take(endpoint, among, wish, nowMs);
const take = (wish?: LanePreference) => takeAt(EP, keys, wish);
const waitMs = (among: readonly ProviderKey[] = keys, endpoint = EP) =>
  lanes.waitMs(endpoint.id, among, nowMs);
const loads = () => keys.map((key) => lanes.inFlight(EP.id, key, nowMs));

function give(lane: LaneLease | undefined, result: LaneResult): boolean {
  if (lane === undefined) throw new Error("no lane was given");
  return lanes.giveBack(lane, result, nowMs);
}

describe("the choice", () => {
  test("is the key with the fewest calls in flight; equal keys rotate", () => {
    const held = Array.from({ length: 9 }, () => take());
    expect(loads()).toEqual([3, 3, 3]);
    for (const lane of held) if (lane?.key === second) give(lane, OK);
    expect([take()?.key, take()?.key, take()?.key]).toEqual([second, second, second]);
    // One call at a time: each key in its turn, none left idle.
    const alone = Array.from({ length: 6 }, () => {
      const lane = takeAt(TWIN);
      give(lane, OK);
      return lane?.key.id;
    });
    expect(new Set(alone.slice(0, 3)).size).toBe(3);
    expect(alone.slice(3)).toEqual(alone.slice(0, 3));
  });

  test("T49: a conversation goes back to the credential that made it, however busy, unless that is out", () => {
    const wish = { keyId: third.id };
    const held = Array.from({ length: 20 }, () => take(wish));
    expect(loads()).toEqual([0, 0, 20]);
    give(held[0], SATURATED);
    expect(take(wish)?.key).not.toBe(third);
    expect(take({ keyId: "elsewhere/1" })).toBeDefined();
  });

  test("keeps a caller at its key, spreads callers, and leaves a key that is much busier", () => {
    const keyOf = (affinityKey: string) => {
      const lane = take({ affinityKey });
      give(lane, OK);
      return lane?.key;
    };
    const callers = Array.from({ length: 300 }, (_, i) => `org/user-${i}`);
    const before = callers.map(keyOf);
    expect(callers.map(keyOf)).toEqual(before);
    for (const key of keys) expect(before.filter((k) => k === key).length).toBeGreaterThan(60);

    const held = Array.from({ length: 12 }, () => take({ affinityKey: "org/user-0" }));
    const home = before[0] as ProviderKey;
    const [least = 0] = loads().sort((a, b) => a - b);
    // At most two more than the least loaded had, and the one that is put on top of them.
    expect(lanes.inFlight(EP.id, home, nowMs) - least).toBeLessThanOrEqual(3);
    for (const lane of held) give(lane, OK);

    // A key that is out moves its own callers, and no others.
    give(take({ keyId: home.id }), SATURATED);
    for (const [i, caller] of callers.entries()) {
      if (before[i] === home) expect(keyOf(caller)).not.toBe(home);
      else expect(keyOf(caller)).toBe(before[i]);
    }
  });
});

describe("cool-down", () => {
  test("affects one key at one endpoint: other keys and endpoints continue", () => {
    give(take({ keyId: first.id }), { ...SATURATED, retryAfterMs: 5000 });
    expect(waitMs()).toBe(0);
    expect(waitMs([first])).toBe(5000);
    expect(waitMs([first], TWIN)).toBe(0);
    expect(Array.from({ length: 6 }, () => take()?.key)).not.toContain(first);
  });

  test("of all keys: the wait is that of the first to return", () => {
    for (const [i, key] of keys.entries()) {
      give(take({ keyId: key.id }), { ...SATURATED, retryAfterMs: 3000 - i * 1000 });
    }
    expect(waitMs()).toBe(1000);
    expect(take()).toBeUndefined();
    expect(waitMs([])).toBe(Number.POSITIVE_INFINITY);
  });

  test("after it, 200 simultaneous calls make one probe per lane", () => {
    for (const key of keys) give(take({ keyId: key.id }), SATURATED);
    nowMs += 1000;
    const probes = Array.from({ length: 200 }, () => take()).filter((lane) => lane !== undefined);
    expect(probes.map(({ key }) => key.id).sort()).toEqual(keys.map(({ id }) => id));
    give(probes[0], OK);
    const behind = Array.from({ length: 200 }, () => take()?.key).filter((key) => key !== undefined);
    expect(behind).toEqual([probes[0]?.key, probes[0]?.key]);
  });

  test("O18: ends with the first content of a probe, not with its end", () => {
    give(take({ keyId: first.id }), SATURATED);
    nowMs += 1000;
    const probe = takeAt(EP, [first]) as LaneLease;
    expect(takeAt(EP, [first])).toBeUndefined();
    lanes.accepted(probe, nowMs);
    const next = [takeAt(EP, [first]), takeAt(EP, [first])];
    expect(next).not.toContain(undefined);
    expect(takeAt(EP, [first])).toBeUndefined();
    // Whatever is told of it again says nothing new.
    lanes.accepted(probe, nowMs);
    give(probe, OK);
    lanes.accepted(probe, nowMs);
    expect(takeAt(EP, [first])).toBeUndefined();
    nowMs += 5000;
    expect(Array.from({ length: 200 }, () => takeAt(EP, [first]))).not.toContain(undefined);
  });

  test("O18: steps up also where content came before the refusal, as errors under 200 do", () => {
    const waits: number[] = [];
    for (let i = 0; i < 5; i++) {
      const lane = takeAt(EP, [first]) as LaneLease;
      lanes.accepted(lane, nowMs);
      give(lane, SATURATED);
      waits.push(waitMs([first]));
      nowMs += waitMs([first]);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000]);
  });

  test("O18: without another endpoint lasts as long as the provider asked for, else two seconds at most", () => {
    const pressed = () => lanes.waitMs(EP.id, [first], nowMs, true);
    const waits: number[] = [];
    for (let i = 0; i < 5; i++) {
      give(takeAt(EP, [first], { isLastResort: true }), SATURATED);
      waits.push(pressed());
      nowMs += pressed();
    }
    expect(waits).toEqual([1000, 2000, 2000, 2000, 2000]);
    // For all who have another one it is the usual rest, counted from the last refusal.
    expect(waitMs([first])).toBe(14_000);
    expect(takeAt(EP, [first])).toBeUndefined();
    give(takeAt(EP, [first], { isLastResort: true }), { ...SATURATED, retryAfterMs: 7000 });
    expect([pressed(), waitMs([first])]).toEqual([7000, 7000]);
    nowMs += 7000;
    // A call that is taken opens it to the others, too.
    lanes.accepted(takeAt(EP, [first], { isLastResort: true }) as LaneLease, nowMs);
    expect(waitMs([first])).toBe(0);
  });

  test("backoff and slow start are separate for each lane", () => {
    give(take({ keyId: first.id }), SATURATED);
    nowMs += 1000;
    give(take({ keyId: first.id }), SATURATED);
    give(take({ keyId: second.id }), SATURATED);
    expect([waitMs([first]), waitMs([second])]).toEqual([2000, 1000]);
  });
});

describe("a credential that is refused", () => {
  test("is out at every endpoint for a minute; then one call probes it, at any endpoint", () => {
    give(take({ keyId: first.id }), REVOKED);
    expect([waitMs([first]), waitMs([first], TWIN), waitMs([second])]).toEqual([60_000, 60_000, 0]);
    expect(Array.from({ length: 6 }, () => takeAt(TWIN)?.key)).not.toContain(first);
    nowMs += 60_000;
    const probe = takeAt(TWIN, [first]);
    expect(probe).toBeDefined();
    expect([takeAt(TWIN, [first]), takeAt(EP, [first])]).toEqual([undefined, undefined]);
    give(probe, REVOKED);
    expect(waitMs([first])).toBe(60_000);
    nowMs += 60_000;
    give(takeAt(EP, [first]), OK);
    expect([waitMs([first]), waitMs([first], TWIN)]).toEqual([0, 0]);
  });

  test("is probed again when it is the only key, and when its probe had no result", () => {
    give(takeAt(EP, [first]), { ...REVOKED, httpStatus: 402 });
    nowMs += 60_000;
    give(takeAt(EP, [first]), { outcome: "timeout", errorClass: "timeout" });
    expect(waitMs([first])).toBe(0);
    give(takeAt(EP, [first]), { outcome: "cancelled", errorClass: "" });
    // Turned away for the sake of the request, or for capacity: the credential itself was taken.
    give(takeAt(EP, [first]), { outcome: "http_error", errorClass: "client" });
    expect([takeAt(EP, [first]), takeAt(EP, [first])]).not.toContain(undefined);
  });

  test("200 refused together cause one pause, and a call started before does not end it", () => {
    const held = Array.from({ length: 200 }, () => takeAt(EP, [first]));
    const early = takeAt(EP, [first]);
    for (const lane of held) {
      give(lane, REVOKED);
      nowMs += 10;
    }
    expect(waitMs([first])).toBe(58_000);
    give(early, OK);
    expect(waitMs([first])).toBe(58_000);
  });

  test("O18: opens with the first content, and is no shorter for callers with nowhere else to go", () => {
    give(takeAt(EP, [first]), REVOKED);
    expect(lanes.waitMs(EP.id, [first], nowMs, true)).toBe(60_000);
    expect(lanes.areRefused(EP.id, [first], nowMs)).toBe(true);
    expect(lanes.areRefused(EP.id, [first, second], nowMs)).toBe(false);
    nowMs += 60_000;
    const probe = takeAt(TWIN, [first]) as LaneLease;
    expect(takeAt(EP, [first])).toBeUndefined();
    lanes.accepted(probe, nowMs);
    expect(Array.from({ length: 200 }, () => takeAt(EP, [first]))).not.toContain(undefined);
  });

  test("O18: three 403 are told as a refused credential, not as saturation", () => {
    for (let i = 0; i < 3; i++) give(takeAt(EP, [first]), FORBIDDEN);
    expect([waitMs([first]), lanes.areRefused(EP.id, [first], nowMs)]).toEqual([60_000, true]);
    expect(lanes.areRefused(TWIN.id, [first], nowMs)).toBe(false);
    nowMs += 60_000;
    give(takeAt(EP, [first]), SATURATED);
    expect([waitMs([first]), lanes.areRefused(EP.id, [first], nowMs)]).toEqual([2000, false]);
  });

  test("O18: a credential that is taken again after three 403 is not told as refused while calls slowly start", () => {
    for (let i = 0; i < 3; i++) give(takeAt(EP, [first]), FORBIDDEN);
    nowMs += 60_000;
    lanes.accepted(takeAt(EP, [first]) as LaneLease, nowMs);
    // As many as may find out do: those behind them wait for room, not for another credential.
    while (takeAt(EP, [first]) !== undefined);
    expect([waitMs([first]) > 0, lanes.areRefused(EP.id, [first], nowMs)]).toEqual([true, false]);
  });

  test("another credential under the same id starts anew", () => {
    give(takeAt(EP, [first]), REVOKED);
    const replaced = pooled("one", "sk-other-9").provider.keys;
    expect(replaced[0]?.id).toBe(first.id);
    expect(waitMs(replaced)).toBe(0);
    expect(takeAt(EP, replaced)).toBeDefined();
  });

  test("403 may be about one prompt: only several in a row put the lane out, and that lane alone", () => {
    for (const result of [FORBIDDEN, FORBIDDEN, OK, FORBIDDEN, FORBIDDEN]) give(takeAt(EP, [first]), result);
    expect(waitMs([first])).toBe(0);
    give(takeAt(EP, [first]), FORBIDDEN);
    expect([waitMs([first]), waitMs([first], TWIN)]).toEqual([60_000, 0]);
    nowMs += 60_000;
    give(takeAt(EP, [first]), FORBIDDEN);
    expect(waitMs([first])).toBe(60_000);
  });

  test("without an obtainable token is retried soon, then less and less often", () => {
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      give(takeAt(EP, [first]), { outcome: "connect_error", errorClass: "auth", httpStatus: 0 });
      waits.push(waitMs([first], TWIN));
      nowMs += waitMs([first]);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
    give(takeAt(EP, [first]), OK);
    expect(waitMs([first])).toBe(0);
  });

  test("does not exist where a provider takes calls without one", () => {
    const none = platformKey("open", 1, undefined);
    for (const result of [REVOKED, FORBIDDEN, FORBIDDEN, FORBIDDEN]) give(takeAt(EP, [none]), result);
    expect(waitMs([none])).toBe(0);
  });
});

describe("giving back", () => {
  test("counts once: a second report of the same lease is ignored, as is an unknown lease", () => {
    const lane = take();
    expect(give(lane, OK)).toBe(true);
    expect(give(lane, SATURATED)).toBe(false);
    expect(loads()).toEqual([0, 0, 0]);
    expect(waitMs(keys.slice(0, 1))).toBe(0);
    expect(give({ endpoint: EP, key: first, sinceMs: 0 }, OK)).toBe(false);
  });

  test("after any mixture of calls, waits and outcomes no call is left in flight", () => {
    const outcomes = [
      OK,
      SATURATED,
      BROKEN,
      REVOKED,
      FORBIDDEN,
      { outcome: "cancelled", errorClass: "" } as const,
    ];
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 120 }), (seed, calls) => {
        lanes = new Lanes();
        const random = seededRandom(seed);
        const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
        const own = ownPool(EP, "pk_1", "sk-own-1").of(EP.provider.id);
        const held: LaneLease[] = [];
        for (let i = 0; i < calls; i++) {
          const among = pick([keys, [first], own, [...own, ...keys]]);
          const wish = pick([undefined, { keyId: second.id }, { affinityKey: `u${i % 5}` }]);
          const lane = takeAt(pick([EP, TWIN]), among, wish);
          if (lane !== undefined) {
            expect(among).toContain(lane.key);
            held.push(lane);
          }
          if (random() < 0.6 && held.length > 0) {
            const [one] = held.splice(Math.floor(random() * held.length), 1);
            give(one, pick(outcomes));
            if (random() < 0.2) expect(give(one, pick(outcomes))).toBe(false);
          }
          nowMs += pick([0, 1, 700, 61_000]);
        }
        for (const lane of held) give(lane, pick(outcomes));
        for (const endpoint of [EP, TWIN]) {
          for (const key of [...keys, ...own]) expect(lanes.inFlight(endpoint.id, key, nowMs)).toBe(0);
        }
        // Whatever happened, an hour later everything may be tried.
        nowMs += 3_600_000;
        expect(waitMs()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe("lanes of orgs' own keys", () => {
  const [own] = ownPool(EP, "pk_1", "sk-own-1").of(EP.provider.id) as [ProviderKey];

  test("are forgotten when idle for an hour or two, and only then", () => {
    give(takeAt(EP, [own]), { ...SATURATED, retryAfterMs: 3_600_000 });
    nowMs += 3_599_999;
    expect(waitMs([own])).toBe(1);
    nowMs += 7_200_000;
    give(takeAt(EP, [own]), SATURATED);
    // Not the second step: what came before is forgotten.
    expect(waitMs([own])).toBe(1000);
  });

  test("Recent keeps values in use and at most twice its bound", () => {
    const recent = new Recent<number>(1000, 100);
    for (let i = 0; i < 1000; i++) {
      recent.set(`k${i}`, i, nowMs);
      recent.get("k0", nowMs);
    }
    expect(recent.get("k0", nowMs)).toBe(0);
    expect([...recent.values()].length).toBeLessThanOrEqual(201);
    nowMs += 1500;
    expect(recent.get("k999", nowMs)).toBe(999);
    nowMs += 5000;
    expect(recent.get("k999", nowMs)).toBeUndefined();
    expect([...recent.values()]).toEqual([]);
  });
});
