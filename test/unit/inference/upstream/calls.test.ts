/** Calls in every dialect over a real socket: where they go, what they carry, how their bodies are sent. */
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Act, Dialect, Task } from "../../../../src/base/endpoint.ts";
import { openUpstreams, type Upstreams } from "../../../../src/inference/upstream/upstreams.ts";
import { closedPort } from "../../../support/gateway.ts";
import {
  endpointAt,
  type GivenProvider,
  heard,
  plainCall,
  startProvider,
  type TestProvider,
} from "../../../support/upstream/fixtures.ts";
import { until } from "../../../support/wait.ts";

let provider: TestProvider;
let upstreams: Upstreams;

beforeEach(async () => {
  provider = await startProvider();
  upstreams = openUpstreams({ connectTimeoutMs: 20_000 });
});

afterEach(async () => {
  await upstreams.close();
  await provider.close();
});

const at = (given: GivenProvider = {}, rest: Parameters<typeof endpointAt>[1] = {}) =>
  endpointAt({ baseUrl: `${provider.url}/v1`, ...given }, { upstreamModel: "org/m:1", ...rest });

interface Given {
  provider?: GivenProvider;
  task?: Task;
  region?: string;
  stream?: boolean;
  headers?: Record<string, string>;
}

/** What arrived of one call. */
async function arrived(dialect: Dialect, given: Given = {}) {
  const { task = "generate", region = "eu", stream = false, headers = {} } = given;
  const call = { ...plainCall(at(given.provider, { task, region }), dialect, stream), headers };
  const { failure } = await heard((handler) => upstreams.call(call, handler));
  expect(failure).toBeUndefined();
  const asked = provider.asked.at(-1);
  if (asked === undefined) throw new Error("nothing arrived");
  return asked;
}

const PATHS: [Dialect, Task, boolean, string][] = [
  ["chat", "generate", false, "/v1/chat/completions"],
  ["chat", "generate", true, "/v1/chat/completions"],
  ["responses", "generate", true, "/v1/responses"],
  ["messages", "generate", true, "/v1/messages"],
  ["gemini", "generate", false, "/v1/models/org%2Fm%3A1:generateContent"],
  ["gemini", "generate", true, "/v1/models/org%2Fm%3A1:streamGenerateContent?alt=sse"],
  ["completions", "generate", false, "/v1/completions"],
  ["completions", "generate", true, "/v1/completions"],
  ["converse", "generate", false, "/v1/model/org%2Fm%3A1/converse"],
  ["converse", "generate", true, "/v1/model/org%2Fm%3A1/converse-stream"],
  ["openai_embeddings", "embed", false, "/v1/embeddings"],
  ["gemini_embeddings", "embed", false, "/v1/models/org%2Fm%3A1:batchEmbedContents"],
  ["cohere", "embed", false, "/v1/v2/embed"],
  ["cohere", "rerank", false, "/v1/v2/rerank"],
  ["jina", "embed", false, "/v1/embeddings"],
  ["jina", "rerank", false, "/v1/rerank"],
  ["voyage", "rerank", false, "/v1/rerank"],
];

describe("addresses", () => {
  test.each(PATHS)("%s to %s (stream %s): %s", async (dialect, task, stream, path) => {
    expect(await arrived(dialect, { task, stream })).toMatchObject({ method: "POST", path });
  });

  test("a provider's own paths come first; its path for calls serves streams too", async () => {
    const paths = { messages: { call: "/publishers/{model}:raw", stream: "/publishers/{model}:streamRaw" } };
    expect((await arrived("messages", { provider: { paths } })).path).toBe("/v1/publishers/org%2Fm%3A1:raw");
    const streamed = await arrived("messages", { provider: { paths }, stream: true });
    expect(streamed.path).toBe("/v1/publishers/org%2Fm%3A1:streamRaw");
    const one = { chat: { call: `${provider.url}/elsewhere` } };
    expect((await arrived("chat", { provider: { paths: one }, stream: true })).path).toBe("/elsewhere");
  });

  test("a region is inserted into the URL, or has a URL of its own", async () => {
    const baseUrl = `${provider.url}/{region}/x`;
    const regional = { baseUrl, regionUrls: { global: `${provider.url}/all` } };
    expect((await arrived("chat", { provider: regional })).path).toBe("/eu/x/chat/completions");
    const { path } = await arrived("chat", { provider: regional, region: "global" });
    expect(path).toBe("/all/chat/completions");
  });

  test("unsupported acts are known and not called", async () => {
    const none = at({ paths: { messages: { count: "none" } } });
    const does = (dialect: Dialect, act: Act) => upstreams.does(none, dialect, act);
    expect([does("messages", "count"), does("chat", "count"), does("gemini", "count")]).toEqual([
      false,
      false,
      true,
    ]);
    expect(() => upstreams.call(plainCall(none, "jina"), never)).toThrow(/no path to call in jina/);
  });
});

const never = { onHead: fault, onData: fault, onEnd: fault, onFailure: fault };

function fault(): never {
  throw new Error("the handler was called");
}

describe("headers", () => {
  test("the credential is sent as the provider requires, and in no other header", async () => {
    const bearer = await arrived("chat", { provider: { credential: "sk-1" } });
    expect(bearer.headers.authorization).toBe("Bearer sk-1");
    for (const header of ["x-api-key", "api-key", "x-goog-api-key"]) {
      const auth = { scheme: "header", header } as const;
      const { headers } = await arrived("chat", { provider: { credential: "sk-1", auth } });
      expect(headers[header]).toBe("sk-1");
      expect(JSON.stringify(headers).match(/sk-1/g)).toHaveLength(1);
    }
    expect((await arrived("chat")).headers.authorization).toBeUndefined();
  });

  test("compression is not requested, and Accept names the stream's type", async () => {
    const accept = async (dialect: Dialect, stream: boolean) => {
      const { headers } = await arrived(dialect, { stream });
      expect(headers["accept-encoding"]).toBe("identity");
      expect(headers["content-type"]).toBe("application/json");
      return headers.accept;
    };
    expect(await accept("chat", false)).toBe("application/json");
    expect(await accept("messages", true)).toBe("text/event-stream");
    expect(await accept("converse", true)).toBe("application/vnd.amazon.eventstream");
  });

  test("the dialect's, over them the provider's, over them the client's; never the client's credential", async () => {
    const version = async (given: Given) => (await arrived("messages", given)).headers["anthropic-version"];
    expect(await version({})).toBe("2023-06-01");
    const own = { headers: { "anthropic-version": "2024-01-01", "x-acme": "1" } };
    expect(await version({ provider: own })).toBe("2024-01-01");
    const headers = {
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "a,b",
      authorization: "Bearer mine",
      "x-api-key": "mine",
      host: "elsewhere",
    };
    const asked = await arrived("messages", { provider: { ...own, credential: "sk-1" }, headers });
    expect(asked.headers).toMatchObject({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "a,b",
      "x-acme": "1",
      authorization: "Bearer sk-1",
      host: new URL(provider.url).host,
    });
    expect(asked.headers["x-api-key"]).toBeUndefined();
  });
});

describe("bodies", () => {
  test.each([1, 3, 2000])("in %i parts arrive as one, with their length", async (count) => {
    const parts = Array.from({ length: count }, (_, i) => Buffer.from(`é${i}`.repeat(40)));
    const call = { ...plainCall(at(), "chat"), parts };
    await heard((handler) => upstreams.call(call, handler));
    const [asked] = provider.asked;
    expect(asked?.body).toBe(Buffer.concat(parts).toString());
    expect(asked?.headers["content-length"]).toBe(String(Buffer.concat(parts).length));
  });

  test("of a view on a larger buffer only the view is sent", async () => {
    const whole = new Uint8Array(Buffer.from("..{}.."));
    const call = { ...plainCall(at(), "chat"), parts: [whole.subarray(2, 4)] };
    await heard((handler) => upstreams.call(call, handler));
    expect(provider.asked[0]?.body).toBe("{}");
  });
});

describe("questions", () => {
  const ask = (timeoutMs = 20_000, baseUrl = `${provider.url}/v1`) =>
    upstreams.ask({
      ...plainCall(endpointAt({ baseUrl, credential: "sk-1" }), "messages"),
      act: "count",
      timeoutMs,
    });

  test("bring the whole answer, whatever its status", async () => {
    provider.answer = (_, response) => response.writeHead(400).end("no");
    const { status, body } = await ask();
    expect([status, body.toString()]).toEqual([400, "no"]);
    expect(provider.asked[0]).toMatchObject({ path: "/v1/messages/count_tokens" });
    expect(provider.asked[0]?.headers.authorization).toBe("Bearer sk-1");
  });

  test("bring it as it was before someone compressed it", async () => {
    const answer = gzipSync('{"input_tokens":7}');
    for (const headers of [{ "content-encoding": "gzip" }, {}]) {
      provider.answer = (_, response) => response.writeHead(200, headers).end(answer);
      expect((await ask()).body.toString()).toBe('{"input_tokens":7}');
    }
    provider.answer = (_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(64 * 1024 * 1024)));
    await expect(ask()).rejects.toMatchObject({ code: "upstream_invalid_response" });
  });

  test.each(["br", "gzip", "deflate", "zstd", "compress"])(
    "bring a refusal with its status and its headers, though its body is not in %s as it says",
    async (coding) => {
      const bodies = ["slow down please", '{"error":"no"}', "", "\u0001\u0002 no text", "a".repeat(100_000)];
      for (const body of bodies) {
        const head = { "content-encoding": coding, "retry-after": "17" };
        provider.answer = (_, response) => response.writeHead(429, head).end(body);
        const answer = await ask();
        expect([answer.status, answer.headers["retry-after"]]).toEqual([429, "17"]);
        if (!body.includes("no text")) expect(answer.body.toString()).toBe(body);
      }
    },
  );

  test("bring what came of a refusal that was cut off", async () => {
    for (const coding of ["identity", "gzip", "br"]) {
      provider.answer = (_, response) => {
        response.writeHead(401, { "content-encoding": coding, "content-length": 100 }).write("bad key");
        setImmediate(() => response.destroy());
      };
      const { status, body } = await ask();
      expect([status, body.toString()]).toEqual([401, "bad key"]);
    }
  });

  test("are bounded in time and in size, and say what went wrong", async () => {
    provider.answer = () => {};
    await expect(ask(30)).rejects.toMatchObject({ code: "upstream_timeout" });
    provider.answer = (_, response) => response.end("x".repeat(1024 * 1024 + 1));
    await expect(ask()).rejects.toMatchObject({ code: "upstream_invalid_response" });
    provider.answer = (_, response) => response.destroy();
    await expect(ask()).rejects.toMatchObject({ code: "upstream_error" });
    const none = upstreams.ask({ ...plainCall(at(), "chat"), act: "count", timeoutMs: 20_000 });
    await expect(none).rejects.toMatchObject({ code: "upstream_error" });
  });
});

test("O4: connections are counted from their first moment to their last, one that is refused too", async () => {
  const refusing = at({ baseUrl: `http://127.0.0.1:${await closedPort()}/v1` });
  const { failure } = await heard((handler) => upstreams.call(plainCall(refusing, "chat"), handler));
  expect(failure).toMatchObject({ outcome: "connect_error", errorClass: "network" });
  expect(upstreams.connections()).toBe(0);
  await heard((handler) => upstreams.call(plainCall(at(), "chat"), handler));
  expect([upstreams.connections(), upstreams.connections(provider.url)]).toEqual([1, 1]);
  await provider.close();
  await until("the connection is gone", () => upstreams.connections() === 0);
});
