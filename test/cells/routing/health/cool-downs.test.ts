/** A key that a provider refuses at one cell is out at all of them. Within what time: test/timed/routing/health/cool-downs.test.ts. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemTimers } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { Health } from "../../../../src/routing/health/health.ts";
import { shareCoolDowns } from "../../../../src/routing/health/shared-cool-downs.ts";
import { shareErrors } from "../../../../src/routing/health/shared-errors.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../../cluster/cells/fixtures.ts";
import { endpoint, key, outFor, refuse } from "./cool-downs-rig.ts";

const missing = missingRedis();
let bench: Bench;
let cells: TestCell[] = [];
let nowMs = 1_000_000;
const clock = { now: () => nowMs, monotonic: () => nowMs };
let healths: Health[] = [];
beforeEach(async () => {
  if (missing !== undefined) return;
  nowMs = 1_000_000;
  bench = await openBench();
  cells = await Promise.all([bench.cell("a"), bench.cell("b"), bench.cell("c")]);
  healths = cells.map(({ signals }) => {
    const health = new Health(clock);
    shareCoolDowns({ signals, health, timers: systemTimers });
    return health;
  });
});
afterEach(() => bench?.close());

test.skipIf(missing)(
  "a Retry-After of one cell holds at all, to the millisecond and for last resorts too",
  async () => {
    const keys = [key("x/1")];
    const at = endpoint(keys);
    const [a, ...others] = healths as [Health, Health, Health];
    refuse(a, at, keys, { retryAfterMs: 7000 });
    await until("the others have heard", () => others.every((health) => outFor(health, at) > 0));
    for (const health of others) {
      expect(outFor(health, at)).toBe(7000);
      expect(health.of(at)?.lastResortOutForMs).toBe(7000);
      expect(health.begin(at, keys)).toBeUndefined();
    }
    nowMs += 7000;
    for (const health of healths) expect(outFor(health, at)).toBe(0);
  },
);

test.skipIf(missing)("a key that is refused for good is out at every endpoint of every cell", async () => {
  const keys = [key("x/1")];
  const at = endpoint(keys);
  const elsewhere = { ...at, id: "ep2" } as Endpoint;
  const [a, b] = healths as [Health, Health];
  refuse(a, at, keys, { outcome: "http_error", errorClass: "auth", httpStatus: 401 });
  await until("another has heard", () => outFor(b, elsewhere) > 0);
  expect(b.of(elsewhere)).toMatchObject({ outForMs: 60_000, isRefused: true });
});

test.skipIf(missing)("an org's own key is out at all cells, and other orgs' keys are not", async () => {
  const [own, others] = [key("pk_1", true), key("pk_2", true)];
  const at = endpoint([]);
  const [a, b] = healths as [Health, Health];
  refuse(a, at, [own], { retryAfterMs: 3000 });
  await until("another has heard", () => b.begin(at, [own]) === undefined);
  expect(b.begin(at, [others])).toBeDefined();
});

test.skipIf(missing)("cells that are refused together do not lengthen each other's pause", async () => {
  const keys = [key("x/1")];
  const at = endpoint(keys);
  const [a, b, c] = healths as [Health, Health, Health];
  refuse(a, at, keys, { retryAfterMs: 5000 });
  nowMs += 30;
  refuse(b, at, keys, { retryAfterMs: 5000 });
  await until("the third has heard", () => outFor(c, at) > 0);
  await until("the first has heard of a pause", () => outFor(a, at) > 0);
  expect(outFor(a, at)).toBeLessThanOrEqual(5030);
  expect(outFor(a, at)).toBeGreaterThanOrEqual(4970);
});

test.skipIf(missing)(
  "users see the error rate over all cells, and calls go by what their own cell saw",
  async () => {
    const keys = [key("x/1")];
    const at = endpoint(keys);
    const [a, b, c] = healths as [Health, Health, Health];
    const stops = cells.map((cell, i) => shareErrors(cell.signals, healths[i] as Health, 50));
    const end = (health: Health, result: object) =>
      health.onResult(
        health.begin(at, keys) as NonNullable<ReturnType<Health["begin"]>>,
        {
          outcome: "ok",
          errorClass: "",
          httpStatus: 200,
          ...result,
        } as Parameters<Health["onResult"]>[1],
      );
    for (let i = 0; i < 3; i++) end(a, {});
    end(b, { outcome: "http_error", errorClass: "upstream_5xx", httpStatus: 500 });
    await until("all show the same", () =>
      healths.every((health) => Math.abs((health.live(at)?.errorRate ?? 0) - 0.25) < 0.02),
    );
    expect(healths.map((health) => health.live(at)?.state)).toEqual(["degraded", "degraded", "degraded"]);
    expect([a.of(at)?.errorRate, b.of(at)?.errorRate, c.of(at)]).toEqual([0, 1, undefined]);
    // A cell that is gone counts for as long as its calls do.
    nowMs += 300_000;
    expect(c.live(at)).toBeUndefined();
    for (const stop of stops) stop();
  },
);
