/**
 * The page "Overview" in a real browser: an empty installation says what to do, calls show as figures and lines, filters are in the
 * address, a budget that is used up leads to its key, and names that are markup are text.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

const MARKUP = "<img src=x onerror=alert(1)> & Co";
let gateway: TestGateway;
let browser: ConsoleBrowser;
let page: Page;
let told: string[];
/** Paths of the API that the page asked, in their order. */
const asked: string[] = [];
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({ engine: true });
  browser = await openBrowser(gateway.url);
  ({ page, told } = await browser.open({ viewport: { width: 1280, height: 800 } }));
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/v1/")) asked.push(pathname);
  });
  await signInBy(page, gateway.url, "ada@example.test", "Ada");
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const open = async (query: string) => {
  await page.goto(`${gateway.url}/console/first/overview${query}`);
  await untilShown(page);
};
const figure = (name: string) =>
  page.getByRole("region", { name: "In this range" }).getByText(name, { exact: true }).locator("..");

test("without a call it says how the first one is made", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  await open("");
  const empty = page.getByRole("region", { name: "No calls in this range" });
  await empty.getByRole("link", { name: "Set up a client" }).waitFor();
  expect(await empty.getByRole("link").first().getAttribute("href")).toBe("/console/first/playground");
  await page.getByText("Nothing needs anybody now.").waitFor();
});

test("calls are figures, lines with a table, and rows that filter", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const body = { name: MARKUP, budget: { daily_micro: 1, hard: false } };
  const { json: key } = await gateway.call("POST", "/v1/keys", { body });
  for (let i = 0; i < 3; i++) await gateway.chat({ max_tokens: 2 });
  await gateway.chat({ model: "weir/none" });
  await gateway.chat({ max_tokens: 1 }, { key: key.secret });
  await until(
    "the calls are counted",
    async () => (await gateway.call("GET", "/v1/usage")).json.totals.requests,
    (count) => count >= 5,
  );
  asked.length = 0;
  await open("");
  expect(asked.sort()).toEqual(["/v1/attention", "/v1/usage", "/v1/usage/budgets"]);
  expect(await figure("Calls").textContent()).toMatch(/^Calls5/);
  const errors = figure("Errors").getByRole("link");
  expect(await errors.getAttribute("href")).toBe("/console/first/requests?within=24h&status=failed");

  await page.getByRole("button", { name: "Calls", exact: true }).click();
  await page.getByText("As a table").click();
  const table = page.getByRole("region", { name: /^Calls by hour, UTC/ });
  expect(await table.getByRole("row").last().textContent()).toMatch(/5/);
  expect(new URL(page.url()).searchParams.get("show")).toBe("calls");
  const box = await page.getByRole("img", { name: /^Calls by hour/ }).boundingBox();
  if (box === null) throw new Error("there is no chart");
  await page.mouse.move(box.x + box.width - 24, box.y + box.height / 2);
  await page.locator(".chart-legend b").first().waitFor();

  await page.getByRole("button", { name: "Keys" }).click();
  await page.getByRole("button", { name: MARKUP }).click();
  await untilShown(page);
  expect(new URL(page.url()).searchParams.get("key_id")).toBe(key.id);
  await until(
    "the figures are those of the key",
    () => figure("Calls").textContent(),
    (text) => /^Calls1/.test(text ?? ""),
  );
  await page.getByRole("button", { name: `Remove the filter Key: ${MARKUP}` }).click();
  await until(
    "the figures are those of all",
    () => figure("Calls").textContent(),
    (text) => /^Calls5/.test(text ?? ""),
  );
  expect(await page.locator("main img").count()).toBe(0);
});

test("a budget that is used up is told, and leads to its key", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  await open("");
  const findings = page.getByRole("region", { name: "Needs attention" });
  const link = findings.getByRole("link").filter({ hasText: MARKUP });
  expect(await link.getAttribute("href")).toMatch(/^\/console\/first\/keys\/key_/);
  const bars = page.getByRole("region", { name: "Budgets and credit" });
  await bars.getByText("Used up, and only told: it is no hard limit.").waitFor();
  await bars.getByRole("link", { name: "Credit" }).waitFor();
});

test("a custom range is chosen by days, and kept in the address", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  await open("?range=7d");
  await page.getByRole("button", { name: "Custom" }).click();
  await page.getByLabel("First day").fill("2026-01-01");
  await page.getByLabel("Last day").fill("2026-01-03");
  await page.getByRole("region", { name: "No calls in this range" }).waitFor();
  expect(page.url()).toContain("range=custom&from=2026-01-01&to=2026-01-03");
  await page.getByLabel("Last day").fill("2025-12-31");
  await page.getByText("It must not be before the first day.").waitFor();
});

test.each([
  [390, "dark"],
  [2560, "light"],
] as const)("at %i pixels, %s, nothing is cut off, and everybody can read it", async (width, colorScheme) => {
  if (CHROMIUM === undefined) return;
  const storageState = await page.context().storageState();
  const other = await browser.open({ viewport: { width, height: 900 }, colorScheme, storageState });
  for (const query of ["?show=tokens&by=key", "?range=7d&show=first&by=app", "?range=custom"]) {
    await other.page.goto(`${gateway.url}/console/first/overview${query}`);
    await untilShown(other.page);
    expect(await cutOff(other.page), query).toEqual([]);
    expect(await accessFaults(other.page), query).toEqual([]);
  }
  expect([...told, ...other.told]).toEqual([]);
  await other.page.context().close();
});
