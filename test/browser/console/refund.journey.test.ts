/** Half of a top-up is refunded: what goes back is said before; the credit note, its invoice, another GSTIN on it, and a mail with it follow. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { buyCredit } from "../../support/console/money.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();
const ORG = { slug: "kaveri", name: "Kaveri <b>Software</b> LLP", billing_country: "IN" };

test("half of a top-up goes back with its tax, and its invoice is corrected", async () => {
  const { gateway, browser } = world;
  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  const dialog = page.getByRole("dialog");
  expect((await ada.call("POST", "/v1/orgs", { body: ORG })).status).toBe(201);

  // What is wrong with a GSTIN is said while it is typed, and nobody is asked.
  await ada.open("kaveri/billing/tax");
  const form = page.getByRole("region", { name: "Who is billed" });
  await form.getByLabel("Tax status").selectOption("Registered for GST");
  const gstin = form.getByLabel("GSTIN");
  await gstin.pressSequentially("25");
  await page.getByText("It begins with the digits of a State, and 25 is of none.").waitFor();
  await gstin.fill("29AABCT1332L1ZX");
  await page.getByText("The last character does not fit the others").waitFor();
  expect(await form.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  await gstin.fill("29aabct1332l1za");
  await page.getByText("Karnataka (29), PAN AABCT1332L. The check character fits.").waitFor();
  expect(await form.getByLabel("State").inputValue()).toBe("29");
  await form.getByLabel("State").selectOption("Kerala");
  await page.getByText("It is of Karnataka (29), and the address is in Kerala (32)").waitFor();
  await form.getByLabel("State").selectOption("Karnataka");
  await form.getByLabel("Street").fill("4 MG Road");
  await form.getByLabel("City").fill("Bengaluru");
  await form.getByLabel("PIN code").fill("560001");
  await page.locator(".paper").getByText("CGST at 9 % and SGST at 9 %").waitFor();
  expect(await cutOff(page)).toEqual([]);
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. It is on documents from now on").waitFor();

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Credits" }).click();
  await buyCredit(page, "10,000.50", "₹11,800.60");
  await page.getByRole("button", { name: "Refund" }).click();
  await dialog.getByRole("button", { name: "Half of it: ₹5,000.25" }).click();
  await dialog.getByRole("row", { name: "Its tax ₹900.06" }).waitFor();
  await dialog.getByRole("row", { name: "Goes back to you ₹5,900.31" }).waitFor();
  const taken = await dialog
    .getByRole("row", { name: "Credit that is taken" })
    .locator(".number")
    .last()
    .textContent();
  await dialog.getByLabel("Reason").fill("half <i>");
  await dialog.getByRole("button", { name: "Refund ₹5,900.31" }).click();
  await page.getByText("partially refunded").waitFor();
  const refund = page.getByRole("row").filter({ hasText: "half <i>" });
  await refund.getByText("refunded", { exact: true }).waitFor();
  expect(await refund.textContent()).toContain(taken);
  const { json: ledger } = await ada.call("GET", "/v1/credits/ledger?kind=refund", { org: "kaveri" });
  expect(`$${-ledger.data[0].amount_micro_usd / 1_000_000}`).toBe(taken);

  // The credit note, and the invoice that it takes back of: each leads to the other.
  await refund.getByRole("link", { name: "Credit note" }).click();
  const paper = page.locator(".paper");
  await paper.getByRole("heading", { name: "Credit Note" }).waitFor();
  await paper.getByText("₹5,900.31").first().waitFor();
  await page.getByRole("link", { name: "The invoice that it corrects" }).click();
  await paper.getByRole("heading", { name: "Tax Invoice" }).waitFor();
  await paper.getByText(ORG.name).first().waitFor();
  await paper.getByText("Rupees Eleven Thousand Eight Hundred and Paise Sixty Only").waitFor();
  await page.getByText("partly credited").waitFor();
  await page.locator("dd").getByRole("link", { name: "Credit note" }).waitFor();
  await page.locator("dd").getByText("registered", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Correct the GSTIN" }).click();
  await dialog.getByLabel("GSTIN, in place of 29AABCT1332L1ZA").fill("29AAGCB7383J1Z5");
  await dialog.getByText("The last character does not fit the others").waitFor();
  await dialog.getByLabel("GSTIN, in place of 29AABCT1332L1ZA").fill("29AAGCB7383J1Z4");
  await dialog.getByLabel("Why").fill("Another registration of ours pays for it.");
  await dialog.getByRole("button", { name: "Ask for a new invoice" }).click();
  await dialog.getByText("It is asked for: the operator decides").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  const { json: tickets } = await ada.call("GET", "/v1/tickets", { org: "kaveri" });
  expect(tickets.data).toMatchObject([{ kind: "invoice_correction", body: { gstin: "29AAGCB7383J1Z4" } }]);

  await page.getByRole("button", { name: "Mail it again" }).click();
  await dialog.getByLabel("To").fill("books@example.test");
  await dialog.getByRole("button", { name: "Mail document" }).click();
  await dialog.getByText("It is on its way to books@example.test").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  await ada.open("kaveri/billing/invoices");
  await page.getByRole("cell", { name: /^Credit note of an invoice$/ }).waitFor();
  expect(ada.told).toEqual([]);
  expectActs("refund", ada);
});
