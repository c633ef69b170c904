/** S5: what one org's calls are answered rests nothing that all orgs use, unless the gateway's own question or other orgs say the same. */
import { beforeEach, describe, expect, test } from "vitest";
import type { ProviderKey } from "../../../../src/base/endpoint.ts";
import { type AttemptResult, Health } from "../../../../src/routing/health/health.ts";
import { ASK_AGAIN_MS } from "../../../../src/routing/health/suspicions.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";
import { endpoint, provider } from "../../../support/routing/fixtures.ts";

const KEY: ProviderKey = { id: "p/1", hint: "0001", poolId: "pool_p", isByok: false, credential: "sk-0001" };
const OWN: ProviderKey = { ...KEY, id: "pk_1", isByok: true };
const EP = endpoint("e", { provider: { ...provider("p"), keys: [KEY] } });
const OTHER = endpoint("f", { provider: { ...provider("p"), keys: [KEY] } });

let clock: ManualClock;
let health: Health;
let asked: string[];
beforeEach(() => {
  clock = new ManualClock("2026-09-09T00:00:00Z");
  health = new Health(clock);
  asked = [];
  health.onSuspicion(({ id }, key) => void asked.push(`${id} ${key.id}`));
});

function call(result: AttemptResult, at = EP, key = KEY): void {
  const lane = health.begin(at, [key]);
  if (lane !== undefined) health.onResult(lane, result);
}
const OK = { outcome: "ok", errorClass: "", httpStatus: 200 } as const;
const refused = (httpStatus: number, orgId = "bad"): AttemptResult => ({
  outcome: "http_error",
  errorClass: "auth",
  httpStatus,
  orgId,
});
const capacity = (orgId: string): AttemptResult => ({
  outcome: "rate_limited",
  errorClass: "capacity",
  httpStatus: 429,
  retryAfterMs: 60_000,
  orgId,
});
const failed = (errorClass: "server" | "timeout" | "network", orgId: string): AttemptResult => ({
  outcome: errorClass === "network" ? "connect_error" : "http_error",
  errorClass,
  orgId,
});
const outForMs = (at = EP) => health.of(at)?.outForMs ?? 0;

describe("S5: a refused key", () => {
  test.each([401, 402, 400, 429])("is asked about after %d, and out once the provider says so", (status) => {
    call(refused(status));
    expect([asked, outForMs()]).toEqual([["e p/1"], 0]);
    health.probed(EP, KEY, refused(401));
    expect([outForMs(), outForMs(OTHER)]).toEqual([60_000, 60_000]);
  });

  test("is asked about after three 403 in a row, and out at that endpoint alone", () => {
    for (let i = 0; i < 3; i++) {
      expect(asked).toEqual([]);
      call(refused(403));
    }
    expect([asked, outForMs()]).toEqual([["e p/1"], 0]);
    health.probed(EP, KEY, refused(403));
    expect([outForMs(), outForMs(OTHER)]).toEqual([60_000, 0]);
  });

  test("is asked about once at a time, and again only a while after the answer", () => {
    for (let i = 0; i < 50; i++) call(refused(401));
    clock.advance(60_000);
    for (let i = 0; i < 50; i++) call(refused(401));
    expect(asked).toHaveLength(1);
    health.probed(EP, KEY, OK);
    clock.advance(ASK_AGAIN_MS - 1);
    call(refused(401));
    expect([asked.length, outForMs()]).toEqual([1, 0]);
    clock.advance(1);
    call(refused(401));
    expect([asked.length, outForMs()]).toEqual([2, 0]);
  });

  test("is asked about ever more rarely while the provider keeps accepting it", () => {
    const pauses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const before = asked.length;
      let ms = 0;
      for (call(refused(401)); asked.length === before; call(refused(401))) {
        clock.advance(1000);
        ms += 1000;
      }
      pauses.push(ms);
      health.probed(EP, KEY, OK);
    }
    expect(pauses).toEqual([0, 10_000, 20_000, 40_000, 60_000, 60_000]);
    clock.advance(60_000);
    call(refused(401));
    health.probed(EP, KEY, undefined);
    clock.advance(ASK_AGAIN_MS);
    call(refused(401));
    expect(asked).toHaveLength(8);
  });

  test("is asked about at each endpoint by itself", () => {
    call(refused(401));
    call(refused(401), OTHER);
    expect(asked).toEqual(["e p/1", "f p/1"]);
  });

  test("that has rested is not put to rest again by a call, only by the provider's answer", () => {
    call(refused(401));
    health.probed(EP, KEY, refused(401));
    clock.advance(60_000);
    call(refused(401));
    expect([asked.length, outForMs()]).toEqual([2, 0]);
    health.probed(EP, KEY, OK);
    call({ ...OK, orgId: "good" });
    expect(outForMs()).toBe(0);
  });

  test.each([401, 403])(
    "is back for all once the provider accepts it, whatever calls are on trial (%d)",
    (status) => {
      for (let i = 0; i < 3; i++) call(refused(status));
      health.probed(EP, KEY, refused(status));
      clock.advance(60_000);
      // A caller's own refusal makes the gateway ask; another one takes the only trial, and hangs.
      call(refused(status));
      expect(asked).toHaveLength(2);
      health.begin(EP, [KEY]);
      expect(outForMs()).toBeGreaterThan(0);
      health.probed(EP, KEY, OK);
      expect(outForMs()).toBe(0);
      for (let i = 0; i < 50; i++) expect(health.begin(EP, [KEY])).toBeDefined();
    },
  );

  test("rests not when nothing was found out", () => {
    call(refused(401));
    health.probed(EP, KEY, undefined);
    expect(outForMs()).toBe(0);
  });

  test("of an org itself is out for that org by its own calls, unasked", () => {
    call(refused(401), EP, OWN);
    const own = { of: () => [OWN], platformFallback: () => false };
    expect([asked, health.with(own).of(EP)?.outForMs, outForMs()]).toEqual([[], 60_000, 0]);
  });

  test("is told of to others once the provider has said so, and not before", () => {
    call(refused(401));
    expect(health.cooling(EP, KEY)).toBeUndefined();
    health.probed(EP, KEY, refused(401));
    expect(health.cooling(EP, KEY)).toMatchObject({ keyId: "p/1", refusedForMs: 60_000 });
  });
});

describe("S5: a lane that says it has no capacity", () => {
  test("is out at once where all calls are of one org, or several are refused", () => {
    call(capacity("one"));
    expect(outForMs()).toBe(60_000);
    clock.advance(60_000);
    call({ ...OK, orgId: "two" });
    call(capacity("one"));
    expect(outForMs()).toBe(0);
    call(capacity("two"));
    expect(outForMs()).toBe(60_000);
  });

  test("is not, however often one org is told so, while it serves another", () => {
    for (let i = 0; i < 50; i++) {
      call({ ...OK, orgId: "good" });
      call(capacity("bad"));
      expect(outForMs()).toBe(0);
      clock.advance(1000);
    }
  });
});

describe("S5: an endpoint where one org's calls fail", () => {
  test.each(["server", "timeout"] as const)("is healthy while it answers another (%s)", (errorClass) => {
    for (let i = 0; i < 50; i++) {
      call({ ...OK, orgId: "good" });
      for (let j = 0; j < 10; j++) call(failed(errorClass, "bad"));
      expect(health.of(EP)).toMatchObject({ failing: false, errorRate: 0 });
      clock.advance(1000);
    }
    expect(health.outage(EP)).toBeUndefined();
  });

  test("fails where several orgs meet it, where nobody else calls, and where it cannot be reached", () => {
    call({ ...OK, orgId: "good" });
    for (const orgId of ["bad", "good", "bad", "bad", "bad", "bad"]) call(failed("server", orgId));
    expect(health.of(EP)?.failing).toBe(true);
    for (let i = 0; i < 5; i++) call(failed("server", "alone"), OTHER);
    expect(health.of(OTHER)?.failing).toBe(true);
    const third = endpoint("g", { provider: EP.provider });
    call({ ...OK, orgId: "good" }, third);
    for (let i = 0; i < 5; i++) call(failed("network", "bad"), third);
    expect(health.of(third)?.failing).toBe(true);
  });
});
