/** A call as spans at a real collector: they join the client's trace, upstreams join them, and nothing private is in them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { requestIdOf } from "../../../support/observations.ts";
import {
  type Collector,
  type Span,
  startCollector,
  toCollector,
} from "../../../support/telemetry/collector.fixtures.ts";
import { until } from "../../../support/wait.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

const body = (more: object = {}) => ({
  model: "test/model",
  max_tokens: 20,
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hello from marker-prompt" },
  ],
  svc: { route: { providers: { order: ["main"] } } },
  ...more,
});

let collector: Collector;
let gateway: TestGateway;
beforeAll(async () => {
  collector = await startCollector();
  gateway = await testGateway({
    endpoints: [
      { provider: "main" },
      { provider: "broken", instruction: { status: 500 } },
      { provider: "shadow", instruction: { tokens: 7 } },
    ],
    env: toCollector(collector.url, {
      OTEL_SERVICE_NAME: "house-gateway",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=a%20test",
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await collector.close();
});

/** The spans of a call, the call's first. */
async function spansOf(requestId: string): Promise<[Span, ...Span[]]> {
  const call = () => collector.spans.find(({ attributes }) => attributes["weir.request_id"] === requestId);
  await until("the call's spans are at the collector", () => call() !== undefined);
  const found = call() as Span;
  const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === found.spanId);
  return [found, ...below.sort((a, b) => a.startMs - b.startMs)];
}

const sentUpstream = () => gateway.simulator.calls.at(-1)?.headers ?? {};
let traces = 0;
const newTrace = (): string => (++traces).toString(16).padStart(32, "a");

describe("a call", () => {
  test("is a span by the GenAI conventions, with one below it for its attempt", async () => {
    const answer = await gateway.chat(body());
    const [call, attempt, ...rest] = await spansOf(requestIdOf(answer));
    expect(rest).toEqual([]);
    expect(call).toMatchObject({ name: "chat test/model", kind: 2, parentSpanId: "", status: 0 });
    expect(call.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "main",
      "gen_ai.request.model": "test/model",
      "gen_ai.request.max_tokens": 20,
      "gen_ai.response.model": "sim-test",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": answer.json.usage.prompt_tokens,
      "gen_ai.usage.output_tokens": answer.json.usage.completion_tokens,
      "http.response.status_code": 200,
      "weir.status": "ok",
      "weir.environment": "live",
      "weir.attempts": 1,
    });
    expect(call.attributes["weir.cost_micro_usd"]).toBeGreaterThan(0);
    for (const id of ["weir.org_id", "weir.project_id", "weir.key_id"])
      expect(call.attributes[id]).toBeTruthy();
    expect(attempt).toMatchObject({ name: "chat test/model", kind: 3, traceId: call.traceId, status: 0 });
    expect(attempt?.attributes).toMatchObject({
      "gen_ai.provider.name": "main",
      "gen_ai.response.model": "sim-test",
      "http.response.status_code": 200,
      "weir.attempt": 1,
      "weir.outcome": "ok",
    });
    expect(attempt?.startMs).toBeGreaterThanOrEqual(call.startMs);
    expect(attempt?.endMs).toBeLessThanOrEqual(call.endMs);
    expect(collector.resource).toMatchObject({
      "service.name": "house-gateway",
      "service.instance.id": "local",
      "deployment.environment.name": "a test",
      "telemetry.sdk.language": "nodejs",
    });
  });

  test("joins the client's trace, and its upstream joins the attempt's span", async () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "rojo=00f067aa,congo=t61" };
    const answer = await gateway.chat(body(), { headers });
    const sent = sentUpstream();
    const [call, attempt] = await spansOf(requestIdOf(answer));
    expect(call).toMatchObject({
      traceId: TRACE,
      parentSpanId: PARENT,
      traceState: "rojo=00f067aa,congo=t61",
    });
    expect(attempt).toMatchObject({ traceId: TRACE, parentSpanId: call.spanId });
    expect(sent.traceparent).toBe(`00-${TRACE}-${attempt?.spanId}-01`);
    expect(sent.tracestate).toBe("rojo=00f067aa,congo=t61");
  });

  test("that a second provider answers has a span for each, and each upstream its own parent", async () => {
    const before = gateway.simulator.calls.length;
    const svc = { route: { providers: { order: ["broken", "main"] } } };
    const answer = await gateway.chat(body({ svc }));
    const sent = gateway.simulator.calls.slice(before).map(({ headers }) => headers.traceparent);
    const [call, first, second] = await spansOf(requestIdOf(answer));
    expect(first).toMatchObject({ status: 2, kind: 3 });
    expect(first?.attributes).toMatchObject({
      "gen_ai.provider.name": "broken",
      "error.type": "http_error",
      "http.response.status_code": 500,
    });
    expect(second?.attributes).toMatchObject({
      "gen_ai.provider.name": "main",
      "http.request.resend_count": 1,
    });
    const parents = [first, second].map((span) => `00-${call.traceId}-${span?.spanId}-01`);
    expect(sent).toEqual(parents);
    expect(call).toMatchObject({ status: 0 });
  });

  test("that streams says when its first content came, of the call and of the attempt", async () => {
    const answer = await gateway.chat(body({ stream: true, simulator: { first_ms: 30 } }));
    const [call, attempt] = await spansOf(requestIdOf(answer));
    const ttft = "gen_ai.response.time_to_first_chunk";
    expect(call.attributes).toMatchObject({ "gen_ai.request.stream": true });
    expect(attempt?.attributes[ttft]).toBeGreaterThanOrEqual(0.029);
    expect(call.attributes[ttft]).toBeGreaterThanOrEqual(Number(attempt?.attributes[ttft]));
  });

  test("that is refused is a span without attempts, and no error of the server", async () => {
    const answer = await gateway.chat({ ...body(), model: "nobody/knows" });
    expect(answer.status).toBe(404);
    const [call, ...rest] = await spansOf(requestIdOf(answer));
    expect(rest).toEqual([]);
    expect(call).toMatchObject({ name: "chat", status: 0 });
    expect(call.attributes).toMatchObject({
      "error.type": answer.json.error.code,
      "gen_ai.provider.name": "weir",
      "http.response.status_code": 404,
    });
  });

  test("that no provider answers is an error", async () => {
    const svc = { route: { providers: { only: ["broken"] } } };
    const answer = await gateway.chat(body({ svc }));
    const [call] = await spansOf(requestIdOf(answer));
    expect(call.status).toBe(2);
    expect(call.attributes["error.type"]).toBe(answer.json.error.code);
  });

  test("of embeddings is named so", async () => {
    const answer = await gateway.call("POST", "/v1/embeddings", {
      body: { model: "weir/sim-embed", input: "marker-prompt" },
    });
    expect(answer.status).toBe(200);
    const [call] = await spansOf(requestIdOf(answer));
    expect(call.name).toBe("embeddings weir/sim-embed");
    expect(call.attributes["gen_ai.operation.name"]).toBe("embeddings");
  });

  test("has nothing of prompt, answer, user or address in its spans", async () => {
    const headers = { "user-agent": "marker-agent", "x-forwarded-for": "192.0.2.7" };
    const more = { user: "marker-user", simulator: { status: 400, error_message: "marker-prompt" } };
    const answer = await gateway.chat(body(more), { headers });
    await spansOf(requestIdOf(answer));
    expect(collector.spans.length).toBeGreaterThan(4);
    const all = JSON.stringify(collector.spans);
    expect(all).not.toMatch(/marker-|Be brief|192\.0\.2|127\.0\.0\.0/);
  });
});

describe("a client's trace context", () => {
  test.each([
    ["of another length", `00-${TRACE}-${PARENT}`],
    ["with a zero trace id", `00-${"0".repeat(32)}-${PARENT}-01`],
    ["with a zero span id", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["in capitals", `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ["of the forbidden version", `ff-${TRACE}-${PARENT}-01`],
    ["with more than version 00 has", `00-${TRACE}-${PARENT}-01-more`],
    ["of more than 2,000 characters", `01-${TRACE}-${PARENT}-01-${"a".repeat(2000)}`],
  ])("%s is ignored, and its state with it", async (_, traceparent) => {
    const answer = await gateway.chat(body(), { headers: { traceparent, tracestate: "rojo=1" } });
    const sent = sentUpstream();
    expect(answer.status).toBe(200);
    const [call, attempt] = await spansOf(requestIdOf(answer));
    expect(call.traceId).not.toBe(TRACE);
    expect(call).toMatchObject({ parentSpanId: "", traceState: "" });
    expect(sent.traceparent).toBe(`00-${call.traceId}-${attempt?.spanId}-01`);
    expect(sent.tracestate).toBeUndefined();
  });

  test("that was not sampled makes no spans, and is passed on unsampled", async () => {
    const traceId = newTrace();
    await gateway.chat(body(), { headers: { traceparent: `00-${traceId}-${PARENT}-00` } });
    expect(sentUpstream().traceparent).toMatch(new RegExp(`^00-${traceId}-(?!${PARENT})[0-9a-f]{16}-00$`));
    const later = await gateway.chat(body());
    await spansOf(requestIdOf(later));
    expect(collector.trace(traceId)).toEqual([]);
  });

  test("of a later version is understood as far as this one goes", async () => {
    const traceId = newTrace();
    const headers = { traceparent: `01-${traceId}-${PARENT}-01-later` };
    const answer = await gateway.chat(body(), { headers });
    expect((await spansOf(requestIdOf(answer)))[0].traceId).toBe(traceId);
  });
});

describe("what is no call of the client", () => {
  test("but a count of tokens is no span", async () => {
    const traceId = newTrace();
    const counted = await gateway.call("POST", "/v1/messages/count_tokens", {
      body: { model: "test/model", messages: [{ role: "user", content: "Hi" }] },
      headers: { traceparent: `00-${traceId}-${PARENT}-01` },
    });
    expect(counted.status).toBe(200);
    await spansOf(requestIdOf(await gateway.chat(body())));
    expect(collector.trace(traceId)).toEqual([]);
  });

  test("but a shadow copy is not in its trace, nor is its upstream", async () => {
    const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
    const { id } = json.data.find((e: { id: string }) => e.id.startsWith("ep_shadow_"));
    const defaults = { shadow: { endpoint: id, percent: 100, bill: "platform" } };
    const yaml = stringify({ version: 1, policy: "house", defaults });
    await gateway.call("POST", "/v1/policies", { body: { name: "house", yaml } });
    await gateway.call("POST", "/v1/policies/house/activate", { body: { version: 1 } });
    const before = gateway.simulator.calls.length;
    const [call, ...attempts] = await spansOf(requestIdOf(await gateway.chat(body())));
    const copy = () => gateway.simulator.calls.slice(before).find(({ path }) => path.includes("tokens"));
    await until("the copy is made", () => copy() !== undefined);
    expect(attempts).toHaveLength(1);
    expect(call.attributes["weir.policy"]).toBe("house");
    expect(copy()?.headers.traceparent).toBeUndefined();
  });
});

describe("metrics", () => {
  const points = (metric: string) => collector.points.filter((point) => point.metric === metric);
  const ofMain = { "gen_ai.provider.name": "main", "gen_ai.request.model": "test/model" };

  test("count durations and tokens of all calls, with the bounds of the conventions", async () => {
    const answer = await gateway.chat(body(), { headers: { traceparent: `00-${newTrace()}-${PARENT}-00` } });
    expect(answer.status).toBe(200);
    const calls = (await gateway.call("GET", "/metrics", { key: null })).text;
    const total = [...calls.matchAll(/^weir_calls_total\{.*\} (\d+)/gm)].reduce(
      (sum, m) => sum + Number(m[1]),
      0,
    );
    const duration = () => points("gen_ai.client.operation.duration");
    await until(
      "all calls are counted",
      () => duration().reduce((sum, { count }) => sum + count, 0) === total,
    );
    const ok = duration().find(({ attributes }) => attributes["gen_ai.request.model"] === "test/model");
    expect(ok?.attributes).toMatchObject({ "gen_ai.operation.name": "chat", "weir.environment": "live" });
    expect(ok?.bounds.slice(0, 3)).toEqual([0.01, 0.02, 0.04]);
    const tokens = points("gen_ai.client.token.usage");
    const types = tokens.filter(({ attributes }) => attributes["gen_ai.provider.name"] === "main");
    expect(types.map(({ attributes }) => attributes["gen_ai.token.type"]).sort()).toEqual([
      "input",
      "output",
    ]);
    expect(types[0]?.attributes).toMatchObject(ofMain);
    expect(types[0]?.bounds.slice(0, 3)).toEqual([1, 4, 16]);
    expect(points("gen_ai.client.operation.time_to_first_chunk")).toHaveLength(1);
  });

  test("name no model that only a client has named", () => {
    expect(collector.points.length).toBeGreaterThan(3);
    expect(JSON.stringify(collector.points)).not.toContain("nobody/knows");
  });
});
