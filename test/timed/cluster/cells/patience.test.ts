/**
 * How long a cell waits for others and for Redis before it goes on without them. The times are those of its own timers, with room for
 * what the machine needs beside them.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { keptCell } from "../../../cells/cluster/cells/answers/answers-rig.ts";
import { outdatedCell } from "../../../cells/cluster/cells/dataset/formats-rig.ts";
import { type Bench, openBench } from "../../../cells/cluster/cells/fixtures.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { staysWithin, TRIES, tookMs } from "../../within.ts";

const missing = missingRedis();
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

test.skipIf(missing)(
  "a read waits for a cell that does not answer as long as it is told, and no longer",
  async () => {
    const [a, b] = await Promise.all([bench.cell("s1"), bench.cell("s2")]);
    b.onFlush(() => new Promise(() => {}));
    const read = async () => expect((await a.flushOthers(200)).isDone).toBe(false);
    await staysWithin(1000, () => tookMs(read));
    await Promise.all([a, b].map((cell) => cell.stop()));
  },
);

test.skipIf(missing)(
  "without Redis a claim is refused within 2 s, and an answer kept for later after a moment",
  async () => {
    // The claims behind one that was refused wait for nothing: each try is another cell's first.
    const cells = await Promise.all(Array.from({ length: TRIES }, (_, n) => keptCell(bench, `claims${n}`)));
    const running = await Promise.all(cells.map((cell, n) => cell.claim(`running ${n}`)));
    bench.redis.pause();
    const claim = (n: number) =>
      expect(cells[n]?.claim(`key ${n}`)).rejects.toMatchObject({ kind: "storage_unavailable" });
    // Its patience is half a second (`PATIENCE_MS`).
    await staysWithin(2000, (n) => tookMs(() => claim(n)));
    const answer = async (n: number) => cells[n]?.answer(running[n] as (typeof running)[number], "late");
    await staysWithin(1000, (n) => tookMs(() => answer(n)));
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
