/** The cell's questions about limits, with answers that come when the test says so, and time that passes when it does. */
import { expect, test } from "vitest";
import type { Operation } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { SharedLimits } from "../../../../../src/cluster/cells/limits/shared-limits.ts";
import type { RedisValue } from "../../../../../src/cluster/cells/redis/redis.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("slots that are granted after all calls have given up go back", async () => {
  const sent: { operations: readonly Operation[]; answer: (...results: RedisValue[][]) => void }[] = [];
  let nowMs = 0;
  let timers: { atMs: number; act: () => void }[] = [];
  const limits = new SharedLimits({
    lane: {
      send: (operations) =>
        new Promise((resolve) => {
          sent.push({ operations, answer: (...results) => resolve(results) });
        }),
    },
    clock: { now: () => nowMs, monotonic: () => nowMs },
    staleMs: STALE_MS,
    timers: {
      after(delayMs, act) {
        timers.push({ atMs: nowMs + delayMs, act });
        return () => {};
      },
    },
  });
  const pass = async (ms: number) => {
    nowMs += ms;
    const due = timers.filter(({ atMs }) => atMs <= nowMs);
    timers = timers.filter(({ atMs }) => atMs > nowMs);
    for (const { act } of due) act();
    await turn();
    await turn();
  };
  const key = { keyId: "key", limits: { concurrency: 80 } };
  const call = () => Promise.resolve(limits.admit(key, 0)).catch((error: unknown) => error);
  const first = call();
  await pass(0);
  const calls = Array.from({ length: 7 }, call);
  // The first call is refused: others have all slots. Then the cell asks for slots besides, since calls came lately.
  sent[0]?.answer([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0]);
  await pass(0);
  expect(await first).toMatchObject({ admitted: false, code: "concurrency" });
  const [, , , , , , , asks, wish] = sent[1]?.operations[0] ?? [];
  expect({ asks, wish }).toEqual({ asks: calls.map(() => 0), wish: [0, 0, 8, 0, 0, 0, 0] });
  await pass(1100);
  expect((await Promise.all(calls)).map((error) => (error as { code?: string }).code)).toEqual(
    calls.map(() => "gateway_unavailable"),
  );
  sent[1]?.answer([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7 + 4, 0, ...calls.flatMap(() => [0, 0])]);
  await pass(0);
  // Key, limits, batches, calls undone, calls that wait, wishes, slots that are kept.
  expect(sent[2]?.operations[0]?.[9]).toBe(11);
  sent[2]?.answer([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11]);
  await pass(0);
  for (let step = 0; step < 6; step++) await pass(100);
  expect(sent[3]?.operations[0]?.[9]).toBe(0);
});
