/** Automatic top-ups: a mandate is approved on the payment service's page, a call takes the balance below, credit comes by itself, and it ends. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { buyCredit, tabOf } from "../../support/console/money.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();
const ORG = { slug: "austin", name: "Austin Models Inc.", billing_country: "US" };

test("a mandate is approved, credit is bought by itself, and the mandate is cancelled", async () => {
  const { gateway, browser } = world;
  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });
  const parts = page.getByRole("navigation", { name: "Parts of Billing" });
  expect((await ada.call("POST", "/v1/orgs", { body: ORG })).status).toBe(201);

  // Who is billed, first: invoices must state it.
  await ada.open("austin/billing/tax");
  const form = page.getByRole("region", { name: "Who is billed" });
  await form.getByLabel("Street").fill("500 Main Street");
  await form.getByLabel("City").fill("Austin");
  await form.getByLabel("State or region").fill("TX");
  await form.getByLabel("Postal code").fill("78701");
  await page.getByText("It is an export of services, which is zero-rated.").waitFor();
  await page.locator(".paper").getByText("Austin 78701").waitFor();
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. It is on documents from now on").waitFor();
  await pages.getByRole("link", { name: "Credits" }).click();
  await buyCredit(page, "10", "$10.00");

  await pages.getByRole("link", { name: "Billing" }).click();
  await parts.getByRole("link", { name: "Automatic top-ups" }).click();
  await page.getByText(/One debit is at most \$1,000\.00, tax included/).waitFor();
  await page.getByLabel("Payment method").selectOption("Card");
  await page.getByRole("button", { name: "Continue to approve" }).click();
  await page.getByText("Not approved yet.").waitFor();
  // The tab is closed; a reload goes on.
  await page.reload();
  const approval = await tabOf(page, "Approve the mandate");
  const service = new URL(approval.url()).origin;
  await approval.getByRole("button", { name: /approve/i }).click();
  await approval.waitForURL("**/billing/mandates/**");
  await approval.close();
  await page.getByText("It may be debited, within its bounds.").waitFor();

  await page.getByLabel("Amount before tax").fill("2000");
  await page.getByText("With tax it is $2,000.00; one debit is at most $1,000.00.").waitFor();
  await page.getByLabel("Amount before tax").fill("25");
  await page.getByText(/A debit is \$25\.00; it buys \$25\.00 of credit\./).waitFor();
  await page.getByLabel("Buy when the balance is below").fill("10");
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByRole("button", { name: "Switch off" }).waitFor();
  expect(await cutOff(page)).toEqual([]);

  // At the bound itself nothing is bought; a call takes the balance below.
  expect((await ada.call("GET", "/v1/credits", { org: "austin" })).json.available_micro_usd).toBe(10_000_000);
  const { json: projects } = await ada.call("GET", "/v1/projects", { org: "austin" });
  const body = { name: "calls", project_id: projects.data[0].id };
  const { json: key } = await ada.call("POST", "/v1/keys", { org: "austin", body });
  const messages = [{ role: "user", content: "[[sim tokens=100]]" }];
  expect((await gateway.chat({ max_tokens: 100, messages }, { key: key.secret })).status).toBe(200);
  const bought = page.getByRole("region", { name: "Bought automatically" });
  await bought.getByRole("row", { name: /paid .*\$25\.00/ }).waitFor();
  await bought.getByRole("link", { name: "Invoice" }).click();
  await page.locator(".paper").getByText("$25.00").first().waitFor();
  await pages.getByRole("link", { name: "Credits" }).click();
  await page
    .locator(".figures > div")
    .first()
    .getByText(/^\$34\.99/)
    .waitFor();

  await pages.getByRole("link", { name: "Billing" }).click();
  await parts.getByRole("link", { name: "Automatic top-ups" }).click();

  // The bank declines the next debit: the page says why the mandate is paused, and resumes it.
  const control = { act: "next_debits", outcomes: ["decline_hard"] };
  const told = await fetch(`${service}/control`, { method: "POST", body: JSON.stringify(control) });
  expect(told.status).toBe(200);
  await page.getByLabel("Buy when the balance is below").fill("40");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("The bank declined a debit for good.").waitFor();
  await bought.getByRole("row", { name: /failed/ }).waitFor();
  await page.getByRole("button", { name: "Save and resume" }).click();
  await page.getByText("It may be debited, within its bounds.").waitFor();
  await bought.getByRole("row", { name: /paid/ }).nth(1).waitFor();
  await page.getByRole("button", { name: "Cancel mandate" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This cannot be undone").waitFor();
  await dialog.getByRole("button", { name: "Cancel mandate" }).click();
  await page.getByText("It is cancelled, and nothing is debited.").waitFor();
  const { json: after } = await ada.call("GET", "/v1/credits/auto-topup", { org: "austin" });
  expect(after).toMatchObject({ config: { enabled: false }, mandate: { status: "cancelled" } });
  expect(ada.told).toEqual([]);
  expectActs("mandate", ada);
});
