/** Latencies of calls: in which bucket they are counted, and how `/metrics` tells them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUCKETS_S, Histogram } from "../../../../src/base/metrics/histogram.ts";
import { Latencies } from "../../../../src/inference/exchange/figures/latencies.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { atRest } from "../../../support/observations.ts";

describe("a histogram", () => {
  const bucketOf = (ms: number) => {
    const histogram = new Histogram();
    histogram.observe(ms);
    return histogram.counts.indexOf(1);
  };

  test("counts in the first bucket whose bound is not below, at the bounds and beside them", () => {
    for (const [i, bound] of BUCKETS_S.entries()) {
      expect(bucketOf(bound * 1000)).toBe(i);
      expect(bucketOf(bound * 1000 * 1.0001)).toBe(i + 1);
      expect(bucketOf(bound * 1000 * 0.9999)).toBe(i);
    }
    expect([0, 1e-9, 1e9].map(bucketOf)).toEqual([0, 0, BUCKETS_S.length]);
  });

  test("sums in seconds", () => {
    const histogram = new Histogram();
    for (const ms of [250, 750, 2000]) histogram.observe(ms);
    expect(histogram.sumS).toBe(3);
  });
});

test("a call without a byte for its client has no time to the first one", () => {
  const latencies = new Latencies();
  const labels = { route: "chat", modelClass: "", outcome: "refused" } as const;
  latencies.observe(labels, { durationMs: 4, ttftMs: 0, gwOverheadMs: 4 }, 0);
  latencies.observe(labels, { durationMs: 4, ttftMs: 3, gwOverheadMs: 4 }, 0);
  const [series, ...others] = latencies.all();
  const counted = (histogram?: Histogram) => histogram?.counts.reduce((sum, count) => sum + count, 0);
  expect(others).toEqual([]);
  expect([series?.duration, series?.firstToken, series?.overhead].map(counted)).toEqual([2, 1, 2]);
});

test("C14: the time that a call waited for what others held is in no latency", () => {
  const latencies = new Latencies();
  const labels = { route: "chat", modelClass: "", outcome: "streamed" } as const;
  latencies.observe(labels, { durationMs: 10_500, ttftMs: 10_250, gwOverheadMs: 2 }, 10_000);
  latencies.observe(labels, { durationMs: 10_000, ttftMs: 0, gwOverheadMs: 2 }, 10_000);
  const [series] = latencies.all();
  const sums = [series?.duration, series?.firstToken, series?.overhead].map((histogram) => histogram?.sumS);
  expect(sums).toEqual([0.5, 0.25, 0.004]);
});

describe("/metrics", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway();
  });
  afterAll(() => gateway.stop());

  test("tells them by route, class of model and outcome, in buckets that add up", async () => {
    for (const stream of [false, true, true]) expect((await gateway.chat({ stream })).status).toBe(200);
    expect((await gateway.chat({ model: "no/such" })).status).toBe(404);
    await atRest(gateway);
    const { text } = await gateway.call("GET", "/metrics");
    const value = (name: string, labels: string) =>
      Number(new RegExp(`^${name}\\{${labels}\\} (\\S+)$`, "m").exec(text)?.[1]);
    const streamed = 'route="chat",model_class="generate",outcome="streamed"';
    for (const name of [
      "weir_request_duration_seconds",
      "weir_time_to_first_token_seconds",
      "weir_gateway_overhead_seconds",
    ]) {
      expect(text).toContain(`# TYPE ${name} histogram\n`);
      expect(value(`${name}_count`, streamed)).toBe(2);
      expect(value(`${name}_bucket`, `${streamed},le="\\+Inf"`)).toBe(2);
      expect(value(`${name}_bucket`, `${streamed},le="512"`)).toBe(2);
      expect(value(`${name}_sum`, streamed)).toBeGreaterThan(0);
    }
    expect(value("weir_request_duration_seconds_count", streamed.replace("streamed", "whole"))).toBe(1);
    const refused = 'route="chat",model_class="",outcome="refused"';
    expect(value("weir_request_duration_seconds_count", refused)).toBe(1);
    expect(value("weir_time_to_first_token_seconds_count", refused)).toBe(0);
  });
});
