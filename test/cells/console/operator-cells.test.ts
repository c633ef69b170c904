/** An operator sees the cells of an installation, and retires one that was stopped for ever. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
} from "../../support/console/browser.fixtures.ts";
import { type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { DetachedCells } from "../inference/exchange/detached/cells-rig.ts";

const missing = CHROMIUM === undefined ? NO_BROWSER : missingRedis();
let cells: DetachedCells;
let browser: ConsoleBrowser;
let ops: BrowserPerson;
beforeAll(async () => {
  if (missing !== undefined) return;
  cells = await DetachedCells.open();
  browser = await openBrowser(cells.gateway.url);
  ops = await personAt(browser, cells.gateway.url, "ops@example.test");
});
afterAll(async () => {
  await browser?.close();
  await cells?.close();
});
beforeEach(({ skip }) => skip(missing !== undefined, missing));

test("a cell that was stopped is retired; one that was killed less than 35 s ago is not offered to be", async () => {
  const { page } = ops;
  await cells.start("spare");
  await cells.start("lost");
  await ops.open("operator/cells");
  const row = (name: string) => page.getByRole("row").filter({ hasText: new RegExp(`^${name}`) });
  const state = (name: string, word: string) => row(name).getByText(word, { exact: true }).waitFor();
  await state("spare", "alive");
  await state("lost", "alive");
  expect(await page.getByRole("button", { name: /^Retire/ }).count()).toBe(0);
  await row("spare").getByText("0 changes").waitFor();

  await cells.stop("spare");
  await cells.kill("lost");
  await state("lost", "silent");
  await row("lost").getByText("Start it again.").waitFor();
  expect(await row("lost").getByRole("button").count()).toBe(0);
  await state("spare", "left");
  await row("spare").getByRole("button", { name: "Retire spare" }).click();
  const question = page.getByRole("dialog", { name: "Retire the cell spare for ever?" });
  await question.getByText("This cannot be undone.").waitFor();
  await question.getByRole("button", { name: "Retire cell" }).click();
  await page.getByText("spare was retired.").waitFor();
  await state("spare", "retired");

  await ops.open("operator/now");
  await page.getByRole("link", { name: "The cell lost is silent: start it again, or retire it." }).click();
  await state("lost", "silent");
  expect(ops.told).toEqual([]);
  expectActs("cells", ops);
});
