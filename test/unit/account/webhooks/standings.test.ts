/** Endpoints in trouble: what is spared them, and that they take nothing from others. */

import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Standings } from "../../../../src/account/webhooks/standings.ts";
import { answering } from "../../../support/webhooks/receiver.ts";
import { callerOf, HOUR, MINUTE, openRig, type Rig, SECOND } from "./fixtures.ts";

const GOOD = { isGood: true, elapsedMs: 20, retryAfterMs: 0 };
const BAD = { isGood: false, elapsedMs: 20, retryAfterMs: 0 };

describe("the standing of an endpoint", () => {
  const fail = (standings: Standings, times: number, nowMs: number, tried = BAD) => {
    for (let n = 0; n < times; n++) standings.begin("well", "org", "a")(tried, nowMs);
  };

  test("is well until five failures in a row; then it rests for seconds, and longer each time", () => {
    const standings = new Standings(() => 0.5);
    fail(standings, 4, 0);
    expect([standings.restsUntilMs("a", 0), standings.isTroubled("a")]).toEqual([0, false]);
    fail(standings, 1, 0);
    const rests: number[] = [];
    for (let nowMs = 0, n = 0; n < 12; n++) {
      const untilMs = standings.restsUntilMs("a", nowMs);
      rests.push(untilMs - nowMs);
      nowMs = untilMs;
      fail(standings, 1, nowMs);
    }
    expect(rests.slice(0, 3)).toEqual([3750, 7500, 15_000]);
    expect(Math.max(...rests)).toBe(225_000);
    expect([standings.isTroubled("a"), standings.troubled()]).toEqual([true, 1]);
    standings.begin("well", "org", "a")(GOOD, 0);
    expect([standings.isTroubled("a"), standings.restsUntilMs("a", 0), standings.troubled()]).toEqual([
      false,
      0,
      0,
    ]);
  });

  test("that failed is tried with one delivery at a time", () => {
    const standings = new Standings(() => 0);
    fail(standings, 5, 0);
    const nowMs = standings.restsUntilMs("a", 0);
    expect(standings.restsUntilMs("a", nowMs)).toBe(0);
    const end = standings.begin("well", "org", "a");
    expect(standings.restsUntilMs("a", nowMs)).toBeGreaterThan(nowMs);
    end(undefined, nowMs);
    expect(standings.restsUntilMs("a", nowMs)).toBe(0);
  });

  test("is troubled while it is slow, although it answers well", () => {
    const standings = new Standings(() => 0);
    fail(standings, 1, 0, { ...GOOD, elapsedMs: 5_000 });
    expect([standings.isTroubled("a"), standings.restsUntilMs("a", 0)]).toEqual([true, 0]);
    fail(standings, 12, 0, GOOD);
    expect(standings.isTroubled("a")).toBe(false);
  });

  test("keeps nothing of endpoints that are well", () => {
    const standings = new Standings(() => 0);
    const ends = Array.from({ length: 256 }, () => standings.begin("well", "org", "a"));
    expect([
      standings.running,
      standings.isCrowded("well", "org"),
      standings.isCrowded("well", "other"),
    ]).toEqual([256, true, false]);
    for (const end of ends) end(GOOD, 0);
    expect([standings.running, standings.isCrowded("well", "org"), standings.troubled()]).toEqual([
      0,
      false,
      0,
    ]);
  });
});

describe("deliveries to endpoints in trouble", () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await openRig({ actsTwice: false });
  });
  afterEach(async () => {
    await rig.dispose();
    expect(rig.failures).toEqual([]);
  });

  const runningKinds = () =>
    [...rig.store.table("jobs.running").range()].map(({ key }) => (key as string[])[0]);

  test("a dead endpoint with 500 waiting deliveries is tried a few times an hour, not hundreds of times", async () => {
    const dead = await rig.receiver();
    dead.answer = answering(500);
    const { id } = await rig.create(dead.url);
    await rig.store.act(() => {
      for (let n = 0; n < 500; n++) rig.putEvent(`n${n}`);
    });
    await rig.settle();
    expect(dead.received.length).toBeLessThan(20);
    const from = dead.received.length;
    for (let ms = 0; ms < HOUR; ms += 10 * SECOND) await rig.pass(10 * SECOND);
    expect(dead.received.length - from).toBeGreaterThan(5);
    expect(dead.received.length - from).toBeLessThan(40);
    // Not one is lost: they are delivered once it works.
    dead.answer = answering(204);
    for (let ms = 0; ms < 8 * HOUR; ms += 5 * MINUTE) await rig.pass(5 * MINUTE);
    expect(new Set(rig.deliveries(id).map(({ status }) => status))).toEqual(new Set(["delivered"]));
  });

  test("50 silent endpoints of one org delay no delivery of another org", async () => {
    const silent = await rig.receiver();
    silent.answer = () => {};
    for (let n = 0; n < 50; n++) await rig.create(`${silent.url}${n}`);
    const well = await rig.receiver();
    await rig.create(well.url, {}, callerOf("org_b"));
    await rig.store.act(() => {
      for (let n = 0; n < 20; n++) rig.putEvent(`n${n}`);
    });
    await rig.until("the org has what one may have", () => rig.webhooks.standings.running === 256);
    for (let n = 0; n < 20; n++) await rig.emit(`m${n}`, "org_b");
    // No time passes for the silent ones meanwhile.
    await rig.until("the other org's events arrived", () => well.received.length === 20);
    await rig.until("all but they ended", () => rig.webhooks.standings.running === 256);
  });

  test("what waits for an endpoint when it turns out to be slow leaves the slots of those that are well", async () => {
    const slow = await rig.receiver();
    const held: ServerResponse[] = [];
    slow.answer = (response) => void held.push(response);
    await rig.create(slow.url);
    await rig.store.act(() => {
      for (let n = 0; n < 20; n++) rig.putEvent(`n${n}`);
    });
    await rig.until("eight are tried", () => held.length === 8);
    rig.time.advance(6 * SECOND);
    for (const response of held.splice(0)) answering(204)(response);
    // Four at a time, and not one of them where the well are tried.
    await rig.until("the next ones are tried", () => held.length === 4);
    const four = Array(4).fill("webhooks.deliver_to_troubled").join();
    await rig.until("nothing else runs", () => runningKinds().join() === four);
  });

  test("a slow endpoint's deliveries have jobs of another kind, so the first kind is free for the others", async () => {
    const slow = await rig.receiver();
    slow.answer = () => {};
    const { id } = await rig.create(slow.url);
    await rig.emit();
    await rig.until("it was called", () => slow.received.length === 1);
    await rig.pass(10 * SECOND);
    expect(rig.webhooks.standings.isTroubled(id)).toBe(true);
    await rig.emit();
    await rig.until("it was called again", () => slow.received.length === 2);
    expect(runningKinds()).toEqual(["webhooks.deliver_to_troubled"]);
  });
});
