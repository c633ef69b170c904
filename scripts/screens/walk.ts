/** A browser that walks the views: one session a person, a context for each size and theme. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { CHROMIUM, NO_BROWSER, signInBy, untilShown } from "../../test/support/console/browser.fixtures.ts";
import type { Samples } from "./samples.ts";
import { addressOf, shownBy, type View } from "./views.ts";

export async function launch(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error(NO_BROWSER);
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

export type Session = NonNullable<BrowserContextOptions["storageState"]>;

export async function sessionOf(
  browser: Browser,
  url: string,
  { email, name }: { readonly email: string; readonly name: string },
): Promise<Session> {
  const context = await browser.newContext();
  await signInBy(await context.newPage(), url, email, name);
  const session = await context.storageState();
  await context.close();
  return session;
}

/** The slug of the demo's org. */
const ORG = "first";

/** Shows a view, and waits for what it is about. */
export async function show(page: Page, url: string, view: View, samples: Samples): Promise<void> {
  await page.goto(url + addressOf(view, ORG, samples));
  if (view.press !== undefined) {
    await page.locator("h1").waitFor();
    await page.keyboard.press(view.press);
  }
  await page.locator(shownBy(view)).first().waitFor();
  await untilShown(page);
}
