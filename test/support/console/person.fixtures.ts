/** People in front of a browser: each signs in at the gateway's own identity provider, opens pages, and makes calls as a page does. */
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Answer } from "../gateway.ts";
import { type ConsoleBrowser, untilShown, type WatchedPage } from "./browser.fixtures.ts";

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

export interface BrowserPerson extends WatchedPage {
  /** The session's CSRF token. */
  readonly csrf: string;
  /** Opens a page of the console: `acme/keys`. */
  open(path: string): Promise<void>;
  /** A call of the API with the session, as a page makes it. */
  call(method: string, path: string, options?: { org?: string; body?: object }): Promise<Called>;
}

export type Called = Pick<Answer, "status" | "json">;

/** Somebody who has signed in. What is told of the sign-in and the page behind it is left out. */
export async function personAt(
  browser: ConsoleBrowser,
  url: string,
  email: string,
  options: BrowserContextOptions = { viewport: { width: 1280, height: 800 } },
): Promise<BrowserPerson> {
  const watched = await browser.open(options);
  const { page } = watched;
  await signInBy(page, url, email, email.split("@")[0]);
  await untilShown(page);
  watched.told.length = 0;
  watched.acts.length = 0;
  const me = await page.request.get(`${url}/auth/me`);
  const { csrf_token: csrf } = (await me.json()) as { csrf_token: string };
  return {
    ...watched,
    csrf,
    open: async (path) => {
      await page.goto(`${url}/console/${path}`);
    },
    call: async (method, path, { org = "", body } = {}) => {
      const answer = await page.request.fetch(url + path, {
        method,
        headers: { "x-svc-csrf": csrf, ...(org !== "" && { "svc-org": org }) },
        ...(body !== undefined && { data: body }),
      });
      return { status: answer.status(), json: await answer.json() };
    },
  };
}

/** Accepts the invitation that waits for the person. */
export async function acceptInvitation({ call }: BrowserPerson): Promise<void> {
  const { json } = await call("GET", "/auth/invitations");
  await call("POST", `/auth/invitations/${json.data[0].id}/accept`, { body: {} });
}
