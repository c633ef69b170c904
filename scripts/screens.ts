/**
 * `npm run screens -- [folder]`: pictures of every page and view of the console on a small demo, at three widths, light and dark, to look
 * at. They go to `test-results/screens`, or to the folder named.
 *
 *     --only=requests,live   views whose names begin so
 *     --widths=390,1280      of 390, 1280 and 2560 pixels
 *     --themes=light         of light and dark
 *     --person=viewer        of owner, admin, member, billing and viewer
 *     --data-dir=./demo      a demo that is there already: none is made
 *     --port=8900            of the gateway; any that is free by default
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { countRequests } from "../test/support/console/browser.fixtures.ts";
import { MEMBERS, OWNER } from "./demo/cast.ts";
import { seedInto, startOn } from "./screens/installation.ts";
import { ownerAt, runCalls, type Samples, samplesOf } from "./screens/samples.ts";
import { VIEWS, type View } from "./screens/views.ts";
import { launch, type Session, sessionOf, show } from "./screens/walk.ts";

const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 1280: 800, 2560: 1300 };
const RECORDS = 4000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string", default: "" },
    widths: { type: "string", default: "390,1280,2560" },
    themes: { type: "string", default: "light,dark" },
    person: { type: "string", default: "owner" },
    "data-dir": { type: "string" },
    port: { type: "string", default: "0" },
  },
});
const folder = positionals[0] ?? "test-results/screens";
const starts = values.only.split(",");
const views = VIEWS.filter(({ name }) => starts.some((start) => name.startsWith(start)));
const person = [OWNER, ...MEMBERS].find(({ email }) => email.startsWith(`${values.person}@`)) ?? OWNER;

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const own = values["data-dir"] === undefined ? mkdtempSync(join(tmpdir(), "weir-screens-")) : undefined;
  const dataDir = values["data-dir"] ?? join(own ?? "", "demo");
  if (own !== undefined) await seedInto(dataDir, { requests: RECORDS });
  const gateway = await startOn(dataDir, Number(values.port));
  const browser = await launch();
  try {
    await takeAll(browser, gateway.url);
  } finally {
    await browser.close();
    await gateway.stop();
    if (own !== undefined) rmSync(own, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

async function takeAll(browser: Browser, url: string): Promise<void> {
  const owner = await ownerAt(url);
  const samples = await samplesOf(owner);
  const session = await sessionOf(browser, url, person);
  const calls = views.some(({ withCalls }) => withCalls) ? await runCalls(url, owner) : undefined;
  for (const width of values.widths.split(",").map(Number)) {
    for (const theme of values.themes.split(",")) {
      await take(browser, url, { session, samples, width, isDark: theme === "dark" });
    }
  }
  calls?.end();
}

interface Take {
  readonly session: Session;
  readonly samples: Samples;
  readonly width: number;
  readonly isDark: boolean;
}

async function take(browser: Browser, url: string, { session, samples, width, isDark }: Take) {
  const context = await browser.newContext({
    storageState: session,
    viewport: { width, height: HEIGHTS[width] ?? 800 },
    colorScheme: isDark ? "dark" : "light",
  });
  const page = await context.newPage();
  countRequests(page);
  for (const view of views) {
    const path = join(folder, `${view.name}-${width}-${isDark ? "dark" : "light"}.png`);
    await taken(() => show(page, url, view, samples), view);
    await page.screenshot({ path, fullPage: view.press === undefined });
    console.log(path);
  }
  await context.close();
}

/** A view that does not come is in the pictures as it is. */
async function taken(showing: () => Promise<void>, { name }: View): Promise<void> {
  try {
    await showing();
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
  }
}

await main();
