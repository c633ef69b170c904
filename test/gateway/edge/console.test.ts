/** The console's page and its bundles, as browsers and caches are told of them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";

let gateway: TestGateway;
let cookie = "";
beforeAll(async () => {
  gateway = await testGateway();
  ({ cookie } = await signInAt(gateway.url, { email: "owner@example.com" }));
});
afterAll(() => gateway.stop());

const get = async (path: string, headers: Record<string, string> = { cookie }) => {
  const answer = await httpCall("GET", `${gateway.url}${path}`, { headers });
  if (answer === undefined) throw new Error(`${path} was not answered`);
  return answer;
};

test.each(["/console", "/console/", "/console/acme/requests/01ABC?status=error"])(
  "%s is the page, which may run this gateway's scripts and no other",
  async (path) => {
    const { status, headers, text } = await get(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain(
      "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toContain("no-");
    // No script and no style stands in the page, and none is loaded from elsewhere.
    expect(text).not.toMatch(/<style|<script>|\son\w+=|style=/);
    for (const [, source = ""] of text.matchAll(/(?:src|href)="([^"]+)"/g))
      expect(source).toMatch(/^(\/assets\/console\/|\/docs$|data:image\/svg)/);
  },
);

test.each(["/console", "/console/acme/requests?status=error&q=1"])(
  "a browser without a live session signs in first, and comes back to %s",
  async (place) => {
    for (const other of [{}, { cookie: "svc_session=" }, { cookie: `${cookie.slice(0, -3)}xyz` }]) {
      const { status, headers } = await get(place, other);
      expect(status).toBe(303);
      const there = new URL(headers.get("location") ?? "", gateway.url);
      expect(there.pathname).toBe("/auth/login");
      expect(there.searchParams.get("return_to")).toBe(place);
      expect(headers.get("cache-control")).toContain("no-");
    }
  },
);

test("a bundle is kept for good, and is sent as it was compressed", async () => {
  const { text } = await get("/console");
  const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(text) ?? [];
  expect(script).toMatch(/^\/assets\/console\/main-[A-Z0-9]{8}\.js$/);
  const plain = await get(script);
  const small = await get(script, { "accept-encoding": "gzip, br" });
  expect(plain.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(small.headers.get("content-encoding")).toBe("br");
  expect(small.headers.get("vary")).toBe("accept-encoding");
  expect(small.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(Number(small.headers.get("content-length"))).toBeLessThan(
    Number(plain.headers.get("content-length")) / 2,
  );
  const known = await get(script, {
    "accept-encoding": "br",
    "if-none-match": small.headers.get("etag") ?? "",
  });
  expect(known.status).toBe(304);
});

test("what is no bundle is not there, and nothing but GET is taken", async () => {
  for (const path of [
    "/assets/console/",
    "/assets/console/main.js",
    "/assets/console/..%2f..%2fpackage.json",
  ])
    expect((await get(path)).status, path).toBe(404);
  expect((await httpCall("POST", `${gateway.url}/console`, { body: "" }))?.status).toBe(405);
});
