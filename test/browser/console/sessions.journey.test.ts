/** Somebody who signed in by the link of the start sees where they are signed in, ends one session, then all others, and signs out. */
import { expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { untilShown } from "../../support/console/browser.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { personAt } from "../../support/console/person.fixtures.ts";

const world = consoleWorld();

test("sessions are listed, ended one by one and all at once", async () => {
  const { browser, gateway } = world;
  const here = await browser.open({ viewport: { width: 1280, height: 800 } });
  const { page } = here;
  await page.goto(gateway.signInLink?.() ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Your first call" }).waitFor();
  const me = await (await page.request.get(`${gateway.url}/auth/me`)).json();
  const { email } = me.user as { email: string };
  const others = [
    await personAt(browser, gateway.url, email),
    await personAt(browser, gateway.url, email),
    await personAt(browser, gateway.url, email),
  ];

  await page.locator(".shell-own summary").click();
  await page.getByRole("link", { name: "Sessions" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  expect(await page.locator(".shell-own[open]").count()).toBe(0);
  const rows = page.getByRole("table").getByRole("row");
  await rows.nth(4).waitFor();
  await rows.filter({ hasText: "this one" }).getByRole("button", { name: "Sign out here" }).waitFor();
  await page.getByText("This session opens it until").waitFor();
  expect(await cutOff(page)).toEqual([]);
  const isSignedIn = async ({ page: there }: (typeof others)[number]) =>
    (await there.request.get(`${gateway.url}/auth/me`)).status() === 200;
  const signedIn = async () =>
    (await Promise.all(others.map(isSignedIn))).filter((isThere) => isThere).length;
  expect(await signedIn()).toBe(3);
  await rows.filter({ hasNotText: "this one" }).getByRole("button").first().click();
  await rows.nth(4).waitFor({ state: "detached" });
  expect(await signedIn()).toBe(2);
  await page.getByRole("button", { name: "End all others" }).click();
  const asked = page.getByRole("dialog", { name: "End the 2 other sessions?" });
  await asked.getByRole("button", { name: "End sessions" }).click();
  await rows.nth(2).waitFor({ state: "detached" });
  await untilShown(page);
  expect([await signedIn(), await page.getByRole("button", { name: "End all others" }).count()]).toEqual([
    0, 0,
  ]);

  await page.getByRole("button", { name: "Sign out here" }).click();
  await page.waitForURL((url) => !url.pathname.startsWith("/console"));
  expect((await page.request.get(`${gateway.url}/auth/me`)).status()).toBe(401);
  expect(here.told).toEqual([]);
  expectActs("sessions", here);
});
