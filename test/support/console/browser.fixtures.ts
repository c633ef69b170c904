/**
 * A real browser for tests of the console: it notes what a page must never do (an error in its console, a request to elsewhere, a breach
 * of its policy), and says whether text is cut off and what axe-core finds.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";
import { LIMIT_MS, until } from "../wait.ts";

export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
/** Why a test that needs a browser is skipped. */
export const NO_BROWSER = "no Chromium was found on this machine";

export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console, uncaught errors, and requests to other places, in their order. */
  readonly told: string[];
  /** Bytes of bodies as they came, by path. */
  readonly received: Map<string, number>;
}

export interface ConsoleBrowser {
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
  close(): Promise<void>;
}

/** @param url of the gateway: nothing else may be asked */
export async function openBrowser(url: string): Promise<ConsoleBrowser> {
  if (CHROMIUM === undefined) throw new Error(NO_BROWSER);
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox"],
    timeout: LIMIT_MS,
  });
  return {
    async open(options = {}) {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(LIMIT_MS);
      const page = await context.newPage();
      return watched(page, new URL(url).origin);
    },
    close: () => browser.close(),
  };
}

function watched(page: Page, origin: string): WatchedPage {
  const told: string[] = [];
  const received = new Map<string, number>();
  countRequests(page);
  page.on("console", (line) => {
    if (line.type() === "error" || line.type() === "warning") told.push(`${page.url()}: ${line.text()}`);
  });
  page.on("pageerror", (error) => told.push(`${page.url()}: ${error}`));
  page.on("request", (request) => {
    const to = new URL(request.url());
    // The identity provider of the gateway's own has a port of its own, and a page may hold pictures as data.
    if (!/^(https?|wss?):$/.test(to.protocol) || to.hostname === new URL(origin).hostname) return;
    told.push(`${page.url()}: asks ${request.url()}`);
  });
  page.on("requestfinished", async (request) => {
    const sizes = await request.sizes().catch(() => undefined);
    const { pathname } = new URL(request.url());
    if (sizes !== undefined) received.set(pathname, sizes.responseBodySize);
  });
  return { page, told, received };
}

/** Signs in at the gateway's own identity provider, and waits for the console. */
export async function signInBy(page: Page, url: string, email: string, name = "A Person"): Promise<void> {
  await page.goto(`${url}/console`);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Name").fill(name);
  const button = page.getByRole("button", { name: /sign in/i });
  await button.last().click();
  await page.waitForURL(/\/console/);
  await page.getByRole("heading", { level: 1 }).waitFor();
}

/** What a page has asked for and not got yet, the live stream left out: that one never ends. */
const asked = new WeakMap<Page, Set<Request>>();

/** What `untilShown` reads. To be called before the page asks for anything. */
export function countRequests(page: Page): void {
  const open = new Set<Request>();
  asked.set(page, open);
  page.on("request", (request) => {
    if (new URL(request.url()).pathname !== "/v1/live") open.add(request);
  });
  const over = (request: Request) => void open.delete(request);
  page.on("requestfinished", over);
  page.on("requestfailed", over);
}

/** Waits until nothing on the page is being loaded. */
export async function untilShown(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  await until("all that the page asked for is there, and shown", async () => {
    const isWaiting = await page.evaluate("document.querySelector('.waiting, [aria-busy=true]') !== null");
    return isWaiting !== true && (asked.get(page)?.size ?? 0) === 0;
  });
}

/**
 * Texts that are wider or higher than the box that shows them, and elements that reach beyond the window: each as "tag.class: text". What
 * scrolls by itself is left out, and so is what says by an ellipsis that there is more.
 */
export async function cutOff(page: Page): Promise<readonly string[]> {
  return await page.evaluate<string[]>(CUT_OFF);
}

const CUT_OFF = `(() => {
  const found = [];
  const name = (each) => each.tagName.toLowerCase() + "." + each.className + ": " + each.textContent.trim().slice(0, 60);
  const scrolls = (each) => each !== null && each !== document.documentElement &&
    (/(auto|scroll)/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push("page: wider than the window");
  for (const each of document.querySelectorAll("body *")) {
    const box = each.getBoundingClientRect();
    const style = getComputedStyle(each);
    if (box.width < 2 || box.height < 2 || style.visibility === "hidden" || each.closest("svg, .only-read")) continue;
    if (scrolls(each)) continue;
    if (box.right > innerWidth + 1 || box.left < -1) found.push("beyond " + name(each));
    const hides = style.overflowX === "hidden" || style.overflowX === "clip" || style.overflowY === "hidden";
    const isCut = each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1;
    if (hides && isCut && style.textOverflow !== "ellipsis") found.push("cut " + name(each));
    if (each.tagName === "BUTTON" && each.scrollWidth > each.clientWidth + 1) found.push("cut " + name(each));
  }
  return found;
})()`;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds that is serious or critical, by WCAG 2.2 A and AA: each as "rule: element". */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${AXE}; undefined`);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = "" }) => `${id}: ${html} ${failureSummary}`),
    );
}
