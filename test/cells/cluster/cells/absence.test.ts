/** Redis is away for an hour of virtual time: a cell serves from its leases, then nobody, and comes back by itself. */

import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../src/base/clock.ts";
import { HOUR_MS } from "../../../../src/base/time.ts";
import type { Hold } from "../../../../src/credits/ledger/purse.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import { keptCell, said } from "./answers/answers-rig.ts";
import {
  type BudgetCell,
  begin,
  ENOUGH,
  hard,
  type OpenCall,
  openTimedBench,
  scopeOf,
  settle,
} from "./budgets/budgets-fixtures.ts";
import { type CreditCell, charge, HeardLedger, openCreditCell, post } from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
/** Below the gap after which a cell knows that it stood still. */
const STEP_MS = 400;
/** `cells.stale_ms`: far more than what these tests wait for really. */
const STALE_MS = 25_000;
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
    cell = await openCreditCell(bench, "away", ledger, { url: proxy.url, clock, staleMs: STALE_MS });
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

  test("C3: a cell that heard no beat for `cells.stale_ms` admits nothing, and what was revoked meanwhile is so when it is back", async () => {
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
      status: 503,
      retryAfterMs: 1000,
    });
    // Beats come through before the changes do.
    proxy.cutBefore("XREAD", 4);
    proxy.refuse(false);
    await until("the cell is current", () => cell.store.healthy());
    // Never current before it has what it missed.
    expect(keys(cell).get("key")).toBe("revoked");
  });

  test("an hour: leases are spent for `cells.stale_ms` at most, then 503 at once, and every charge is made once when Redis is back", async () => {
    await post(cell, "org", 100_000_000);
    for (let n = 0; n < 40; n++) await charge(cell, (await cell.purse.hold("org", 1000)) as Hold, 900);
    await until(
      "credit is held without asking Redis",
      () => cell.purse.hold("org", 10) instanceof Promise,
      equals(false),
    );
    proxy.refuse(true);
    const leased = cell.purse.hold("org", 1000);
    expect(leased).not.toBeInstanceOf(Promise);
    const atOnce = charge(cell, leased as Hold, 900);
    const long = cell.purse.hold("org", 1000) as Hold;
    pass(STALE_MS - 10_000);
    expect(cell.purse.hold("org", 10)).not.toBeInstanceOf(Promise);
    pass(11_000);
    // The first one asks Redis, and hears nothing.
    await expect(cell.purse.hold("org", 10)).rejects.toMatchObject({ status: 503, retryAfterMs: 1000 });
    for (let minute = 0; minute < 60; minute++) {
      // The others at once: without a turn of the event loop, in which Redis could answer.
      const refused = Promise.resolve(cell.purse.hold("org", 10)).catch((error: unknown) => error);
      expect(await Promise.race([refused, turn("waits")])).toMatchObject({ status: 503, retryAfterMs: 1000 });
      pass(HOUR_MS / 60);
    }
    // A call that ran all the time is charged too.
    const late = charge(cell, long, 1000);
    await Promise.all([atOnce, late]);
    expect(cell.ended()).toBeUndefined();
    proxy.refuse(false);
    await until("credit can be held again", async () => {
      const held = await Promise.resolve(cell.purse.hold("org", 10)).catch(() => undefined);
      if (held !== undefined) cell.purse.release(held as Hold);
      return held !== undefined;
    });
    await cell.purse.close();
    await until("all charges are in the ledger", () => ledger.of("org").length, equals(42));
    expect([...ledger.requests.values()].every((count) => count === 1)).toBe(true);
    expect(ledger.of("org").at(-1)?.balanceMicroUsd).toBe(100_000_000 - 41 * 900 - 1000);
  });

  test("an hour: an Idempotency-Key that the cell had claimed stays its own, no other is claimed there, and its answer comes when it is back", async () => {
    const [away, near] = [
      await keptCell(bench, "kept", { url: proxy.url, clock }),
      await keptCell(bench, "near"),
    ];
    const claim = await away.claim("held");
    expect(said(claim)).toBe("first");
    proxy.refuse(true);
    for (let minute = 0; minute < 60; minute += 10) {
      expect(said(await away.claim("held"))).toBe("idempotency_in_progress");
      const unavailable = { status: 503, retryAfterMs: 1000 };
      await expect(away.claim(`new ${minute}`)).rejects.toMatchObject(unavailable);
      expect(said(await near.claim("held"))).toBe("idempotency_in_progress");
      pass(HOUR_MS / 6);
    }
    // Its call ended meanwhile.
    const answered = away.answer(claim, "the answer");
    proxy.refuse(false);
    await answered;
    await until("the answer has come", async () => said(await near.claim("held")), equals("the answer"));
    // What was refused was not claimed by anybody.
    for (let minute = 0; minute < 60; minute += 10)
      await until(
        "keys are given again",
        async () => said(await near.claim(`new ${minute}`)),
        equals("first"),
      );
    for (const each of [away, near]) await each.stop();
  });
});

const errorOf = (error: unknown) => error;

describe.skipIf(missing !== undefined)(
  `absence over midnight${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    const MIDNIGHT_MS = Date.UTC(2027, 3, 2);
    const DAILY = 1_000_000;

    test("a cell that is away spends nothing of the day that is over or the one that began, and both add up when it is back", async () => {
      const bench = await openTimedBench();
      const proxy = await startFaultProxy(bench.url);
      try {
        let nowMs = MIDNIGHT_MS - 10_000;
        const timed: Clock = { now: () => nowMs, monotonic: () => systemClock.monotonic() + nowMs };
        const setTime = async (ms: number) => {
          nowMs = ms;
          await bench.set(ms);
        };
        await setTime(nowMs);
        const scope = scopeOf("away", { keyDaily: hard(DAILY) });
        await bench.link.call("HSET", `{weir}:credit:${scope.orgId}`, "n", 0, "b", ENOUGH);
        const known = { scopeOf: () => scope, clock: timed, waitMs: 1000 };
        const away = await bench.cell("away", { ...known, url: proxy.url });
        const other = await bench.cell("other", known);
        const spent = new Map<string, number>();
        const pay = async (call: OpenCall, microUsd: number) => {
          const day = await settle(call, microUsd);
          spent.set(day, (spent.get(day) ?? 0) + microUsd);
        };
        for (let n = 0; n < 40; n++) await pay((await begin(away, scope, 1000)) as OpenCall, 1000);
        const long = (await begin(away, scope, 5000)) as OpenCall;
        proxy.refuse(true);
        /** Calls of 1,000 until there is no more. @returns how the last one was refused */
        const exhaust = async (cell: BudgetCell) => {
          for (;;) {
            const call = await begin(cell, scope, 1000).catch(errorOf);
            if (!isCall(call)) return call;
            await pay(call, 1000);
          }
        };
        const unavailable = { status: 503, retryAfterMs: 1000 };
        // It pays from what it has leased, most of which it keeps.
        await pay((await begin(away, scope, 1000)) as OpenCall, 1000);
        expect(await exhaust(other)).toMatchObject(unavailable);
        // Its leases would be good for half a minute, but are of the day that is over; an hour later they are not good for any.
        for (const ms of [5000, HOUR_MS]) {
          await setTime(MIDNIGHT_MS + ms);
          expect(await begin(away, scope, 1).catch(errorOf)).toMatchObject(unavailable);
        }
        expect(await exhaust(other)).toMatchObject(unavailable);
        proxy.refuse(false);
        await pay(long, 5000);
        await until(
          "the budget is seen to be spent",
          () => exhaust(away),
          (seen) => expect(seen).toMatchObject({ admitted: false }) ?? true,
        );
        for (const [day, microUsd] of spent) expect(microUsd, day).toBeLessThanOrEqual(DAILY);
        // With what the call that ran over midnight cost.
        expect(spent.get(new Date(MIDNIGHT_MS).toISOString().slice(0, 10))).toBe(DAILY);
        const total = [...spent.values()].reduce((a, b) => a + b);
        await until(
          "all that was spent has left the balance",
          async () =>
            Number(
              ((await bench.link.call("HGET", `{weir}:credit:${scope.orgId}`, "b")) as Buffer).toString(),
            ),
          equals(ENOUGH - total),
        );
      } finally {
        proxy.refuse(false);
        await bench.close();
        await proxy.close();
      }
    });
  },
);

const isCall = (call: unknown): call is OpenCall =>
  typeof call === "object" && call !== null && "credit" in call;
