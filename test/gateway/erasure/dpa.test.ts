/** The data processing agreement: open to anyone, filled in for who asks. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    settings: { dpa: { legal_name: "Gate & Co", contact: "data@example.com" } },
    endpoints: [{ provider: "real-one", isReal: true }],
  });
});
afterAll(() => gateway.stop());

const PATH = "/v1/documents/dpa";

test("is HTML without a credential, with the supplier and the providers that calls may go to", async () => {
  const { status, headers, text } = await gateway.call("GET", PATH, { key: null });
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(text).toContain("Gate &amp; Co");
  expect(text).toContain("<td>real-one</td>");
  expect(text).not.toContain("<td>Simulator");
  expect(text).toContain("Have a lawyer confirm");
});

test("names the org of a key or a session, escaped", async () => {
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const body = { legal_name: "<b>Acme</b>" };
  expect((await owner.call("PATCH", "/v1/orgs/first", { body })).status).toBe(200);
  for (const answer of [await gateway.call("GET", PATH), await owner.call("GET", PATH)])
    expect(answer.text).toContain("&lt;b&gt;Acme&lt;/b&gt;");
  expect((await gateway.call("GET", PATH, { key: null })).text).not.toContain("Acme");
});

test("is a JSON string where the client asks for JSON", async () => {
  const { json, text } = await gateway.call("GET", PATH, { headers: { accept: "application/json" } });
  expect(typeof json).toBe("string");
  expect(json.startsWith("<!doctype html>")).toBe(true);
  expect(text.startsWith('"')).toBe(true);
});

test("refuses a wrong key, and takes a cookie that opens nothing for none", async () => {
  expect((await gateway.call("GET", PATH, { key: `${gateway.liveKey}x` })).status).toBe(401);
  const cookie = `svc_session=${"x".repeat(43)}`;
  expect((await gateway.call("GET", PATH, { key: null, headers: { cookie } })).status).toBe(200);
});
