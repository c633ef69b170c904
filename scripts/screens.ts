/**
 * `npm run screens -- [folder]`: pictures of every page and view of the console on a small demo, at three widths, light and dark, to look
 * at. They go to `test-results/screens`, or to the folder named.
 *
 *     --docs                 only those of docs/console.md, to docs/pictures/console
 *     --mails                mails, documents and pages of the gateway's own instead; without a demo
 *     --only=requests,live   views whose names begin so
 *     --widths=390,1280      of 390, 1280 and 2560 pixels
 *     --themes=light         of light and dark
 *     --person=viewer        of owner, admin, member, billing and viewer; the operator's pages are shown as the operator sees them
 *     --data-dir=./demo      a demo that is there already: none is made
 *     --port=8900            of the gateway; any that is free by default
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { countRequests, launch } from "../test/support/console/browser.fixtures.ts";
import { MEMBERS, OPERATOR, OWNER } from "./demo/cast.ts";
import { seedInto, startOn } from "./screens/installation.ts";
import { allOutside, openOutside } from "./screens/outside.ts";
import { heightOf, type Picture, picturesOf, picturesOfDocs, type Theme, take } from "./screens/pictures.ts";
import { ownerAt, runCalls, type Samples, samplesOf } from "./screens/samples.ts";
import { isOfOperator, VIEWS } from "./screens/views.ts";
import { type Session, sessionOf, show } from "./screens/walk.ts";

const RECORDS = 4000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    docs: { type: "boolean", default: false },
    mails: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    widths: { type: "string", default: "390,1280,2560" },
    themes: { type: "string", default: "light,dark" },
    person: { type: "string", default: "owner" },
    "data-dir": { type: "string" },
    port: { type: "string", default: "0" },
  },
});
const starts = values.only.split(",");
const views = VIEWS.filter(({ name }) => starts.some((start) => name.startsWith(start)));
const widths = values.widths.split(",").map(Number);
const themes = values.themes.split(",").map((theme): Theme => (theme === "dark" ? "dark" : "light"));
const folder = positionals[0] ?? "test-results/screens";
const pictures = values.docs ? picturesOfDocs() : picturesOf(views, widths, themes, folder);
const person = [OWNER, ...MEMBERS].find(({ email }) => email.startsWith(`${values.person}@`)) ?? OWNER;

async function main(): Promise<void> {
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
  const ofPerson = await sessionOf(browser, url, person);
  const ofOperator = pictures.some(({ view }) => isOfOperator(view))
    ? await sessionOf(browser, url, OPERATOR)
    : ofPerson;
  const calls = pictures.some(({ view }) => view.withCalls) ? await runCalls(url, owner) : undefined;
  const pages = new Map<string, Page>();
  for (const picture of pictures) {
    const isOperators = isOfOperator(picture.view);
    const name = `${picture.width} ${picture.theme} ${isOperators}`;
    const session = isOperators ? ofOperator : ofPerson;
    const page = pages.get(name) ?? (await openPage(browser, session, picture));
    pages.set(name, page);
    await takeOne(page, url, samples, picture);
  }
  await calls?.end();
}

async function openPage(browser: Browser, session: Session, { width, theme }: Picture): Promise<Page> {
  const viewport = { width, height: heightOf(width) };
  const context = await browser.newContext({ storageState: session, viewport, colorScheme: theme });
  const page = await context.newPage();
  countRequests(page);
  return page;
}

/** A view that does not come is in the pictures as it is. */
async function takeOne(page: Page, url: string, samples: Samples, picture: Picture): Promise<void> {
  mkdirSync(dirname(picture.path), { recursive: true });
  try {
    await show(page, url, picture.view, samples);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${picture.view.name}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
  }
  await take(page, picture);
  console.log(picture.path);
}

/** Whole pages, as a reader scrolls through them. */
async function takeOutside(): Promise<void> {
  const samples = (await allOutside()).filter(({ name }) => starts.some((start) => name.startsWith(start)));
  mkdirSync(folder, { recursive: true });
  const browser = await launch();
  try {
    for (const width of widths)
      for (const colorScheme of themes) {
        const viewport = { width, height: heightOf(width) };
        const { page, show } = await openOutside(browser, { viewport, colorScheme });
        for (const { name, html } of samples) {
          await show(html);
          const path = join(folder, `${name}-${width}-${colorScheme}.png`);
          await page.screenshot({ path, fullPage: true });
          console.log(path);
        }
        await page.close();
      }
  } finally {
    await browser.close();
  }
}

await (values.mails ? takeOutside() : main());
