/** A browser that walks the views: one session a person, a context for each size and theme. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { untilShown } from "../../test/support/console/browser.fixtures.ts";
import { signInBy } from "../../test/support/console/person.fixtures.ts";
import type { Samples } from "./samples.ts";
import { addressOf, shownBy, type View } from "./views.ts";

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
export const ORG = "first";

/** What is done at a page for a view to be there. */
export async function begin(page: Page, { press, click = [], thenPress = [] }: View): Promise<void> {
  if (press === undefined && click.length === 0) return;
  await page.locator("h1").waitFor();
  await untilShown(page);
  if (press !== undefined) await page.keyboard.press(press);
  for (const selector of click) await page.locator(selector).first().click();
  for (const keys of thenPress) await page.keyboard.press(keys);
}

/** Shows a view, and waits for what it is about. */
export async function show(page: Page, url: string, view: View, samples: Samples): Promise<void> {
  await page.goto(url + addressOf(view, ORG, samples));
  await begin(page, view);
  await page.locator(shownBy(view)).first().waitFor();
  await untilShown(page);
}
