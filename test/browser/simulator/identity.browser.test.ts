/**
 * The pages of the built-in identity provider in a real browser, at the width of a phone: what they show, and whether the
 * browser lets the forms lead back to the application under the pages' own policy.
 */
import { existsSync } from "node:fs";
import * as client from "openid-client";
import { type Browser as Chromium, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { IdentityProvider } from "../../../simulator/identity/identity-provider.ts";
import {
  type Application,
  beginSignIn,
  startApplication,
  startProviderFor,
} from "../../support/simulator/identity.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
const PHONE = { width: 360, height: 740 };

let browser: Chromium | undefined;
let application: Application;
let provider: IdentityProvider;

beforeAll(async () => {
  if (CHROMIUM !== undefined)
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: LIMIT_MS });
});
afterAll(() => browser?.close());
beforeEach(async ({ skip }) => {
  skip(CHROMIUM === undefined, "no Chromium was found on this machine");
  application = await startApplication();
  provider = await startProviderFor(application);
  return () => Promise.all([provider.close(), application.close()]);
});

async function open(options: {
  readonly javaScriptEnabled: boolean;
}): Promise<{ page: Page; complaints: string[] }> {
  const page = await (browser as Chromium).newPage({ viewport: PHONE, ...options });
  page.setDefaultTimeout(LIMIT_MS);
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}

const backAt = (page: Page) => ({ url: new URL(page.url()) });

test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  "a person signs in, another is added and chosen, and signs out, all by clicking (%o)",
  async (options) => {
    const { page, complaints } = await open(options);

    const first = await beginSignIn(provider.issuer, application);
    await page.goto(first.url.href);
    expect(await page.getByLabel("E-mail address").inputValue()).toBe("owner@localhost.test");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Back at the application.").waitFor();
    expect((await first.finish(backAt(page))).claims()).toMatchObject({ name: "Local owner", amr: ["pwd"] });

    const second = await beginSignIn(provider.issuer, application, { prompt: "login" });
    await page.goto(second.url.href);
    await page.getByLabel("E-mail address").fill("ada@example.test");
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Signed in with a second factor").check();
    await page.getByRole("button", { name: "Add and sign in" }).click();
    if (!options.javaScriptEnabled) await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Back at the application.").waitFor();
    const { claims, id_token: idToken = "" } = await second.finish(backAt(page));
    expect(claims()).toMatchObject({ name: "Ada", amr: ["pwd", "otp"] });

    await page.goto(
      client.buildEndSessionUrl(second.config, {
        id_token_hint: idToken,
        post_logout_redirect_uri: `${application.origin}/signed-out`,
      }).href,
    );
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${application.origin}/signed-out`);

    const third = await beginSignIn(provider.issuer, application, { login_hint: "ada@example.test" });
    await page.goto(third.url.href);
    await page.getByRole("button", { name: /^Ada/ }).click();
    await page.getByText("Back at the application.").waitFor();
    expect((await third.finish(backAt(page))).claims()?.sub).toBe(claims()?.sub);
    expect(complaints).toEqual([]);
    await page.close();
  },
);

test("the page fits a phone: every control is visible, named, and large enough to touch", async () => {
  const { page } = await open({ javaScriptEnabled: false });
  const { url } = await beginSignIn(provider.issuer, application);
  await page.goto(url.href);
  const controls = await page.locator("main button, main input").all();
  expect(controls.length).toBeGreaterThanOrEqual(4);
  for (const control of controls) {
    expect(await control.isVisible()).toBe(true);
    const box = await control.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(PHONE.width);
    expect(box?.height).toBeGreaterThanOrEqual(20);
  }
  for (const name of ["E-mail address", "Name", "Signed in with a second factor"])
    expect(await page.getByLabel(name, { exact: true }).count()).toBe(1);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Sign in");
  await page.close();
});
