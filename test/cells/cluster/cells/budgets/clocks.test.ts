/** Days and months of budgets over cells, where all clocks were set and put right: the test does to the dataset what `clock.lua` does. */
import { pack } from "msgpackr";
import { afterEach, beforeEach, describe, test } from "vitest";
import { DATASET_KEY, KEY_PREFIX } from "../../../../../src/cluster/cells/redis/keys.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import {
  type BudgetCell,
  begin,
  ENOUGH,
  hard,
  type OpenCall,
  openTimedBench,
  scopeOf,
  settle,
  type TimedBench,
} from "./budgets-fixtures.ts";

const missing = missingRedis();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DECEMBER = Date.UTC(2027, 11);

describe.skipIf(missing !== undefined)("C1: budgets of clocks that were set", () => {
  let bench: TimedBench;
  let cell: BudgetCell;
  let changes = 0;
  const scope = scopeOf("set", { keyDaily: hard(100_000), projectMonthly: hard(100_000) });
  beforeEach(async () => {
    bench = await openTimedBench();
    changes = 0;
    await bench.set(DECEMBER - 12 * HOUR);
    cell = await bench.cell("a");
    await bench.link.call("HSET", `{weir}:credit:${scope.orgId}`, "n", 0, "b", ENOUGH);
  });
  afterEach(() => bench.close());

  /** All clocks are set. @param spans steady time at which each course began, and what was added in it */
  async function clocksAreSet(toMs: number, spans: readonly number[]): Promise<void> {
    await bench.set(toMs);
    await bench.link.call("HSET", DATASET_KEY, "shift", spans.at(-1) ?? 0, "clock_changes", ++changes);
    await bench.link.call("HSET", `${KEY_PREFIX}clock`, "spans", pack(spans));
  }

  /** Charges, and waits until the dataset has it. @returns what is spent then: of the key's day, of the project's month */
  async function spent(microUsd: number, figures: readonly [today: number, month: number]): Promise<void> {
    await settle((await begin(cell, scope, microUsd)) as OpenCall, microUsd);
    await until(
      "the charge is told",
      async () => [
        (await cell.budgets.spendOfKey(scope)).todayMicroUsd,
        (await cell.budgets.spendOfProject(scope)).monthMicroUsd,
      ],
      equals([...figures]),
    );
  }

  const setTime = async (ms: number) => {
    await bench.set(ms);
    await cell.budgets.spendOfKey(scope);
  };

  test("what was spent while they were a day ahead is not of that day once it has come", async () => {
    await spent(10, [10, 10]);
    // Noon of the 30th is noon of December 1st, which is put right ten minutes later.
    const setMs = DECEMBER - 12 * HOUR + 60_000;
    await clocksAreSet(setMs + DAY, [0, 0, setMs, DAY]);
    await spent(3000, [3000, 3000]);
    await clocksAreSet(setMs + 600_000, [0, 0]);
    await spent(5, [3015, 3015]);
    await setTime(DECEMBER + HOUR);
    await spent(1, [1, 1]);
    // All clocks are set by some seconds: each row is counted anew.
    const laterMs = DECEMBER + 2 * HOUR;
    await clocksAreSet(laterMs + 3000, [0, 0, laterMs, 3000]);
    await spent(1, [2, 2]);
    await setTime(DECEMBER + DAY + HOUR);
    await spent(1, [1, 3]);
    await setTime(DECEMBER + 2 * DAY + HOUR);
    await spent(1, [1, 4]);
  });
});
