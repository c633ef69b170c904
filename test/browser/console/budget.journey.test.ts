/** A key has a small budget of the day: it is used up, the refusal says why and what to do, and a higher budget lets calls through again. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
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

test("a budget is set, hit, understood and raised", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });

  await pages.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Nightly job");
  await page.getByLabel("Budget a day, US dollars").fill("0.001");
  await page.getByRole("button", { name: "Create key" }).click();
  const stored = page.getByRole("dialog", { name: "The secret of" });
  const secret = (await stored.locator("code").textContent()) ?? "";
  await stored.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText("$0.001, then calls are refused").waitFor();

  const statuses: number[] = [];
  do statuses.push((await call(secret)).status);
  while (statuses.at(-1) === 200 && statuses.length < 30);
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]));
  expect(statuses.at(-1)).toBe(402);

  // Its calls are a click from the key, and the one that was refused says so.
  await page.getByRole("link", { name: "Requests" }).last().click();
  const refused = page.getByRole("row").filter({ hasText: "budget_exceeded" });
  // A list has a record some seconds after its call.
  while (!(await refused.isVisible())) await page.getByRole("button", { name: "Refresh" }).click();
  await refused.getByRole("link").first().click();
  const why = page.locator("section").filter({ hasText: "Why it was refused" });
  await why.getByText(/^The key's daily budget does not cover this request\./).waitFor();
  await why.getByText(/^The key's, of the day: \$0\.0009\d+ of \$0\.001 spent, this call may cost/).waitFor();
  await why.getByText(/^Raise the key's budget, lower/).waitFor();
  expect(await cutOff(page)).toEqual([]);

  await pages.getByRole("link", { name: "Credits" }).click();
  const bar = page.locator(".bar").filter({ hasText: "Key Nightly job" });
  await bar.getByText(/^\$0\.0009\d+ of \$0\.001$/).waitFor();
  expect(await bar.getAttribute("data-state")).not.toBe("fine");
  await bar.getByText(/calls beyond it are refused/).waitFor();

  await pages.getByRole("link", { name: "Overview" }).click();
  const finding = page.locator(".findings").getByRole("link", { name: /budget of the key “Nightly job”/ });
  expect(await finding.textContent()).toMatch(
    /^9\d % of the budget .* is spent; calls beyond it are refused\.$/,
  );
  await finding.click();
  await page.getByRole("heading", { name: "Nightly job", level: 1 }).waitFor();

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Budget a day, US dollars").fill("1");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("$1.00, then calls are refused").waitFor();
  expect((await call(secret)).status).toBe(200);
  await page.getByText(/^\$0\.00\d+ of \$1\.00$/).waitFor();
  expect(ada.told).toEqual([]);
  expectActs("budget", ada);
});
