/**
 * Names of models that are not the catalog's: dates, `-latest`, aliases, prefixes. The catalog's model answers in every format, from every
 * dialect, whole and streamed, and the answer says which it was. A mistyped name is answered with the nearest ones.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sseEvents } from "../../support/conformance/ask.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";

const VERSION = { "anthropic-version": "2023-06-01" };
const TURNS = [{ role: "user", content: "Hi" }];
const ASKS = {
  chat: { path: "/v1/chat/completions", body: { messages: TURNS } },
  completions: { path: "/v1/completions", body: { prompt: "Hi" } },
  responses: { path: "/v1/responses", body: { input: "Hi" } },
  messages: { path: "/v1/messages", body: { messages: TURNS, max_tokens: 9 } },
  generate: { path: "/v1/svc/generate", body: { messages: TURNS } },
} as const;
const FORMATS = Object.keys(ASKS) as (keyof typeof ASKS)[];
const DIALECTS = ["chat", "responses", "messages", "gemini", "converse"];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [{ provider: "aliased" }],
    model: { aliases: ["the-model", "other/named:v1"] },
  });
});
afterAll(() => gateway.stop());

const post = (path: string, body: object) => gateway.call("POST", path, { body });

/** The `svc` of an answer: of a stream that of the event that has it. */
function svcOf({ json, text }: Answer): { warnings: string[] } {
  if (json !== undefined) return json.svc ?? json;
  const data = sseEvents(text).flatMap((event) => (event.data === "[DONE]" ? [] : [JSON.parse(event.data)]));
  const found = data.map((event) => event.svc ?? event.response?.svc ?? (event.warnings && event));
  return found.findLast((each) => each !== undefined && each !== null);
}

describe("a date behind a model's name", () => {
  const pairs = FORMATS.flatMap((format) =>
    DIALECTS.flatMap((dialect) => [false, true].map((stream) => ({ format, dialect, stream }))),
  );
  test.each(pairs)("$format to $dialect, streamed: $stream", async ({ format, dialect, stream }) => {
    const { path, body } = ASKS[format];
    const model = `sim-${dialect}-20251001`;
    const answer = await post(path, { ...body, model, ...(stream && { stream }) });
    expect(answer.status).toBe(200);
    expect(svcOf(answer).warnings).toContain(`model_resolved: weir/sim-${dialect}`);
    expect(answer.text).toContain(`weir/sim-${dialect}`);
    expect(answer.text).not.toContain("20251001");
    const own = await post(path, { ...body, model: `sim-${dialect}`, ...(stream && { stream }) });
    expect(svcOf(own).warnings.filter((warning) => warning.startsWith("model_"))).toEqual([]);
  });
});

test.each([
  ["the-model", "test/model"],
  ["test/the-model", "test/model"],
  ["other/named:v1", "test/model"],
  ["the-model-2026-01-31", "test/model"],
  ["openai/test/model-latest", "test/model"],
  ["weir/sim-small-latest", "weir/sim-small"],
  ["anthropic/sim-small", "weir/sim-small"],
  ["sim-messages[1m]", "weir/sim-messages"],
])("%s is answered by %s, and the record says so", async (model, id) => {
  const { json } = await gateway.chat({ model });
  expect(json).toMatchObject({ model: id, svc: { warnings: [`model_resolved: ${id}`] } });
});

test("every other route that names a model takes such names", async () => {
  const ask = (path: string, body: object) => post(path, { model: "sim-small-20251001", ...body });
  const counted = await ask("/v1/messages/count_tokens", { messages: TURNS });
  expect([counted.status, counted.json.input_tokens > 0]).toEqual([200, true]);
  expect((await ask("/v1/svc/count_tokens", { messages: TURNS })).status).toBe(200);
  const dry = await ask("/v1/svc/dry_run", { messages: TURNS });
  expect(dry.json.warnings).toEqual(["model_resolved: weir/sim-small"]);
  for (const [path, model, body] of [
    ["/v1/embeddings", "sim-embed-latest", { input: "Hi" }],
    ["/v1/svc/embed", "sim-embed-latest", { input: ["Hi"] }],
    ["/v1/svc/rerank", "weir/sim-rerank-2026-01-01", { query: "a", documents: ["a", "b"] }],
  ] as const) {
    const answer = await post(path, { model, ...body });
    expect([path, answer.status]).toEqual([path, 200]);
    expect(svcOf(answer).warnings.join()).toMatch(/^model_resolved: weir\/sim-(embed|rerank)$/);
  }
  const policy =
    "version: 1\npolicy: named\nrules:\n  - name: all\n    match: { model: 'weir/sim-*' }\n    then: { deny: { message: never } }\n";
  await gateway.call("POST", "/v1/policies", { body: { name: "named", yaml: policy } });
  const planned = await gateway.call("POST", "/v1/policies/named/dry-run", {
    body: { model: "sim-small@20251001" },
  });
  expect([planned.status, planned.text]).toEqual([200, expect.stringContaining("never")]);
});

test("both lists and each model show aliases, and a model is found by any name", async () => {
  const named = { aliases: ["the-model", "other/named:v1"] };
  const openai = await gateway.call("GET", "/v1/models");
  expect(openai.json.data.find(({ id }: { id: string }) => id === "test/model")).toMatchObject(named);
  const anthropic = await gateway.call("GET", "/v1/models?limit=1000", { headers: VERSION });
  expect(anthropic.json.data.find(({ id }: { id: string }) => id === "test/model")).toMatchObject(named);
  for (const name of [
    "the-model",
    "test/the-model",
    "test/model-latest",
    "the-model-20260131",
    "test%2Fthe-model",
  ])
    for (const headers of [{}, VERSION]) {
      const { status, json } = await gateway.call("GET", `/v1/models/${name}`, { headers });
      expect([name, status, json.id, json.aliases]).toEqual([name, 200, "test/model", named.aliases]);
    }
  for (const part of ["endpoints", "stats"]) {
    const { status, json } = await gateway.call("GET", `/v1/models/test/the-model/${part}`);
    expect([part, status, json.model]).toEqual([part, 200, "test/model"]);
  }
  const found = await gateway.call("GET", "/v1/models?q=other/named");
  expect(found.json.data.map(({ id }: { id: string }) => id)).toEqual(["test/model"]);
});

test.each([
  ...Object.values(ASKS),
  { path: "/v1/embeddings", body: { input: "Hi" } },
  { path: "/v1/svc/embed", body: { input: ["a"] } },
])("$path answers a mistyped name with the nearest, and a huge one with little", async ({ path, body }) => {
  for (const model of ["weir/sim-smal", "sim-smal", "wier/sim-small", "sim-smal-20251001"]) {
    const { status, json, text } = await post(path, { ...body, model });
    expect([status, json.error.code ?? json.error.type]).toEqual([404, expect.stringMatching(/not_found/)]);
    expect(text).toContain("weir/sim-small");
  }
  for (const length of [201, 1_000_000]) {
    const huge = await post(path, { ...body, model: "m".repeat(length) });
    expect([huge.status < 500, huge.text.length < 1000]).toEqual([true, true]);
  }
});
