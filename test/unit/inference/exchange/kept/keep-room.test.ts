/** How much of the quota of kept bytes a call takes before its upstream is asked. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeptBytes } from "../../../../../src/credits/kept/kept-bytes.ts";
import type { PlannedCall } from "../../../../../src/inference/exchange/call.ts";
import { takeKeptRoom } from "../../../../../src/inference/exchange/kept/keep-room.ts";
import { ManualClock, tempStore } from "../../../../support/credits/fixtures.ts";

const owner = { orgId: "org_1", environment: "live" } as const;
const MAX_TOKENS = 1000;

let temp = tempStore();
beforeEach(() => {
  temp = tempStore();
});
afterEach(() => temp.dispose());

const keptWithin = (maxBytes: number): KeptBytes =>
  new KeptBytes({
    store: temp.store,
    clock: new ManualClock("2026-03-01T10:00:00Z"),
    onFailure() {},
    maxBytes: () => maxBytes,
    retentionDays: () => 30,
  });
const reservedIn = (kept: KeptBytes): number => kept.pool(owner).reservedBytes;

/** A call whose answer is kept by default, or because it asks for it. */
async function taken(kept: KeptBytes, { asks = false } = {}): Promise<PlannedCall> {
  const history = { keeps: () => true, asksToKeep: () => asks };
  const call = {
    key: { ...owner, dataPolicy: { logging: "on", retentionDays: 7 } },
    incoming: { format: { history } },
    request: { bytes: { length: 100 }, facts: { maxTokens: MAX_TOKENS, choices: 1, stream: false } },
  } as unknown as PlannedCall;
  return await takeKeptRoom({ kept, defaultMaxTokens: 1, maxAnswerBytes: 1 << 20 }, call);
}

/** Bytes that one call takes. */
async function roomOfOne(): Promise<number> {
  const kept = keptWithin(1_000_000);
  expect((await taken(kept)).isStoreLeftOut).toBe(false);
  return reservedIn(kept);
}

test("what is kept by default takes room, until three quarters of the quota are taken", async () => {
  const bytes = await roomOfOne();
  // The text of the answer twice, and more than it.
  expect(bytes).toBeGreaterThan(2 * 4 * MAX_TOKENS);
  const kept = keptWithin(4 * bytes);
  const calls = [await taken(kept), await taken(kept), await taken(kept), await taken(kept)];
  expect(calls.map(({ isStoreLeftOut }) => isStoreLeftOut)).toEqual([false, false, false, true]);
  expect(calls.map(({ keptRoom }) => keptRoom !== undefined)).toEqual([true, true, true, false]);
  expect(reservedIn(kept)).toBe(3 * bytes);
});

test("what a caller asks to keep takes the last quarter, and is refused without room", async () => {
  const bytes = await roomOfOne();
  const kept = keptWithin(2 * bytes);
  const calls = [await taken(kept, { asks: true }), await taken(kept, { asks: true })];
  expect(calls.map(({ isStoreLeftOut }) => isStoreLeftOut)).toEqual([false, false]);
  await expect(taken(kept, { asks: true })).rejects.toMatchObject({ kind: "plan_limit", param: "/store" });
  expect(reservedIn(kept)).toBe(2 * bytes);
});
