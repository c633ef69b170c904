/**
 * The whole way in a real browser, on a fresh start: a person signs in, makes an org, invites another, who opens the mail,
 * signs in and sees the org; then signs out, here and at the provider.
 */
import { existsSync } from "node:fs";
import { type BrowserContext, type Browser as Chromium, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { LIMIT_MS, until } from "../../../support/wait.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

let browser: Chromium | undefined;
let gateway: TestGateway;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: LIMIT_MS });
  gateway = await testGateway();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** A call of the console, with the browser's cookies. Not from the page that is shown: what a program reads may load nothing. */
async function call(page: Page, method: string, path: string, body?: object) {
  const me = (await (await page.request.get(`${gateway.url}/auth/me`)).json()) as { csrf_token?: string };
  const answer = await page.request.fetch(`${gateway.url}${path}`, {
    method,
    headers: { "x-svc-csrf": me.csrf_token ?? "" },
    ...(body !== undefined && { data: body }),
  });
  return { status: answer.status(), json: (await answer.json()) as Record<string, string> };
}

const shown = async (page: Page) => JSON.parse((await page.textContent("body")) ?? "");

async function signIn(page: Page, email: string, name: string, home = "**/auth/me"): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Name").fill(name);
  await page
    .getByRole("button", { name: /sign in/i })
    .last()
    .click();
  await page.waitForURL(home);
}

test("sign in, make an org, invite, accept, sign out", async ({ skip }) => {
  skip(browser === undefined, "no Chromium was found on this machine");
  const open = async (): Promise<[BrowserContext, Page]> => {
    const context = await (browser as Chromium).newContext({ viewport: { width: 900, height: 700 } });
    context.setDefaultTimeout(LIMIT_MS);
    return [context, await context.newPage()];
  };
  const [, ada] = await open();
  await ada.goto(`${gateway.url}/auth/login?return_to=/auth/me`);
  await signIn(ada, "ada@example.test", "Ada");
  expect(await shown(ada)).toMatchObject({ user: { name: "Ada" }, role: "owner" });
  const org = { slug: "acme", name: "Acme & <Sons>", billing_country: "IN" };
  expect(await call(ada, "POST", "/v1/orgs", org)).toMatchObject({ status: 201, json: { role: "owner" } });
  const body = { email: "grace@example.test", role: "admin" };
  expect(await call(ada, "POST", "/v1/orgs/acme/members", body)).toMatchObject({ status: 201 });

  const [context, grace] = await open();
  await until(
    "the mail to Grace is there",
    async () => (await grace.goto(`${gateway.url}/dev/mail`)) && (await grace.content()),
    (seen) => seen?.includes("grace@example.test"),
  );
  await grace.getByRole("link").filter({ hasText: /acme/i }).first().click();
  const mail = grace.frameLocator("iframe");
  expect(await mail.locator("body").textContent()).toContain("Acme & <Sons>");
  const link = await mail.getByRole("link").first().getAttribute("href");
  await grace.goto(link ?? "");
  await grace.getByRole("link", { name: "Sign in" }).click();
  await signIn(grace, "grace@example.test", "Grace", "**/auth/invitations/*");
  expect(await grace.textContent("main")).toContain("Acme & <Sons>");
  await grace.getByRole("button", { name: "Accept" }).click();
  await grace.getByText("You are a member.").waitFor();
  await grace.getByRole("button", { name: "Open the console" }).click();
  await grace.waitForURL("**/console/acme**");
  await grace.goto(`${gateway.url}/auth/me`);
  const me = await shown(grace);
  expect(me.orgs).toMatchObject([{ slug: "acme", role: "admin" }]);
  expect(await call(grace, "GET", "/v1/orgs/acme/members")).toMatchObject({
    json: { data: [{ name: "Ada" }, { name: "Grace" }] },
  });

  const cookies = await context.cookies(gateway.url);
  expect(cookies.find(({ name }) => name === "svc_session")).toMatchObject({
    httpOnly: true,
    sameSite: "Lax",
  });
  const { json } = await call(grace, "POST", "/auth/logout");
  await grace.goto(json.logout_url ?? "");
  await grace.getByRole("button", { name: "Sign out" }).click();
  await grace.waitForURL((url) => url.pathname !== "/session/end/confirm");
  await grace.goto(`${gateway.url}/auth/me`);
  expect(await grace.textContent("h1")).toBe("Sign in first");
});

test("somebody in no org finds their invitations, accepts one, declines another, and is in the console", async ({
  skip,
}) => {
  skip(browser === undefined, "no Chromium was found on this machine");
  const open = async () => {
    const page = await (await (browser as Chromium).newContext()).newPage();
    page.setDefaultTimeout(LIMIT_MS);
    return page;
  };
  const host = await open();
  await host.goto(`${gateway.url}/auth/login?return_to=/auth/me`);
  await signIn(host, "host@example.test", "Host");
  for (const slug of ["wanted", "unwanted"]) {
    const org = { slug, name: `Org <i>${slug}</i>`, billing_country: "US" };
    expect(await call(host, "POST", "/v1/orgs", org)).toMatchObject({ status: 201 });
    const path = `/v1/orgs/${slug}/members`;
    const body = { email: "new@example.test", role: "member" };
    expect(await call(host, "POST", path, body)).toMatchObject({ status: 201 });
  }

  const guest = await open();
  await guest.goto(`${gateway.url}/console`);
  await signIn(guest, "new@example.test", "New", "**/console**");
  await guest.getByText("Org <i>wanted</i>, as member").waitFor();
  await guest.getByRole("link", { name: "Accept or decline" }).click();
  const of = (slug: string) =>
    guest
      .locator("section")
      .filter({ has: guest.getByRole("heading", { name: `Org <i>${slug}</i>`, exact: true }) });
  const [wanted, unwanted] = [of("wanted"), of("unwanted")];
  await unwanted.getByRole("button", { name: "Decline" }).click();
  await unwanted.getByText("You have declined.").waitFor();
  await wanted.getByRole("button", { name: "Accept" }).click();
  await wanted.getByText("You are a member.").waitFor();
  expect(await wanted.getByRole("button").allTextContents()).toEqual(["Open the console"]);
  await wanted.getByRole("button", { name: "Open the console" }).click();
  await guest.waitForURL("**/console/wanted**");
  await guest.goto(`${gateway.url}/auth/invitations`);
  await guest.getByText("No invitation waits for you.").waitFor();
});

test("the link of a start, and a sign-in without a place to go back to, lead to the console", async ({
  skip,
}) => {
  skip(browser === undefined, "no Chromium was found on this machine");
  const open = async () => (await (browser as Chromium).newContext()).newPage();
  const linked = await open();
  linked.setDefaultTimeout(LIMIT_MS);
  const link = gateway.signInLink?.() ?? "";
  await linked.goto(link);
  await linked.reload();
  await linked.getByRole("button", { name: "Sign in" }).click();
  await linked.waitForURL(/\/console/);
  await linked.goto(`${gateway.url}/auth/me`);
  expect(await shown(linked)).toMatchObject({ role: "owner" });

  const late = await open();
  late.setDefaultTimeout(LIMIT_MS);
  await late.goto(link);
  await late.getByRole("link", { name: "Sign in" }).click();
  await signIn(late, "late@example.test", "Late", "**/console");
});

test("S11: no page breaks its own policy, and each has its styles", async ({ skip }) => {
  skip(browser === undefined, "no Chromium was found on this machine");
  const page = await (await (browser as Chromium).newContext()).newPage();
  page.setDefaultTimeout(LIMIT_MS);
  const told: string[] = [];
  page.on("console", (line) => {
    // A browser asks for it by itself, and there is none.
    if (line.location().url.endsWith("/favicon.ico")) return;
    if (line.type() === "error" || line.type() === "warning") told.push(`${page.url()}: ${line.text()}`);
  });
  page.on("pageerror", (error) => told.push(`${page.url()}: ${error}`));
  /** What applies in the browser. */
  const style = (selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`);
  await page.goto(`${gateway.url}/auth/login?return_to=/auth/me`);
  expect(await style("body", "fontFamily")).toMatch(/sans/);
  await signIn(page, "styles@example.test", "Styles");
  for (const path of ["/", "/openapi.json", "/healthz"]) await page.goto(`${gateway.url}${path}`);
  const topUp = { amount_minor: 5000, currency: "USD" };
  const { json: made } = await gateway.call("POST", "/v1/credits/topups", { body: topUp });
  for (const path of [
    "/v1/documents/dpa",
    "/dev/mail",
    "/auth/invitations",
    "/auth/invitations/none",
    ...(made.id ? [`/billing/topups/${made.id}`] : []),
  ]) {
    const answer = await page.goto(`${gateway.url}${path}`);
    expect(answer?.headers()["content-type"], path).toContain("text/html");
    expect(await style("body", "maxWidth"), path).not.toBe("none");
  }
  await page.goto(`${gateway.url}/docs/inference`);
  expect(await style("th.depth-0", "paddingLeft")).toBe("0px");
  expect(
    await page.evaluate("parseFloat(getComputedStyle(document.querySelector('th.depth-2')).paddingLeft)"),
  ).toBeGreaterThan(20);
  expect(told).toEqual([]);
});
