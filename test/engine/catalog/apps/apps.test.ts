/**
 * Apps over HTTP: the registry, whose calls count by which header, the public pages with their caching, and what is gone when an app
 * is hidden or its org ends.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { minOrgsOf, readConfig } from "../../../../src/host/settings/config.ts";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { httpCall } from "../../../support/http-client.ts";
import { recorded } from "../../../support/observations.ts";
import { until } from "../../../support/wait.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
/** A second org, whose live key may make calls. */
let other: { id: string; key: string };

beforeAll(async () => {
  gateway = await testGateway({ engine: true });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  other = await newOrg("other");
});
afterAll(() => gateway.stop());

const operate = (path: string, body: object) => {
  const key = readFileSync(join(gateway.folder, "data", "operator-key"), "utf8").trim();
  return gateway.call("POST", `/v1/operator${path}`, { key, body });
};

async function newOrg(slug: string): Promise<{ id: string; key: string }> {
  const body = { slug, name: slug, billing_country: "US" };
  const { id } = (await owner.call("POST", "/v1/orgs", { body })).json;
  await operate(`/orgs/${id}/grant`, { amount_micro_usd: 5e6, reason: "a test", idempotency_key: slug });
  const as = { org: slug };
  const project = await owner.call("POST", "/v1/projects", { ...as, body: { slug: "main", name: "Main" } });
  const key = await owner.call("POST", "/v1/keys", {
    ...as,
    body: { name: "all", project_id: project.json.id, scopes: ["inference", "read:org", "write:org"] },
  });
  expect(key.status, key.text).toBe(201);
  return { id, key: key.json.secret };
}

const register = (body: object, key = gateway.liveKey) => gateway.call("POST", "/v1/apps", { body, key });
const change = (slug: string, body: object) => gateway.call("PATCH", `/v1/apps/${slug}`, { body });
const seen = (path: string, headers: Record<string, string> = {}) =>
  gateway.call("GET", path, { key: null, headers });
/** Once it has figures: whoever asks waits 0.8 s for a reading, and is told where a busy engine took longer. */
const figured = (path: string, key: string | null = null) =>
  until(
    `${path} has figures`,
    async () => (await gateway.call("GET", path, { key })).json,
    ({ analytics }) => analytics,
  );

/** A call of the app with these headers; its tokens. */
async function say(headers: Record<string, string>, key = gateway.liveKey, svc = {}): Promise<number> {
  const { status, json, text } = await gateway.chat({ svc }, { headers, key });
  expect(status, text).toBe(200);
  return json.usage.total_tokens;
}

describe("the registry", () => {
  test("an app is made, listed, read, changed and deleted, and the audit says so", async () => {
    const made = await register({ name: " Crème Chat ", category: "coding", url: "https://creme.example/a" });
    expect([made.status, made.json]).toEqual([
      201,
      {
        slug: "creme-chat",
        name: "Crème Chat",
        category: "coding",
        url: "https://creme.example/a",
        public: false,
        created_at: expect.any(String),
      },
    ]);
    expect((await gateway.call("GET", "/v1/apps")).json).toEqual({ object: "list", data: [made.json] });
    const changed = await change("creme-chat", { url: "", public: true });
    expect(changed.json).toEqual({ ...made.json, url: "", public: true });
    expect((await gateway.call("GET", "/v1/apps/creme-chat")).json).toEqual(changed.json);
    expect((await gateway.call("DELETE", "/v1/apps/creme-chat")).status).toBe(204);
    expect((await gateway.call("GET", "/v1/apps/creme-chat")).json.error.code).toBe("not_found");
    const { data } = (await owner.call("GET", "/v1/audit")).json;
    const acts = data.map(({ act, target }: { act: string; target: string }) => `${act} ${target}`);
    expect(acts.filter((act: string) => act.endsWith(" creme-chat"))).toEqual(
      ["delete", "update", "create"].map((verb) => `app.${verb} creme-chat`),
    );
  });

  test("a slug is one org's; an app of another org is not found", async () => {
    expect((await register({ name: "Mine", slug: "mine" })).status).toBe(201);
    for (const key of [gateway.liveKey, other.key]) {
      const again = await register({ name: "mine" }, key);
      expect([again.status, again.json.error]).toMatchObject([409, { code: "slug_taken", param: "/slug" }]);
    }
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { name: "Theirs" } : undefined;
      const answer = await gateway.call(method, "/v1/apps/mine", { key: other.key, body });
      expect(answer.json.error.code).toBe("not_found");
    }
    expect((await gateway.call("GET", "/v1/apps", { key: other.key })).json.data).toEqual([]);
  });

  test.each([
    ["/name", { name: "" }],
    ["/name", { name: "x".repeat(101) }],
    ["/name", { name: "a\nb" }],
    ["/name", { name: 5 }],
    ["/name", {}],
    ["/slug", { name: "a", slug: "A_b" }],
    ["/slug", { name: "a", slug: "admin" }],
    ["/slug", { name: "Admin" }],
    ["/slug", { name: "チャット" }],
    ["/category", { name: "a", category: "nonsense" }],
    ["/url", { name: "a", url: "javascript:alert(1)" }],
    ["/url", { name: "a", url: "https://user:pass@a.example" }],
    ["/url", { name: "a", url: `https://a.example/${"x".repeat(300)}` }],
    ["/public", { name: "a", public: "yes" }],
    ["/owner", { name: "a", owner: "me" }],
  ])("a bad value is refused at %s: %j", async (param, body) => {
    const { status, json } = await register(body);
    expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_value", param]);
  });

  test("a slug cannot be changed, and a test key changes nothing", async () => {
    expect((await change("mine", { slug: "yours" })).json.error.param).toBe("/slug");
    const body = { name: "By a test key" };
    for (const [method, path] of [
      ["POST", "/v1/apps"],
      ["PATCH", "/v1/apps/mine"],
      ["DELETE", "/v1/apps/mine"],
    ] as const) {
      const answer = await gateway.call(method, path, { key: gateway.testKey, body });
      expect([answer.status, answer.json.error.code]).toEqual([403, "scope"]);
    }
  });

  test("S7: an org has 50 apps at most", async () => {
    const { key } = await newOrg("many");
    for (let at = 0; at < 50; at++) expect((await register({ name: `Many ${at}` }, key)).status).toBe(201);
    const last = await register({ name: "Many 50" }, key);
    expect([last.status, last.json.error.code]).toEqual([403, "plan_limit"]);
    expect((await gateway.call("GET", "/v1/apps", { key })).json.data).toHaveLength(50);
  });
});

describe("figures", () => {
  test("calls count for the app by metadata, HTTP-Referer or X-Title, of its own org only", async () => {
    const app = { name: "Acme Chat", url: "https://acme.example/start", public: true, category: "games" };
    expect((await register(app)).json.slug).toBe("acme-chat");
    expect((await register({ ...app, slug: "acme-two" }, other.key)).status).toBe(201);
    await register({ name: "Hidden", slug: "hidden" });
    const sdk = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: gateway.liveKey,
      defaultHeaders: { "HTTP-Referer": "https://ACME.example/chat?x=1", "X-Title": "Hidden" },
    });
    const answer = await sdk.chat.completions.create({
      model: "weir/sim-small",
      messages: [{ role: "user", content: "Hello" }],
    });
    let tokens = answer.usage?.total_tokens ?? 0;
    tokens += await say({ "X-Title": "Acme Chat" });
    tokens += await say({ "X-OpenRouter-Title": "Acme Chat" });
    tokens += await say({ "X-Title": "Acme Chat", "HTTP-Referer": "no address" });
    // Test calls of a simulated model count.
    tokens += await say({ "X-Title": "acme-chat" }, gateway.testKey);
    tokens += await say({ "X-Title": "Hidden" }, gateway.liveKey, { metadata: { app: "acme-chat" } });
    await say({ "X-Title": "acme" });
    await say({ "X-Title": "Hidden" });
    await say({});
    const theirs = await say({ "X-Title": "Acme Chat" }, other.key);
    await say({ "X-Title": "acme-chat" }, other.key);
    await recorded(gateway);

    const json = await figured("/v1/rankings?days=1");
    expect(json).toMatchObject({ days: 1, analytics: true });
    expect(json.apps).toEqual([
      { id: "acme-chat", requests: 6, tokens, models: 1 },
      { id: "acme-two", requests: 1, tokens: theirs, models: 1 },
    ]);
    const model = json.models.find(({ id }: { id: string }) => id === "weir/sim-small");
    expect(model).toMatchObject({ requests: 11, apps: 2 });
    expect((await seen("/v1/rankings?category=coding")).json.apps).toEqual([]);
    expect((await seen("/v1/rankings?category=games")).json.apps).toHaveLength(2);

    const page = await figured("/v1/apps/acme-chat/public");
    expect(page).toMatchObject({
      slug: "acme-chat",
      name: "Acme Chat",
      category: "games",
      analytics: true,
      tokens_30d: tokens,
      requests_30d: 6,
      models: [{ id: "weir/sim-small", requests: 6, tokens }],
    });
    expect(page.trend.at(-1)).toMatchObject({ requests: 6, tokens });

    const stats = await figured("/v1/models/weir/sim-small/stats", gateway.liveKey);
    expect(stats).toMatchObject({ analytics: true });
    expect(stats.apps).toEqual([
      { app_id: "acme-chat", requests_7d: 6, tokens_7d: tokens },
      { app_id: "acme-two", requests_7d: 1, tokens_7d: theirs },
    ]);
    const kept = (await gateway.call("GET", "/v1/requests?limit=50")).json.data;
    const names = new Set(kept.map(({ app_id }: { app_id: string }) => app_id));
    expect(names).toEqual(new Set(["acme.example", "Acme Chat", "acme-chat", "acme", "Hidden", ""]));
  });

  test("a title beyond ASCII counts for the app of that name", async () => {
    expect((await register({ name: "Café Ω app", slug: "cafe", public: true })).status).toBe(201);
    const headers = { "X-Title": Buffer.from("Café Ω app").toString("latin1") };
    await say(headers);
    await recorded(gateway);
    expect((await figured("/v1/apps/cafe/public")).requests_30d).toBe(1);
  });

  test("a policy that matches apps sees what the record will say", async () => {
    const yaml = `version: 1
sort: price
rules:
  - name: refuse
    match: { app: ["refused.example"] }
    then: { deny: { message: "not from there" } }
`;
    const made = await gateway.call("POST", "/v1/policies", { body: { name: "by-app", yaml } });
    expect(made.status, made.text).toBe(201);
    await gateway.call("POST", "/v1/policies/by-app/activate", { body: { version: 1 } });
    const from = (url: string) => gateway.chat({}, { headers: { "HTTP-Referer": url } });
    expect((await from("https://refused.example/x")).json.error.code).toBe("denied_by_policy");
    expect((await from("https://other.example/x")).status).toBe(200);
    await gateway.call("POST", "/v1/policies/by-app/deactivate", { body: {} });
  });

  test.each([
    "days=0",
    "days=91",
    "days=1.5",
    "days=x",
    "days=",
    "days=1&days=2",
    "category=nonsense",
    "category=",
  ])("rankings refuse ?%s", async (query) => {
    const { status, json } = await seen(`/v1/rankings?${query}`);
    expect([status, json.error.code]).toEqual([400, "invalid_value"]);
    expect(json.error.param).toBe(`/${query.split("=")[0]}`);
  });
});

describe("public answers", () => {
  const paths = ["/v1/rankings", "/v1/providers", "/v1/apps/acme-chat/public", "/v1/apps/acme-chat/badge"];

  test.each(paths)("%s may be cached for a minute, and is not sent to who has it", async (path) => {
    const first = await seen(path);
    expect(first.status).toBe(200);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    expect(first.headers.get("cache-control")).toBe("public, max-age=60");
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await seen(path, { "if-none-match": known });
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
      expect(again.headers.get("cache-control")).toBe("public, max-age=60");
    }
    const changed = await seen(path, { "if-none-match": '"other"' });
    expect([changed.status, changed.text]).toEqual([200, first.text]);
    const head = await httpCall("HEAD", `${gateway.url}${path}`, {});
    expect([head?.status, head?.text, head?.headers.get("etag")]).toEqual([200, "", etag]);
  });

  test("the badge is an image that runs nothing", async () => {
    const badge = await seen("/v1/apps/acme-chat/badge");
    expect(badge.headers.get("content-type")).toBe("image/svg+xml");
    expect(badge.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(badge.text).toMatch(/^<svg .*Acme Chat.* tokens \/ 30 days/);
  });

  test("providers are listed with what the catalog says of them", async () => {
    const { json } = await seen("/v1/providers");
    expect(json).toMatchObject({ object: "list", snapshot: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(json.data.find(({ id }: { id: string }) => id === "simulator")).toMatchObject({
      name: "Weir simulator",
      trains: false,
      retention_days: 0,
      zdr: true,
      status: "active",
      regions: ["local", "eu", "us"],
      terms_url: "",
      verified_at: null,
      endpoints: expect.any(Number),
    });
  });

  test("an app that is not public is not found, as one that there is not", async () => {
    for (const slug of ["hidden", "no-app-has-this-slug", "x".repeat(2000), "%00", "a%2Fb"])
      for (const part of ["public", "badge"])
        expect((await seen(`/v1/apps/${slug}/${part}`)).json.error.code).toBe("not_found");
  });

  const isShown = async (slug: string) => {
    const { apps } = (await figured("/v1/rankings")) as { apps: { id: string }[] };
    const stats = (await figured("/v1/models/weir/sim-small/stats", gateway.liveKey)).apps;
    const page = await seen(`/v1/apps/${slug}/public`);
    return [
      apps.some(({ id }) => id === slug),
      stats.some(({ app_id }: { app_id: string }) => app_id === slug),
      page.status === 200,
    ];
  };

  test("a hidden app is gone at once, and back with its figures when it is published again", async () => {
    expect(await isShown("acme-chat")).toEqual([true, true, true]);
    await change("acme-chat", { public: false });
    expect(await isShown("acme-chat")).toEqual([false, false, false]);
    await change("acme-chat", { public: true });
    expect(await isShown("acme-chat")).toEqual([true, true, true]);
  });

  test("apps of a suspended or closed org are not shown", async () => {
    expect(await isShown("acme-two")).toEqual([true, true, true]);
    await operate(`/orgs/${other.id}/suspend`, { reason: "a test" });
    expect(await isShown("acme-two")).toEqual([false, false, false]);
    await operate(`/orgs/${other.id}/resume`, { reason: "a test" });
    expect(await isShown("acme-two")).toEqual([true, true, true]);
    const closed = await owner.call("POST", "/v1/orgs/other/close", { body: { confirm: "other" } });
    expect(closed.status, closed.text).toBe(200);
    expect(await isShown("acme-two")).toEqual([false, false, false]);
  });
});

test("where min_orgs is above 1, neither apps nor models of fewer orgs have figures", async () => {
  const strict = await testGateway({ engine: true, settings: { min_orgs: 2 } });
  try {
    await strict.call("POST", "/v1/apps", { body: { name: "Alone", public: true } });
    expect((await strict.chat({}, { headers: { "X-Title": "Alone" } })).status).toBe(200);
    await recorded(strict);
    const see = async (path: string) => (await strict.call("GET", path, { key: null })).json;
    await until("the engine answers", async () => (await see("/v1/rankings")).analytics);
    expect(await see("/v1/rankings")).toMatchObject({ apps: [], models: [] });
    expect(await see("/v1/apps/alone/public")).toMatchObject({
      name: "Alone",
      tokens_30d: 0,
      requests_30d: 0,
      models: [],
      trend: [],
      analytics: false,
    });
    const badge = await strict.call("GET", "/v1/apps/alone/badge", { key: null });
    expect(badge.text).toContain("no figures");
    const stats = await strict.call("GET", "/v1/models/weir/sim-small/stats");
    expect(stats.json).toMatchObject({ apps: [], analytics: true });
  } finally {
    await strict.stop();
  }
});

test("without ClickHouse the pages answer, without figures", async () => {
  const alone = await testGateway();
  try {
    await alone.call("POST", "/v1/apps", { body: { name: "Alone", public: true } });
    const see = async (path: string) => (await alone.call("GET", path, { key: null })).json;
    expect(await see("/v1/rankings?days=3")).toMatchObject({
      days: 3,
      apps: [],
      models: [],
      analytics: false,
    });
    expect(await see("/v1/apps/alone/public")).toMatchObject({ name: "Alone", analytics: false, trend: [] });
    expect((await see("/v1/providers")).data.length).toBeGreaterThan(0);
  } finally {
    await alone.stop();
  }
});

test.each([
  [{}, undefined, 1],
  [{ HOST: "0.0.0.0" }, undefined, 5],
  [{ PUBLIC_URL: "https://gateway.example.com" }, undefined, 5],
  [{ PUBLIC_URL: "http://localhost:8787" }, undefined, 1],
  [{}, 3, 3],
  [{ HOST: "0.0.0.0" }, 1, 1],
])("with %j and min_orgs %j, %d orgs must be behind a figure", (env, minOrgs, expected) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  if (minOrgs !== undefined) writeFileSync(join(folder, "weir.yaml"), `min_orgs: ${minOrgs}\n`);
  expect(minOrgsOf(readConfig({ ...env, CONFIG_DIR: folder }))).toBe(expected);
  rmSync(folder, { recursive: true });
});
