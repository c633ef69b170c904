/**
 * An org of very many keys and requests of thirty days, 380,000 and 100,000 in a thorough run: how soon pages show what they are about,
 * how long an input waits for its answer, and how much a page holds however far one reads. All figures are the browser's own.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OWNER } from "../../../scripts/demo/cast.ts";
import { seedInto, startOn } from "../../../scripts/screens/installation.ts";
import type { Gateway } from "../../../src/host/gateway/gateway.ts";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import { memoryMeter, openMeasured, slowestOf } from "../../support/console/measured.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { amount } from "../../support/effort.ts";
import { removeFolder } from "../../support/gateway.ts";
import { rest } from "../../support/pace.ts";
import { onOrdinaryMachine } from "../../support/processor-time.fixtures.ts";
import { until } from "../../support/wait.ts";
import { staysWithin } from "../within.ts";

const KEYS = amount(380_000, 60_000);
const REQUESTS = amount(100_000, 30_000);
const LAST_KEY = `worker ${String(KEYS - 1).padStart(6, "0")}`;
const ROWS = "main tbody tr";
const MOST_SHOWN_MS = 1000;
const MOST_INPUT_MS = 100;
/** Rows that a list shows at most, and elements and texts of such a page. */
const MOST_ROWS = 500;
const MOST_NODES = 20_000;
/** A fast writer's pace: the answer to a letter may come while the next one is typed. */
const LETTER_MS = 80;

const folder = mkdtempSync(join(tmpdir(), "weir-many-rows-"));
let gateway: Gateway;
let browser: ConsoleBrowser;
let context: BrowserContext;
let root: string;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  await seedInto(folder, { requests: REQUESTS, keys: KEYS, calls: 60 });
  gateway = await startOn(folder);
  browser = await openBrowser(gateway.url);
  const { page } = await browser.open();
  await signInBy(page, gateway.url, OWNER.email, OWNER.name);
  await untilShown(page);
  context = page.context();
  root = new URL(page.url()).pathname.split("/").slice(0, 3).join("/");
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  removeFolder(folder);
});
beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER));

const open = async (address: string) => {
  const opened = await openMeasured(context, `${gateway.url}${root}/${address}`, ROWS);
  await untilShown(opened.page);
  return opened;
};

test.each([
  "overview",
  "overview?range=30d",
  "overview?range=90d",
  "requests",
  "requests?within=30d&status=failed",
  "keys",
  "keys?q=worker",
])("%s shows its rows within a second", async (address) => {
  await staysWithin(MOST_SHOWN_MS, async () => {
    const { page, shownMs } = await open(address);
    await page.close();
    console.info(`${address}: ${Math.round(shownMs)} ms`);
    return onOrdinaryMachine(shownMs);
  });
});

/** Loads pages of a list until there are so many rows, and one that goes beyond. */
async function loadBeyond(page: Page, rows: number): Promise<void> {
  const shown = page.locator(ROWS);
  const more = page.getByRole("button", { name: "Show more" });
  for (let count = await shown.count(); count < rows; ) {
    await more.click();
    count = await until(
      "more rows are shown",
      () => shown.count(),
      (now) => now > count,
    );
  }
  await more.click();
}

async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.type(text, { delay: LETTER_MS });
  await untilShown(page);
}

/** No task takes a processor longer, and each input is answered sooner; in milliseconds of an ordinary machine. */
async function staysQuick(page: Page, act: () => Promise<unknown>): Promise<void> {
  await staysWithin(MOST_INPUT_MS, async () => {
    const { inputMs, taskMs } = await slowestOf(page, act);
    console.info(`${new URL(page.url()).pathname}: inputs ${inputMs} ms, tasks ${taskMs} ms`);
    expect(onOrdinaryMachine(taskMs)).toBeLessThan(MOST_INPUT_MS);
    return onOrdinaryMachine(inputMs);
  });
}

describe.each([
  ["keys", "Name, end of the secret, or id"],
  ["requests", "Model"],
])("%s", (address, field) => {
  let page: Page;
  beforeAll(async () => {
    if (CHROMIUM !== undefined) ({ page } = await open(address));
  });
  afterAll(() => page?.close());

  test("a filter answers each letter within 100 ms", async () => {
    const filter = page.getByLabel(field, { exact: true });
    await staysQuick(page, async () => {
      await filter.focus();
      await type(page, "worker 00");
      await page.keyboard.press("Control+A");
      await page.keyboard.press("Delete");
      await untilShown(page);
    });
  });

  test("however far one reads, the page is bounded and quick, and leads back", async () => {
    const newest = (await page.locator(ROWS).first().textContent()) ?? "";
    await loadBeyond(page, MOST_ROWS);
    const back = page.getByRole("button", { name: "Back to the first" });
    await back.waitFor();
    expect(await page.locator(ROWS).count()).toBe(MOST_ROWS);
    expect(await page.locator(ROWS).first().textContent()).not.toBe(newest);
    const { memory } = await memoryMeter(page);
    const { nodes } = await memory();
    console.info(`${MOST_ROWS} rows: ${nodes} nodes`);
    expect(nodes).toBeLessThan(MOST_NODES);
    await staysQuick(page, async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.type("wor", { delay: LETTER_MS });
      await rest(LETTER_MS);
      await page.keyboard.press("Escape");
    });
    await back.click();
    await until(
      "it begins anew",
      () => page.locator(ROWS).first().textContent(),
      (text) => text === newest,
    );
  });
});

test("the palette answers each letter within 100 ms, and finds keys among all", async () => {
  const { page } = await open("overview");
  await staysQuick(page, async () => {
    await page.keyboard.press("Control+k");
    await type(page, LAST_KEY.slice(0, -3));
    await page.getByRole("dialog").getByText(LAST_KEY).waitFor();
    await page.keyboard.press("Escape");
  });
  await page.close();
});

test("the oldest key is found by its name, in the list and in the palette, and nothing else is to be done", async () => {
  const { page } = await open("keys");
  await page.getByLabel("Name, end of the secret, or id").fill("worker 000001");
  await page.locator(ROWS).filter({ hasText: "worker 000001" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByLabel("Pages, keys, models, request ids").fill("worker 000002");
  await page.getByRole("dialog").getByText("worker 000002").waitFor();
  await page.close();
});
