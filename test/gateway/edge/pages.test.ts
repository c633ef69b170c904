/** What people see who open an address of the gateway in a browser, and that programs get JSON as before. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
beforeAll(async () => {
  gateway = await testGateway();
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
});
afterAll(() => gateway.stop());

/** As Chromium asks when an address is opened. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

async function open(path: string, headers: Record<string, string> = {}, method = "GET") {
  const answer = await httpCall(method, `${gateway.url}${path}`, {
    headers: { accept: BROWSER, ...headers },
  });
  if (answer === undefined) throw new Error(`${path} was not answered`);
  return answer;
}
const signedIn = () => ({ cookie: owner.cookie });

/** Path, whether a session is sent, status, and a text of the page. */
const ERRORS: readonly [string, boolean, number, string][] = [
  ["/nowhere", false, 404, "There is no GET /nowhere."],
  ["/assets/none.css", false, 404, "There is no such file."],
  ["/v1/messages/nowhere", false, 404, "There is no such page"],
  ["/billing/topups/top_none", false, 404, "There is no such page"],
  ["/v1/models/weir/none", true, 404, "weir/none"],
  ["/v1/chat/completions", false, 405, "This address is for programs"],
  ["/v1/models", false, 401, "Sign in first"],
  ["/auth/me", false, 401, "Sign in first"],
  ["/auth/callback?code=x&state=y", false, 400, "Begin again at /auth/login"],
  ["/v1/usage?range=lots", true, 400, "This address is not right"],
  ["/v1/operator/usage", true, 403, "Not open to you"],
  // ClickHouse is away here.
  ["/v1/usage", true, 503, "Figures are not available now"],
  ["/v1/requests/tail", false, 401, "Sign in first"],
];

describe.each(ERRORS)("%s (with a session: %s)", (path, hasSession, status, text) => {
  const headers = () => (hasSession ? signedIn() : {});

  test(`in a browser it is a page with ${status}, its reason and its request`, async () => {
    const answer = await open(path, headers());
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("vary")).toBe("accept");
    expect(answer.text).toContain(text);
    expect(answer.text).toContain(`<code>${answer.headers.get("x-svc-request-id")}</code>`);
    expect(answer.text).not.toMatch(/<script|<style|style=/);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; style-src 'self'");
    expect(policy).not.toContain("script-src");
  });

  test("to a program it is JSON, with the same status", async () => {
    for (const accept of ["*/*", "application/json", "application/json, text/html"]) {
      const answer = await open(path, { ...headers(), accept });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/json"]);
      expect(JSON.parse(answer.text).error.message).not.toBe("");
    }
  });

  test("HEAD says what GET would, and has no body", async () => {
    const answer = await open(path, headers(), "HEAD");
    expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([
      status,
      "text/html; charset=utf-8",
      "",
    ]);
  });
});

test("what is sent by a form or a script is answered to a program, whatever it accepts", async () => {
  for (const [method, path] of [
    ["POST", "/nowhere"],
    ["POST", "/v1/chat/completions"],
    ["DELETE", "/v1/keys/key_none"],
    ["OPTIONS", "/nowhere"],
  ] as const) {
    const answer = await open(path, {}, method);
    expect(answer.headers.get("content-type"), `${method} ${path}`).toBe("application/json");
  }
});

test("markup in an address is text on the page", async () => {
  const attempts = ["/v1/models/%3Cscript%3Ealert(1)%3C%2Fscript%3E/x%22onload=%22y", "/%3Cimg%20src=x%3E"];
  for (const path of attempts) {
    const { status, text } = await open(path, signedIn());
    expect(status).toBe(404);
    expect(text).not.toMatch(/<script|<img|"onload=/);
  }
  expect((await open(attempts[0] as string, signedIn())).text).toContain("&lt;script&gt;alert(1)");
});

test("a method that an address does not take says which it takes", async () => {
  const { headers } = await open("/v1/chat/completions");
  expect(headers.get("allow")).toBe("POST");
});

describe("/", () => {
  test("a stranger's browser gets the way to the console, the reference and a first call", async () => {
    const { status, headers, text } = await open("/");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    for (const place of ["/console", "/docs", "/openapi.json"]) expect(text).toContain(`href="${place}"`);
    expect(text).toContain(`curl ${gateway.url}/v1/chat/completions`);
    expect(text).not.toMatch(/<script|<style|style=/);
  });

  test("programs get JSON, and HEAD no body", async () => {
    for (const accept of ["*/*", "application/json", ""]) {
      const { headers, text } = await open("/", { accept });
      expect(headers.get("content-type")).toBe("application/json");
      expect(JSON.parse(text)).toMatchObject({ name: "weir", docs: "/docs", models: "/v1/models" });
    }
    expect((await open("/", {}, "HEAD")).text).toBe("");
  });

  test("a name that is no host is not written into the page", async () => {
    const { text } = await open("/", { host: '"><script>' });
    expect(text).not.toContain("<script");
  });
});

test("each stylesheet that a page names is there", async () => {
  for (const path of ["/assets/pages.css", "/assets/docs.css", "/assets/tokens.css"]) {
    const { status, headers } = await open(path);
    expect([status, headers.get("content-type")]).toEqual([200, "text/css; charset=utf-8"]);
  }
});
