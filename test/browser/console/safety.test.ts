/**
 * What a browser keeps from harm on the console: no page of another site frames it or acts in its name, its cookie is out of reach of
 * scripts, and what tenants, models and providers write stays text.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
let browser: ConsoleBrowser;
let evil: Server;
/** What the page of the other site says. */
let evilPage = "";
let evilUrl: string;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({ engine: true });
  browser = await openBrowser(gateway.url);
  evil = createServer((_, answer) =>
    answer.setHeader("content-type", "text/html; charset=utf-8").end(evilPage),
  );
  await new Promise<void>((listening) => evil.listen(0, "127.0.0.1", listening));
  // Another name is another site: cookies of 127.0.0.1 are not its own.
  evilUrl = `http://localhost:${(evil.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await browser?.close();
  evil?.close();
  await gateway?.stop();
});

const signedIn = async () => {
  const opened = await browser.open();
  await signInBy(opened.page, gateway.url, "ada@example.test");
  const { csrf_token: csrf } = await (await opened.page.request.get(`${gateway.url}/auth/me`)).json();
  const call = async (method: string, path: string, data?: object) => {
    const answer = await opened.page.request.fetch(gateway.url + path, {
      method,
      headers: { "x-svc-csrf": csrf },
      ...(data !== undefined && { data }),
    });
    return { status: answer.status(), json: await answer.json() };
  };
  return { ...opened, csrf, call };
};

test("no page frames the console, the pages of the gateway or its sign-in", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, told } = await signedIn();
  for (const path of ["/console", "/console/first/keys", "/", "/docs", "/no/such/page"]) {
    evilPage = `<title>Other</title><iframe src="${gateway.url}${path}"></iframe>`;
    told.length = 0;
    await page.goto(evilUrl);
    await until(`the browser refuses to frame ${path}`, () =>
      told.some((line) => /frame-ancestors|X-Frame-Options/i.test(line)),
    );
    const inside = page.frames()[1];
    expect(await inside?.evaluate("document.body.textContent")).not.toContain("Weir");
  }
  await page.context().close();
});

test("a form or a script of another site changes nothing, though the person is signed in", async ({
  skip,
}) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, call } = await signedIn();
  const keys = async () => (await call("GET", "/v1/keys?limit=100")).json.data.length;
  const { json: projects } = await call("GET", "/v1/projects");
  const body = { name: "forged", project_id: projects.data[0].id };
  const before = await keys();

  // A form whose text is JSON, as such attacks have it: its one field's name and value together are the body.
  const field = `${JSON.stringify(body).slice(0, -1)},"x":"`;
  evilPage = `<form method="post" enctype="text/plain" action="${gateway.url}/v1/keys">
    <input name='${field}' value='"}'></form>`;
  await page.goto(evilUrl);
  await Promise.all([page.waitForURL(`${gateway.url}/v1/keys`), page.evaluate("document.forms[0].submit()")]);
  expect(await keys()).toBe(before);

  evilPage = "<title>Other</title>";
  await page.goto(evilUrl);
  for (const [path, how] of [
    ["/v1/keys", { method: "POST", credentials: "include", body: JSON.stringify(body), mode: "no-cors" }],
    ["/v1/keys", { method: "POST", credentials: "include", body: JSON.stringify(body) }],
    ["/auth/logout", { method: "POST", credentials: "include", mode: "no-cors" }],
    ["/auth/me", { credentials: "include" }],
  ] as const) {
    const seen = await page.evaluate<string>(
      `fetch(${JSON.stringify(gateway.url + path)}, ${JSON.stringify(how)}).then((answer) => answer.text(), () => "")`,
    );
    expect(seen, path).toBe("");
  }
  expect(await keys()).toBe(before);
  // The session is still there.
  expect((await call("GET", "/auth/me")).status).toBe(200);
  await page.context().close();
});

test("a session without its token changes nothing, and scripts do not see its cookie", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, csrf, call } = await signedIn();
  const { json: projects } = await call("GET", "/v1/projects");
  const made = await page.request.post(`${gateway.url}/v1/keys`, {
    data: { name: "forged", project_id: projects.data[0].id },
  });
  expect(made.status()).toBe(403);
  const cookies = await page.context().cookies(gateway.url);
  const session = cookies.find(({ name }) => name.endsWith("svc_session"));
  expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect(await page.evaluate<string>("document.cookie")).not.toContain("svc_session");
  const stored = await page.evaluate<string>("JSON.stringify({ ...localStorage, ...sessionStorage })");
  expect(stored).not.toContain(csrf);
  await page.context().close();
});

/** Each would set `__pwned` where it became markup, code or an address. */
const MARKUP = [
  `<img src=x onerror="window.__pwned=1">`,
  "<script>window.__pwned=1</script>",
  `<svg onload="window.__pwned=1"><a href="javascript:window.__pwned=1">x</a></svg>`,
  `"><iframe srcdoc="<script>parent.__pwned=1</script>">`,
  '[x](javascript:window.__pwned=1) ![x](x" onerror="window.__pwned=1)',
  "{{constructor.constructor('window.__pwned=1')()}} $" + "{window.__pwned=1}",
];
const ALL = MARKUP.join(" ");

test("markup in names, tags, models, prompts, tools, answers and errors is text everywhere", async ({
  skip,
}) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, told, call } = await signedIn();
  await call("PATCH", "/v1/orgs/first", { name: (MARKUP[0] ?? "").slice(0, 60) });
  const { json: projects } = await call("GET", "/v1/projects");
  const project_id = projects.data[0].id;
  expect((await call("PATCH", `/v1/projects/${project_id}`, { name: MARKUP[1] })).status).toBe(200);
  const keys = await Promise.all(
    MARKUP.map((name) => call("POST", "/v1/keys", { name: name.slice(0, 60), project_id })),
  );
  const key = keys[0]?.json.secret as string;
  expect(key).toMatch(/^svc-/);
  const tool = {
    id: "call_1",
    type: "function",
    function: { name: "look", arguments: JSON.stringify({ a: ALL }) },
  };
  const messages = [
    { role: "system", content: ALL },
    { role: "user", content: ALL },
    { role: "assistant", content: null, tool_calls: [tool] },
    { role: "tool", tool_call_id: "call_1", content: ALL },
    { role: "user", content: `echo ${ALL}` },
  ];
  const svc = {
    metadata: { app: "app", user_id: MARKUP[1], tags: { team: (MARKUP[0] ?? "").slice(0, 60) } },
  };
  const answered = await gateway.chat({ messages, svc }, { key, headers: { "user-agent": MARKUP[0] } });
  expect(answered.status, JSON.stringify(answered.json)).toBe(200);
  await gateway.chat({ model: MARKUP[0] }, { key });
  await gateway.chat({ messages: [{ role: "user", content: `[[sim status=500]] ${ALL}` }] }, { key });

  const listed = await until(
    "the calls are in the feed",
    async () => (await call("GET", "/v1/requests?limit=10")).json.data ?? [],
    (rows: unknown[]) => rows.length >= 3,
  );
  const ids = (listed as { request_id: string }[]).map(({ request_id: id }) => `requests/${id}`);
  const shown: string[] = [];
  for (const address of ["requests", "live", "setup", "overview", "models", "keys", "credits", ...ids]) {
    await page.goto(`${gateway.url}/console/first/${address}`);
    await untilShown(page);
    await expectNothingRan(page, address);
    if ((await page.locator("main").textContent())?.includes(MARKUP[0] ?? "")) shown.push(address);
  }
  // What was written is there to read: as names of keys, and in the conversation of the call.
  expect(shown).toContain("keys");
  expect(shown.filter((address) => address.startsWith("requests/")).length).toBeGreaterThan(0);
  await page.keyboard.press("Control+k");
  await page.getByRole("textbox", { name: /request ids/ }).fill("img src");
  await page.getByRole("dialog").getByText("<img src=x", { exact: false }).first().waitFor();
  await expectNothingRan(page, "the palette");
  await page.goto(`${gateway.url}/console/${encodeURIComponent(MARKUP[0] ?? "")}`);
  await untilShown(page);
  await expectNothingRan(page, "an address of no org");
  expect(told).toEqual([]);
  await page.context().close();
});

/** The page has none of the elements that the markup would be, and no address that is code. */
async function expectNothingRan(page: Page, where: string): Promise<void> {
  const made = await page.evaluate(
    `[typeof window.__pwned, document.querySelectorAll("iframe, [onerror], [onload], [href^='javascript:'], img[src='x']").length]`,
  );
  expect(made, where).toEqual(["undefined", 0]);
}
