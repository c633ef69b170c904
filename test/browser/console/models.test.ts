/** The page "Models" in a real browser: the catalog is searched, filtered and ordered, a model is looked at, some are compared. */
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

/** Beside the simulator's models: as many as large installations have. */
const MANY = 400;

let gateway: TestGateway;
let browser: ConsoleBrowser;
let page: Page;
let told: string[];
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({
    endpoints: Array.from({ length: MANY }, (_, i) => ({
      model: `test/model-${i}`,
      provider: `acme-${i}`,
      price: { input: i + 1, output: 2 * i + 1 },
    })),
  });
  browser = await openBrowser(gateway.url);
  ({ page, told } = await browser.open({ viewport: { width: 1280, height: 800 } }));
  await signInBy(page, gateway.url, "ada@example.test", "Ada");
  await untilShown(page);
  // The first page is the overview, which has no figures here.
  told.length = 0;
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const open = async (path: string, on = page) => {
  await on.goto(`${gateway.url}/console/first/models${path}`);
  await untilShown(on);
};
/** Ids of the rows, in their order. */
const shown = () => page.locator(".models-name .small").allTextContents();

test("hundreds of models are searched and ordered, by the address as by hand", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  await open("?vendor=test&sort=-input");
  expect((await shown()).length).toBe(MANY);
  await page.getByLabel("Search").fill("model-39");
  await until(
    "the models that are meant are shown",
    shown,
    (found) => found.length === 11 && found[0] === "test/model-399",
  );
  await page.getByRole("button", { name: "Input" }).click();
  await until("the cheapest is first", shown, (found) => found[0] === "test/model-39");
  const head = page.getByRole("columnheader", { name: "Input" });
  expect(await head.getAttribute("aria-sort")).toBe("ascending");
  expect(page.url()).toContain("vendor=test&sort=input&q=model-39");
  await page.getByLabel("Search").fill("no such model");
  await page.getByRole("button", { name: "Show all models" }).click();
  await page.getByRole("heading", { name: /^\d+ models$/ }).waitFor();
});

test("a model has its endpoints, its history, and the way to the playground", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const asked: string[] = [];
  const note = (request: { url(): string }) => {
    if (request.url().includes("/v1/")) asked.push(new URL(request.url()).pathname);
  };
  page.on("request", note);
  await open("/test/model-7");
  page.off("request", note);
  expect(asked.sort()).toEqual(["", "/endpoints", "/stats"].map((end) => `/v1/models/test/model-7${end}`));
  const row = page.getByRole("region", { name: "Endpoints" }).first().getByRole("row").last();
  expect(await row.textContent()).toContain("$8.00$15.00");
  await row.getByText("does not train; keeps nothing").waitFor();
  await page.getByText("was added").first().waitFor();
  const prices = page.getByRole("region", { name: "Prices so far, newest first" }).getByRole("row").last();
  expect(await prices.textContent()).toMatch(/in force.*\$8\.00\$15\.00/);
  const link = page.getByRole("link", { name: "Try in the playground" });
  expect(await link.getAttribute("href")).toBe("/console/first/playground?model=test%2Fmodel-7");
  // The palette writes an id as one segment.
  await open("/test%2Fmodel-8");
  await page.getByText("test/model-8", { exact: true }).waitFor();
  await open("/test/none");
  await page.getByRole("alert").getByText("test/none").waitFor();
  told.splice(0, told.length, ...told.filter((line) => !line.includes("404")));
});

test("models are chosen for a comparison, four at most", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  await open("?q=model-1&vendor=test");
  const boxes = page.getByRole("checkbox");
  for (let i = 0; i < 4; i++) await boxes.nth(i).check();
  expect(await boxes.nth(4).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Compare 4" }).click();
  await untilShown(page);
  expect(new URL(page.url()).searchParams.get("compare")?.split(",").length).toBe(4);
  const table = page.getByRole("region", { name: "Comparison" });
  expect(await table.getByRole("columnheader").count()).toBe(5);
  expect(await table.getByRole("row").filter({ hasText: "Input, per million" }).count()).toBe(1);
  await page.goBack();
  await page
    .getByRole("heading", { name: /models$/ })
    .first()
    .waitFor();
  await open("?compare=test/model-1,test/none");
  await page.getByText("Not in the catalog: test/none.").waitFor();
});

test.each([
  [390, "dark"],
  [2560, "light"],
] as const)("at %i pixels, %s, nothing is cut off, and everybody can read it", async (width, colorScheme) => {
  if (CHROMIUM === undefined) return;
  const storageState = await page.context().storageState();
  const other = await browser.open({ viewport: { width, height: 900 }, colorScheme, storageState });
  for (const path of ["?q=sim&can=tools", "/weir/sim-small", "?compare=weir/sim-small,weir/sim-chat"]) {
    await open(path, other.page);
    expect(await cutOff(other.page), path).toEqual([]);
    expect(await accessFaults(other.page), path).toEqual([]);
  }
  expect([...told, ...other.told]).toEqual([]);
  await other.page.context().close();
});
