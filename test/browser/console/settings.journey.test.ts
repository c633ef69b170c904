/** Settings of an org: a rule is tried on a text and is at work in a kept request; who would shut themselves out is told so; a default changes. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { recorded } from "../../support/observations.ts";

const world = consoleWorld();

const SAID = "EMP-123456 <b>and</b> jane@example.com asked [REDACTED:card]";
const KEPT = "[REDACTED:pattern] <b>and</b> [REDACTED:email] asked [REDACTED:card]";

test("settings are changed, a redaction rule among them, and a lock-out is refused", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page, told } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });
  const parts = page.getByRole("navigation", { name: "Parts of Settings" });
  const save = page.getByRole("button", { name: "Save changes" });
  const saved = page.getByText("Saved.", { exact: true });

  await pages.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Days that a new key works").fill("45");
  await page.getByLabel("Where credit is short").selectOption("fit");
  await save.click();
  await saved.waitFor();
  await pages.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("button", { name: "New key" }).click();
  const first = page.getByLabel("It ends").locator("option").first();
  await first.waitFor({ state: "attached" });
  expect(await first.textContent()).toBe("In 45 days, as the organisation has it");

  await pages.getByRole("link", { name: "Settings" }).click();
  await parts.getByRole("link", { name: "Data policy" }).click();
  const kept = page.getByRole("region", { name: "What would be kept" });
  await page.getByLabel("Your text").fill(SAID);
  await kept.getByText(SAID.slice(0, 10)).waitFor();
  await page.getByRole("button", { name: "Add a pattern" }).click();
  await page.getByLabel("Pattern 1", { exact: true }).fill("EMP-[0-9");
  await page.getByText(/^This is no RE2 expression/).waitFor();
  await page.getByLabel("Pattern 1", { exact: true }).fill("EMP-[0-9]{6}");
  await kept.getByText("[REDACTED:pattern]").waitFor();
  await page.getByLabel("E-mail addresses").check();
  await kept.getByText("[REDACTED:email]").waitFor();
  expect(await kept.textContent()).toBe(KEPT);
  // What was typed is text, and a mark that was typed is none.
  expect(await kept.locator("b").count()).toBe(0);
  expect(await kept.locator("mark").allTextContents()).toEqual(["[REDACTED:pattern]", "[REDACTED:email]"]);
  const found = page.getByRole("region", { name: "What was found" });
  await found.getByRole("row").filter({ hasText: "Own pattern 1" }).getByText("EMP-123456").waitFor();
  await found
    .getByRole("row")
    .filter({ hasText: "E-mail addresses" })
    .getByText("jane@example.com")
    .waitFor();
  await page.getByText("2 places are cut out.").waitFor();
  await save.click();
  await saved.waitFor();
  expect(await cutOff(page)).toEqual([]);

  const called = await world.gateway.chat({ messages: [{ role: "user", content: SAID }] });
  expect(called.status).toBe(200);
  await recorded(world.gateway);
  await ada.open(`first/requests/${called.headers.get("x-svc-request-id")}`);
  await page.getByText(KEPT).first().waitFor();

  await pages.getByRole("link", { name: "Settings" }).click();
  await parts.getByRole("link", { name: "Security" }).click();
  const networks = page.getByLabel("Networks from which the organisation is open");
  await networks.fill("203.0.113.0/24");
  await page.getByText(/your own address must be in the list/).waitFor();
  await save.click();
  await page.getByText("Your own address is not in the list, so this would shut you out.").waitFor();
  await networks.fill("no network");
  await save.click();
  await page.getByText(/^“no” cannot be used\. An address or a CIDR/).waitFor();
  await networks.fill("203.0.113.0/24\n127.0.0.0/8 ::1");
  await save.click();
  await saved.waitFor();
  await page.getByLabel("Second factor").selectOption("yes");
  await save.click();
  await page.getByText("Your own session has no second factor, so this would shut you out.").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await page.getByLabel("Second factor").inputValue()).toBe("no");

  const { json } = await ada.call("GET", "/v1/orgs/first");
  expect(json.settings.security).toMatchObject({
    key_default_expiry_days: 45,
    console_ip_allow: ["203.0.113.0/24", "127.0.0.0/8", "::1"],
    require_2fa: false,
  });
  expect(json.settings.hold).toBe("fit");
  const refused = told.splice(0);
  const routes = new Set(refused.map((line) => line.replace(/^.*: (\d+ \w+) .*\/v1\/(\w+).*$/, "$1 $2")));
  expect(routes).toEqual(new Set(["400 POST policy", "400 PATCH orgs"]));
  expectActs("settings", ada);
});
