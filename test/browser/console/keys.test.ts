/** The page "Keys" in a real browser: a key is made, its secret is shown once, it is changed, rotated and revoked; and what roles see. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
} from "../../support/console/browser.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { acceptInvitation, type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

let browser: ConsoleBrowser;
let gateway: TestGateway;
let ada: BrowserPerson;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway();
  browser = await openBrowser(gateway.url);
  ada = await personAt(browser, gateway.url, "ada@example.test");
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const MARKUP = `<img src=x onerror="alert(1)"> & Söhne`;
const chat = (secret: string) => gateway.chat({}, { key: secret });

test("sign in, make a key, store its secret, rotate it, revoke it", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page } = ada;
  await ada.open("first/keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Give the key a name.").waitFor();
  await page.getByLabel("Name").fill(MARKUP);
  await page.getByLabel("Budget a day, US dollars").fill("5");
  await page.getByLabel("Requests a minute").fill("60");
  expect(await cutOff(page)).toEqual([]);
  await page.getByRole("button", { name: "Create key" }).click();

  // Neither Escape nor the way back loses the secret.
  const dialog = page.getByRole("dialog", { name: "The secret of" });
  const secret = (await dialog.locator("code").textContent()) ?? "";
  expect(secret).toMatch(/^svc-live-/);
  for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  await page.goBack();
  await page.waitForURL("**/first/keys");
  expect(await dialog.locator("code").textContent()).toBe(secret);
  await page.goForward();
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("heading", { name: MARKUP }).waitFor();
  expect((await chat(secret)).status).toBe(200);

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Requests a minute").fill("");
  await page.getByLabel("Budget a day, US dollars").fill("7.25");
  await page.getByLabel("Where the client leaves").selectOption("detach");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("$7.25, then calls are refused").waitFor();
  await page.getByText("Go on without it, to be read again").waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { json: changed } = await ada.call("GET", `/v1/keys/${id}`);
  expect(changed).toMatchObject({
    limits: {},
    budget: { daily_micro: 7_250_000, hard: true },
    on_disconnect: "detach",
  });

  await page.getByRole("button", { name: "Rotate key" }).click();
  await page.getByLabel("The old key works on").selectOption({ label: "Not at all" });
  await page.getByRole("dialog").getByRole("button", { name: "Rotate key" }).click();
  await page.getByText("works no more").waitFor();
  const next = (await dialog.locator("code").first().textContent()) ?? "";
  expect(next).not.toBe(secret);
  expect((await chat(secret)).status).toBe(401);
  expect((await chat(next)).status).toBe(200);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  expect(page.url()).not.toContain(id);

  await page.getByRole("button", { name: "Show who did what" }).click();
  await page.getByRole("cell", { name: "Made" }).or(page.getByText("Nothing in the last")).first().waitFor();
  await page.getByRole("button", { name: "Revoke key" }).click();
  const confirm = page.getByRole("dialog", { name: `Revoke "${MARKUP}"?` });
  await confirm.getByRole("button", { name: "Revoke key" }).click();
  await page.locator(".badge").filter({ hasText: "revoked" }).waitFor();
  expect((await chat(next)).status).toBe(401);
  expect(ada.told).toEqual([]);
  expectActs("keys", ada);
});

test("search and filters are in the address, and what is found is a link", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page } = ada;
  await ada.open("first/keys?status=revoked");
  await page.getByRole("link", { name: MARKUP }).first().waitFor();
  expect(await page.getByRole("link", { name: "First live key" }).count()).toBe(0);
  await page.getByLabel("Status").selectOption("active");
  await page.getByRole("link", { name: "First live key" }).waitFor();
  expect(new URL(page.url()).search).toBe("?status=active");
  await page.getByLabel("Status").selectOption("expired");
  await page.getByRole("button", { name: "Show all keys" }).click();
  await page.getByRole("link", { name: "First test key" }).waitFor();
  await page.getByLabel("Name, end of the secret, or id").fill("LIVE key");
  await page.getByRole("link", { name: "First test key" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "First live key" }).waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("LIVE key");
  await page.reload();
  await page.getByRole("link", { name: "First live key" }).waitFor();
  expect(await page.getByLabel("Name, end of the secret, or id").inputValue()).toBe("LIVE key");
  await page.getByLabel("Name, end of the secret, or id").fill("no such key");
  await page.getByRole("button", { name: "Show all keys" }).click();
  await page.getByRole("link", { name: "First test key" }).waitFor();
  expect(await page.getByLabel("Name, end of the secret, or id").inputValue()).toBe("");
  expect(ada.told).toEqual([]);
});

test("a viewer reads keys and is offered nothing else; billing has no such page", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  for (const [email, role] of [
    ["vera@example.test", "viewer"],
    ["bill@example.test", "billing"],
    ["mia@example.test", "member"],
  ] as const) {
    const body = { email, role };
    expect(await ada.call("POST", "/v1/orgs/first/members", { body })).toMatchObject({ status: 201 });
    const walk = await personAt(browser, gateway.url, email);
    const { page } = walk;
    await page.getByText(new RegExp(`as ${role}$`)).waitFor();
    const answer = page.getByRole("link", { name: "Accept or decline" });
    expect(await answer.getAttribute("href")).toBe("/auth/invitations");
    await acceptInvitation(walk);
    await walk.open("first/keys");
    if (role === "billing") {
      await page.getByRole("heading", { name: "Not open to your role" }).waitFor();
    } else {
      await page.getByRole("link", { name: "First live key" }).click();
      await page.getByRole("heading", { name: "First live key" }).waitFor();
      // It changes the org, which neither of them may.
      for (const name of ["Change", "Rotate key", "Revoke key", "Show who did what"])
        expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
      await page.getByRole("link", { name: "All keys" }).click();
      await page.getByRole("link", { name: "First live key" }).waitFor();
      expect(await page.getByRole("button", { name: "New key" }).count()).toBe(role === "member" ? 1 : 0);
    }
    expect(walk.told).toEqual([]);
  }
});
