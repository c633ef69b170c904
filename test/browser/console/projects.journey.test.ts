/** A project is made with a budget of the month: a key in it is refused beyond the budget, a higher one lets it call, and it ends with its project. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();

/** About 0.00006 dollars a call. */
const call = (secret: string) =>
  world.gateway.chat(
    { max_tokens: 100, messages: [{ role: "user", content: "[[sim tokens=100]]" }] },
    { key: secret },
  );

test("a project's budget is set, hit and raised, and the project is deleted with its key", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Projects" }).click();
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByText("Give the project a name.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Night & Day");
  expect(await page.getByLabel("Short name").inputValue()).toBe("night-day");
  await page.getByLabel("Budget a month, US dollars").fill("0.001");
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByRole("heading", { name: "Night & Day", level: 1 }).waitFor();
  await page.getByText("$0.001, then calls are refused until the month is over").waitFor();

  await page.getByRole("link", { name: "make one" }).click();
  await page.getByLabel("Name").fill("Night job");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: "Night & Day" });
  await page.getByRole("button", { name: "Create key" }).click();
  const stored = page.getByRole("dialog", { name: "The secret of" });
  const secret = (await stored.locator("code").textContent()) ?? "";
  await stored.getByRole("button", { name: "I have stored it" }).click();
  const statuses: number[] = [];
  let last: Awaited<ReturnType<typeof call>>;
  do {
    last = await call(secret);
    statuses.push(last.status);
  } while (last.status === 200 && statuses.length < 30);
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]));
  expect([last.status, last.json.error.details.budget]).toEqual([402, "project_monthly"]);

  await pages.getByRole("link", { name: "Projects" }).click();
  const row = page.getByRole("row").filter({ hasText: "Night & Day" });
  await row.getByText(/^9\d(\.\d)?%$/).waitFor();
  await row.getByRole("link", { name: "Night & Day" }).click();
  const bar = page.locator(".bar").filter({ hasText: "Budget of the month" });
  await bar.getByText(/^\$0\.0009\d+ of \$0\.001$/).waitFor();
  await page.getByRole("link", { name: "Night job" }).waitFor();
  expect(await cutOff(page)).toEqual([]);
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Budget a month, US dollars").fill("1");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("$1.00, then calls are refused until the month is over").waitFor();
  expect((await call(secret)).status).toBe(200);

  await page.getByRole("button", { name: "Delete project" }).click();
  const asked = page.getByRole("dialog", { name: 'Delete "Night & Day"?' });
  await asked.getByText("Its key is revoked").waitFor();
  await asked.getByText("Night job").waitFor();
  const button = asked.getByRole("button", { name: "Delete project" });
  expect(await button.isDisabled()).toBe(true);
  await asked.getByLabel('Type "night-day" to confirm').fill("night-day");
  await button.click();
  await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor();
  await untilShown(page);
  expect(await row.count()).toBe(0);
  expect((await call(secret)).status).toBe(401);
  expect(ada.told).toEqual([]);
  expectActs("projects", ada);
});
