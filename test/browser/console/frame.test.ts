/**
 * Every page of the navigation, at two widths, light and dark: no error, nothing asked of elsewhere, nothing cut off, readable for all;
 * and how much a browser loads for it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

/** Compressed, all together: what the first page needs, and what any page has loaded once it is shown. */
const FIRST_BYTES = 60_000;
const PAGE_BYTES = 90_000;

let gateway: TestGateway;
let browser: ConsoleBrowser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({ engine: true });
  browser = await openBrowser(gateway.url);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const addresses = `[...document.querySelectorAll("nav a[href^='/console/']")].map((link) => link.getAttribute("href"))`;

describe.each([
  ["wide and light", { width: 1280, height: 800 }, "light"],
  ["narrow and dark", { width: 390, height: 844 }, "dark"],
  ["very wide and dark", { width: 2560, height: 1300 }, "dark"],
] as const)("%s", (_, viewport, colorScheme) => {
  test("no page errs, asks elsewhere, cuts text off, or shuts people out", async ({ skip }) => {
    skip(CHROMIUM === undefined, NO_BROWSER);
    const { page, told } = await browser.open({ viewport, colorScheme });
    await signInBy(page, gateway.url, "walker@example.test");
    await untilShown(page);
    const pages = new Set(await page.evaluate<string[]>(addresses));
    expect(pages.size).toBeGreaterThanOrEqual(8);
    for (const address of pages) {
      await page.goto(gateway.url + address);
      await untilShown(page);
      expect(await cutOff(page), address).toEqual([]);
      expect(await accessFaults(page), address).toEqual([]);
    }
    expect(told).toEqual([]);
    await page.context().close();
  });
});

test("a browser loads little, and what it has it does not ask for again", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, received } = await browser.open();
  await signInBy(page, gateway.url, "walker@example.test");
  await untilShown(page);
  const bytes = () =>
    [...received]
      .filter(([path]) => /^\/(assets|console)/.test(path))
      .reduce((sum, [, size]) => sum + size, 0);
  const first = bytes();
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(FIRST_BYTES);
  for (const address of new Set(await page.evaluate<string[]>(addresses))) {
    const alone = await browser.open({ storageState: await page.context().storageState() });
    await alone.page.goto(gateway.url + address);
    await untilShown(alone.page);
    const sum = [...alone.received]
      .filter(([path]) => /^\/(assets|console)/.test(path))
      .reduce((total, [, size]) => total + size, 0);
    expect(sum, address).toBeLessThanOrEqual(PAGE_BYTES);
    await alone.page.context().close();
  }
  await page.context().close();
});
