/** Limits of keys through real cells: over a kill -9 of Redis, on its append-only file, and in real time. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import { SharedLimits } from "../../../../../src/cluster/cells/limits/shared-limits.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)("limits of keys at real cells", () => {
  let bench: Bench;
  let cells: TestCell[];
  beforeAll(async () => {
    bench = await openBench();
    cells = await Promise.all(["a", "b", "c"].map((name) => bench.cell(name)));
  });
  afterAll(async () => await bench.close());

  test("hold over all cells, and after a kill of Redis", async () => {
    const all = cells.map(
      (cell) => new SharedLimits({ lane: cell.lane("limits"), clock: systemClock, staleMs: cell.staleMs }),
    );
    const key = { keyId: "real", limits: { rpm: 50, tpm: 100_000, concurrency: 40 } };
    const tries = all.flatMap((limits) =>
      Array.from({ length: 60 }, async () => await limits.admit(key, 100)),
    );
    const answers = await Promise.all(tries);
    const admitted = answers.filter((answer) => answer.admitted);
    expect(admitted).toHaveLength(40);
    for (const answer of admitted) answer.release();
    await Promise.all(all.map((limits) => limits.idle()));
    await bench.redis.kill();
    await bench.redis.start();
    const more = await Promise.allSettled(
      all.flatMap((limits) => Array.from({ length: 60 }, async () => await limits.admit(key, 100))),
    );
    const known = more.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const again = known.filter((answer) => answer.admitted);
    expect(again.length).toBeLessThanOrEqual(10);
    for (const answer of again) answer.release();
    // A cell that waited for its connection answered 503; what it was granted meanwhile went back.
    await until(
      "the limit is in force again",
      async () => {
        const answer = await all[0]?.admit(key, 100);
        if (answer?.admitted) answer.release();
        return answer?.admitted === false && answer.code;
      },
      equals("rpm"),
    );
    // A clock that is set must not forget what was used.
    expect(await bench.link.call("PTTL", "{weir}:requests:real")).toBe(-1);
  });
});
