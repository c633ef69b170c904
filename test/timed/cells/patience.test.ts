/**
 * How long a cell waits for others and for Redis before it goes on without them. The times are those of its own timers, with room for
 * what the machine needs beside them; the quickest of some tries counts.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { keptCell } from "../../cells/cells/answers-rig.ts";
import { type Bench, openBench } from "../../cells/cells/fixtures.ts";
import { outdatedCell } from "../../cells/cells/formats-rig.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { staysWithin, tookMs } from "../within.ts";

const missing = missingRedis();
const TRIES = 3;
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

async function quickestMs(act: (attempt: number) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const fromMs = performance.now();
    await act(attempt);
    tookMs.push(performance.now() - fromMs);
  }
  return Math.min(...tookMs);
}

test.skipIf(missing)(
  "a read waits for a cell that does not answer as long as it is told, and no longer",
  async () => {
    const [a, b] = await Promise.all([bench.cell("s1"), bench.cell("s2")]);
    b.onFlush(() => new Promise(() => {}));
    const read = async () => expect((await a.flushOthers(200)).isDone).toBe(false);
    expect(await quickestMs(read)).toBeLessThan(1000);
    await Promise.all([a, b].map((cell) => cell.stop()));
  },
);

test.skipIf(missing)(
  "without Redis a claim is refused after a second, and an answer kept for later after a moment",
  async () => {
    // The claims behind one that was refused wait for nothing: each try is another cell's first.
    const cells = await Promise.all(Array.from({ length: TRIES }, (_, n) => keptCell(bench, `claims${n}`)));
    const running = await Promise.all(cells.map((cell, n) => cell.claim(`running ${n}`)));
    bench.redis.pause();
    const claim = (n: number) =>
      expect(cells[n]?.claim(`key ${n}`)).rejects.toMatchObject({ kind: "storage_unavailable" });
    // Its patience is a second.
    expect(await quickestMs(claim)).toBeLessThan(2000);
    const answer = async (n: number) => cells[n]?.answer(running[n] as (typeof running)[number], "late");
    expect(await quickestMs(answer)).toBeLessThan(1000);
    bench.redis.resume();
    for (const cell of cells) {
      await cell.kept.idle();
      await cell.stop();
    }
  },
);

test.skipIf(missing)("a cell that met rows of a later release stops within 2 s", async () => {
  await staysWithin(2000, async () => {
    // Once a dataset has such rows, no other cell of the earlier release is let in.
    const own = await openBench();
    const { old } = await outdatedCell(own);
    const ms = await tookMs(() => old.stop());
    await own.close();
    return ms;
  });
});
