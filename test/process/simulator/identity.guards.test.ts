/**
 * What keeps the built-in identity provider to this machine and to the browser that began a sign-in.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type IdentityProvider,
  startIdentityProvider,
} from "../../../simulator/identity/identity-provider.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { quietPort } from "../../support/process.fixtures.ts";
import {
  type Application,
  Browser,
  beginSignIn,
  type Page,
  signIn,
  startApplication,
  startProviderFor,
} from "../../support/simulator/identity.fixtures.ts";

let application: Application;
let provider: IdentityProvider;
beforeAll(async () => {
  application = await startApplication();
  provider = await startProviderFor(application);
});
afterAll(async () => {
  await provider.close();
  await application.close();
});

const signInPage = async (browser: Browser): Promise<Page> =>
  browser.visit((await beginSignIn(provider.issuer, application)).url);

/** `fetch` would set some of these headers itself. */
async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(provider.issuer);
  const sent = request({ host: hostname, port, method, path, headers });
  sent.end(body);
  const [response] = await once(sent, "response");
  return { status: response.statusCode, body: await text(response) };
}

describe("where it listens", () => {
  test.each(["0.0.0.0", "192.168.1.2", "::", "gateway.example.com", "127.0.0.1.example.com"])(
    "it refuses to start on %s",
    async (host) => {
      const started = startIdentityProvider({ clients: [], clock: systemClock, host });
      await expect(started).rejects.toThrow(`listens on loopback only, not on "${host}"`);
    },
  );

  test("localhost is 127.0.0.1", async () => {
    const other = await startProviderFor(application, { host: "localhost" });
    expect(other.issuer).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await signIn(other.issuer, application);
    await other.close();
  });

  test("a port that is taken is replaced by a free one", async () => {
    const port = Number(new URL(provider.issuer).port);
    const other = await startProviderFor(application, { port });
    expect(other.issuer).not.toBe(provider.issuer);
    await signIn(other.issuer, application);
    await other.close();
  });

  test("clients that cannot be used refuse the start and leave no port open", async () => {
    // No port of those that systems give to whoever asks for any: it stays free meanwhile.
    const port = await quietPort();
    const client = { id: "weir", secret: "s", redirectUris: ["no address"], postLogoutRedirectUris: [] };
    const started = startIdentityProvider({ clients: [client], clock: systemClock, port });
    await expect(started).rejects.toThrow(/^The client "weir" .*redirect_uris/);
    const after = await startProviderFor(application, { port });
    expect(after.issuer).toBe(`http://127.0.0.1:${port}`);
    await after.close();
  });
});

describe("what it answers to", () => {
  test.each(["127.0.0.1", "localhost:9", "LOCALHOST", "[::1]:80"])("the host %s is served", async (host) => {
    expect((await send("GET", "/.well-known/openid-configuration", { host })).status).toBe(200);
  });

  test.each(["rebound.example.com", "127.0.0.1.example.com", "evil@127.0.0.1", "127.0.0.1/x", "10.0.0.1:80"])(
    "the host %j is refused, on every path",
    async (host) => {
      for (const path of ["/", "/.well-known/openid-configuration", "/auth", "/interaction/abc"])
        expect((await send("GET", path, { host })).status).toBe(421);
    },
  );

  test("a form that another origin sent is refused", async () => {
    const { host } = new URL(provider.issuer);
    for (const origin of ["http://evil.example", "null", `http://${host}0`, `https://${host}`])
      expect((await send("POST", "/interaction/abc", { host, origin })).status).toBe(403);
  });

  test("a body over 16 KB, and one whose length is not told, are refused", async () => {
    const { host } = new URL(provider.issuer);
    const form = { host, "content-type": "application/x-www-form-urlencoded" };
    const body = "x".repeat(16_385);
    for (const path of ["/interaction/abc", "/token"]) {
      const length = String(body.length);
      expect((await send("POST", path, { ...form, "content-length": length }, body)).status).toBe(413);
      expect((await send("POST", path, { ...form, "transfer-encoding": "chunked" }, "x")).status).toBe(411);
    }
  });

  test("other methods, paths and absolute targets are refused", async () => {
    const { host } = new URL(provider.issuer);
    expect((await send("DELETE", "/interaction/abc", { host })).status).toBe(405);
    expect((await send("GET", "/nowhere", { host })).status).toBe(404);
    expect((await send("GET", "http://evil.example/", { host })).status).toBe(400);
    expect((await send("GET", "/", { host })).body).toContain("built-in identity provider for local use");
  });
});

describe("the sign-in page", () => {
  test("belongs to the browser that began the sign-in", async () => {
    const page = await signInPage(new Browser());
    for (const browser of [new Browser(), (await signIn(provider.issuer, application)).browser]) {
      expect((await browser.visit(page.url)).status).toBe(400);
      const stolen = await browser.submit(page, { email: "mallory@example.test", name: "Mallory" });
      expect(stolen.status).toBe(400);
      expect(stolen.html).toContain("This sign-in is over, or was begun elsewhere.");
    }
    expect(provider.people().map(({ name }) => name)).not.toContain("Mallory");
  });

  test("takes no answer under the cookie of another sign-in", async () => {
    const browser = new Browser();
    const [mine, other] = [await signInPage(browser), await signInPage(new Browser())];
    const cookie = browser.cookiesFor(mine.url.pathname);
    const { host, origin } = mine.url;
    const headers = { host, origin, cookie, "content-type": "application/x-www-form-urlencoded" };
    const body = "email=mallory%40example.test&name=Mallory";
    const length = { "content-length": String(body.length) };
    expect((await send("POST", other.url.pathname, { ...headers, ...length }, body)).status).toBe(400);
    expect((await send("POST", mine.url.pathname, { ...headers, ...length }, body)).status).toBe(303);
  });

  test("works once", async () => {
    const browser = new Browser();
    const page = await signInPage(browser);
    const fields = { email: "once@example.test", name: "Once" };
    expect((await browser.submit(page, fields)).url.origin).toBe(application.origin);
    expect((await browser.submit(page, fields)).status).toBe(400);
  });

  test("shows hostile words as words, in the list and in the form", async () => {
    const email = "o'hara&co@example.test";
    const name = `<script>alert("1")</script>' onfocus='x`;
    await signIn(provider.issuer, application, { email, name });
    const browser = new Browser();
    const list = await signInPage(browser);
    expect(list.html).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onfocus=&#39;x");
    expect(list.html).toContain("o&#39;hara&amp;co@example.test");
    const refused = await browser.submit(list, { email: '"><img src=x onerror=y>@b.test', name });
    expect(refused.html).toContain('value="&quot;&gt;&lt;img src=x onerror=y&gt;@b.test"');
    const { url } = await beginSignIn(provider.issuer, application, { login_hint: '"><img src=x>' });
    const hinted = await new Browser().visit(url);
    for (const { html } of [list, refused, hinted]) {
      expect(html).not.toContain("<script");
      expect(html).not.toContain("<img");
    }
  });

  test("has a title, a language, a label for each input, and headers that forbid scripts and frames", async () => {
    const { html, headers } = await signInPage(new Browser());
    expect(html).toContain('<html lang="en">');
    expect(html).toContain("<title>Sign in</title>");
    expect(html).toContain("setting <code>OIDC_ISSUER</code> replaces it");
    for (const id of ["email", "name"]) expect(html).toContain(`<label for="${id}">`);
    expect(html).toMatch(/<label[^>]*><input type="checkbox"[^>]*>Signed in with a second factor<\/label>/);
    expect(headers.get("x-frame-options")).toBe("DENY");
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'; script-src; style-src 'sha256-");
    expect(policy).toContain(
      `form-action 'self' ${application.origin}; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("its process", () => {
  test("sees nothing printed, and ends by itself after close", async () => {
    const probe = new URL("identity.probe.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [probe], { stdio: ["ignore", "pipe", "pipe"] });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await once(child, "close");
    expect(await output).toEqual(["", ""]);
    expect(code).toBe(0);
  });

  test("has no connection and no port left after close, whatever was under way", async () => {
    const other = await startProviderFor(application);
    const port = Number(new URL(other.issuer).port);
    const silent = connect(port, "127.0.0.1");
    const begun = connect(port, "127.0.0.1");
    await Promise.all([once(silent, "connect"), once(begun, "connect")]);
    begun.write("POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx");
    const ends = [silent, begun].map(
      (socket) => new Promise((resolve) => socket.on("error", () => undefined).once("close", resolve)),
    );
    await other.close();
    await Promise.all(ends);
    const refused = connect(port, "127.0.0.1");
    const [error] = await once(refused, "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });
});
