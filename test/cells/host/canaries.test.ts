/** A canary's trial over cells: the verdict comes from the results of all, and is made once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CanaryRed } from "../../../src/routing/policies/canary/canary.ts";
import { openPolicies } from "../../../src/routing/policies/policies.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";
import { type Bench, openBench } from "../cluster/cells/fixtures.ts";

const missing = missingRedis();
let bench: Bench;
beforeAll(async () => {
  if (missing === undefined) bench = await openBench();
});
afterAll(() => bench?.close());

const key = { orgId: "org_1", policy: "p", version: 1 };
const canary = { endpoint: "ep", percent: 5, maxErrorRate: 0.1, minSamples: 30 };

async function openCells(names: readonly string[]) {
  const cells = await Promise.all(names.map((name) => bench.cell(name)));
  const rooms = cells.map(({ name, store, merged }) => {
    const policies = openPolicies({
      store,
      clock: { now: () => 1_790_000_000_000, monotonic: () => 0 },
      readInThread: () => Promise.reject(new Error("not here")),
      onCanaryRed: () => {},
      // In an act that may run several times: what it puts counts, not that it ran.
      putCanaryRed: (event) => {
        store.table<CanaryRed>("events").put([event.orgId, name], event);
      },
      onUnreadable: () => {},
      onFailure: (error) => {
        // A table that a test left open sweeps on after its store was closed.
        if (!String(error).includes("closed database")) throw error;
      },
      shareCanaries: (part) =>
        merged.add({
          table: "policies.canaries",
          kind: "sum",
          take: (most) => part.take(most),
          heard: (rows) => part.heard(rows),
        }),
      exchangeCanaries: () => merged.flush(),
    });
    return { policies, trial: policies.canaries.trial(key, canary) };
  });
  return { cells, rooms };
}

test.skipIf(missing)(
  "a canary that fails a little at each of three cells is red at all, and told of once",
  async () => {
    const { cells, rooms } = await openCells(["k1", "k2", "k3"]);
    // Too few at each cell to be judged there.
    for (const { trial } of rooms) for (let at = 0; at < 12; at++) trial.result(true);
    expect(rooms.map(({ trial }) => trial.state)).toEqual(["warming", "warming", "warming"]);
    await Promise.all(rooms.map(({ trial }) => trial.save()));
    await Promise.all(rooms.map(({ trial }) => trial.save()));
    await until("all cells know", () => rooms.every(({ trial }) => trial.state === "red"));
    const rows = rooms.map(({ policies }) => policies.tables.canariesOf(key));
    for (const row of rows) expect(row).toEqual(rows[0]);
    const told = cells.map(({ store }) => [...store.table("events").range({})].length);
    expect(told).toEqual([1, 1, 1]);
    // Red is final, also for a cell that starts later.
    const [late] = (await openCells(["k4"])).rooms;
    expect(late?.trial.state).toBe("red");
  },
);

test.skipIf(missing)("a verdict stays where an older result comes behind it", async () => {
  const [room] = (await openCells(["v1"])).rooms;
  const trial = room?.policies.canaries.trial({ ...key, policy: "late" }, canary);
  const { row } = trial ?? {};
  if (trial === undefined || row === undefined) throw new Error("no trial");
  trial.heard({ ...row, state: "red", samples: 36, failures: 36 });
  trial.heard({ ...row, samples: 24, failures: 24 });
  expect(trial.row).toMatchObject({ state: "red", samples: 36 });
});

test.skipIf(missing)(
  "results of all cells are shown at each, and a canary that is good stays green",
  async () => {
    const { rooms } = await openCells(["g1", "g2"]);
    const good = { ...key, policy: "good" };
    const trials = rooms.map(({ policies }) => policies.canaries.trial(good, canary));
    for (const trial of trials) for (let at = 0; at < 50; at++) trial.result(at % 25 === 0);
    for (const trial of [...trials, ...trials]) await trial.save();
    for (const { row } of trials) expect(row).toMatchObject({ state: "green", samples: 100, failures: 4 });
  },
);
