/** An app is registered, its calls are counted, it is made public and seen by somebody who is not signed in, changed, hidden, deleted. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { accessFaults, cutOff, headingFaults } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { recorded } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";

const world = consoleWorld();

const BADGE_IS_DRAWN = "document.querySelector('.app-badge').naturalWidth > 0";

test("registered, counted, made public, seen by strangers, changed, hidden, deleted", async () => {
  const { gateway } = world;
  const ada = await personAt(world.browser, gateway.url, "ada@example.test");
  const { page } = ada;
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Apps" }).click();
  await page.getByText("No app is registered yet.").waitFor();
  await page.getByRole("button", { name: "New app" }).first().click();
  await page.getByRole("button", { name: "Create app" }).click();
  await page.getByText("Give it a name").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Paper <b>reader</b>");
  await page.getByLabel("Short name, for addresses").fill("admin");
  await page.getByRole("button", { name: "Create app" }).click();
  await page.locator(".field-fault").waitFor();
  await page.getByLabel("Short name, for addresses").fill("paper-reader");
  await page.getByLabel("Category", { exact: true }).selectOption({ label: "Research" });
  await page.getByRole("button", { name: "Create app" }).click();
  await page.getByRole("heading", { name: "Paper <b>reader</b>", level: 1 }).waitFor();
  await page.getByText("Only your organisation sees this app.").waitFor();

  // Two calls, by two of its names.
  for (const title of ["paper-reader", "Paper <b>reader</b>"])
    expect((await gateway.chat({}, { headers: { "X-Title": title } })).status).toBe(200);
  await recorded(gateway);
  const use = page.getByRole("region", { name: "Use in the last 30 days" });
  await until("its calls are counted", async () => {
    await page.reload();
    await untilShown(page);
    return (await use.locator(".figure-value").first().textContent()) === "2";
  });
  await use.getByRole("link", { name: "paper-reader" }).click();
  await page.waitForURL("**/requests?app_id=paper-reader&within=30d");
  await page.getByRole("row").filter({ hasText: "weir/sim-small" }).waitFor();
  await page.goBack();

  // To everybody else there is no such app, until it is made public.
  const stranger = await world.browser.open({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  const address = `${gateway.url}/v1/apps/paper-reader/public`;
  expect((await stranger.page.goto(address))?.status()).toBe(404);
  stranger.told.length = 0;
  await page.getByRole("button", { name: "Make public" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Make public" }).click();
  const open = page.getByRole("link", { name: "Open the public page" });
  expect(await open.getAttribute("href")).toBe("/v1/apps/paper-reader/public");
  await until("the badge is drawn", () => page.evaluate<boolean>(BADGE_IS_DRAWN));
  const markdown = page.getByRole("region", { name: "The badge in Markdown" }).locator("pre");
  expect(await markdown.textContent()).toBe(
    `[![Paper <b>reader</b>](${gateway.url}/v1/apps/paper-reader/badge)](${address})`,
  );
  expect(await cutOff(page)).toEqual([]);

  await until("a stranger sees its figures", async () => {
    await stranger.page.goto(address);
    return (await stranger.page.locator(".trend rect").count()) === 30;
  });
  await stranger.page.getByRole("heading", { name: "Paper <b>reader</b>", level: 1 }).waitFor();
  expect(await stranger.page.locator(".figures dd").last().textContent()).toBe("2");
  await stranger.page.getByRole("rowheader", { name: "weir/sim-small" }).waitFor();
  await stranger.page.getByText("The days as a table").click();
  for (const faults of [cutOff, accessFaults, headingFaults]) expect(await faults(stranger.page)).toEqual([]);
  expect(stranger.told).toEqual([]);
  expect(stranger.acts).toEqual([]);

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("Paper reader");
  await page.getByLabel("Category", { exact: true }).selectOption({ label: "Writing" });
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { name: "Paper reader", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByText("Only your organisation sees this app.").waitFor();
  await page.getByRole("button", { name: "Delete app" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete app" }).click();
  await page.getByText("No app is registered yet.").waitFor();
  await untilShown(page);
  const refused = ada.told.filter((line) => / 400 POST .*\/v1\/apps$/.test(line));
  expect(refused).toHaveLength(1);
  expect(ada.told).toEqual(refused);
  expectActs("apps", ada);
});
