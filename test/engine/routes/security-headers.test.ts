/** What every answer says to browsers: those of all routes, with and without a credential, and of every way to be refused. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { removeFolder, seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { seedInvoices } from "../../support/invoices/invoice.fixtures.ts";
import type { CallWorld } from "../../support/routes/call-world.ts";
import { bodyOf, isForKeys, nameOf, pathOf, table } from "../../support/routes/calls.ts";
import { openWorld } from "../../support/routes/world.fixtures.ts";

const NOTHING = "default-src 'none'; frame-ancestors 'none'";

function expectSecure(headers: Headers, what: string): void {
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  const policy = headers.get("content-security-policy") ?? "";
  expect(headers.get("x-content-type-options"), what).toBe("nosniff");
  expect(headers.get("x-frame-options"), what).toBe("DENY");
  expect(headers.get("referrer-policy"), what).toMatch(/^(same-origin|no-referrer)$/);
  expect(headers.get("cross-origin-opener-policy"), what).toBe("same-origin");
  expect(headers.get("cross-origin-resource-policy"), what).toBe(
    type.startsWith("image/") ? "cross-origin" : "same-origin",
  );
  expect(headers.get("strict-transport-security"), what).toBeNull();
  // A list of two policies would be joined by a comma.
  expect(policy, what).not.toContain(",");
  expect(policy, what).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
  // A page may have one script of its own, known by its hash.
  expect(policy, what).not.toMatch(/script-src (?!'sha256-[\w+/=]+';)/);
  if (type === "text/html") expect(policy, what).toContain("base-uri 'none'");
  else if (!type.startsWith("image/")) expect(policy, what).toBe(NOTHING);
}

let folder: string;
let gateway: TestGateway;
let world: CallWorld;
let cookie: string;
beforeAll(async () => {
  folder = await seededFolder(() => {});
  const [invoice] = await seedInvoices(folder);
  gateway = await testGateway({
    folder,
    engine: true,
    settings: { max_orgs_per_person: 100 },
    endpoints: [{ provider: "own", credentialEnv: "ROUTES_TEST_NEVER_SET" }],
  });
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  cookie = owner.cookie;
  const requestId = (await gateway.chat()).headers.get("x-svc-request-id") ?? "";
  world = await openWorld({ gateway, owner, requestId, invoiceId: invoice?.id ?? "" });
});
afterAll(async () => {
  await gateway?.stop();
  removeFolder(folder);
});

test.each(table.map((route) => [nameOf(route), route] as const))("S11: %s, refused", async (name, route) => {
  const path = await pathOf(route, world.orgId, undefined);
  const body = await bodyOf(route, undefined);
  const { headers } = await gateway.call(route.method, path, { key: null, ...(body && { body }) });
  expectSecure(headers, name);
});

/** Streams that go on until the client leaves are read elsewhere. */
const ends = table.filter((route) => !("stream" in route) && (isForKeys(route) || route.access === "public"));
test.each(ends.map((route) => [nameOf(route), route] as const))("S11: %s, answered", async (name, route) => {
  const path = await pathOf(route, world.orgId, world);
  const body = await bodyOf(route, world);
  expectSecure((await gateway.call(route.method, path, { ...(body && { body }) })).headers, name);
});

const PAGES = ["/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/schemas/policy.json"];

test.each([
  ...PAGES.map((path) => [`GET ${path}`, path, {}] as const),
  ["the welcome page", "/", { headers: { accept: "text/html" } }],
  ["a static file", "/assets/docs.css", {}],
  ["no static file", "/assets/none.css", {}],
  ["no path of ours", "/nowhere", {}],
  ["no messages route", "/v1/messages/nowhere", {}],
  ["a wrong method", "/v1/models", { method: "DELETE" }],
  ["a wrong method at a page", "/docs", { method: "POST" }],
  ["HEAD", "/docs", { method: "HEAD" }],
  ["HEAD of JSON", "/v1/models", { method: "HEAD" }],
  ["a redirect", "/auth/login", {}],
  ["a sign-in that fails", "/auth/callback?state=x&code=y", {}],
  ["no JSON", "/v1/chat/completions", { method: "POST", body: "{", key: true }],
  ["no JSON of Anthropic's", "/v1/messages", { method: "POST", body: "{", key: true }],
  [
    "another media type",
    "/v1/chat/completions",
    { method: "POST", body: "x", type: "text/plain", key: true },
  ],
  ["a body too large", "/v1/keys", { method: "POST", body: `"${"x".repeat(300_000)}"`, key: true }],
  ["a wrong key", "/v1/models", { headers: { authorization: "Bearer svc-live-x" } }],
] as const)("S11: %s", async (what, path, asked: Asked) => {
  const { method = "GET", body, type = "application/json", key, headers } = asked;
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...headers,
      ...(key && { authorization: `Bearer ${gateway.liveKey}` }),
      ...(body !== undefined && { "content-type": type }),
    },
    ...(body !== undefined && { body }),
  });
  await answer.text();
  expectSecure(answer.headers, what);
});

interface Asked {
  readonly method?: string;
  readonly body?: string;
  readonly type?: string;
  readonly key?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

test("S11: an answer without a body: a file that the browser has", async () => {
  const etag = (await fetch(`${gateway.url}/assets/docs.css`)).headers.get("etag") ?? "";
  const answer = await fetch(`${gateway.url}/assets/docs.css`, { headers: { "if-none-match": etag } });
  expect(answer.status).toBe(304);
  expectSecure(answer.headers, "304");
});

test("S11: streams of every kind", async () => {
  const body = { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], stream: true };
  const call = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(call.headers.get("content-type")).toContain("text/event-stream");
  await call.text();
  expectSecure(call.headers, "a model's stream");
  for (const route of table.filter((each) => "stream" in each)) {
    const leave = new AbortController();
    const stream = await fetch(`${gateway.url}${await pathOf(route, world.orgId, world)}`, {
      headers: { authorization: `Bearer ${gateway.liveKey}` },
      signal: leave.signal,
    });
    expectSecure(stream.headers, nameOf(route));
    leave.abort();
  }
});

test("S11: a request whose framing is refused before it has a route", async () => {
  const { port } = new URL(gateway.url);
  const text = await new Promise<string>((resolve, reject) => {
    let all = "";
    const socket = connect(Number(port), "127.0.0.1", () =>
      socket.write(
        "POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: gzip\r\n\r\nx",
      ),
    );
    socket.on("data", (data) => (all += data.toString()));
    socket.on("close", () => resolve(all));
    socket.on("error", reject);
  });
  const [head = ""] = text.split("\r\n\r\n");
  // The socket library answers what it cannot parse itself, with a fixed text, before any code of ours runs.
  if (!head.includes("x-svc-request-id")) expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
  else expect(head).toContain(`content-security-policy: ${NOTHING}`);
});

describe("pages", () => {
  test("S11: the styles of a page are named by their hashes, and no other has an effect", async () => {
    const answers = await Promise.all(
      ["/v1/documents/dpa", `/v1/invoices/${world.invoiceId}/html`].map((path) =>
        fetch(`${gateway.url}${path}`, { headers: { cookie } }),
      ),
    );
    for (const answer of answers) {
      expect(answer.headers.get("content-type")).toContain("text/html");
      const policy = answer.headers.get("content-security-policy");
      expect(policy).toMatch(/style-src 'self' 'sha256-[\w+/=]{44}';/);
      expect(policy).not.toContain("unsafe-inline");
    }
  });
});

test("S11: with a PUBLIC_URL of https, every answer keeps browsers to https", async () => {
  const secure = await testGateway({ env: { PUBLIC_URL: "https://gateway.example.com" }, cells: 0 });
  try {
    for (const path of ["/", "/nowhere", "/v1/models", "/docs", "/assets/docs.css"]) {
      const { headers } = await secure.call("GET", path);
      expect(headers.get("strict-transport-security"), path).toBe("max-age=31536000");
    }
    expect((await secure.chat()).headers.get("strict-transport-security")).toBe("max-age=31536000");
  } finally {
    await secure.stop();
  }
});
