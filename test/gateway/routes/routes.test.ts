/**
 * Every row of the route table against a running gateway: who may call it, what it answers, what is printed of it in
 * `/openapi.json` and `/docs`; and the pages that need no key.
 */
import { get } from "node:http";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { docsPage } from "../../../src/edge/docs.ts";
import type { OpenApiDocument, OperationItem, Schema } from "../../../src/edge/openapi-types.ts";
import { type Operations, type Route, routes } from "../../../src/edge/routes.ts";
import { REQUEST_ID } from "../../../src/ids.ts";
import { policyJsonSchema } from "../../../src/routing/policy-document.ts";
import { type Answer, type TestGateway, testGateway, until } from "../fixtures.ts";
import { atRest, recorded } from "../observations.ts";

/** The table needs no operations to say its methods, paths and scopes. */
const table = routes(new Proxy({}, { get: (_, name) => ({ name }) }) as Operations);
const nameOf = (route: Route) => `${route.method} ${route.path}`;

let gateway: TestGateway;
let document: OpenApiDocument;
let requestId: string;
const keys = new Map<string, Promise<string>>();
beforeAll(async () => {
  gateway = await testGateway({
    engine: true,
    endpoints: [{ provider: "own", credentialEnv: "ROUTES_TEST_NEVER_SET" }],
  });
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  requestId = (await gateway.chat()).headers.get("x-svc-request-id") ?? "";
  await recorded(gateway);
});
afterAll(() => gateway.stop());

/** The secret of a key with just this scope. */
function keyWith(scope: string): Promise<string> {
  const made =
    keys.get(scope) ??
    gateway.call("POST", "/v1/keys", { body: { name: scope, scopes: [scope] } }).then((a) => a.json.secret);
  keys.set(scope, made);
  return made;
}

const providerKey = { provider: "own", credential: "sk-a-credential" };
const newProviderKeyId = async () =>
  (await gateway.call("POST", "/v1/provider-keys", { body: providerKey })).json.id;
const newKeyId = async () =>
  (await gateway.call("POST", "/v1/keys", { body: { name: "to go", scopes: ["write:keys"] } })).json.id;
let projects = 0;
const newProjectId = async () =>
  (await gateway.call("POST", "/v1/projects", { body: { slug: `to-go-${++projects}`, name: "To go" } })).json
    .id;

let policies = 0;
const yaml = "version: 1\nsort: price\n";
const newPolicy = async () =>
  (await gateway.call("POST", "/v1/policies", { body: { name: `made-${++policies}`, yaml } })).json.name;

const said = [{ role: "user", content: "Hi" }];
const response = { model: "weir/sim-small", input: "Hi" };
const newResponseId = async () => (await gateway.call("POST", "/v1/responses", { body: response })).json.id;

const newMailId = async () => {
  const key = await keyWith("write:org");
  const email = "new@partner.example";
  const org = (await gateway.call("GET", "/v1/orgs", { key: await keyWith("read:org") })).json.data[0].id;
  await gateway.call("POST", `/v1/orgs/${org}/members`, { key, body: { email } });
  let id: string | undefined;
  await until("it was written", async () => {
    [, id] = /mail\/(job_\w+)/.exec((await gateway.call("GET", "/dev/mail")).text) ?? [];
    return id !== undefined;
  });
  return id as string;
};

/** What a good call of a route needs beyond its own path: the value of `{id}` or `{name}`, a body. */
const CALLS: Readonly<Record<string, { id?: () => Promise<string> | string; body?: object }>> = {
  "POST /v1/chat/completions": { body: { model: "weir/sim-small", messages: said } },
  "POST /v1/completions": { body: { model: "weir/sim-small", prompt: "Hi" } },
  "POST /v1/embeddings": { body: { model: "weir/sim-embed", input: "Hi" } },
  "POST /v1/responses": { body: response },
  "GET /v1/responses/{id}": { id: newResponseId },
  "DELETE /v1/responses/{id}": { id: newResponseId },
  "POST /v1/messages": { body: { model: "weir/sim-small", max_tokens: 9, messages: said } },
  "POST /v1/messages/count_tokens": { body: { model: "weir/sim-small", messages: said } },
  "POST /v1/svc/generate": { body: { model: "weir/sim-small", messages: said } },
  "POST /v1/svc/embed": { body: { model: "weir/sim-embed", input: ["Hi"], input_type: "query" } },
  "POST /v1/svc/rerank": { body: { model: "weir/sim-rerank", query: "Hi", documents: ["Hi", "Ho"] } },
  "POST /v1/svc/count_tokens": { body: { model: "weir/sim-small", messages: said } },
  "POST /v1/svc/dry_run": { body: { model: "weir/sim-small", messages: said } },
  "GET /v1/models/{id}": { id: () => "weir%2Fsim-small" },
  "GET /v1/generation/{id}": { id: () => requestId },
  "GET /v1/requests/{id}": { id: () => requestId },
  "POST /v1/keys": { body: { name: "made", scopes: ["write:keys"] } },
  "POST /v1/provider-keys": { body: providerKey },
  "DELETE /v1/provider-keys/{id}": { id: newProviderKeyId },
  "GET /v1/keys/{id}": { id: newKeyId },
  "PATCH /v1/keys/{id}": { id: newKeyId, body: { name: "renamed" } },
  "DELETE /v1/keys/{id}": { id: newKeyId },
  "POST /v1/keys/{id}/rotate": { id: newKeyId, body: { grace_seconds: 0 } },
  "POST /v1/policies": { body: { name: "made", yaml } },
  "POST /v1/policies/validate": { body: { yaml } },
  "GET /v1/policies/{name}/versions": { id: newPolicy },
  "POST /v1/policies/{name}/versions": { id: newPolicy, body: { yaml } },
  "GET /v1/policies/{name}/versions/{version}": { id: newPolicy },
  "POST /v1/policies/{name}/activate": { id: newPolicy, body: { version: 1 } },
  "POST /v1/policies/{name}/deactivate": { id: newPolicy, body: {} },
  "POST /v1/policies/{name}/dry-run": { id: newPolicy, body: { model: "weir/sim-small" } },
  "GET /v1/policies/{name}/canaries": { id: newPolicy },
  "GET /v1/policies/{name}/shadows": { id: newPolicy },
  "GET /v1/policies/{name}/experiments": { id: newPolicy },
  "POST /v1/projects": { body: { slug: "made", name: "Made" } },
  "GET /v1/projects/{id}": { id: newProjectId },
  "PATCH /v1/projects/{id}": { id: newProjectId, body: { name: "Renamed" } },
  "DELETE /v1/projects/{id}": { id: newProjectId },
  "GET /dev/mail/{id}": { id: newMailId },
};

/** `fetch` sets `Host` itself. */
function rawGet(url: string, path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = get(`${url}${path}`, { headers }, (response) => {
      let text = "";
      response.on("data", (data: Buffer) => (text += data.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject);
  });
}

async function callRoute(route: Route, key: string | null): Promise<Answer> {
  const { id, body } = CALLS[nameOf(route)] ?? {};
  const path = route.path
    .replace("{vendor}", "weir")
    .replace("{model}", "sim-small")
    .replace("{version}", "1")
    .replace(/\{(id|name)\}/, key === null ? "x" : ((await id?.()) ?? "x"));
  return gateway.call(route.method, path, { key, ...(body && { body }) });
}

function itemOf(route: Route): OperationItem {
  const item = document.paths[route.path]?.[route.method.toLowerCase()];
  if (item === undefined) throw new Error(`${nameOf(route)} is not in the document`);
  return item;
}

function expectIds({ headers }: Answer) {
  const id = headers.get("x-svc-request-id");
  expect(id).toMatch(REQUEST_ID);
  expect([headers.get("x-request-id"), headers.get("request-id")]).toEqual([id, id]);
}

describe("access", () => {
  const closed = table.filter((route) => route.access !== "public");

  test.each(closed.map((route) => [nameOf(route), route] as const))(
    "%s without a key: 401",
    async (_, route) => {
      const answer = await callRoute(route, null);
      expect([answer.status, answer.json.error.code]).toEqual([401, "missing_key"]);
      expectIds(answer);
    },
  );

  const scoped = closed.filter((route) => route.access !== "key");
  test.each(scoped.map((route) => [nameOf(route), route] as const))(
    "%s with a key that lacks its scope: 403",
    async (_, route) => {
      const answer = await callRoute(route, await keyWith("read:catalog"));
      expect(answer.status).toBe(403);
      expect(answer.json.error).toMatchObject({
        // Anthropic's clients read Anthropic's names.
        type: route.path.startsWith("/v1/messages") ? "permission_error" : "permission_denied",
        code: "scope",
        details: { scope: route.access },
      });
      expectIds(answer);
    },
  );

  test.each(table.map((route) => [nameOf(route), route] as const))(
    "%s with its scope and no other: the answer the document promises",
    async (_, route) => {
      const answer = await callRoute(
        route,
        await keyWith(route.access === "key" ? "read:org" : route.access),
      );
      const promised = Object.entries(itemOf(route).responses).find(([status]) => status < "300");
      expect([answer.status, answer.status < 300 ? "" : answer.text]).toEqual([Number(promised?.[0]), ""]);
      expectIds(answer);
      const content = promised?.[1].content;
      const schema = content?.["application/json"]?.schema;
      if (schema === undefined && content?.["text/html"] !== undefined)
        expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      else if (schema === undefined) expect(answer.text).toBe("");
      else z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(answer.json);
    },
  );
});

describe("/openapi.json", () => {
  const everyItem = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, item]) => ({ path, method, item })),
    );

  test("lists every route with its scope, and nothing else", () => {
    const listed = everyItem().map(({ path, method, item }) => [
      method.toUpperCase(),
      path,
      item["x-svc-access"],
    ]);
    const expected = [
      ...table.map((route) => [route.method, route.path, route.access]),
      ...["/healthz", "/readyz", "/metrics"].map((path) => ["GET", path, "public"]),
    ];
    expect(listed.sort()).toEqual(expected.sort());
    for (const route of table) {
      if (route.access !== "public" && route.access !== "key") {
        expect(itemOf(route).description).toContain(route.access);
      }
    }
  });

  test("is OpenAPI 3.1 by its structure", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const ids = everyItem().map(({ item }) => item.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, item } of everyItem()) {
      const { parameters = [], responses, requestBody } = item;
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
      expect(parameters.filter((p) => p.in === "path").map((p) => p.name)).toEqual(inPath);
      expect(parameters.filter((p) => p.in === "path").every((p) => p.required)).toBe(true);
      expect(new Set(parameters.map((p) => `${p.in} ${p.name}`)).size).toBe(parameters.length);
      expect(Object.keys(responses).every((status) => /^[1-5]\d\d$/.test(status))).toBe(true);
      for (const { description, content } of Object.values(responses)) {
        expect(description).toMatch(/\S/);
        for (const { schema } of Object.values(content ?? {})) expect(schema).toBeTypeOf("object");
      }
      if (requestBody !== undefined)
        expect(requestBody.content["application/json"]?.schema).toBeTypeOf("object");
    }
  });

  test("holds no reference that leads nowhere, and each error answer has the envelope", () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"\$ref":"(#\/[^"]+)"/g)].map((m) => m[1] as string));
    for (const reference of references) {
      const target = reference
        .slice(2)
        .split("/")
        .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document);
      expect([reference, target]).toEqual([reference, expect.any(Object)]);
    }
    for (const { path, item } of everyItem()) {
      const shape = path.startsWith("/v1/messages") ? "MessagesError" : "Error";
      for (const [status, { content }] of Object.entries(item.responses)) {
        if (status >= "400" && path !== "/readyz") {
          expect(content?.["application/json"]?.schema).toEqual({ $ref: `#/components/schemas/${shape}` });
        }
      }
    }
  });

  test("O30: the envelopes are the ones errors have", async () => {
    const { schemas } = document.components as { schemas: Record<"Error" | "MessagesError", Schema> };
    const shape = (schema: Schema) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    const envelope = shape(schemas.Error);
    envelope.parse((await gateway.chat({ model: "no/model" })).json);
    envelope.parse((await gateway.call("GET", "/nowhere")).json);
    expect(envelope.safeParse({ error: {} }).success).toBe(false);
    const messages = shape(schemas.MessagesError);
    const body = { model: "no/model", max_tokens: 9, messages: said };
    messages.parse((await gateway.call("POST", "/v1/messages", { body })).json);
    expect(messages.safeParse({ error: {} }).success).toBe(false);
  });

  test("O30: a linter finds nothing in it, by the strictest of its usual rules", async () => {
    // A page that takes nothing cannot be asked wrongly; of the routes another test says that they refuse.
    const rules = { "operation-4xx-response": "off" } as const;
    const config = await createConfig({ extends: ["recommended-strict"], rules });
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  test("O30: it names the address that its reader called", async () => {
    expect(document.servers).toEqual([{ url: gateway.url, description: "This gateway." }]);
    const behindProxy = { host: "models.example.com", "x-forwarded-proto": "https" };
    for (const [path, shown] of [
      ["/openapi.json", '"servers":[{"url":"https://models.example.com"'],
      ["/docs", "export WEIR_URL=https://models.example.com\n"],
    ] as const) {
      const { text } = await rawGet(gateway.url, path, behindProxy);
      expect(text).toContain(shown);
      // What is no host is not repeated.
      const odd = await rawGet(gateway.url, path, { host: "<script>" });
      expect([odd.status, odd.text.includes("<script>")]).toEqual([200, false]);
    }
  });

  test("O30: an answer that may be CSV is told as such", () => {
    const answer = document.paths["/v1/credits/ledger"]?.get?.responses[200];
    expect(Object.keys(answer?.content ?? {})).toEqual(["application/json", "text/csv"]);
  });
});

describe("/docs", () => {
  let page: Answer;
  beforeAll(async () => {
    page = await gateway.call("GET", "/docs", { key: null });
  });

  test("loads without a key as one page that needs no script and no other host", () => {
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).not.toMatch(/<script|<img|<iframe|@import|\bsrc=|url\(/i);
  });

  test("has one style, a file of this gateway that names no other", async () => {
    const links = [...page.text.matchAll(/<link ([^>]*)>/gi)].map((m) => m[1]);
    expect(links).toEqual(['rel="stylesheet" href="assets/docs.css"']);
    const style = await gateway.call("GET", "/assets/docs.css", { key: null });
    expect([style.status, style.headers.get("content-type")]).toEqual([200, "text/css; charset=utf-8"]);
    expect(style.text).not.toMatch(/@import|url\(/i);
  });

  test("has an entry for every route, and every link leads somewhere", () => {
    const ids = [...page.text.matchAll(/ id="([^"]+)"/g)].map((m) => m[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const route of table) expect(ids).toContain(itemOf(route).operationId);
    const links = [...page.text.matchAll(/href="#([^"]+)"/g)].map((m) => m[1]);
    expect(links.length).toBeGreaterThan(table.length);
    for (const link of links) expect(ids).toContain(link);
  });

  test.each(table.filter((r) => CALLS[nameOf(r)]?.body).map((r) => [nameOf(r), r] as const))(
    "the example body of %s is one that it takes",
    (_, route) => {
      const { schema, example } = itemOf(route).requestBody?.content["application/json"] ?? {};
      z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(example);
      expect(page.text).toContain(JSON.stringify(example).replaceAll('"', "&quot;"));
    },
  );

  test("what stands in the document is text, not markup", () => {
    const info = { title: "<script>1</script>", version: '"><b>', description: "`a` & <i>", license: {} };
    const html = docsPage({ ...document, info });
    expect(html).not.toContain("<script>");
    expect(html).not.toContain("<b>");
    expect(html).toContain("<code>a</code> &amp; &lt;i&gt;");
  });
});

test("/schemas/policy.json is the schema of routing policies, without a key", async () => {
  const { status, headers, json } = await gateway.call("GET", "/schemas/policy.json", { key: null });
  expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(json).toEqual(policyJsonSchema());
});

describe("pages for operators", () => {
  test("/healthz and /readyz", async () => {
    const health = await gateway.call("GET", "/healthz", { key: null });
    expect([health.status, health.json]).toEqual([200, { status: "ok" }]);
    const ready = await gateway.call("GET", "/readyz", { key: null });
    expect(ready.status).toBe(200);
    expect(ready.json).toMatchObject({ status: "ready", parts: { store: true, serving: true } });
    expectIds(ready);
  });

  test("/metrics is Prometheus text; at idle nothing is held or taken", async () => {
    await atRest(gateway);
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    const line =
      /^(# (HELP|TYPE) [a-zA-Z_:][\w:]* .+|[a-zA-Z_:][\w:]*(\{[^}]*\})? (-?[\d.]+(e[+-]?\d+)?|Nan|[+-]Inf)( \d+)?)$/;
    for (const row of text.trimEnd().split("\n")) if (row !== "") expect(row).toMatch(line);
    for (const gauge of [
      "weir_holds_open",
      "weir_held_micro_usd",
      "weir_budget_holds_open",
      "weir_slots_taken",
      "weir_calls_draining",
    ]) {
      expect(text).toMatch(new RegExp(`^${gauge} 0$`, "m"));
    }
    expect(text).toMatch(/^weir_calls_total\{outcome="whole"\} [1-9]\d*$/m);
    expect(text).not.toContain(gateway.liveKey);
  });
});
