/** What is due at once, such as all jobs behind a night's stop, begins in many turns of the event loop. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { HOUR, kindOf, MINUTE, openRig, type Rig } from "../../../support/jobs/fixtures.ts";

let rig: Rig;
/** Ends the count of turns. */
let ends = false;
let turn = 0;
beforeEach(() => {
  rig = openRig({ actsTwice: false });
  [ends, turn] = [false, 0];
  const count = () => {
    turn++;
    if (!ends) setImmediate(count);
  };
  setImmediate(count);
});
afterEach(() => {
  ends = true;
  return rig.dispose();
});

const KINDS = 20;
const JOBS_OF_A_KIND = 3;

/** A job of each kind takes so long before its first wait. @returns the turns in which jobs began */
async function turnsOfJobs(runMs: number): Promise<number[]> {
  const cell = rig.cell();
  const kinds = Array.from({ length: KINDS }, (_, i) => kindOf({ name: `test.kind_${i}` }));
  const begun: number[] = [];
  for (const kind of kinds)
    cell.jobs.handle(kind, {
      async run() {
        begun.push(turn);
        rig.time.spend(runMs);
        return undefined;
      },
    });
  await cell.jobs.start();
  for (const kind of kinds) {
    const orders = Array.from({ length: JOBS_OF_A_KIND }, (_, n) => ({ orgId: `org_${n}`, payload: { n } }));
    await rig.enqueue(cell, kind, ...orders.map((order) => ({ ...order, dueMs: rig.time.now() + HOUR })));
  }
  await rig.settle();
  expect(begun).toEqual([]);
  rig.time.advance(HOUR);
  await rig.until("all have run", () => rig.rows() === 0);
  return begun;
}

test("jobs of many kinds that are due at once begin one a turn where each takes long", async () => {
  const begun = await turnsOfJobs(5);
  expect(begun).toHaveLength(KINDS * JOBS_OF_A_KIND);
  expect(new Set(begun).size).toBe(begun.length);
});

test("jobs that take no time begin together", async () => {
  const begun = await turnsOfJobs(0);
  expect(begun).toHaveLength(KINDS * JOBS_OF_A_KIND);
  expect(new Set(begun).size).toBeLessThan(KINDS);
});

test("a stop lets those that have not begun wait for the next start", async () => {
  const cell = rig.cell();
  const kind = kindOf({ leaseMs: MINUTE });
  const begun: string[] = [];
  const handler = {
    async run(_: unknown, { key }: { key: string }) {
      begun.push(key);
      rig.time.spend(5);
      if (begun.length === 1) void cell.jobs.stop();
      return undefined;
    },
  };
  cell.jobs.handle(kind, handler);
  await cell.jobs.start();
  const keys = ["a", "b", "c"];
  await rig.enqueue(cell, kind, ...keys.map((key, n) => ({ key, orgId: `org_${n}`, payload: { n } })));
  await rig.until("the first has ended", () => rig.row(kind, "a") === undefined);
  await cell.jobs.stop();
  expect(begun).toEqual(["a"]);
  expect(keys.map((key) => rig.row(kind, key)?.state)).toEqual([undefined, "waiting", "waiting"]);
});
