/** Headers that no route may forget: nothing private is kept by caches, and bodies say that they are JSON. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
let paths: [string, string][];
let owner: SignedInPerson;
/** Who may call a route, as the document says it. */
const accessOf = new Map<string, string>();
beforeAll(async () => {
  gateway = await testGateway();
  const { json } = await gateway.call("GET", "/openapi.json", { key: null });
  for (const [path, methods] of Object.entries(json.paths as Record<string, Record<string, Item>>))
    for (const [method, item] of Object.entries(methods))
      accessOf.set(`${method.toUpperCase()} ${path}`, item["x-svc-access"]);
  paths = [...accessOf.keys()].map((name) => name.split(" ") as [string, string]);
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
});
afterAll(() => gateway.stop());

type Item = { "x-svc-access": string };

const CHAT = { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 };

describe("caches", () => {
  const cached = async (method: string, path: string, options: object = {}) =>
    (await gateway.call(method, path, options)).headers.get("cache-control");

  test("O17: every route of the table, with a key and without", async () => {
    expect(paths.length).toBeGreaterThan(40);
    // The same for everybody: whoever checks receipts may keep them, and the public pages are kept for a minute.
    const isPublic = (path: string) =>
      ["/.well-known/jwks.json", "/v1/rankings", "/v1/providers"].includes(path);
    const asked = paths.filter(([, path]) => !isPublic(path));
    // All at once: some wait a second for ClickHouse, which is away.
    const look = async ([method, path]: [string, string]) => {
      const url = path.replace(/\{\w+\}/g, "some");
      const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
      const seen = [];
      for (const key of [undefined, null])
        seen.push(await cached(method, url, key === null ? { ...body, key } : body));
      return [method, path, ...seen];
    };
    expect(await Promise.all(asked.map(look))).toEqual(
      asked.map(([method, path]) => [method, path, "no-store", "no-store"]),
    );
  });

  test("O17: answers that hold a secret or a payload, whole, streamed and replayed", async () => {
    const headers = { "idempotency-key": "once" };
    for (const body of [CHAT, { ...CHAT, stream: true }]) {
      for (const more of [{}, { headers }, { headers }]) {
        headers["idempotency-key"] = `once-${"stream" in body}`;
        const answer = await gateway.chat(body, more);
        expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
      }
    }
    const made = await gateway.call("POST", "/v1/keys", { body: { name: "new" } });
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(await cached("POST", `/v1/keys/${made.json.id}/rotate`, { body: {} })).toBe("no-store");
    expect(await cached("GET", "/nowhere")).toBe("no-store");
    expect(await cached("GET", "/metrics", { key: null })).toBe("no-store");
  });

  test("O17: pages that are the same for everybody may be kept", async () => {
    expect(await cached("GET", "/schemas/policy.json", { key: null })).toBe(null);
    // These name the address that they were read at.
    for (const path of ["/", "/openapi.json", "/docs"]) {
      expect(await cached("GET", path, { key: null })).toBe("no-store");
    }
  });
});

describe("the type of a body", () => {
  const POST: [string, object][] = [
    ["/v1/chat/completions", CHAT],
    ["/v1/messages", CHAT],
    ["/v1/messages/count_tokens", CHAT],
    ["/v1/responses", { model: CHAT.model, input: "Hi" }],
    ["/v1/svc/generate", { model: CHAT.model, messages: CHAT.messages }],
    ["/v1/svc/dry_run", { model: CHAT.model, messages: CHAT.messages }],
    ["/v1/keys", { name: "typed" }],
    ["/v1/policies/validate", { yaml: "version: 1\n" }],
  ];
  /** By somebody who may call the route. */
  async function sent(method: string, path: string, type: string): Promise<Answer> {
    const url = path.replace("{org}", "first").replace(/\{\w+\}/g, "some");
    const call = { body: {}, headers: { "content-type": type } };
    const access = accessOf.get(`${method} ${path}`) ?? "";
    if (access.startsWith("no key")) return await owner.call(method, url, call);
    const isOperator = access === "operator";
    const key = isOperator
      ? readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim()
      : undefined;
    return await gateway.call(method, url, { ...call, ...(isOperator && { key: key ?? "" }) });
  }
  const post = (path: string, body: object, type: string) =>
    gateway.call("POST", path, { body, headers: { "content-type": type } });

  test("O28: what is not JSON is 415 on every route that takes a body", async () => {
    for (const [method, path] of paths) {
      if (method === "GET" || method === "DELETE") continue;
      // A directory's errors have a shape of their own; the identity provider's notice is a form.
      if (accessOf.get(`${method} ${path}`) === "directory" || path === "/auth/backchannel-logout") continue;
      // Its sender signs the bytes, whatever it calls them.
      if (path === "/webhooks/payments/{gateway}") continue;
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
      ]) {
        const answer = await sent(method, path, type);
        expect([method, path, answer.status, answer.json.error.code]).toEqual([
          method,
          path,
          415,
          "unsupported_media_type",
        ]);
        expect(answer.json.error.message).toContain("Content-Type: application/json");
      }
    }
  });

  test.each([
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "application/vnd.api+json",
    "APPLICATION/JSON",
  ])("O28: %s is taken", async (type) => {
    for (const [path, body] of POST) expect((await post(path, body, type)).status).toBeLessThan(300);
  });

  test.each(["application/jsonp", "application/json-seq", "text/json", "x"])(
    "O28: %s is not",
    async (type) => {
      for (const [path, body] of POST) expect((await post(path, body, type)).status).toBe(415);
    },
  );

  test("O28: none is needed, and the SDKs send the right one", async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.testKey}` },
      // As bytes: a text would be sent as text/plain.
      body: new TextEncoder().encode(JSON.stringify(CHAT)),
    });
    expect(response.status).toBe(200);
    const openai = new OpenAI({ apiKey: gateway.testKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    expect((await openai.chat.completions.create(CHAT as never)).object).toBe("chat.completion");
  });
});
