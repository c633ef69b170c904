/** An app's public page over HTTP: a page for browsers, JSON for programs, at one address. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const PATH = "/v1/apps/acme-chat/public";
const BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
  await gateway.call("POST", "/v1/apps", {
    body: { name: "Acme <b>Chat</b>", slug: "acme-chat", public: true },
  });
});
afterAll(() => gateway.stop());

const seen = (path: string, accept: string, more: Record<string, string> = {}) =>
  gateway.call("GET", path, { key: null, headers: { accept, ...more } });

test("a browser gets a page that may be kept for a minute, and runs nothing", async () => {
  const page = await seen(PATH, BROWSER);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toMatch(/^text\/html/);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.text).toContain("<h1>Acme &lt;b&gt;Chat&lt;/b&gt;</h1>");
  expect(page.text).toContain(`(${gateway.url}${PATH})`);
  const kept = { "if-none-match": page.headers.get("etag") ?? "" };
  expect((await seen(PATH, BROWSER, kept)).status).toBe(304);
  // What a browser has kept is no answer to a program.
  expect((await seen(PATH, "*/*", kept)).json.name).toBe("Acme <b>Chat</b>");
});

test("a cache tells the two apart", async () => {
  for (const accept of [BROWSER, "*/*", "application/json"]) {
    const { headers } = await seen(PATH, accept);
    expect([headers.get("vary"), headers.get("cache-control")]).toEqual(["accept", "public, max-age=60"]);
  }
});

test("an app that is hidden is no page", async () => {
  await gateway.call("PATCH", "/v1/apps/acme-chat", { body: { public: false } });
  const none = await seen(PATH, BROWSER);
  expect([none.status, none.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(none.text).not.toContain("Acme");
});
