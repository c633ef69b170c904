/** How soon a key that a provider refused at one cell is out at the others. */
import { afterAll, beforeAll, test } from "vitest";
import { systemTimers } from "../../../../src/base/clock.ts";
import { Health } from "../../../../src/routing/health/health.ts";
import { shareCoolDowns } from "../../../../src/routing/health/shared-cool-downs.ts";
import { type Bench, openBench } from "../../../cells/cluster/cells/fixtures.ts";
import { endpoint, key, outFor, refuse } from "../../../cells/routing/health/cool-downs-rig.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";
import { staysWithin, tookMs } from "../../within.ts";

const missing = missingRedis();
/** A Retry-After is in whole seconds: cells that hear of it later than the least one call the provider through all of it. */
const MOST_MS = 1000;

let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

test.skipIf(missing)("a Retry-After of one cell holds at all others within a second", async () => {
  const cells = await Promise.all(["a", "b", "c"].map((name) => bench.cell(name)));
  const clock = { now: () => 1_000_000, monotonic: () => 1_000_000 };
  const [first, ...others] = cells.map(({ signals }) => {
    const health = new Health(clock);
    shareCoolDowns({ signals, health, timers: systemTimers });
    return health;
  }) as [Health, ...Health[]];
  await staysWithin(MOST_MS, (n) => {
    const keys = [key(`x/${n}`)];
    const at = { ...endpoint(keys), id: `ep${n}` };
    return tookMs(async () => {
      refuse(first, at, keys, { retryAfterMs: 7000 });
      await until("the others have heard", () => others.every((health) => outFor(health, at) > 0));
    });
  });
  for (const cell of cells) await cell.stop();
});
