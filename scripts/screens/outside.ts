/**
 * What people read outside the console, for pictures and tests: each mail, document and page of the gateway's own at an address of its own. Styles
 * come from the files that the gateway serves.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { htmlOf } from "../../src/account/mail/letter.ts";
import { type SamplePage, samplePages } from "./documents.ts";
import { sampleLetters } from "./letters.ts";

const ASSETS = join(import.meta.dirname, "../../src/edge/assets");
const PLACE = "http://samples.test";

/** Mails first. */
export async function allOutside(): Promise<readonly SamplePage[]> {
  const letters = await sampleLetters();
  return [
    ...letters.map(({ name, letter }) => ({ name: `mail-${name}`, html: htmlOf(letter) })),
    ...samplePages(),
  ];
}

export interface OutsidePage {
  readonly page: Page;
  show(html: string): Promise<void>;
}

/** A page of a size and a theme that shows what it is given, and asks nothing of the network. */
export async function openOutside(browser: Browser, options: BrowserContextOptions): Promise<OutsidePage> {
  const page = await browser.newPage(options);
  let shown = "";
  await page.route("**/*", (route) => {
    const { pathname } = new URL(route.request().url());
    const [, asset] = /^\/assets\/(\w+\.css)$/.exec(pathname) ?? [];
    return asset === undefined
      ? route.fulfill({ contentType: "text/html; charset=utf-8", body: shown })
      : route.fulfill({ contentType: "text/css", body: readFileSync(join(ASSETS, asset), "utf8") });
  });
  return {
    page,
    async show(html) {
      // A page that looks again would load itself while it is looked at.
      shown = html.replace(/<meta http-equiv="refresh"[^>]*>/, "");
      await page.goto(PLACE);
    },
  };
}
