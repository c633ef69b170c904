/** A person signs in, makes a key, asks in the playground, and follows the money: request, ledger entry, signed receipt. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();

test("sign in, a key, the playground, the ledger entry, the receipt", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  const { page } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });

  await pages.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Notebook");
  await page.getByRole("button", { name: "Create key" }).click();
  const stored = page.getByRole("dialog", { name: "The secret of" });
  expect(await stored.locator("code").textContent()).toMatch(/^svc-/);
  await stored.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("heading", { name: "Notebook", level: 1 }).waitFor();

  await pages.getByRole("link", { name: "Playground" }).click();
  await page.getByLabel("Model", { exact: true }).selectOption("weir/sim-small");
  await page.getByLabel("Message", { exact: true }).fill("What does a weir do?");
  await page.getByText(/^Next call: asks/).waitFor();
  await page.getByLabel("Message", { exact: true }).press("Control+Enter");
  const answer = page.getByRole("article", { name: "assistant", exact: true });
  const costText = (await answer.getByText(/^cost \$0\.\d+$/).textContent()) ?? "";
  const cost = costText.replace("cost ", "");

  await answer.getByRole("link", { name: "Details of the request" }).click();
  await page.waitForURL("**/requests/*");
  const requestId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const costs = page.locator("section").filter({ has: page.getByRole("heading", { name: "Cost" }) });
  await costs.getByRole("row", { name: /input/ }).waitFor();
  expect(await costs.locator("dd").first().textContent()).toBe(cost);

  await costs.getByRole("link", { name: /^Ledger entry \d+$/ }).click();
  await page.waitForURL(`**/credits/ledger?request_id=${requestId}`);
  const entry = page.getByRole("row").filter({ hasText: requestId });
  await entry.waitFor();
  expect(await entry.textContent()).toContain(`-${cost}`);
  expect(await page.getByRole("row").count()).toBe(2);

  await entry.getByRole("link", { name: requestId }).click();
  await page.getByRole("button", { name: "Open the signed receipt" }).click();
  const receipt = page.getByRole("dialog", { name: "Signed receipt" });
  await receipt.getByText(requestId, { exact: true }).waitFor();
  expect(await receipt.getByRole("row").allTextContents()).toHaveLength(3);
  expect(await cutOff(page)).toEqual([]);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    receipt.getByRole("button", { name: "Save receipt" }).click(),
  ]);
  const claims = readFileSync(await file.path(), "utf8").split(".")[1] ?? "";
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    request_id: requestId,
    charged: true,
  });
  await receipt.getByRole("button", { name: "Close" }).click();
  await receipt.waitFor({ state: "detached" });
  expect(ada.told).toEqual([]);
  expectActs("first-key", ada);
});
