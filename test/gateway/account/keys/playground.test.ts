/** The playground over HTTP: who gets a key, what it may do, and questions about calls that a session asks. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { joinAt, type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";

const DAILY_MICRO_USD = 500;
let gateway: TestGateway;
let projectId: string;
const people: Record<string, SignedInPerson> = {};
const ROLES = ["admin", "member", "billing", "viewer"] as const;
const body = {
  model: "weir/sim-small",
  generation: { max_tokens: 20 },
  messages: [{ role: "user", content: "Hi" }],
};

beforeAll(async () => {
  gateway = await testGateway({
    settings: {
      playground: { daily_usd: DAILY_MICRO_USD / 1e6 },
      request_limits: { person: { changes: 0, reads: 0 }, address: { changes: 0, reads: 0 } },
    },
  });
  // On loopback, whoever signs in first owns the first org, which has credit.
  people.owner = await signInAt(gateway.url, { email: "owner@example.com" });
  projectId = (await gateway.call("GET", "/v1/projects")).json.data[0].id;
  for (const role of ROLES) {
    const email = `${role}@example.com`;
    await gateway.call("POST", "/v1/orgs/first/members", { body: { email, role } });
    people[role] = await joinAt(gateway.url, { email });
  }
});
afterAll(() => gateway.stop());

const as = (role: string): SignedInPerson => people[role] as SignedInPerson;
const ask = (role: string, more: object = {}): Promise<Answer> =>
  as(role).call("POST", "/v1/playground/key", { body: { project_id: projectId, ...more } });
const dryRun = (role: string, query = `?project_id=${projectId}`): Promise<Answer> =>
  as(role).call("POST", `/v1/svc/dry_run${query}`, { body });
const codeOf = ({ status, json }: Answer) => [status, json.error?.code].filter(Boolean).join(" ");

describe("a key of the playground", () => {
  test.each([
    ["owner", "201"],
    ["admin", "201"],
    ["member", "201"],
    ["billing", "403 role"],
    ["viewer", "403 role"],
  ])("%s: %s", async (role, expected) => {
    expect(codeOf(await ask(role))).toBe(expected);
  });

  test("needs a session with its CSRF token: no key opens it", async () => {
    const asked = { body: { project_id: projectId } };
    expect(codeOf(await gateway.call("POST", "/v1/playground/key", asked))).toBe("403 role");
    expect(codeOf(await gateway.call("POST", "/v1/playground/key", { ...asked, key: null }))).toBe(
      "401 missing_key",
    );
    const answer = await as("member").call("POST", "/v1/playground/key", { ...asked, csrf: "" });
    expect(codeOf(answer)).toBe("403 csrf");
  });

  test("is of a project of the org alone", async () => {
    const other = await signInAt(gateway.url, { email: "stranger@example.com" });
    const made = await other.call("POST", "/v1/orgs", {
      body: { slug: "other", name: "Other", billing_country: "IN" },
    });
    await other.call("PUT", "/auth/active-org", { body: { org: made.json.id } });
    const answer = await other.call("POST", "/v1/playground/key", { body: { project_id: projectId } });
    expect(answer.json.error).toMatchObject({ code: "invalid_value", param: "/project_id" });
    const asked = await other.call("POST", `/v1/svc/dry_run?project_id=${projectId}`, { body });
    expect(asked.json.error).toMatchObject({ code: "invalid_value", param: "/project_id" });
  });

  test("200 simultaneous requests leave one key and one secret that works", async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => ask("member", { environment: "test" })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    const tried = await Promise.all(answers.map(({ json }) => gateway.chat({}, { key: json.secret })));
    const codes = tried.map(codeOf);
    expect(codes.filter((code) => code === "200")).toHaveLength(1);
    expect(codes.filter((code) => code === "401 invalid_key")).toHaveLength(199);
  });

  test("its budget of the day goes on when its secret changes", async () => {
    const keyed = async () => (await ask("admin")).json;
    const first = await keyed();
    expect(first.budget).toEqual({ daily_micro: DAILY_MICRO_USD, hard: true });
    const spent = async () => {
      const { keys } = (await as("admin").call("GET", "/v1/limits?kind=playground")).json;
      return keys.find(({ key_id }: { key_id: string }) => key_id === first.id).spend_today_micro;
    };
    let secret = first.secret;
    for (let calls = 0, code = "200"; code === "200" && calls < 1000; calls++) {
      code = codeOf(await gateway.chat({ max_tokens: 200 }, { key: secret }));
      ({ secret } = await keyed());
      if (code !== "200") expect(code).toBe("402 budget_exceeded");
    }
    expect(codeOf(await gateway.chat({ max_tokens: 200 }, { key: secret }))).toBe("402 budget_exceeded");
    expect(await spent()).toBeGreaterThan(0);
    expect(await spent()).toBeLessThanOrEqual(DAILY_MICRO_USD);
  });
});

describe("a dry run in a session", () => {
  test.each([
    ["owner", "200"],
    ["admin", "200"],
    ["member", "200"],
    ["billing", "403 role"],
    ["viewer", "403 role"],
  ])("%s: %s", async (role, expected) => {
    expect(codeOf(await dryRun(role))).toBe(expected);
    const path = `/v1/svc/count_tokens?project_id=${projectId}`;
    expect(codeOf(await as(role).call("POST", path, { body }))).toBe(expected);
  });

  test("gives what the person's key would be given, with and without one", async () => {
    const { json: alone } = await dryRun("owner");
    const { secret } = (await ask("owner")).json;
    const { json: byKey } = await gateway.call("POST", "/v1/svc/dry_run", { body, key: secret });
    const { json: withKey } = await dryRun("owner");
    expect(alone).toMatchObject({
      plan: [{ provider: expect.any(String) }],
      reserve_micro: expect.any(Number),
    });
    for (const told of [byKey, withKey]) {
      expect({ ...told, trace: "" }).toEqual({ ...alone, trace: "" });
    }
  });

  test("says what it lacks", async () => {
    expect((await dryRun("member", "")).json.error).toMatchObject({
      code: "invalid_value",
      param: "/project_id",
    });
    const environment = await dryRun("member", `?project_id=${projectId}&environment=none`);
    expect(environment.json.error).toMatchObject({ code: "invalid_value", param: "/environment" });
    const path = `/v1/svc/dry_run?project_id=${projectId}`;
    expect(codeOf(await as("member").call("POST", path, { body, csrf: "" }))).toBe("403 csrf");
    expect(codeOf(await gateway.call("POST", path, { body, key: null }))).toBe("401 missing_key");
    // A key that is sent counts, whatever cookie comes with it.
    const withBoth = await as("member").call("POST", path, {
      body,
      headers: { authorization: "Bearer nonsense" },
    });
    expect(codeOf(withBoth)).toBe("401 invalid_key");
    const call = await as("member").call("POST", "/v1/chat/completions", { body });
    expect(codeOf(call)).toBe("401 missing_key");
  });
});
