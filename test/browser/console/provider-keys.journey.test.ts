/** An own provider key: added, never shown again, what calls go with, and deleted. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const CREDENTIAL = "own-account-secret-7Qx4";
const endpoints = [{ provider: "partner", credentialEnv: "PARTNER_TEST_KEY_NEVER_SET", isReal: true }];
const world = consoleWorld(async () => ({ endpoints }));

const call = () => world.gateway.chat({ model: "test/model" });

test("an own account at a provider is used as long as its key is there", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  expect((await call()).json.error.code).toBe("no_endpoint");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Provider keys" }).click();
  await page.getByText(/^A call that your own key answers costs 5 % of/).waitFor();
  await page.getByRole("link", { name: "New provider key" }).click();
  await page.getByLabel("Provider", { exact: true }).selectOption("simulator");
  await page.getByLabel("Name").fill("Our <u>partner</u> account");
  await page.getByLabel("Key", { exact: true }).fill(CREDENTIAL);
  await page.getByRole("button", { name: "Add key" }).click();
  await page.getByText(/needs no credential, so no key could be used\.$/).waitFor();
  await page.getByLabel("Provider", { exact: true }).selectOption("partner");
  await page.getByLabel("Where the provider refuses this key").selectOption("no");
  await page.getByRole("button", { name: "Add key" }).click();

  const row = page.getByRole("row").filter({ hasText: "Our <u>partner</u> account" });
  await row.getByText("…7Qx4").waitFor();
  await row.getByText("the call is not sent to this provider").waitFor();
  expect(await page.content()).not.toContain(CREDENTIAL);
  expect(await cutOff(page)).toEqual([]);
  expect((await call()).status).toBe(200);

  await row.getByRole("button", { name: /^Delete/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete key" }).click();
  await page.getByText(/^All calls go with the keys of this gateway\./).waitFor();
  expect((await call()).json.error.code).toBe("no_endpoint");
  const refused = ada.told.splice(0);
  expect(refused.filter((line) => !/: 400 POST .*\/v1\/provider-keys$/.test(line))).toEqual([]);
  expectActs("provider-keys", ada);
});
