/** A plan is chosen, changed up and down, kept after all, and cancelled: what a page says before each is what the ledger has after it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";
import { until } from "../../support/wait.ts";

const limits = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 };
const paid = (id: string, name: string, USD: number, included_micro: number, keys: number) => ({
  id,
  name,
  limits: { ...limits, keys, projects: keys },
  monthly_minor: { USD, INR: USD * 90 },
  included_micro,
});
const PLANS = [
  { id: "local", name: "Free", limits },
  paid("starter", "Starter", 1_900, 5_000_000, 10),
  paid("team", "Team", 9_900, 30_000_000, 20),
  paid("large", "Large", 49_900, 100_000_000, 0),
];

const world = consoleWorld(async () => ({ plans: PLANS }));

/** A figure of the page, as text. */
const figure = async (page: Page, label: string): Promise<string> =>
  (await page.locator(".figures > div").filter({ hasText: label }).locator(".figure-value").textContent()) ??
  "";

const dollars = (micro: number) =>
  new Intl.NumberFormat("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
  }).format(micro / 1_000_000);

let grants = 0;

async function grant(org: string, micro: number): Promise<void> {
  const { gateway } = world;
  const key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
  const body = { amount_micro_usd: micro, reason: "a test", idempotency_key: `grant-${++grants}` };
  expect((await gateway.call("POST", `/v1/operator/orgs/${org}/grant`, { key, body })).status).toBe(201);
}

interface Entry {
  readonly kind: string;
  readonly amount_micro_usd: number;
}

test("a plan is changed up and down, and what is said before is what is taken", async () => {
  const { gateway, browser } = world;
  const ada = await personAt(browser, gateway.url, "ada@example.test");
  const { page } = ada;
  const ledger = async (): Promise<Entry[]> =>
    (await ada.call("GET", "/v1/credits/ledger?limit=100")).json.data;
  await grant("first", 2_000_000_000);
  const available = async () => (await ada.call("GET", "/v1/credits")).json.available_micro_usd as number;
  const choose = async (text: string) => {
    await page
      .getByRole("navigation", { name: "Parts of Billing" })
      .getByRole("link", { name: "Plan" })
      .click();
    await page.getByRole("link", { name: text }).first().click();
  };

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Billing" }).click();
  await page.getByRole("heading", { name: "Your plan: Free" }).waitFor();
  await choose("Change to Team");
  await page.getByText("Its first month is paid now").waitFor();
  await page.getByRole("row", { name: "Keys no limit 20" }).waitFor();
  expect(await cutOff(page)).toEqual([]);
  expect(await figure(page, "Taken from the balance now")).toBe("$99.00");

  // The answer is lost, and somebody presses again: it is one change.
  await page.route("**/v1/billing/subscription", async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    await route.fetch();
    await route.abort();
  });
  const pay = page.getByRole("button", { name: "Pay $99.00 and change to Team" });
  await pay.click();
  await page.getByText("The gateway does not answer").waitFor();
  await page.unroute("**/v1/billing/subscription");
  await page.getByText("Nothing would change").waitFor();
  const [included, fee] = await ledger();
  expect([fee, included]).toMatchObject([
    { kind: "subscription", amount_micro_usd: -99_000_000 },
    { kind: "grant", amount_micro_usd: 30_000_000 },
  ]);
  await choose("Change to Large");

  // Up, for what the rest of the month costs more.
  await page.getByText(/99\.9\d % of the month is left/).waitFor();
  const said = {
    taken: await figure(page, "Taken from the balance now"),
    granted: await figure(page, "Credit granted now"),
    before: await figure(page, "Available before"),
    after: await figure(page, "Available after"),
  };
  expect(said.before).toBe(dollars(await available()));
  await page.getByRole("row", { name: /^Paid for already, 99\.9\d % of the month -\$9\d\.\d\d$/ }).waitFor();
  const before = (await ledger()).length;
  await page.getByRole("button", { name: `Pay ${said.taken} and change to Large` }).click();
  await page.getByText("Large is in force.").waitFor();
  const [more, difference, ...rest] = await ledger();
  expect(rest).toHaveLength(before);
  expect([dollars(-(difference?.amount_micro_usd ?? 0)), dollars(more?.amount_micro_usd ?? 0)]).toEqual([
    said.taken,
    said.granted,
  ]);
  expect(dollars(await available())).toBe(said.after);

  // Its statement says the same.
  await page.getByRole("link", { name: "Statement" }).click();
  const paper = page.locator(".paper");
  await paper.getByRole("heading", { name: "Statement" }).waitFor();
  await paper.getByText("Paid for already").waitFor();
  expect(await paper.locator(".paper-strong").textContent()).toBe(`Total${said.taken}`);

  // Down when the month ends, and not after all.
  await choose("Change to Starter");
  await page.getByText(/^Starter takes over on .* and nothing is taken now\./).waitFor();
  await page.getByText("Keys and projects beyond a lower number keep working").waitFor();
  await page.getByRole("button", { name: "Change to Starter when the month ends" }).click();
  await page.getByText(/^Starter takes over on/).waitFor();
  await page.getByRole("link", { name: "Your plan" }).click();
  await page.getByText(/^Starter takes over on .* Until then everything stays as it is\./).waitFor();
  await choose("Keep Large");
  await page.getByRole("button", { name: "Keep Large" }).click();
  await page.getByText("Large is in force.").waitFor();

  // Down now: nothing is paid back.
  await choose("Change to Team");
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await page
    .getByText(/Nothing is taken now, because .* nothing is paid back\. Then \$99\.00 a month/)
    .waitFor();
  expect(new URL(page.url()).search).toBe("?when=now");
  await page.getByRole("button", { name: "Change to Team now" }).click();
  await page.getByText("Team is in force.").waitFor();

  await choose("Cancel the plan");
  await page.getByText("After that nothing is taken any more.").waitFor();
  await page.getByRole("button", { name: "Cancel Team" }).click();
  await page.getByText(/^Free takes over on/).waitFor();
  expect(await ledger()).toHaveLength(before + 2);
  expect((await ada.call("GET", "/v1/billing/subscription")).json.subscription).toMatchObject({
    plan_id: "team",
    next_plan_id: "local",
    status: "active",
  });
  expect(ada.told).toEqual([]);
  expectActs("plan", ada);
});

test("where credit is too little, it says how much is missing, and nothing can be pressed", async () => {
  const bea = await personAt(world.browser, world.gateway.url, "bea@example.test");
  const org = { slug: "poor", name: "Poor", billing_country: "US" };
  expect((await bea.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  await bea.open("poor/billing/plans/team");
  await bea.page.getByText(/of credit is missing for the fee/).waitFor();
  expect(await bea.page.getByRole("button", { name: "Pay $99.00" }).isDisabled()).toBe(true);
  await bea.page.getByRole("link", { name: "Buy credit" }).click();
  await bea.page.waitForURL("**/poor/credits/topups/new?amount=99");
  await bea.page.getByRole("button", { name: "Continue to pay $99.00" }).waitFor();
  expect(await bea.page.getByLabel("Amount before tax, USD").inputValue()).toBe("99");
  expect(bea.told).toEqual([]);
});

const DAY = 86_400_000;

test("a fee that could not be taken is said, with what to do, and is paid once there is credit", async () => {
  const { gateway, browser } = world;
  const cleo = await personAt(browser, gateway.url, "cleo@example.test");
  const org = { slug: "late", name: "Late", billing_country: "US" };
  expect((await cleo.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  await grant("late", 99_000_000);
  const chosen = await cleo.call("POST", "/v1/billing/subscription", {
    org: "late",
    body: { plan_id: "team" },
  });
  expect(chosen.status).toBe(200);
  const trueNow = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + 32 * DAY);
  try {
    // The session is over by then.
    const later = await personAt(browser, gateway.url, "cleo@example.test");
    const { page } = later;
    const state = async () => {
      const { json } = await later.call("GET", "/v1/billing/subscription", { org: "late" });
      return json.subscription.status as string;
    };
    await until("the fee could not be taken", async () => (await state()) === "past_due");
    await later.open("late/credits");
    await page.getByText("Its fee could not be taken: there was too little credit.").waitFor();
    await page.getByRole("link", { name: "pay it" }).click();
    await page.getByText(/^The fee of \$99\.00 could not be taken when the month ended on/).waitFor();
    expect(await cutOff(page)).toEqual([]);
    await page.getByRole("link", { name: "pay the month now" }).click();
    await page.getByText("$99.00 of credit is missing for the fee.").waitFor();
    await grant("late", 99_000_000);
    await page.reload();
    await page.getByRole("button", { name: "Pay $99.00 and keep Team" }).click();
    await page.getByText("Team is in force.").waitFor();
    expect(await state()).toBe("active");
    expect(later.told).toEqual([]);
  } finally {
    vi.restoreAllMocks();
  }
});
