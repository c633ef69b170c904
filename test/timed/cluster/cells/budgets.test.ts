/** How soon other cells know what one has given back of a hard budget, and spent. */
import { afterAll, beforeAll, describe, test } from "vitest";
import {
  type BudgetCell,
  begin,
  ENOUGH,
  giveUp,
  hard,
  type OpenCall,
  openBudgetCell,
  scopeOf,
  settle,
  spendRow,
} from "../../../cells/cluster/cells/budgets/budgets-fixtures.ts";
import { CALL, CELLS } from "../../../cells/cluster/cells/cap-rig.ts";
import { type Bench, openBench } from "../../../cells/cluster/cells/fixtures.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import { staysWithin, tookMs } from "../../within.ts";

const missing = missingRedis();
/** Cells tell at once what no call holds any more. Less than the 200 ms behind which these cells give back what is idle. */
const GIVEN_BACK_MS = 150;
/** A view waits 30 ms for what is on its way, and then asks Redis: a page that is read again shows a call that has ended. */
const SHOWN_MS = 1000;

describe.skipIf(missing !== undefined)("budgets over cells", () => {
  let bench: Bench;
  let cells: BudgetCell[];
  beforeAll(async () => {
    bench = await openBench();
    cells = await Promise.all(CELLS.map((name) => openBudgetCell(bench, name)));
  });
  afterAll(async () => {
    for (const cell of cells) await cell.stop();
    await bench.close();
  });
  const pay = (orgId: string) => bench.link.call("HSET", `{weir}:credit:${orgId}`, "n", 0, "b", ENOUGH);

  test("what calls that are given up held of a budget is free within 150 ms", async () => {
    await staysWithin(GIVEN_BACK_MS, async (n) => {
      const scope = scopeOf(`split${n}`, { projectMonthly: hard(8 * CALL) });
      await pay(scope.orgId);
      for (const cell of cells) giveUp((await begin(cell, scope, CALL)) as OpenCall);
      const held = async () => (await spendRow(bench.link, `p:${scope.projectId}`)).h;
      return tookMs(() => until("each has told that it holds nothing", held, equals("0")));
    });
  });

  test("what routes of any cell show of spend is current within a second", async () => {
    await staysWithin(SHOWN_MS, async (n) => {
      const scope = scopeOf(`shown${n}`);
      await pay(scope.orgId);
      for (const cell of cells) await settle((await begin(cell, scope, CALL)) as OpenCall, CALL);
      const spent = CELLS.length * CALL;
      const expected = Array(3).fill({ todayMicroUsd: spent, monthMicroUsd: spent });
      const isShown = ({ budgets }: BudgetCell) => {
        const ask = () =>
          Promise.all([budgets.spendOfKey(scope), budgets.spendOfProject(scope), budgets.spendOfOrg(scope)]);
        return until("the cell knows what all spent", ask, equals(expected));
      };
      return tookMs(() => Promise.all(cells.map(isShown)));
    });
  });
});
