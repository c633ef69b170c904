/**
 * A real browser for tests of the console: it notes what a page must never do (an error in its console, an answer of 400 and more, a
 * request to elsewhere, a breach of its policy), and waits until a page is shown.
 */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";
import { LIMIT_MS, until } from "../wait.ts";

export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
/** Why a test that needs a browser is skipped. */
export const NO_BROWSER = "no Chromium was found on this machine";

export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console, uncaught errors, answers of 400 and more, and requests to other places, in their order. */
  readonly told: string[];
  /** What its pages changed: method and path of requests that are no reads, each time they were made. */
  readonly acts: string[];
  /** Bytes of bodies as they came, by path. */
  readonly received: Map<string, number>;
}

export interface ConsoleBrowser {
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
  close(): Promise<void>;
}

/** @throws Error where the machine has no browser */
export async function launch(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(NO_BROWSER);
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: LIMIT_MS });
}

/** @param url of the gateway: nothing else may be asked. @throws Error where the machine has no browser */
export async function openBrowser(url: string): Promise<ConsoleBrowser> {
  const browser = await launch();
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
  const acts: string[] = [];
  const received = new Map<string, number>();
  countRequests(page);
  page.on("console", (line) => {
    // What a browser says of an answer is told below, with its address.
    if (line.text().startsWith("Failed to load resource")) return;
    if (line.type() === "error" || line.type() === "warning") told.push(`${page.url()}: ${line.text()}`);
  });
  page.on("response", (answer) => {
    if (answer.status() >= 400)
      told.push(`${page.url()}: ${answer.status()} ${answer.request().method()} ${answer.url()}`);
  });
  page.on("pageerror", (error) => told.push(`${page.url()}: ${error}`));
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (to.origin === origin && request.method() !== "GET") acts.push(`${request.method()} ${to.pathname}`);
    // The identity provider of the gateway's own has a port of its own, and a page may hold pictures as data.
    if (!/^(https?|wss?):$/.test(to.protocol) || to.hostname === new URL(origin).hostname) return;
    told.push(`${page.url()}: asks ${request.url()}`);
  });
  page.on("requestfinished", async (request) => {
    const sizes = await request.sizes().catch(() => undefined);
    const { pathname } = new URL(request.url());
    if (sizes !== undefined) received.set(pathname, sizes.responseBodySize);
  });
  return { page, told, acts, received };
}

/** What a page has asked for and not got yet, streams left out: they end when what they tell of does. */
const asked = new WeakMap<Page, Set<Request>>();
const STREAMS = /^\/v1\/(?:live|generation\/\w+\/stream)$/;

/** What `untilShown` reads. To be called before the page asks for anything. */
export function countRequests(page: Page): void {
  const open = new Set<Request>();
  asked.set(page, open);
  page.on("request", (request) => {
    if (!STREAMS.test(new URL(request.url()).pathname)) open.add(request);
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
