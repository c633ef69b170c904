/** What a record shows of its request and of its time to first byte, called in every client format through a gateway. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await testGateway({ engine: true });
});
afterAll(() => gateway.stop());

const SECRET = "sk-aaaaaaaaaaaaaaaaaaaaaaaa";
const TEXT = `My key is ${SECRET}`;
const REDACTED = "My key is [REDACTED:api_key]";
const model = "weir/sim-small";
const saying = (content: unknown) => [{ role: "user", content }];
const spoken = { model, messages: saying([{ type: "text", text: REDACTED }]) };

/** Path, body, and the body's canonical form. */
const CALLS: readonly (readonly [string, Record<string, unknown>, object])[] = [
  [
    "/v1/chat/completions",
    { model, messages: saying(TEXT), user: "u-1" },
    { ...spoken, metadata: { user_id: "u-1" } },
  ],
  ["/v1/completions", { model, prompt: TEXT, max_tokens: 9 }, { ...spoken, generation: { max_tokens: 9 } }],
  [
    "/v1/responses",
    { model, input: TEXT, temperature: 0.5 },
    { ...spoken, generation: { temperature: 0.5 } },
  ],
  [
    "/v1/messages",
    { model, messages: saying(TEXT), max_tokens: 9 },
    { ...spoken, generation: { max_tokens: 9 } },
  ],
  ["/v1/svc/generate", { model, messages: saying(TEXT) }, spoken],
  [
    "/v1/embeddings",
    { model: "weir/sim-embed", input: TEXT },
    { model: "weir/sim-embed", input: [REDACTED] },
  ],
  [
    "/v1/svc/embed",
    { model: "weir/sim-embed", input: [TEXT] },
    { model: "weir/sim-embed", input: [REDACTED] },
  ],
  [
    "/v1/svc/rerank",
    { model: "weir/sim-rerank", query: TEXT, documents: [TEXT] },
    { model: "weir/sim-rerank", query: REDACTED, documents: [REDACTED] },
  ],
];

const idOf = ({ headers }: Answer): string => headers.get("x-svc-request-id") ?? "";
const recordOf = async (answer: Answer, query = "") =>
  (await gateway.call("GET", `/v1/requests/${idOf(answer)}${query}`)).json;

test.each(CALLS)(
  "O27: the record of %s shows the canonical request, and the raw one on demand",
  async (path, body, canonical) => {
    const answer = await gateway.call("POST", path, { body });
    expect(answer.status).toBe(200);
    const raw = JSON.parse(JSON.stringify(body).replaceAll(SECRET, "[REDACTED:api_key]"));
    // From the outbox, then from ClickHouse: the list waits until the record is there.
    for (const once of ["outbox", "clickhouse"]) {
      const record = await recordOf(answer);
      expect([once, record.payload_state, record.request]).toEqual([once, "available", canonical]);
      expect(record).not.toHaveProperty("request_raw");
      const both = await recordOf(answer, "?raw=1");
      expect([both.request, both.request_raw]).toEqual([canonical, raw]);
      expect(JSON.stringify(both)).not.toContain(SECRET);
      await gateway.call("GET", "/v1/requests?limit=1");
    }
  },
);

test("O27: the first byte of a whole answer comes with its last; 0 is for answers without one", async () => {
  const whole = await recordOf(await gateway.chat());
  expect(whole.stream).toBe(false);
  expect(whole.ttft_ms).toBeGreaterThan(0);
  expect(Math.abs(whole.ttft_ms - whole.duration_ms)).toBeLessThanOrEqual(1);
  expect(whole.timing.ttft_ms).toBe(whole.ttft_ms);
  const { json } = await gateway.call("GET", `/v1/generation/${whole.request_id}`);
  expect(json.timing.ttft_ms).toBe(whole.ttft_ms);
  expect(whole.ttft_ms).toBeGreaterThanOrEqual(whole.upstream_ttft_ms);
  const streamed = await recordOf(await gateway.chat({ stream: true }));
  expect(streamed.ttft_ms).toBeGreaterThan(0);
  expect(streamed.ttft_ms).toBeLessThanOrEqual(streamed.duration_ms);
  const refused = await gateway.chat({ model: "no/such" });
  expect(refused.status).toBe(404);
  expect(await recordOf(refused)).toMatchObject({ status: "rejected", ttft_ms: 0 });
});
