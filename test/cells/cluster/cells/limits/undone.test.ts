/** A call that was admitted and not made is taken back, however late the cell says so. */
import { expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { openBench } from "../fixtures.ts";

const missing = missingRedis();

test.skipIf(missing !== undefined)("a call is taken back after it has left the window", async () => {
  const bench = await openBench();
  try {
    const cell = await bench.cell("a");
    // A call whose window has nothing in it any more: time among requests, time among tokens, tokens.
    const undone = [1_700_000_000_000, 1_700_000_000_000, 10];
    const operation = ["limit", "key", 5, 100, 0, [], undone, [10], [0, 0, 0, 0, 0, 0, 0], 0, 0] as const;
    const [[, requests, , tokens] = []] = await cell.lane("limits").send([operation]);
    expect({ requests, tokens }).toEqual({ requests: 1, tokens: 10 });
    expect(cell.ended()).toBeUndefined();
  } finally {
    await bench.close();
  }
});
