/** Providers as an operator sees them at a running gateway: what calls taught it of keys and endpoints, and who may ask. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../../support/console.fixtures.ts";
import { closedPort, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { startProvider, type TestProvider } from "../../../support/upstream/fixtures.ts";
import { until } from "../../../support/wait.ts";

const ENV = { OPERATOR_TEST_LIMITED: "sk-limited-0001", OPERATOR_TEST_REVOKED: "sk-revoked-0001" };

let upstream: TestProvider;
let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  Object.assign(process.env, ENV);
  upstream = await startProvider();
  upstream.answer = ({ headers }, response) => {
    const isLimited = headers.authorization?.includes("limited") === true;
    response.writeHead(isLimited ? 429 : 401, { "content-type": "application/json", "retry-after": "60" });
    response.end(JSON.stringify({ error: { message: "No.", type: "x", code: null } }));
  };
  const baseUrl = `${upstream.url}/v1`;
  gateway = await testGateway({
    endpoints: [
      { provider: "limited", baseUrl, credentialEnv: "OPERATOR_TEST_LIMITED", isReal: true },
      { provider: "revoked", baseUrl, credentialEnv: "OPERATOR_TEST_REVOKED", isReal: true },
      { provider: "lost", baseUrl, credentialEnv: "OPERATOR_TEST_LOST", isReal: true },
      { provider: "closed", baseUrl: `http://127.0.0.1:${await closedPort()}/v1` },
      { provider: "well" },
    ],
  });
  key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  for (const name of Object.keys(ENV)) delete process.env[name];
});

const chat = (provider: string) =>
  gateway.chat({
    model: "test/model",
    messages: [{ role: "user", content: "Hello" }],
    svc: { route: { providers: { only: [provider] } } },
  });
const asOperator = (path = "") => gateway.call("GET", `/v1/operator/providers${path}`, { key });
const read = async (id: string) => (await asOperator(`/${id}`)).json;

test("a key that is out for lack of capacity rests until the provider's time, at its endpoint", async () => {
  expect((await chat("limited")).status).toBe(429);
  const limited = await read("limited");
  const [only] = limited.keys;
  expect(only).toMatchObject({ id: "limited/1", status: "resting", resting_at: 1, why: "capacity" });
  const untilMs = Date.parse(only.until) - Date.now();
  expect(untilMs).toBeGreaterThan(0);
  expect(untilMs).toBeLessThanOrEqual(60_000);
  expect(limited.states).toMatchObject({ saturated: 1, healthy: 0 });
  expect(limited.all_endpoints).toMatchObject([
    {
      id: expect.stringContaining("limited"),
      model: "test/model",
      state: "saturated",
      out_until: expect.any(String),
      resting_keys: [{ key_id: "limited/1", why: "capacity" }],
    },
  ]);
  expect(limited.variables).toEqual([
    { name: "OPERATOR_TEST_LIMITED", use: "credential", is_set: true, key_id: "limited/1" },
  ]);
});

test("a key that the provider does not accept is refused", async () => {
  await chat("revoked");
  await until("the key is refused", async () => (await read("revoked")).keys[0].status === "refused");
  expect((await read("revoked")).keys[0]).toMatchObject({ why: "refused", until: expect.any(String) });
});

test("a provider without its credential says which variable is missing; its endpoints are inactive", async () => {
  const lost = await read("lost");
  expect(lost).toMatchObject({
    status: "inactive",
    missing: ["OPERATOR_TEST_LOST"],
    variables: [{ name: "OPERATOR_TEST_LOST", use: "credential", is_set: false }],
    keys: [],
    endpoints: 0,
    configured_endpoints: 1,
    models: 0,
    all_endpoints: [{ status: "inactive", state: "unknown" }],
  });
});

test("an endpoint that fails says with which class, and since when; one that is well is healthy", async () => {
  const listed = async (id: string) =>
    (await asOperator()).json.data.find((one: { id: string }) => one.id === id);
  // It is failing while no call may try it: a second first, and twice as long with each try that fails.
  const closed = await until(
    "the endpoint is failing",
    async () => {
      await chat("closed");
      return listed("closed");
    },
    ({ troubled }) => troubled[0]?.state === "failing",
  );
  expect(closed.troubled).toMatchObject([
    { state: "failing", last_failure: "network", error_rate: 1, down_since: expect.any(String) },
  ]);
  expect((await chat("well")).status).toBe(200);
  expect((await read("well")).all_endpoints[0]).toMatchObject({ state: "healthy", last_failure: "" });
});

test("the list says which gateway's view it is, and without an engine that refusals are missing", async () => {
  const { json, text } = await asOperator();
  expect(json).toMatchObject({ object: "list", cell: "local", analytics: false });
  expect(json.data.find((one: { id: string }) => one.id === "limited").refusals).toEqual([]);
  for (const value of Object.values(ENV)) expect(text).not.toContain(value);
});

test("an org's own key is counted; only operators may ask; another id is not found", async () => {
  const before = (await read("limited")).org_keys;
  const body = { provider: "limited", credential: "sk-own-credential" };
  const { json: own } = await gateway.call("POST", "/v1/provider-keys", { body });
  expect((await read("limited")).org_keys).toBe(before + 1);
  await gateway.call("DELETE", `/v1/provider-keys/${own.id}`);
  expect((await read("limited")).org_keys).toBe(before);
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  for (const path of ["", "/limited"]) {
    const asked = await owner.call("GET", `/v1/operator/providers${path}`);
    expect([asked.status, asked.json.error.code]).toEqual([403, "role"]);
  }
  expect((await asOperator("/nobody")).status).toBe(404);
});
