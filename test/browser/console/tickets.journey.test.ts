/** Higher limits are asked for, within and beyond what is approved at once; the operator decides; and the audit says who did what. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { acceptInvitation, personAt } from "../../support/console/person.fixtures.ts";

const LIMITS = { rpm: 100, tpm: 0, concurrency: 0, keys: 100, projects: 10, auto_approve: 2 };
const world = consoleWorld(async () => ({ plans: [{ id: "local", limits: LIMITS }] }));

test("limits asked for, one raised at once, one decided by the operator, a question, and the audit of it", async () => {
  const { gateway } = world;
  const ada = await personAt(world.browser, gateway.url, "ada@example.test");
  const { page } = ada;
  const pages = page.getByRole("navigation", { name: "Pages" });
  const made = await gateway.call("POST", "/v1/keys", {
    body: { name: "Nightly job", scopes: ["inference"] },
  });
  expect(made.status).toBe(201);
  const askFor = async (rpm: string, reason: string) => {
    await page.getByLabel("Requests a minute").fill(rpm);
    await page.getByLabel("What for").fill(reason);
    await page.getByRole("button", { name: "Send ticket" }).click();
  };

  // From the key: within twice the plan's limit it is raised at once.
  await pages.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("link", { name: "Nightly job" }).click();
  await page.getByRole("link", { name: "Ask for higher limits" }).click();
  await page.getByText("It has 100 now").waitFor();
  await askFor("90", "");
  await page.getByText("The key has 100 requests a minute already.").waitFor();
  await askFor("150", "The night run");
  await page.getByRole("heading", { name: "150 requests a minute for Nightly job", level: 1 }).waitFor();
  await page.getByText("The key has had the higher limit since then.").waitFor();

  // Beyond that, somebody decides.
  await page.getByRole("link", { name: "All tickets" }).click();
  await page.getByRole("button", { name: "New ticket" }).click();
  await page.getByLabel("About", { exact: true }).selectOption({ label: "Higher limits for a key" });
  await page.getByLabel("Key", { exact: true }).selectOption({ label: `Nightly job (${made.json.hint})` });
  await page.getByText("It has 150 now").waitFor();
  await askFor("5,000", "The sale <b>begins</b>");
  await page.getByText("It waits for a decision").waitFor();
  await page.getByText("The sale <b>begins</b>").waitFor();
  expect(await cutOff(page)).toEqual([]);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const operator = readFileSync(join(gateway.folder, "data", "operator-key"), "utf8").trim();
  const decision = { status: "approved", answer: "Granted for the sale.", rpm: 4000 };
  const decided = await gateway.call("POST", `/v1/operator/tickets/${id}/decide`, {
    key: operator,
    body: decision,
  });
  expect(decided.status, decided.text).toBe(200);
  await page.reload();
  await page.getByText("Granted for the sale.").waitFor();
  await page.getByText("approved", { exact: true }).first().waitFor();

  // A question, by somebody who may do nothing else.
  await ada.call("POST", "/v1/orgs/first/members", { body: { email: "vera@example.test", role: "viewer" } });
  const vera = await personAt(world.browser, gateway.url, "vera@example.test");
  await acceptInvitation(vera);
  await vera.open("first/tickets/new?about=limits");
  await vera.page.getByText("Owners, admins and members ask for higher limits.").waitFor();
  await vera.page
    .getByLabel("About", { exact: true })
    .selectOption({ label: "A question, or anything else" });
  await vera.page.getByRole("button", { name: "Send ticket" }).click();
  await vera.page.getByText("Say in one line what it is about").waitFor();
  await vera.page.getByLabel("In one line").fill("Where are the invoices of last year?");
  await vera.page.getByRole("button", { name: "Send ticket" }).click();
  await vera.page.getByRole("heading", { name: "Where are the invoices of last year?", level: 1 }).waitFor();
  await untilShown(vera.page);
  expect(vera.told).toEqual([]);

  // Who did what.
  await page.getByRole("link", { name: "In the audit" }).click();
  const rows = page.getByRole("region", { name: "Audit", exact: true }).locator("> table > tbody > tr");
  const byOperator = rows.filter({ hasText: "decided the ticket" });
  await byOperator.getByText("operator", { exact: true }).waitFor();
  await byOperator.getByText("“Granted for the sale.”").waitFor();
  expect((await byOperator.locator("details table tbody tr").allTextContents()).join()).toBe(
    "statusopenapproved",
  );
  await rows.filter({ hasText: "ada asked, in the ticket" }).waitFor();
  expect(await rows.count()).toBe(2);
  await page.getByRole("button", { name: "Take all out" }).click();
  const raised = rows.filter({ hasText: "raised the limits of the key" });
  await raised.filter({ hasText: "4,000" }).getByRole("link", { name: "Nightly job" }).waitFor();
  await rows.filter({ hasText: "vera asked, in the ticket" }).waitFor();
  await page.getByLabel("Who", { exact: true }).selectOption({ label: "The operator" });
  await page.waitForURL("**/audit?by=operator");
  await rows.filter({ hasText: "vera asked" }).waitFor({ state: "detached" });
  expect(await rows.filter({ hasText: "The operator" }).count()).toBe(await rows.count());
  await page.getByLabel("About", { exact: true }).selectOption({ label: "Keys" });
  await rows.filter({ hasText: "decided the ticket" }).waitFor({ state: "detached" });
  await raised.getByRole("link", { name: "Nightly job" }).click();
  await page.getByRole("heading", { name: "Nightly job", level: 1 }).waitFor();
  await untilShown(page);
  const refused = ada.told.filter((line) => / 400 POST .*\/v1\/limits\/requests$/.test(line));
  expect(refused).toHaveLength(1);
  expect(ada.told).toEqual(refused);
  expectActs("tickets", ada, vera);
});
