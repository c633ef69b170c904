/** What is sent to the collector and what is not: sampling, content, drops; and what an absent collector does, which is nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  type Answer,
  closedPort,
  type GatewayOptions,
  type TestGateway,
  testGateway,
} from "../../../support/gateway.ts";
import { addOrgs } from "../../../support/money/orgs.ts";
import { metric, requestIdOf } from "../../../support/observations.ts";
import {
  type Collector,
  startCollector,
  toCollector,
} from "../../../support/telemetry/collector.fixtures.ts";
import { until } from "../../../support/wait.ts";

const CARD = "4111 1111 1111 1111";
const SAMPLED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function collect(answer?: () => number): Promise<Collector> {
  const collector = await startCollector(answer);
  ends.push(() => collector.close());
  return collector;
}

/** @returns the gateway, and a stop that may be called before the test ends */
async function open(options: GatewayOptions): Promise<TestGateway> {
  const gateway = await testGateway(options);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway.stop();
    return stopped;
  };
  ends.push(stop);
  return { ...gateway, stop };
}

const callSpan = (collector: Collector, answer: Answer) =>
  collector.spans.find(({ attributes }) => attributes["weir.request_id"] === requestIdOf(answer));

async function calls(gateway: TestGateway, count: number, headers: object = {}): Promise<void> {
  for (let i = 0; i < count; i++) expect((await gateway.chat({}, { headers })).status).toBe(200);
}

/** The counter with its label, of `/metrics`. */
async function dropped(gateway: TestGateway, reason: string): Promise<number> {
  const { text } = await gateway.call("GET", "/metrics", { key: null });
  return Number(new RegExp(`^weir_spans_dropped_total\\{reason="${reason}"\\} (\\d+)`, "m").exec(text)?.[1]);
}

describe("sampling", () => {
  test.each([
    ["always_off", "1", SAMPLED, 0],
    ["parentbased_always_off", "1", "", 0],
    ["parentbased_always_off", "1", SAMPLED, 1],
    ["parentbased_traceidratio", "0", "", 0],
    ["parentbased_traceidratio", "1", "", 1],
    ["traceidratio", "0", SAMPLED, 0],
    ["always_on", "1", SAMPLED.replace(/01$/, "00"), 1],
  ])("by %s %s of a client that says %j takes %d of a call", async (sampler, ratio, traceparent, taken) => {
    const collector = await collect();
    const env = toCollector(collector.url, { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio });
    const gateway = await open({ env });
    await calls(gateway, 1, traceparent === "" ? {} : { traceparent });
    expect(gateway.simulator.calls.at(-1)?.headers.traceparent).toMatch(taken === 1 ? /-01$/ : /-00$/);
    await gateway.stop();
    expect(collector.spans).toHaveLength(2 * taken);
    // Metrics count every call.
    expect(collector.points.find(({ metric: name }) => name.endsWith("duration"))?.count).toBe(1);
  });

  test("by a share takes about that share of traces, each whole", async () => {
    const collector = await collect();
    const env = toCollector(collector.url, {
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.5",
    });
    const gateway = await open({ env });
    await calls(gateway, 60);
    await gateway.stop();
    const traces = Map.groupBy(collector.spans, ({ traceId }) => traceId);
    // Outside with a probability below one in a million.
    expect(traces.size).toBeGreaterThan(10);
    expect(traces.size).toBeLessThan(50);
    for (const spans of traces.values()) expect(spans).toHaveLength(2);
  });
});

describe("content", () => {
  const chat = {
    model: "weir/sim-small",
    messages: [
      { role: "system", content: "marker-system" },
      { role: "user", content: `marker-prompt, card ${CARD}` },
    ],
    max_tokens: 100,
    simulator: { echo: true },
  };

  test("is in spans where it is switched on: redacted as records are, and only of orgs whose payloads are kept", async () => {
    const collector = await collect();
    const folder = mkdtempSync(join(tmpdir(), "weir-telemetry-"));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    await (await testGateway({ folder, cells: 0 })).stop();
    const of = (dataPolicy: object) => ({ creditMicroUsd: 5_000_000, dataPolicy });
    const keys = await addOrgs(folder, {
      on: of({ logging: "on", redact: { presets: ["card"], patterns: [] } }),
      metadata: of({ logging: "metadata" }),
      off: of({ logging: "off" }),
      zdr: of({ logging: "on", zdr: true }),
    });
    const capture = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" };
    const gateway = await open({ folder, env: toCollector(collector.url, capture) });
    const shown = [
      await gateway.chat(chat, { key: keys.on }),
      await gateway.chat({ ...chat, stream: true }, { key: keys.on }),
    ];
    const hidden = [
      await gateway.chat(chat, { key: keys.metadata }),
      await gateway.chat(chat, { key: keys.off }),
      await gateway.chat(chat, { key: keys.zdr }),
      await gateway.chat({ ...chat, svc: { route: { require: { zdr: true } } } }, { key: keys.on }),
    ];
    await gateway.stop();
    for (const answer of shown) {
      expect(answer.text).toContain(CARD.slice(0, 4));
      const { attributes } = callSpan(collector, answer) ?? {};
      const json = (name: string) => JSON.parse(String(attributes?.[name]));
      const text = "marker-prompt, card [REDACTED:card]";
      expect(json("gen_ai.system_instructions")).toEqual([{ type: "text", content: "marker-system" }]);
      expect(json("gen_ai.input.messages")).toEqual([
        { role: "user", parts: [{ type: "text", content: text }] },
      ]);
      expect(json("gen_ai.output.messages")).toEqual([
        { role: "assistant", parts: [{ type: "text", content: text }], finish_reason: "stop" },
      ]);
    }
    for (const answer of hidden) {
      expect(answer.status).toBe(200);
      expect(callSpan(collector, answer)).toBeDefined();
      expect(JSON.stringify(callSpan(collector, answer))).not.toMatch(/marker-|\.messages|instructions/);
    }
    expect(JSON.stringify(collector.spans)).not.toContain("1111");
  });

  test("is nowhere unless it is switched on", async () => {
    const collector = await collect();
    const gateway = await open({ env: toCollector(collector.url) });
    await gateway.chat(chat);
    await gateway.stop();
    expect(collector.spans).toHaveLength(2);
    expect(Buffer.concat(collector.requests.map(({ body }) => body)).toString()).not.toMatch(
      /marker-|messages/,
    );
  });
});

describe("a collector", () => {
  test("that is not there costs calls nothing but one line of the log, and the stop stays clean", async () => {
    const log: string[] = [];
    const env = toCollector(`http://user:secret@127.0.0.1:${await closedPort()}`, {
      OTEL_EXPORTER_OTLP_TIMEOUT: "100",
    });
    const gateway = await open({ env, log });
    const lines = () => log.filter((line) => line.includes("OpenTelemetry"));
    await calls(gateway, 3);
    await until("the collector was tried", () => lines().length > 0);
    const before = await dropped(gateway, "export_failed");
    await calls(gateway, 3);
    await gateway.stop();
    expect(before).toBeGreaterThanOrEqual(0);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toContain('"level":40');
    expect(log.join("")).not.toContain("secret");
  });

  test("that refuses makes spans count as dropped", async () => {
    const collector = await collect(() => 400);
    const gateway = await open({ env: toCollector(collector.url) });
    await calls(gateway, 2);
    await until("they are counted", async () => (await dropped(gateway, "export_failed")) === 4);
  });

  test("that hangs fills the queue, what does not fit is counted, and a stop does not wait for it", async () => {
    const collector = await collect(() => 0);
    const settings = { timeouts: { shutdown_ms: 3000 } };
    const queue = { OTEL_BSP_MAX_QUEUE_SIZE: "6", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" };
    const gateway = await open({ settings, env: toCollector(collector.url, queue) });
    // One batch of 2 is under way and 6 spans wait: of 10 calls 4 fit.
    await calls(gateway, 1);
    await until("the first batch is sent", () =>
      collector.requests.some(({ path }) => path === "/v1/traces"),
    );
    await calls(gateway, 9);
    expect(await dropped(gateway, "queue_full")).toBe(12);
    expect(await metric(gateway, "weir_calls_live")).toBe(0);
    await gateway.stop();
  });

  test("gets what waits when the gateway stops, spans and metrics, in Protobuf too", async () => {
    const collector = await collect();
    const slow = { OTEL_BSP_SCHEDULE_DELAY: "60000", OTEL_METRIC_EXPORT_INTERVAL: "60000" };
    const gateway = await open({
      env: toCollector(collector.url, { ...slow, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }),
    });
    const answer = await gateway.chat({}, { headers: { traceparent: SAMPLED } });
    expect(collector.requests).toEqual([]);
    await gateway.stop();
    const sent = Object.fromEntries(collector.requests.map(({ path, type, body }) => [path, { type, body }]));
    const { type, body = Buffer.alloc(0) } = sent["/v1/traces"] ?? {};
    expect(type).toBe("application/x-protobuf");
    expect(body.includes(Buffer.from("4bf92f3577b34da6a3ce929d0e0e4736", "hex"))).toBe(true);
    expect(body.includes(requestIdOf(answer))).toBe(true);
    expect(sent["/v1/metrics"]?.body.includes("gen_ai.client.operation.duration")).toBe(true);
  });

  test("gets only what is asked for", async () => {
    const collector = await collect();
    const gateway = await open({ env: toCollector(collector.url, { OTEL_TRACES_EXPORTER: "none" }) });
    await calls(gateway, 1, { traceparent: SAMPLED });
    expect(gateway.simulator.calls.at(-1)?.headers.traceparent).toBeUndefined();
    await gateway.stop();
    expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(["/v1/metrics"]));
  });
});
