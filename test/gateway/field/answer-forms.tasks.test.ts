/**
 * Embeddings and rankings in another form than an answer of theirs has: compressed, framed as an event, behind blank lines, or an error
 * with status 200. No model writes them in pieces, but proxies treat them as they treat streams.
 */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Scripted, ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { charges, requestIdOf } from "../../support/observations.ts";
import { A, B, REPLIES } from "../../support/wire/embeddings.fixtures.ts";

const RESULTS = [
  { index: 1, relevance_score: 0.98 },
  { index: 0, relevance_score: 0.25 },
];
const RANKINGS = {
  cohere: { results: RESULTS, meta: { billed_units: { search_units: 1 } } },
  jina: { usage: { total_tokens: 815 }, results: RESULTS },
  voyage: { data: RESULTS, usage: { total_tokens: 26 } },
};

interface Asked {
  readonly name: string;
  readonly dialect: string;
  readonly task: "embed" | "rerank";
  readonly path: string;
  readonly body: object;
  /** What the provider answers. */
  readonly reply: unknown;
  /** What of it is read. */
  readonly heard: (json: { data?: { embedding: unknown }[]; results?: object[] }) => unknown;
  readonly expected: unknown;
}

const embedded = (dialect: string, path: string, body: object): Asked => ({
  name: `${path} to ${dialect}`,
  dialect,
  task: "embed",
  path,
  body: { input: ["a", "b"], ...body },
  reply: REPLIES[dialect as keyof typeof REPLIES]?.float,
  heard: ({ data }) => data?.map(({ embedding }) => embedding),
  expected: [A, B],
});

const ASKED: readonly Asked[] = [
  ...Object.keys(REPLIES).flatMap((dialect) => [
    embedded(dialect, "/v1/embeddings", { encoding_format: "float" }),
    embedded(dialect, "/v1/svc/embed", {}),
  ]),
  ...Object.entries(RANKINGS).map(
    ([dialect, reply]): Asked => ({
      name: `/v1/svc/rerank to ${dialect}`,
      dialect,
      task: "rerank",
      path: "/v1/svc/rerank",
      body: { query: "q", documents: ["a", "b"] },
      reply,
      heard: ({ results }) => results,
      expected: RESULTS,
    }),
  ),
];

const labelled = (type: string, body: string): Scripted => ({ headers: { "content-type": type }, body });
const coded = (bytes: Buffer, coding?: string): Scripted => ({
  parts: [bytes],
  ...(coding !== undefined && { headers: { "content-encoding": coding } }),
});

const FORMS: Readonly<Record<string, (json: string) => Scripted>> = {
  "gzip without a label": (json) => coded(gzipSync(json)),
  brotli: (json) => coded(brotliCompressSync(json), "br"),
  "text under the label of brotli": (json) => coded(Buffer.from(json), "br"),
  "a page's label": (json) => labelled("text/html", json),
  "no label": (json) => labelled("", json),
  "a byte order mark in pieces": (json) => ({
    parts: [Buffer.from([0xef]), Buffer.from([0xbb, 0xbf]), json],
  }),
  "blank lines before it": (json) => ({ parts: ["\r\n", "\n\n", json] }),
  "a stream's end behind it": (json) => ({ body: `${json}\n\ndata: [DONE]\n\n` }),
  "one event": (json) => labelled("text/event-stream", `data: ${json}\n\n`),
  "one event under the label of JSON, and a stream's end": (json) => ({
    body: `event: message\ndata: ${json}\n\ndata: [DONE]\n\n`,
  }),
  "one event behind comments, in gzip": (json) => coded(gzipSync(`: PROCESSING\n\ndata: ${json}\n\n`)),
  "JSON behind comments": (json) => ({ body: `: PROCESSING\n\n${json}` }),
  "a byte a read": (json) => ({ parts: [...Buffer.from(json)].map((byte) => Buffer.from([byte])) }),
};

const ERROR = '{"error":{"message":"no room","type":"server_error"}}';
const OVERFLOW = JSON.stringify({
  error: {
    message: "This model's maximum context length is 8192 tokens, however you requested 9000 tokens.",
    type: "invalid_request_error",
  },
});

const FAILURES: Readonly<Record<string, readonly [Scripted, status: number, code: string]>> = {
  "an error": [{ body: ERROR }, 502, "upstream_error"],
  "an error as a list of faults": [{ body: '{"detail":"no room"}' }, 502, "upstream_error"],
  "an error as an event": [{ body: `data: ${ERROR}\n\n` }, 502, "upstream_error"],
  "an overflow": [{ body: OVERFLOW }, 400, "context_length_exceeded"],
  "an overflow as an event": [
    { body: `event: error\ndata: ${OVERFLOW}\n\n` },
    400,
    "context_length_exceeded",
  ],
  "an empty list": [{ body: '{"data":[],"results":[],"embeddings":[]}' }, 502, "upstream_invalid_response"],
  "an object": [{ body: "{}" }, 502, "upstream_invalid_response"],
  nothing: [{ body: "" }, 502, "upstream_invalid_response"],
  "a stream's end": [{ body: "data: [DONE]\n\n" }, 502, "upstream_invalid_response"],
  "a page": [{ body: "<html><title>Sign in</title></html>" }, 502, "upstream_invalid_response"],
};

let up: ScriptedUpstream;
const gateways = new Map<Asked["task"], TestGateway>();

beforeAll(async () => {
  up = await ScriptedUpstream.start();
  for (const task of ["embed", "rerank"] as const) {
    const dialects = new Set(ASKED.filter((asked) => asked.task === task).map(({ dialect }) => dialect));
    const endpoints = [...dialects].map((dialect) => ({
      model: `test/${dialect}`,
      provider: dialect.replaceAll("_", "-"),
      baseUrl: `${up.url}/v1`,
      dialects: [dialect],
      entry: { price: task === "embed" ? { input: 1 } : { input: 1, search_unit: 0.002 } },
    }));
    const model = { task, modalities: { in: ["text"], out: [] }, max_output: undefined, capabilities: [] };
    gateways.set(task, await testGateway({ model, endpoints }));
  }
});
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.stop();
  await up.close();
});

async function sent({ task, path, body, dialect }: Asked, scripted: Scripted) {
  up.script(scripted);
  const gateway = gateways.get(task) as TestGateway;
  const answer = await gateway.call("POST", path, { body: { model: `test/${dialect}`, ...body } });
  return { ...answer, gateway };
}

describe.each(Object.entries(FORMS))("%s", (_, form) => {
  test.each(ASKED.map((asked) => [asked.name, asked] as const))("%s", async (_name, asked) => {
    const { status, json, text } = await sent(asked, form(JSON.stringify(asked.reply)));
    expect(status, text).toBe(200);
    expect(asked.heard(json)).toEqual(asked.expected);
  });
});

describe.each(Object.entries(FAILURES))("%s with status 200", (_, [scripted, status, code]) => {
  test.each(ASKED.map((asked) => [asked.name, asked] as const))("%s", async (_name, asked) => {
    const got = await sent(asked, scripted);
    expect([got.status, got.json.error.code]).toEqual([status, code]);
    expect((await charges(got.gateway)).get(requestIdOf(got))).toBeUndefined();
  });
});
