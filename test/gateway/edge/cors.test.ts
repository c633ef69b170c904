/** Pages of other origins: which routes they may call with a key, what every answer tells them, and that no session's cookie is theirs. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";

const PAGE = "https://app.example.test";
const OTHER = "https://other.example.test";
const CHAT = { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 };

/** The routes that pages of other origins may call. A new one is a decision. */
const OPEN = `
POST /v1/chat/completions, POST /v1/completions, POST /v1/responses, POST /v1/messages, POST /v1/embeddings
POST /v1/messages/count_tokens, GET /v1/responses/{id}, POST /v1/responses/{id}/cancel, DELETE /v1/responses/{id}, GET /v1/responses/{id}/input_items, POST /v1/responses/input_tokens
POST /v1/conversations, GET /v1/conversations/{id}, POST /v1/conversations/{id}, DELETE /v1/conversations/{id}
POST /v1/conversations/{id}/items, GET /v1/conversations/{id}/items, GET /v1/conversations/{id}/items/{item_id}
DELETE /v1/conversations/{id}/items/{item_id}
POST /v1/svc/generate, POST /v1/svc/embed, POST /v1/svc/rerank, POST /v1/svc/count_tokens, POST /v1/svc/dry_run
GET /v1/models, GET /v1/models/{vendor}/{model}, GET /v1/models/{id}, GET /v1/models/{vendor}/{model}/endpoints
GET /v1/models/{vendor}/{model}/stats, GET /v1/providers, GET /v1/rankings, GET /v1/pricing
GET /v1/apps/{slug}/public, GET /v1/apps/{slug}/badge
GET /v1/generation/{id}, GET /v1/generation/{id}/stream, POST /v1/generation/{id}/cancel, GET /v1/generation/{id}/receipt, GET /v1/requests/{id}, GET /v1/requests
GET /v1/requests/tail, GET /v1/live, GET /v1/usage, GET /v1/usage/budgets, GET /v1/requests/export, GET /v1/usage/export, GET /.well-known/jwks.json
`
  .trim()
  .split(/,\s+|\n/);

let any: TestGateway;
let some: TestGateway;
let none: TestGateway;
beforeAll(async () => {
  [any, some, none] = (await Promise.all([
    testGateway(),
    testGateway({ settings: { cors: { origins: [PAGE, "app://notes"] } } }),
    testGateway({ settings: { cors: { origins: [] } } }),
  ])) as [TestGateway, TestGateway, TestGateway];
});
afterAll(() => Promise.all([any, some, none].map((gateway) => gateway?.stop())));

const preflight = (gateway: TestGateway, path: string, headers: object = {}) =>
  gateway.call("OPTIONS", path, {
    key: null,
    headers: { origin: PAGE, "access-control-request-method": "POST", ...headers },
  });
const allowed = ({ headers }: Answer) => headers.get("access-control-allow-origin");
const exposed = ({ headers }: Answer) => headers.get("access-control-expose-headers")?.split(", ") ?? [];

describe("preflights", () => {
  test("are answered without a key at the routes of the list, and refused at all others", async () => {
    const { json } = await any.call("GET", "/openapi.json", { key: null });
    const routes = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const answered = await Promise.all(
      routes.map(async (route) => {
        const [method = "", path = ""] = route.split(" ");
        const answer = await preflight(any, path.replace(/\{\w+\}/g, "some"), {
          "access-control-request-method": method,
        });
        const methods = answer.headers.get("access-control-allow-methods")?.split(", ") ?? [];
        const isOpen = allowed(answer) === "*" && methods.includes(method);
        expect([route, answer.status]).toEqual([route, isOpen ? 204 : 405]);
        expect(answer.headers.get("access-control-allow-credentials")).toBe(null);
        return isOpen ? [route] : [];
      }),
    );
    expect(answered.flat().sort()).toEqual(OPEN.sort());
  });

  test("allow the headers that are asked for, if they are names, and never the session's", async () => {
    const SDK =
      "authorization,content-type,x-api-key,anthropic-version,x-stainless-retry-count,openai-organization";
    const headersFor = async (asked: string) =>
      (await preflight(any, "/v1/chat/completions", { "access-control-request-headers": asked })).headers.get(
        "access-control-allow-headers",
      );
    expect(await headersFor(SDK)).toBe(SDK.replaceAll(",", ", "));
    expect(await headersFor("X-Svc-Csrf, content-type, a b, é, x:y")).toBe("content-type");
    expect(await headersFor("x-svc-csrf")).toBe(null);
    // Which would stand for all but the key.
    expect(await headersFor("*")).toBe(null);
    expect(await headersFor("*, authorization, x-*")).toBe("authorization, x-*");
    expect(await headersFor("x,".repeat(3000))).toBe(null);
    const answer = await preflight(any, "/v1/chat/completions");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-methods": "POST",
      "access-control-max-age": "7200",
      allow: "POST, OPTIONS",
      "x-request-id": expect.stringMatching(/^\w{26}$/),
    });
  });

  test("name the origin where weir.yaml does, and nothing to others", async () => {
    for (const origin of [PAGE, "app://notes"]) {
      const answer = await preflight(some, "/v1/messages", { origin });
      expect([answer.status, allowed(answer), answer.headers.get("vary")]).toEqual([204, origin, "origin"]);
    }
    for (const origin of [OTHER, `${PAGE}.evil.test`, "null", PAGE.toUpperCase()]) {
      const answer = await preflight(some, "/v1/messages", { origin });
      expect([answer.status, allowed(answer), answer.headers.get("vary")]).toEqual([204, null, "origin"]);
      expect(answer.headers.get("access-control-allow-methods")).toBe(null);
    }
    const switchedOff = await preflight(none, "/v1/messages");
    expect([switchedOff.status, allowed(switchedOff)]).toEqual([405, null]);
  });

  test("of a private network are answered for origins that are named alone", async () => {
    const asks = { "access-control-request-private-network": "true" };
    const told = async (gateway: TestGateway, headers: object) =>
      (await preflight(gateway, "/v1/chat/completions", headers)).headers.get(
        "access-control-allow-private-network",
      );
    expect(await told(some, asks)).toBe("true");
    expect(await told(some, {})).toBe(null);
    expect(await told(some, { ...asks, origin: OTHER })).toBe(null);
    expect(await told(any, asks)).toBe(null);
  });

  test("that are none say which methods there are", async () => {
    const { status, headers } = await any.call("OPTIONS", "/v1/responses/some", { key: null });
    expect([status, headers.get("allow")]).toEqual([204, "GET, HEAD, DELETE, OPTIONS"]);
    expect(headers.get("access-control-allow-methods")).toBe(null);
  });
});

describe("answers", () => {
  const origin = { origin: PAGE };

  test("of every kind may be read: whole, streamed, repeated, refused", async () => {
    const key = { "idempotency-key": "once" };
    const answers: [number, Promise<Answer>][] = [
      [200, any.chat(CHAT, { headers: { ...origin, ...key } })],
      [200, any.chat({ ...CHAT, stream: true }, { headers: origin })],
      [401, any.chat(CHAT, { headers: origin, key: null })],
      [401, any.chat(CHAT, { headers: origin, key: "svc-live-wrong" })],
      [404, any.chat({ ...CHAT, model: "none/such" }, { headers: origin })],
      [400, any.chat({ ...CHAT, messages: 1 }, { headers: origin })],
      [415, any.chat(CHAT, { headers: { ...origin, "content-type": "text/plain" } })],
      [405, any.call("GET", "/v1/chat/completions", { headers: origin })],
      [404, any.call("GET", `/v1/responses/resp_${"0".repeat(26)}`, { headers: origin })],
      [200, any.call("GET", "/v1/models", { headers: origin })],
      [200, any.call("GET", "/v1/requests/tail", { headers: origin })],
      [401, any.call("GET", "/v1/requests", { headers: origin, key: null })],
      [200, any.call("GET", "/v1/providers", { headers: origin, key: null })],
      [
        413,
        any.call("POST", "/v1/chat/completions", { headers: origin, body: "x".repeat(33 * 1024 * 1024) }),
      ],
    ];
    for (const [status, answer] of answers) {
      const seen = await answer;
      expect([seen.status, allowed(seen)]).toEqual([status, "*"]);
      for (const name of ["x-request-id", "retry-after", "anthropic-ratelimit-tokens-remaining"])
        expect(exposed(seen)).toContain(name);
      expect(seen.headers.get("access-control-allow-credentials")).toBe(null);
    }
    const repeated = await any.chat(CHAT, { headers: { ...origin, ...key } });
    expect([repeated.headers.get("idempotent-replayed"), allowed(repeated)]).toEqual(["true", "*"]);
  });

  test("expose every header that a call's answer has of its own", async () => {
    const usual =
      /^(access-control-|content-type|content-length|cache-control|content-security|x-frame|x-content-type|referrer|cross-origin|date|uwebsockets|keep-alive|connection|transfer-encoding|x-accel)/;
    const headers = { ...origin, "x-svc-debug": "1", "anthropic-version": "2023-06-01" };
    const answers = [
      await any.chat(CHAT, { headers }),
      await any.call("POST", "/v1/messages", { body: CHAT, headers }),
      await any.call("GET", "/v1/models", { headers }),
      await any.call("GET", "/v1/providers", { headers }),
    ];
    for (const answer of answers)
      for (const name of answer.headers.keys())
        if (!usual.test(name)) expect(exposed(answer)).toContain(name);
  });

  test("to a request that is not framed safely", async () => {
    const socket = connect(Number(new URL(any.url).port), "127.0.0.1");
    const chunks: Buffer[] = [];
    const over = new Promise((resolve) =>
      socket.on("data", (data) => chunks.push(data)).on("close", resolve),
    );
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\norigin: ${PAGE}\r\nhost: b\r\ncontent-length: 2\r\n\r\n{}`,
    );
    await over;
    expect(Buffer.concat(chunks).toString()).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*access-control-allow-origin: \*\r\n/,
    );
  });

  test("say for whom they are where origins are named, for caches also without one", async () => {
    const seen = async (headers: object) => {
      const { headers: all } = await some.call("GET", "/v1/providers", { key: null, headers });
      return [all.get("access-control-allow-origin"), all.get("vary"), all.get("cache-control")];
    };
    expect(await seen(origin)).toEqual([PAGE, "origin", "public, max-age=60"]);
    expect(await seen({ origin: OTHER })).toEqual([null, "origin", "public, max-age=60"]);
    expect(await seen({})).toEqual([null, "origin", "public, max-age=60"]);
    const cached = await any.call("GET", "/v1/providers", { key: null });
    expect([allowed(cached), cached.headers.get("vary")]).toEqual(["*", null]);
    const called = await some.chat(CHAT, { headers: { origin: OTHER } });
    expect([called.status, allowed(called), called.headers.get("vary")]).toEqual([200, null, "origin"]);
  });

  test("to programs, and of other routes, say nothing of origins", async () => {
    const quiet = [
      await any.chat(CHAT),
      await none.chat(CHAT, { headers: origin }),
      await any.call("GET", "/v1/keys", { headers: origin }),
      await any.call("GET", "/v1/credits", { headers: origin }),
      await any.call("GET", "/auth/me", { headers: origin, key: null }),
      await any.call("GET", "/healthz", { headers: origin, key: null }),
    ];
    for (const { headers } of quiet)
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

describe("a session's cookie", () => {
  const status = async (headers: object) => {
    const owner = await signInAt(any.url, { email: "owner@example.com" });
    const cookie = { cookie: owner.cookie, ...headers };
    const answers = ["/v1/models", "/v1/keys", "/auth/me"].map((path) =>
      any.call("GET", path, { key: null, headers: cookie }),
    );
    return (await Promise.all(answers)).map((answer) => answer.status);
  };

  test("is not taken from scripts and elements of another origin's page, whatever its site", async () => {
    for (const headers of [
      { origin: PAGE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" },
      { origin: "http://localhost:1", "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" },
      { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" },
      { origin: PAGE },
      { origin: "null" },
      { origin: any.url.replace(/\d+$/, "1") },
    ])
      expect([headers, await status(headers)]).toEqual([headers, [401, 401, 401]]);
  });

  test("is taken from the gateway's own pages, from links that lead here, and from programs", async () => {
    for (const headers of [
      {},
      { origin: any.url },
      { origin: any.url, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" },
      { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    ])
      expect([headers, await status(headers)]).toEqual([headers, [200, 200, 200]]);
  });
});
