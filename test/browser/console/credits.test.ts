/** The page "Credits" in a real browser: credit is bought through to the paid invoice, holds move while a stream runs, and what roles see. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
} from "../../support/console/browser.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { acceptInvitation, type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

let browser: ConsoleBrowser;
let gateway: TestGateway;
let ada: BrowserPerson;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway();
  browser = await openBrowser(gateway.url);
  ada = await personAt(browser, gateway.url, "ada@example.test");
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const ORG = { slug: "kaveri", name: "Kaveri <b>Software</b> LLP", billing_country: "IN" };

async function fillProfile(page: Page): Promise<void> {
  await page.getByText("invoices must state who is billed").waitFor();
  await page.getByText("Needed.").first().waitFor();
  await page.getByLabel("Tax status").selectOption("gst_registered");
  await page.getByLabel("GSTIN").fill("29AABCT1332L1ZA");
  await page.getByLabel("Street").fill("4 MG Road");
  await page.getByLabel("City").fill("Bengaluru");
  await page.getByLabel("State").selectOption("Karnataka");
  await page.getByLabel("PIN code").fill("560001");
  await page.getByRole("button", { name: "Save and go on" }).click();
}

test("an amount in INR becomes a paid invoice, and half of it is refunded", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page } = ada;
  expect(await ada.call("POST", "/v1/orgs", { body: ORG })).toMatchObject({ status: 201 });
  await ada.open("kaveri/credits/topups");
  await page.getByRole("button", { name: "Buy credit" }).click();
  await fillProfile(page);

  const amount = page.getByLabel("Amount before tax, INR");
  await amount.fill("99");
  await page.getByText("At least ₹100.00.").waitFor();
  await amount.fill("");
  await amount.pressSequentially("10,000.50");
  await page.getByText("Continue to pay ₹11,800.60").waitFor();
  expect(await page.getByText("CGST, 9 %").count()).toBe(1);
  expect(await cutOff(page)).toEqual([]);

  // The checkout's answer is lost, and the page is loaded again: the same one is opened.
  const opened: string[] = [];
  await page.route("**/v1/credits/topups", async (route) => {
    opened.push(route.request().headers()["idempotency-key"] ?? "");
    await route.fetch();
    await route.abort();
  });
  await page.getByRole("button", { name: "Continue to pay" }).click();
  await page.getByText("The gateway does not answer").waitFor();
  await page.unroute("**/v1/credits/topups");
  await page.reload();
  await page.getByRole("button", { name: "Continue to pay ₹11,800.60" }).click();
  await page.waitForURL("**/credits/topups/tup_*");
  expect(opened).toHaveLength(1);
  const { json: all } = await ada.call("GET", "/v1/credits/topups", { org: "kaveri" });
  expect(all.data).toHaveLength(1);

  // The tab is closed, and another goes on.
  await page.evaluate("sessionStorage.clear()");
  await ada.open("kaveri/credits/topups");
  await page.getByRole("link", { name: "Go on paying" }).click();
  const [checkout] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("link", { name: "Pay ₹11,800.60" }).click(),
  ]);
  await checkout.getByLabel("UPI", { exact: true }).check();
  await checkout.getByRole("button", { name: "Pay ₹11,800.60" }).click();
  await checkout.getByRole("heading", { name: "Thank you" }).waitFor();
  await checkout.close();
  await page.getByText("₹11,800.60 has arrived").waitFor();

  await page.getByRole("button", { name: "Refund" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount before tax, INR").fill("5000");
  await dialog.getByLabel("Reason").fill("half <i>");
  await dialog.getByRole("button", { name: "Refund ₹5,900.00" }).click();
  await page.getByText("partially refunded").waitFor();

  await page.locator("dd").getByRole("link", { name: "inv_" }).click();
  await page.locator(".paper").getByText(ORG.name).first().waitFor();
  await page.locator(".paper-strong").getByText("₹11,800.60").waitFor();
  // The session is about another org: the file is asked for as this one's.
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save PDF" }).click(),
  ]);
  expect(readFileSync(await file.path(), "latin1")).toMatch(/^%PDF-/);
  await page.getByRole("button", { name: "Mail it again" }).click();
  await dialog.getByLabel("To").fill("books@example.test");
  await dialog.getByRole("button", { name: "Mail document" }).click();
  await dialog.getByText("It is on its way to books@example.test").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  await page.getByRole("link", { name: "Invoices" }).click();
  await page.getByRole("cell", { name: "Credit note" }).waitFor();
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Credits" }).click();
  await page.getByRole("link", { name: "Top-ups" }).click();
  await page.getByRole("cell", { name: "half <i>" }).waitFor();
  await page.getByRole("link", { name: "Ledger" }).click();
  await page.getByRole("cell", { name: "Refund", exact: true }).waitFor();
  await page.getByRole("link", { name: "tup_" }).first().click();
  await page.waitForURL("**/credits/topups/tup_*");
  // An incomplete profile is refused: the page says so.
  for (const fault of ada.told) expect(fault).toMatch(/400 \S+ \S+\/v1\/credits\/topups\/quote/);
});

test("what is held moves while a stream runs, and its charge leads to its request", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const walk = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = walk;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await walk.open("first/credits");
  const held = page
    .locator(".figures > div")
    .filter({ hasText: "by calls under way" })
    .locator(".figure-value");
  await held.getByText("$0.00", { exact: true }).waitFor();
  const leave = new AbortController();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    signal: leave.signal,
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "weir/sim-small",
      stream: true,
      max_tokens: 4000,
      messages: [{ role: "user", content: "[[sim tokens=4000 gap_ms=100]]" }],
    }),
  });
  await held.filter({ hasNotText: /^\$0\.00$/ }).waitFor();
  const requestId = answer.headers.get("x-svc-request-id") ?? "";
  // The stream told it: the balance was asked for once.
  expect(asked.filter((path) => path === "/v1/credits")).toHaveLength(1);
  leave.abort();
  await answer.text().catch(() => undefined);
  await held.getByText("$0.00", { exact: true }).waitFor();

  await page.getByRole("link", { name: "Ledger" }).click();
  await page.getByLabel("What").selectOption("Call");
  await page.getByRole("link", { name: requestId }).waitFor();
  expect(new URL(page.url()).search).toBe("?kind=settle");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as CSV" }).click(),
  ]);
  const rows = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\r\n");
  expect(rows[0]).toBe("seq,kind,amount_micro_usd,request_id,ref_type,ref_id,created_at");
  expect(rows.slice(1)).toEqual([expect.stringContaining(requestId)]);
  await page.getByRole("link", { name: requestId }).click();
  await page.waitForURL(`**/requests/${requestId}`);
  expect(walk.told).toEqual([]);
});

test("the balance is shown in the org's currency as it moves, and while the stream does not come", async ({
  skip,
}) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const walk = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = walk;
  const figure = (label: string) => page.locator(".figures > div").filter({ hasText: label });
  const org = { slug: "tapi", name: "Tapi", billing_country: "IN" };
  expect(await ada.call("POST", "/v1/orgs", { body: org })).toMatchObject({ status: 201 });
  await page.route("**/v1/live*", (route) => route.abort());
  await walk.open("tapi/credits");
  await figure("Available")
    .getByText(/₹[\d,.]+ before tax, at \d/)
    .waitFor();
  await page.getByText("The gateway does not answer").waitFor();
  await page.unroute("**/v1/live*");
  await page.getByText("The gateway does not answer").waitFor({ state: "detached" });
  const operator = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
  const body = { amount_micro_usd: 5_000_000, reason: "a test", idempotency_key: "1" };
  const granted = await gateway.call("POST", "/v1/operator/orgs/tapi/grant", { key: operator, body });
  expect(granted.status).toBe(201);
  await figure("Granted").getByText("$5.00").waitFor();
});

test("a viewer reads balance and ledger; billing buys and sees no keys", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  for (const [email, role] of [
    ["vera@example.test", "viewer"],
    ["bill@example.test", "billing"],
  ] as const) {
    const body = { email, role };
    expect(await ada.call("POST", "/v1/orgs/first/members", { body })).toMatchObject({ status: 201 });
    const walk = await personAt(browser, gateway.url, email);
    await acceptInvitation(walk);
    const { page } = walk;
    await walk.open("first/credits");
    await page.getByText("by calls under way").waitFor();
    const isBilling = role === "billing";
    const pages = page.getByRole("navigation", { name: "Pages" });
    expect(await pages.getByRole("link", { name: "Keys", exact: true }).count()).toBe(isBilling ? 0 : 1);
    expect(await page.getByRole("link", { name: "Top-ups" }).count()).toBe(isBilling ? 1 : 0);
    expect(await page.getByRole("button", { name: "Buy credit" }).count()).toBe(isBilling ? 1 : 0);
    await page.getByRole("link", { name: "Ledger" }).click();
    await page.getByRole("cell", { name: "Grant" }).waitFor();
    await walk.open("first/credits/topups");
    const shown = isBilling
      ? page.getByText("No credit was bought yet.")
      : page.getByText("Not open to your role.");
    await shown.waitFor();
    expect(walk.told).toEqual([]);
  }
});
