/** The first minutes with a gateway: the link of the start, a first call that is seen as it arrives, and the way to a client. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

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

test("the link of a start leads to a first call, shows it arriving, and on to a client", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const link = gateway.signInLink?.();
  if (link === undefined) throw new Error("the gateway offers no link");
  const { page, told } = await browser.open({ viewport: { width: 1280, height: 800 } });
  await page.goto(link);
  await page.getByRole("button").click();
  await page.getByRole("heading", { level: 1, name: "Your first call" }).waitFor();
  await untilShown(page);
  expect(await cutOff(page)).toEqual([]);
  expect(await accessFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/built-in simulator/).waitFor();
  const arrival = page.getByRole("region", { name: "See it arrive" });
  await arrival.getByRole("link", { name: "Look at it" }).waitFor();
  expect(await arrival.textContent()).toContain("ok");
  await page.getByRole("link", { name: "Set up a client" }).click();
  await page.getByRole("heading", { level: 1, name: "Set up" }).waitFor();
  expect(told).toEqual([]);
});
