/** The flows of a replay: what is summed, what is told, and what of many is told as a sum. */
import { expect, test } from "vitest";
import {
  FAILED,
  type FlowEnd,
  MAX_FLOWS,
  REFUSED,
  ReplayFlows,
} from "../../../../src/routing/policies/replay/replay-flows.ts";

const at = (endpointId: string): FlowEnd => ({ outcome: "served", endpointId });
const served = (endpoint_id: string) => ({ outcome: "served", endpoint_id });

test("calls, money and first tokens of each way from what was to what would be, the largest first", () => {
  const flows = new ReplayFlows();
  flows.add(at("ep_a"), at("ep_b"), 100, 60, [300, 200]);
  flows.add(at("ep_a"), at("ep_b"), 100, 60, [500, 200]);
  flows.add(at("ep_a"), at("ep_b"), 100, 60);
  flows.add(at("ep_a"), at("ep_a"), 40, 40, [250, 250]);
  flows.add(at("ep_a"), at("ep_a"), 40, 41, [250, 250]);
  flows.add(at("ep_b"), REFUSED, 70, 0);
  flows.add(FAILED, FAILED, 0, 0);
  expect(flows.report()).toEqual([
    {
      from: served("ep_a"),
      to: served("ep_b"),
      changed: true,
      requests: 3,
      recorded_micro: 300,
      replayed_micro: 180,
      compared: 2,
      recorded_ttft_p50_ms: 300,
      expected_ttft_p50_ms: 200,
    },
    {
      from: served("ep_a"),
      to: served("ep_a"),
      changed: false,
      requests: 2,
      recorded_micro: 80,
      replayed_micro: 81,
      compared: 2,
      recorded_ttft_p50_ms: 250,
      expected_ttft_p50_ms: 250,
    },
    expect.objectContaining({
      from: { outcome: "failed", endpoint_id: "" },
      to: { outcome: "failed", endpoint_id: "" },
      changed: false,
      requests: 1,
      compared: 0,
      recorded_ttft_p50_ms: null,
    }),
    expect.objectContaining({
      from: served("ep_b"),
      to: { outcome: "refused", endpoint_id: "" },
      changed: true,
      recorded_micro: 70,
      replayed_micro: 0,
    }),
  ]);
  const total = flows.total();
  expect([total.requests, total.recordedMicroUsd, total.replayedMicroUsd]).toEqual([7, 450, 261]);
  expect(total.recordedTtft.figures()).toEqual({ p50: 250, p95: 500, mean: 325 });
});

test("what failed or is refused stays apart in the sums of the others", () => {
  const flows = new ReplayFlows();
  for (let i = 0; i < MAX_FLOWS; i++)
    for (let call = 0; call < 5; call++) flows.add(at(`ep_${i}`), at(`ep_${i}`), 1, 1);
  for (let i = 0; i < 4; i++) {
    flows.add(at(`ep_${i}`), REFUSED, 10, 0);
    flows.add(FAILED, at(`ep_${i}`), 0, 3);
    flows.add(at(`ep_${i}`), at(`ep_${i + 1}`), 2, 1);
  }
  flows.add(REFUSED, REFUSED, 0, 0);
  const end = (outcome: string) => ({ outcome, endpoint_id: "" });
  expect(flows.report().slice(MAX_FLOWS)).toMatchObject([
    { from: end("failed"), to: end("other"), changed: true, requests: 4, replayed_micro: 12 },
    { from: end("other"), to: end("other"), changed: true, requests: 4, recorded_micro: 8 },
    { from: end("other"), to: end("refused"), changed: true, requests: 4, recorded_micro: 40 },
    { from: end("refused"), to: end("refused"), changed: false, requests: 1 },
  ]);
});

test("of many flows the largest are told, and of the others two sums, whatever the order they came in", () => {
  const pairs = Array.from({ length: MAX_FLOWS + 20 }, (_, i) => i);
  const reportOf = (order: readonly number[]) => {
    const flows = new ReplayFlows();
    for (const i of order) {
      // Those of the end have one call each, every second one of them stays.
      const calls = i < MAX_FLOWS ? 3 : 1;
      for (let call = 0; call < calls; call++)
        flows.add(at(`ep_${i}`), at(`ep_${i % 2 === 0 ? i : 900 + i}`), 10, 7, [100 + i, 50]);
    }
    return flows.report();
  };
  const report = reportOf(pairs);
  expect(report).toHaveLength(MAX_FLOWS + 2);
  const other = { outcome: "other", endpoint_id: "" };
  expect(report.slice(MAX_FLOWS)).toMatchObject([
    { from: other, to: other, changed: false, requests: 10, recorded_micro: 100, replayed_micro: 70 },
    { from: other, to: other, changed: true, requests: 10, compared: 10, expected_ttft_p50_ms: 50 },
  ]);
  expect(report.reduce((sum, { requests }) => sum + requests, 0)).toBe(3 * MAX_FLOWS + 20);
  expect(reportOf([...pairs].reverse())).toEqual(report);
});

test("quantiles are values that were measured, however many there are", () => {
  const flows = new ReplayFlows();
  for (let ms = 1; ms <= 1000; ms++) flows.add(at("ep_a"), at("ep_a"), 0, 0, [ms, 1001 - ms]);
  const { recordedTtft, expectedTtft } = flows.total();
  expect(recordedTtft.figures()).toEqual({ p50: 500, p95: 950, mean: 500.5 });
  expect(expectedTtft.figures()).toEqual(recordedTtft.figures());
});
