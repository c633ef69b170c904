/** The end of an org: its data are taken along, it is closed with a refund asked for, its erasure is asked for, called off and asked for again, and it is gone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
} from "../../support/console/browser.fixtures.ts";
import { accessFaults, cutOff, headingFaults } from "../../support/console/faults.fixtures.ts";
import { personAt, signInBy } from "../../support/console/person.fixtures.ts";
import { recorded } from "../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { unzipped } from "../../support/unzip.ts";
import { until } from "../../support/wait.ts";

const SHIFTED_CLOCK = join(import.meta.dirname, "../../support/shifted-clock.ts");
/** An erasure is due in thirty. */
const STEP_MS = 31 * 86_400_000;

let gateway: SpawnedGateway;
let browser: ConsoleBrowser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  const env = { NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`, WEIR_TEST_CLOCK_STEP_MS: String(STEP_MS) };
  gateway = await spawnGateway({ env });
  browser = await openBrowser(gateway.url);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});
beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER));

/** As the operator sees the first org. */
async function orgNow(id: string): Promise<{ readonly slug: string; readonly name: string }> {
  const key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
  const { json } = await gateway.call("GET", `/v1/operator/orgs/${id}`, { key });
  return json;
}

test("an org is exported, closed and erased", async () => {
  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  const parts = page.getByRole("navigation", { name: "Parts of Settings" });
  const state = page.getByRole("complementary", { name: "State of the organisation" });
  const asked = page.getByRole("dialog");
  expect((await gateway.chat()).status).toBe(200);
  await recorded(gateway);
  const { json: org } = await ada.call("GET", "/v1/orgs/first");

  await ada.open("first/settings/export");
  await page.getByRole("button", { name: "Ask for an export" }).click();
  await page.getByText("ready", { exact: true }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^exp_\w+\.zip$/);
  const files = unzipped(readFileSync(await file.path()));
  expect(files.get("requests.jsonl")).toContain("weir/sim-small");

  await parts.getByRole("link", { name: "Close and erase" }).click();
  await page.getByRole("button", { name: "Close organisation" }).click();
  const close = asked.getByRole("button", { name: "Close organisation" });
  await asked.getByText(/^\$\d+\.\d+ of credit are left\./).waitFor();
  await asked.getByLabel("Ask the operator to refund").check();
  await asked.getByLabel("Type first to confirm").fill("frist");
  expect(await close.isDisabled()).toBe(true);
  await asked.getByLabel("Type first to confirm").fill("first");
  await close.click();
  await state.getByText("This organisation is closed").waitFor();
  expect((await gateway.chat()).json.error.code).toBe("org_closed");
  const { json: tickets } = await ada.call("GET", "/v1/tickets");
  expect(tickets.data[0]).toMatchObject({ kind: "close_org", body: { refund_requested: true } });

  // What a closed org refuses is not offered, and what it has can be read.
  await page
    .getByRole("navigation", { name: "Pages" })
    .getByRole("link", { name: "Keys", exact: true })
    .click();
  await page.getByRole("row").nth(1).waitFor();
  expect(await page.getByRole("button", { name: "New key" }).count()).toBe(0);
  await state.getByRole("link", { name: "take the data along" }).click();
  await page.getByRole("button", { name: "Download" }).waitFor();
  await ada.open("first/playground");
  await page.getByRole("heading", { name: "Not open while the organisation is closed" }).waitFor();
  expect([...(await cutOff(page)), ...(await accessFaults(page)), ...(await headingFaults(page))]).toEqual(
    [],
  );
  await state.getByRole("link", { name: "have the data erased" }).click();

  const erase = page.getByRole("button", { name: "Ask for erasure" });
  await erase.click();
  await asked.getByRole("button", { name: "Ask for erasure" }).click();
  await state.getByText("All its data will be erased").waitFor();
  await page.getByRole("button", { name: "Call it off" }).click();
  await asked.getByRole("button", { name: "Call it off" }).click();
  await erase.waitFor();
  expect(await state.getByText("All its data will be erased").count()).toBe(0);
  await erase.click();
  await asked.getByRole("button", { name: "Ask for erasure" }).click();
  await state.getByText("All its data will be erased").waitFor();
  expect((await orgNow(org.id)).slug).toBe("first");
  expect(ada.told).toEqual([]);
  expectActs("closing", ada);

  gateway.process.kill("SIGWINCH");
  await until("the org is erased", async () => (await orgNow(org.id)).slug !== "first");
  expect((await orgNow(org.id)).name).toBe("");
  await page.context().clearCookies();
  await signInBy(page, gateway.url, "ada@example.test", "Ada");
  await page.getByRole("heading", { name: "You are in no organisation yet" }).waitFor();
});
