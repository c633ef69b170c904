/** An operator works off what customers, payments and jobs need, and keeps the installation in order, by the console alone. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { HOUR_MS } from "../../../src/base/time.ts";
import { ParkedPayments } from "../../../src/billing/parked.ts";
import { JobTables } from "../../../src/store/jobs/job-tables.ts";
import { openStore } from "../../../src/store/store.ts";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";
import { removeFolder, seededFolder, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let folder: string | undefined;
// What is registered first is done last: the gateway has stopped by then.
afterAll(() => {
  if (folder !== undefined) removeFolder(folder);
});
const world = consoleWorld(async () => {
  folder = await seededFolder(() => {});
  // It makes the first key of receipts, which may be replaced a minute later.
  const first = await testGateway({ folder });
  await first.call("GET", "/.well-known/jwks.json", { key: null });
  await first.stop();
  await putBefore(join(folder, "data"));
  return { folder, settings: { operators: ["ops@example.test"], analytics: { analysts: "unconfined" } } };
});

/** What no route makes: a payment that was not credited, jobs that were given up, and a key of receipts that is an hour old. */
async function putBefore(dataDir: string): Promise<void> {
  const store = openStore(dataDir);
  await store.act(() => {
    const parked = {
      gateway: "simulated",
      ref: "spy_1",
      orgId: "",
      topupId: "",
      currency: "USD",
      minor: 4200,
    } as const;
    const detail = "no top-up has this payment";
    new ParkedPayments(store).park({ ...parked, reason: "unknown_payment", detail }, systemClock.now());
    const jobs = new JobTables(store);
    for (const kind of ["mail.send", "report.send"])
      jobs.put({
        kind,
        key: `${kind} 1`,
        lane: "",
        orgId: "",
        payload: {},
        createdAtMs: systemClock.now() - HOUR_MS,
        dueMs: systemClock.now() - 1000,
        tries: 9,
        fence: 1,
        state: "given_up",
        holder: "",
        leaseEndsAtMs: 0,
        error: "550 no such mailbox",
      });
    for (const name of ["receipts.signing", "receipts.keys"]) {
      const table = store.table<{ createdAtMs: number }>(name);
      for (const { key, value } of [...table.range({})])
        table.put(key, { ...value, createdAtMs: value.createdAtMs - HOUR_MS });
    }
  });
  await store.close();
}

/** A customer's top-up of 25 dollars, paid. */
async function paidTopup({ call }: BrowserPerson): Promise<void> {
  const { json } = await call("POST", "/v1/credits/topups", { org: "first", body: { amount_minor: 2500 } });
  await fetch(json.checkout_url, {
    method: "POST",
    body: new URLSearchParams({ act: "pay" }),
    redirect: "manual",
  });
  const topup = async () => (await call("GET", `/v1/credits/topups/${json.topup.id}`, { org: "first" })).json;
  await until("the top-up is paid", async () => (await topup()).status === "paid");
}

/** The dialog that a button opens. */
async function dialogBy(page: Page, button: string, name: string | RegExp) {
  await page.getByRole("button", { name: button }).first().click();
  return page.getByRole("dialog", { name });
}

const nav = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();

const told = (page: Page, text: string | RegExp) =>
  page.getByRole("status").filter({ hasText: text }).waitFor();

async function decideTickets(page: Page): Promise<void> {
  await page.getByRole("link", { name: /^A ticket waits: “900000000 requests a minute/ }).click();
  const limit = await dialogBy(page, "Decide 900000000", /^Higher limit: /);
  await limit.getByLabel("Requests a minute that are granted").fill("4000000");
  await limit.getByLabel("Answer").fill("Four million for now");
  await limit.getByRole("button", { name: "Approve ticket" }).click();
  await told(page, /was approved\.$/);
  const refund = await dialogBy(page, "Decide Please send it back", /^Refund: /);
  const option = refund.locator("option").filter({ hasText: "$25.00 left" });
  await option.waitFor({ state: "attached" });
  await refund.getByLabel("Refund a top-up").selectOption({ label: (await option.textContent()) ?? "" });
  await refund.getByLabel("Amount before tax, USD").fill("10");
  await refund.getByRole("button", { name: "Approve ticket" }).click();
  await told(page, /^“Please send it back” was approved\.$/);
  await page.getByText("No ticket waits.").waitFor();
  expect(await cutOff(page)).toEqual([]);
}

async function workOnOrg(page: Page): Promise<void> {
  await nav(page, "Organisations");
  await page.getByRole("searchbox").fill("first");
  await page.getByRole("table").getByRole("link").first().click();
  const suspend = await dialogBy(page, "Suspend organisation", /^Suspend /);
  await suspend.getByLabel("Reason").fill("The invoice is not paid");
  await suspend.getByRole("button", { name: "Suspend organisation" }).click();
  await page.getByText("It is suspended").waitFor();
  expect((await world.gateway.chat()).json.error.code).toBe("org_suspended");
  const resume = await dialogBy(page, "Resume organisation", /^Resume /);
  await resume.getByLabel("Reason").fill("It is paid");
  await resume.getByRole("button", { name: "Resume organisation" }).click();
  await page.getByRole("button", { name: "Suspend organisation" }).waitFor();
  expect((await world.gateway.chat()).status).toBe(200);

  const grant = await dialogBy(page, "Grant credit", /^Grant /);
  await grant.getByLabel("Amount, US dollars").fill("5");
  await grant.getByLabel("Reason").fill("A gift");
  await grant.getByRole("button", { name: "Grant $5.00" }).click();
  await told(page, /^\$5\.00 granted: the balance is \$/);
  const adjust = await dialogBy(page, "Adjust credit", /^Adjust /);
  await adjust.getByLabel("What happens").selectOption("take");
  await adjust.getByLabel("Amount, US dollars").fill("2.5");
  await adjust.getByLabel("Reason").fill("Half of it was meant");
  await adjust.getByRole("button", { name: "Take $2.50" }).click();
  await told(page, /^\$2\.50 taken: the balance is \$/);
  const payment = await dialogBy(page, "Record a payment", /^Record /);
  await payment.getByLabel("Amount before tax, USD").fill("100");
  await payment.getByLabel("The bank's reference").fill("UTR 1");
  await payment.getByLabel("Reason").fill("By wire");
  await payment.getByRole("button", { name: "Record $100.00" }).click();
  await told(page, /was recorded: \$100\.00 of credit\.$/);
  await page.getByRole("row").filter({ hasText: "UTR 1" }).waitFor();
}

async function workOnMoney(page: Page): Promise<void> {
  await nav(page, "Payments to look at");
  const close = await dialogBy(page, "Close spy_1", "What became of this payment?");
  await close.getByLabel("What you did").fill("Refunded at the payment gateway");
  await close.getByRole("button", { name: "Close payment" }).click();
  await page.getByText("No payment waits to be looked at.").waitFor();
  await page.getByRole("button", { name: "Looked at" }).click();
  await page.getByText("Refunded at the payment gateway").waitFor();

  await nav(page, "Reconciliation");
  await page.getByRole("button", { name: "Reconcile this day" }).click();
  await told(page, /was reconciled: it balances\.$/);
  await page.getByText("Kept from the run of").waitFor();

  await nav(page, "Provider bills");
  await page.getByLabel("Or paste it").fill("day,model,cost_usd\n2026-11-01,sim-small,1.00\n");
  await page.getByRole("button", { name: "Compare" }).click();
  await page
    .getByText("The bill differs: 0 with other tokens, 0 not billed, 1 not recorded, 0 agree.")
    .waitFor();

  await nav(page, "Keys of receipts");
  await page.getByText("signs now").waitFor();
  const before = await page.getByRole("row").filter({ hasText: "signs now" }).textContent();
  const rotate = await dialogBy(page, "Rotate key", /new key/);
  await rotate.getByRole("button", { name: "Rotate key" }).click();
  await told(page, "A new key signs from now on.");
  expect(await page.getByRole("row").filter({ hasText: "signs now" }).textContent()).not.toBe(before);
  await page.getByText("verifies", { exact: true }).waitFor();
}

async function keepInOrder(page: Page): Promise<void> {
  await nav(page, "Jobs given up");
  await page.getByRole("button", { name: "Try report.send report.send 1 again" }).click();
  await told(page, "report.send is tried again now");
  const drop = await dialogBy(page, "Drop mail.send mail.send 1", /^Drop this job/);
  await drop.getByText("This cannot be undone.").waitFor();
  await drop.getByRole("button", { name: "Drop job" }).click();
  await page.getByText("Nothing was given up.").waitFor();

  await nav(page, "Analysts");
  const made = await dialogBy(page, "New analyst", "New analyst");
  await made.getByLabel("Name").fill("The monthly report");
  await made.getByRole("button", { name: "Make analyst" }).click();
  const password = page.getByRole("dialog", { name: "The password of" });
  await password.getByText(/\?database=weir$/).waitFor();
  await password.getByRole("button", { name: "I have stored it" }).click();
  const gone = await dialogBy(page, "Delete The monthly report", /^Delete the analyst/);
  await gone.getByRole("button", { name: "Delete analyst" }).click();
  await page.getByText("There is none.").waitFor();

  await nav(page, "Backups");
  const hold = await dialogBy(page, "Hold the files still", /^Hold /);
  await hold.getByRole("button", { name: "Hold files" }).click();
  await page.getByRole("button", { name: "The copy has begun" }).click();
  await page.getByText(/^clickhouse\/shadow\/weir_backup_/).waitFor();

  await nav(page, "Cells");
  await page.getByText("This gateway is alone").waitFor();
  expect(await cutOff(page)).toEqual([]);
}

test("an operator decides, suspends, credits, closes, retries, rotates and backs up", async () => {
  const ada = await personAt(world.browser, world.gateway.url, "ada@example.test");
  await paidTopup(ada);
  const { json: keys } = await ada.call("GET", "/v1/keys?limit=1", { org: "first" });
  const asked = { key_id: keys.data[0].id, rpm: 900_000_000, reason: "A launch" };
  const request = await ada.call("POST", "/v1/limits/requests", { org: "first", body: asked });
  const { id: ticket } = request.json.ticket;
  const body = { kind: "refund", subject: "Please send it back", message: "We need less." };
  expect((await ada.call("POST", "/v1/tickets", { org: "first", body })).status).toBe(201);

  const ops = await personAt(world.browser, world.gateway.url, "ops@example.test");
  const { page } = ops;
  await ops.open("operator");
  await decideTickets(page);
  const { json: decided } = await ada.call("GET", `/v1/tickets/${ticket}`, { org: "first" });
  expect([decided.status, decided.answer]).toEqual(["approved", "Four million for now"]);
  const { json: refunds } = await ada.call("GET", "/v1/credits/refunds", { org: "first" });
  expect(refunds.data.map((row: { amount_minor: number }) => row.amount_minor)).toEqual([1000]);
  await workOnOrg(page);
  await workOnMoney(page);
  await keepInOrder(page);
  expect(ops.told).toEqual([]);
  expectActs("operator", ops);
});
