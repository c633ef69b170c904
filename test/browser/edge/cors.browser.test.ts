/**
 * A page of another origin in a real browser: it calls with a key, by `fetch` and by both SDKs as a browser loads them, and reads what
 * answers say of themselves. With the cookie of a console session alone it gets nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
const PACKAGES = join(import.meta.dirname, "../../../node_modules");

/** The SDKs' modules as npm has them. What only their other parts need, such as webhooks, is empty. */
const PAGE = `<!doctype html><title>Another origin</title><script type="importmap">${JSON.stringify({
  imports: {
    openai: "/packages/openai/index.mjs",
    "@anthropic-ai/sdk": "/packages/@anthropic-ai/sdk/index.mjs",
    "@opentelemetry/api": "/packages/@opentelemetry/api/dist/index.mjs",
    standardwebhooks: "data:text/javascript,export class Webhook {}",
  },
})}</script>`;

let browser: Browser | undefined;
let gateway: TestGateway;
let named: TestGateway;
let server: Server;
let page: Page;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"], timeout: LIMIT_MS });
  server = createServer((request, response) => {
    const file = fileOf(request.url ?? "");
    response.setHeader("content-type", file === undefined ? "text/html" : "text/javascript");
    response.end(file === undefined ? PAGE : readFileSync(file));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  gateway = await testGateway();
  named = await testGateway({ settings: { cors: { origins: ["https://app.example.test", originOf()] } } });
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  await Promise.all([gateway, named].map((each) => each?.stop()));
});
beforeEach(async ({ skip }) => {
  skip(browser === undefined, "no Chromium was found on this machine");
  page = await (await (browser as Browser).newContext()).newPage();
  page.setDefaultTimeout(LIMIT_MS);
  await page.goto(originOf());
});

/** Another origin than the gateway's, but of one site: only such a page's requests carry its cookies. */
const originOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Undefined: the page itself. */
function fileOf(path: string): string | undefined {
  const file = join(PACKAGES, normalize(path.slice("/packages".length)));
  return path.startsWith("/packages/") && existsSync(file) ? file : undefined;
}

/** Runs a module's code in the page, with the gateway's address as `url` and the key as `key`, and returns its `return`. */
const inPage = (code: string, { url, liveKey }: TestGateway = gateway) =>
  page.evaluate(`(async (url, key) => { ${code} })(${JSON.stringify(url)}, ${JSON.stringify(liveKey)})
    .catch((error) => ({ failed: String(error) }))`) as Promise<Record<string, unknown>>;

const ASK = `{
  method: "POST",
  headers: { authorization: "Bearer " + key, "content-type": "application/json", "x-own-header": "1" },
  body: JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 4, stream: true }),
}`;

test("fetch reads a stream, its headers, and a refusal", async () => {
  for (const each of [gateway, named]) {
    const seen = await inPage(
      `const answer = await fetch(url + "/v1/chat/completions", ${ASK});
       const text = await answer.text();
       return { status: answer.status, id: answer.headers.get("x-request-id"), isWhole: text.includes("[DONE]"),
         remaining: Number(answer.headers.get("x-ratelimit-remaining-requests")) };`,
      each,
    );
    expect(seen).toMatchObject({ status: 200, isWhole: true, id: expect.stringMatching(/^\w{26}$/) });
    expect(seen.remaining).toBeGreaterThan(0);
  }
  const refused = await inPage(
    `key = "svc-live-wrong";
     const answer = await fetch(url + "/v1/chat/completions", ${ASK});
     return { status: answer.status, retry: answer.headers.get("x-should-retry"), body: await answer.json() };`,
  );
  expect(refused).toMatchObject({ status: 401, retry: "false", body: { error: { code: "invalid_key" } } });
});

test("the SDKs stream, and know the request's id", async () => {
  const openai = await inPage(
    `const { default: OpenAI } = await import("openai");
     const client = new OpenAI({ baseURL: url + "/v1", apiKey: key, dangerouslyAllowBrowser: true, maxRetries: 0 });
     const call = client.chat.completions.create(
       { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 4, stream: true });
     const { data, request_id } = await call.withResponse();
     let text = "";
     for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? "";
     return { text, id: request_id, models: (await client.models.list()).data.length };`,
  );
  expect(openai).toMatchObject({ text: expect.stringMatching(/\w/), id: expect.stringMatching(/^\w{26}$/) });
  expect(openai.models).toBeGreaterThan(1);
  const anthropic = await inPage(
    `const { default: Anthropic } = await import("@anthropic-ai/sdk");
     const client = new Anthropic({ baseURL: url, apiKey: key, dangerouslyAllowBrowser: true, maxRetries: 0 });
     const stream = client.messages.stream(
       { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 4 });
     const message = await stream.finalMessage();
     const { input_tokens } = await client.messages.countTokens(
       { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }] });
     return { text: message.content[0].text, id: stream.request_id, counted: input_tokens };`,
  );
  expect(anthropic).toMatchObject({
    text: expect.stringMatching(/\w/),
    id: expect.stringMatching(/^\w{26}$/),
  });
  expect(anthropic.counted).toBeGreaterThan(0);
});

test("the cookie of a session opens nothing, and other routes nothing at all", async () => {
  const { cookie } = await signInAt(gateway.url, { email: "owner@example.com" });
  const cookies = cookie.split("; ").map((each) => {
    const [name = "", value = ""] = each.split("=");
    return { name, value, url: gateway.url, httpOnly: true, sameSite: "Lax" as const };
  });
  await page.context().addCookies(cookies);
  // What was sent and came, also where the page is told nothing of it.
  const network = await page.context().newCDPSession(page);
  const sent = new Map<string, boolean>();
  const seen: string[] = [];
  network.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => {
    sent.set(requestId, headers.Cookie?.includes(cookie) === true);
  });
  network.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode }) => {
    seen.push(`${statusCode}${sent.get(requestId) === true ? " in spite of the cookie" : ""}`);
  });
  await network.send("Network.enable");
  const withCookie = (path: string, more = "") =>
    inPage(`return { status: (await fetch(url + "${path}", { credentials: "include" ${more} })).status };`);
  const failed = { failed: expect.stringContaining("Failed to fetch") };
  expect(await withCookie("/v1/models")).toEqual(failed);
  expect(await withCookie("/v1/requests")).toEqual(failed);
  expect(await withCookie("/v1/keys")).toEqual(failed);
  expect(
    await withCookie(
      "/v1/keys",
      `, method: "POST", headers: { "content-type": "application/json", "x-svc-csrf": "1" }`,
    ),
  ).toEqual(failed);
  expect(
    await inPage(
      `return { status: (await fetch(url + "/v1/keys", { headers: { authorization: "Bearer " + key } })).status };`,
    ),
  ).toEqual(failed);
  // Without its cookies the page may ask, and is told that it needs a key.
  expect(await inPage(`return { status: (await fetch(url + "/v1/models")).status };`)).toEqual({
    status: 401,
  });
  const refused = "401 in spite of the cookie";
  await until(
    "both reads came with the cookie and were refused",
    () => seen.slice(0, 2),
    ([first, second]) => first === refused && second === refused,
  );
  const own = await (await page.context().newPage()).goto(`${gateway.url}/auth/me`);
  expect(own?.status()).toBe(200);
});
