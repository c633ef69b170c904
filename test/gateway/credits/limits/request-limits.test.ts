/** Limits of control-plane requests, at a gateway with the limits as they are shipped. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ settings: { request_limits: {} } });
});
afterAll(() => gateway.stop());

const AT_ONCE = 50;

async function burst(count: number, send: (i: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < count; i += AT_ONCE)
    answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, j) => send(i + j)))));
  return answers;
}
const withStatus = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status);

/** As the documentation promises a 429. */
function expectLimited(answer: Answer | undefined, limit: number): void {
  expect(answer?.json.error).toMatchObject({ type: "rate_limited", code: "rpm" });
  const waitMs = answer?.json.error.retry_after_ms as number;
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(60_000);
  const header = (name: string) => answer?.headers.get(name);
  expect(header("retry-after-ms")).toBe(String(waitMs));
  expect(header("retry-after")).toBe(String(Math.ceil(waitMs / 1000)));
  expect(header("x-ratelimit-limit-requests")).toBe(String(limit));
  expect(header("x-ratelimit-remaining-requests")).toBe("0");
  expect(header("x-ratelimit-reset-requests")).toMatch(/^\d+ms$/);
}

describe("of a key", () => {
  test("S7: of 600 changes in a burst a key makes 300, and reads and model calls go on", async () => {
    const org = (await gateway.call("GET", "/v1/orgs")).json.data[0].id;
    const answers = await burst(600, (i) =>
      gateway.call("PATCH", `/v1/orgs/${org}`, { body: { name: `Name ${i}` } }),
    );
    expect(withStatus(answers, 200)).toHaveLength(300);
    expect(withStatus(answers, 429)).toHaveLength(300);
    expectLimited(withStatus(answers, 429)[0], 300);
    const read = await gateway.call("GET", "/v1/keys");
    expect(read.status).toBe(200);
    expect(read.headers.get("x-ratelimit-limit-requests")).toBe("1200");
    expect(Number(read.headers.get("x-ratelimit-remaining-requests"))).toBeLessThan(1200);
    expect((await gateway.chat()).status).toBe(200);
    // Another key of the org has a minute of its own.
    const other = await gateway.call("PATCH", `/v1/orgs/${org}`, { key: gateway.testKey, body: {} });
    expect(other.status).not.toBe(429);
  });

  test("S7: stored answers of model calls are no control plane, and neither are model calls", async () => {
    const answers = await burst(350, () => gateway.call("DELETE", "/v1/responses/resp_none"));
    expect(withStatus(answers, 429)).toEqual([]);
    expect(answers[0]?.headers.get("x-ratelimit-limit-requests")).toBeNull();
  });
});

test("S7: a directory changes 1,200 times a minute, whichever of its tokens it sends", async () => {
  const owner = await signInAt(gateway.url, { email: "asha@example.com" });
  const newToken = async () => (await owner.call("POST", "/v1/org/scim/token")).json.token as string;
  const tokens = [await newToken(), await newToken()];
  const answers = await burst(1250, (i) =>
    gateway.call("DELETE", "/scim/v2/Users/none", { key: tokens[i % 2] as string }),
  );
  expect(withStatus(answers, 404)).toHaveLength(1200);
  const [limited] = withStatus(answers, 429);
  expect(limited?.headers.get("content-type")).toContain("application/scim+json");
  expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(limited?.headers.get("x-ratelimit-limit-requests")).toBe("1200");
});

test("S7: a person changes 120 times a minute", async () => {
  const person: SignedInPerson = await signInAt(gateway.url, { email: "ravi@example.com" });
  const answers = await burst(150, () => person.call("PUT", "/auth/active-org", { body: { org: "none" } }));
  expect(withStatus(answers, 429)).toHaveLength(30);
  expectLimited(withStatus(answers, 429)[0], 120);
  expect((await person.call("GET", "/auth/me")).status).toBe(200);
});

describe("of an address", () => {
  const call = (method: string, path: string, key: string | null = null) =>
    gateway.call(method, path, { key });

  test("S7: public reads", async () => {
    const answers = await burst(1250, () => call("GET", "/v1/providers"));
    expect(withStatus(answers, 200)).toHaveLength(1200);
    expectLimited(withStatus(answers, 429)[0], 1200);
    expect((await gateway.call("GET", "/v1/keys")).status).toBe(200);
  });

  test("S7: sign-ins and reports of secrets are its changes", async () => {
    const answers = await burst(150, () => call("GET", "/auth/login"));
    const limited = withStatus(answers, 429);
    expect(limited.length).toBeGreaterThanOrEqual(30);
    expectLimited(limited[0], 120);
    expect((await call("POST", "/auth/logout")).status).toBe(429);
  });

  test("S7: credentials that are refused; one that is good still opens", async () => {
    const refused = await burst(400, (i) => call("GET", "/v1/keys", i % 2 === 0 ? "svc-live-wrong" : null));
    // A test above may have had one refused.
    expect(withStatus(refused, 401).length).toBeLessThanOrEqual(300);
    expect(withStatus(refused, 401).length).toBeGreaterThanOrEqual(299);
    expectLimited(withStatus(refused, 429)[0], 300);
    // So are a scope that is missing, and what is no token of a directory or no operator's.
    const paths = ["/v1/operator/orgs", "/scim/v2/Users", "/auth/me", "/v1/requests/tail"];
    const others = await Promise.all(paths.map((path) => call("GET", path, "svc-live-wrong")));
    expect(others.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
    expect((await gateway.call("GET", "/v1/keys")).status).toBe(200);
    // Clients take 401 for final, and would try again after a 429.
    expect((await gateway.chat({}, { key: "svc-live-wrong" })).status).toBe(401);
  });

  test("S7: neither what watches the gateway nor webhooks of payment services have a limit", async () => {
    for (const path of ["/healthz", "/readyz", "/metrics"])
      expect(withStatus(await burst(100, () => call("GET", path)), 429)).toEqual([]);
    const hooks = await burst(400, () =>
      gateway.call("POST", "/webhooks/payments/razorpay", { key: null, body: {} }),
    );
    expect(withStatus(hooks, 429)).toEqual([]);
  });
});
