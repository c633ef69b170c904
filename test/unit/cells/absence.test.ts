/** Redis is away for an hour of virtual time: a cell serves from its leases, then nobody, and comes back by itself. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { STALE_MS } from "../../../src/cells/beats.ts";
import { type Clock, systemClock } from "../../../src/clock.ts";
import type { Hold } from "../../../src/credits/purse.ts";
import { type CreditCell, charge, HeardLedger, openCreditCell, post } from "./credit-fixtures.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { type Bench, openBench } from "./fixtures.ts";
import { missingRedis } from "./redis-server.ts";

const missing = missingRedis();
/** Below the gap after which a cell knows that it stood still. */
const STEP_MS = 400;
const HOUR_MS = 3_600_000;
let aheadMs = 0;
const clock: Clock = {
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic() + aheadMs,
};

describe.skipIf(missing !== undefined)(`absence${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let proxy: FaultProxy;
  let cell: CreditCell;
  let other: CreditCell;
  const ledger = new HeardLedger();
  beforeEach(async () => {
    aheadMs = 0;
    bench = await openBench();
    proxy = await startFaultProxy(bench.redis.url);
    cell = await openCreditCell(bench, "away", ledger, { url: proxy.url, clock });
    other = await openCreditCell(bench, "other", ledger);
  });
  afterEach(async () => {
    proxy.refuse(false);
    for (const made of [cell, other]) await made.stop();
    await bench.close();
    await proxy.close();
  });

  /** Virtual time goes on without a gap: the process did not stand still. */
  function pass(ms: number): void {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      aheadMs += Math.min(leftMs, STEP_MS);
      cell.store.healthy();
    }
  }

  test("a cell that heard no beat for 30 s admits nothing, and what was revoked meanwhile is so when it is back", async () => {
    const keys = (at: CreditCell) => at.store.table<string>("keys");
    await other.store.act(() => keys(other).put("key", "active"));
    await cell.caughtUp();
    proxy.refuse(true);
    expect(cell.standing().beatAgeMs).toBeLessThan(5000);
    await other.store.act(() => keys(other).put("key", "revoked"));
    pass(STALE_MS - 5000 - STEP_MS);
    expect([cell.store.healthy(), cell.standing().isInTouch]).toEqual([true, true]);
    pass(5000 + STEP_MS);
    expect([cell.store.healthy(), cell.standing().isInTouch]).toEqual([false, false]);
    await expect(cell.store.act(() => keys(cell).put("key", "active"))).rejects.toMatchObject({
      ...{ status: 503, retryAfterMs: 1000 },
    });
    // Beats come through before the changes do.
    proxy.cutBefore("XREAD", 4);
    proxy.refuse(false);
    while (!cell.store.healthy()) await new Promise((resolve) => setTimeout(resolve, 2));
    // Never current before it has what it missed.
    expect(keys(cell).get("key")).toBe("revoked");
  });

  test("an hour: leases are spent for 30 s at most, then 503 at once, and every charge is made once when Redis is back", async () => {
    await post(cell, "org", 100_000_000);
    for (let n = 0; n < 40; n++) await charge(cell, (await cell.purse.hold("org", 1000)) as Hold, 900);
    await expect.poll(() => cell.purse.hold("org", 10) instanceof Promise).toBe(false);
    proxy.refuse(true);
    const leased = cell.purse.hold("org", 1000);
    expect(leased).not.toBeInstanceOf(Promise);
    const atOnce = charge(cell, leased as Hold, 900);
    const long = cell.purse.hold("org", 1000) as Hold;
    pass(20_000);
    expect(cell.purse.hold("org", 10)).not.toBeInstanceOf(Promise);
    pass(11_000);
    const tookMs: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      const sinceMs = performance.now();
      await expect(cell.purse.hold("org", 10)).rejects.toMatchObject({ status: 503, retryAfterMs: 1000 });
      tookMs.push(performance.now() - sinceMs);
      pass(HOUR_MS / 60);
    }
    // Nobody waited for Redis, whatever else this machine does.
    expect(tookMs.sort((a, b) => a - b)[30]).toBeLessThan(500);
    // A call that ran all the time is charged too.
    const late = charge(cell, long, 1000);
    await Promise.all([atOnce, late]);
    expect(cell.ended()).toBeUndefined();
    proxy.refuse(false);
    await expect
      .poll(
        async () => {
          const held = await Promise.resolve(cell.purse.hold("org", 10)).catch(() => undefined);
          if (held !== undefined) cell.purse.release(held as Hold);
          return held !== undefined;
        },
        { timeout: 10_000 },
      )
      .toBe(true);
    await cell.purse.close();
    await expect.poll(() => ledger.of("org").length, { timeout: 10_000 }).toBe(42);
    expect([...ledger.requests.values()].every((count) => count === 1)).toBe(true);
    expect(ledger.of("org").at(-1)?.balanceMicroUsd).toBe(100_000_000 - 41 * 900 - 1000);
  });
});
