/**
 * The console in a real browser: a person signs in at a gateway and walks its pages. What a page tells its console, and what the gateway
 * refuses, is collected: a page that is right has neither.
 */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { Answer, TestGateway } from "../gateway.ts";
import { LIMIT_MS } from "../wait.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

/** Undefined where the machine has no browser. */
export async function openBrowser(): Promise<Browser | undefined> {
  if (CHROMIUM === undefined) return undefined;
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: LIMIT_MS });
}

export interface Walk {
  readonly page: Page;
  /** The session's CSRF token. */
  readonly csrf: string;
  /** What went wrong so far: lines of the browser's console, errors of scripts, answers of 400 and more. */
  readonly faults: readonly string[];
  /** Opens a page of the console: `acme/keys`. */
  open(path: string): Promise<void>;
  /** A call of the API with the session, as a page makes it. */
  call(method: string, path: string, options?: { org?: string; body?: object }): Promise<Called>;
}

export type Called = Pick<Answer, "status" | "json">;

/** Signs in at the console with the built-in identity provider. */
export async function signInToConsole(
  browser: Browser,
  gateway: TestGateway,
  email: string,
  options: BrowserContextOptions = {},
): Promise<Walk> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  await page.goto(`${gateway.url}/console`);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Name").fill(email.split("@")[0] ?? "");
  await page
    .getByRole("button", { name: /sign in/i })
    .last()
    .click();
  await page.waitForURL("**/console**");
  const me = await page.request.get(`${gateway.url}/auth/me`);
  const { csrf_token: csrf } = (await me.json()) as { csrf_token: string };
  return {
    page,
    csrf,
    faults: watched(page),
    open: async (path) => {
      await page.goto(`${gateway.url}/console/${path}`);
    },
    call: async (method, path, { org = "", body } = {}) => {
      const answer = await page.request.fetch(`${gateway.url}${path}`, {
        method,
        headers: { "x-svc-csrf": csrf, ...(org !== "" && { "svc-org": org }) },
        ...(body !== undefined && { data: body }),
      });
      return { status: answer.status(), json: await answer.json() };
    },
  };
}

/** Accepts the invitation that waits for the person. */
export async function acceptInvitation(walk: Walk): Promise<void> {
  const { json } = await walk.call("GET", "/auth/invitations");
  await walk.call("POST", `/auth/invitations/${json.data[0].id}/accept`, { body: {} });
}

function watched(page: Page): string[] {
  const faults: string[] = [];
  const tell = (line: string) => faults.push(`${new URL(page.url()).pathname}: ${line}`);
  page.on("console", (line) => {
    // What a browser says of an answer is told below, with its address.
    if (line.text().startsWith("Failed to load resource")) return;
    if (line.type() === "error" || line.type() === "warning") tell(line.text());
  });
  page.on("pageerror", (error) => tell(String(error)));
  page.on("response", (answer) => {
    if (answer.status() >= 400) tell(`${answer.status()} ${answer.url()}`);
  });
  return faults;
}

/** Texts that are cut off at a side: elements whose content is wider than they are, and that do not scroll. */
export const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const cut = [];
    for (const each of document.querySelectorAll("main *, dialog *")) {
      const { overflowX, textOverflow, position } = getComputedStyle(each);
      if (overflowX === "auto" || overflowX === "scroll" || textOverflow === "ellipsis" || position === "absolute") continue;
      if (each.closest(".table-frame, svg, select") !== null) continue;
      const box = each.getBoundingClientRect();
      if (box.width > 0 && (box.right > document.documentElement.clientWidth + 1 || box.left < -1))
        cut.push(each.tagName + " " + (each.textContent ?? "").slice(0, 60));
    }
    return cut;
  })()`);
