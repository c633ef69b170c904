/** What usage should answer of records, reckoned the slow and obvious way. */
import { expect } from "vitest";
import type { Measured } from "../../../src/analytics/usage/usage-wire.ts";
import type { CallRecord } from "../../../src/record/record.ts";

/** The same sums the slow and obvious way. */
export function reduced(records: readonly CallRecord[]) {
  const sum = (of: (r: CallRecord) => number) => records.reduce((total, r) => total + of(r), 0);
  return {
    requests: records.length,
    ok: sum((r) => Number(r.status === "ok")),
    errors: sum((r) => Number(r.status === "error" || r.status === "rejected")),
    input_tokens: sum((r) => r.usage.inputTokens),
    output_tokens: sum((r) => r.usage.outputTokens),
    cache_read_tokens: sum((r) => r.usage.cacheReadTokens),
    cache_write_tokens: sum((r) => r.usage.cacheWriteTokens),
    reasoning_tokens: sum((r) => r.usage.reasoningTokens),
    cost_micro: sum((r) => (r.charged ? r.cost.total_micro_usd : 0)),
  };
}

/** The value that a share of the values does not exceed, with the values beside it: an estimate lies between. */
function around(values: readonly number[], share: number): readonly [number, number] | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  // A digest of thousands of values merges neighbours; of few values it is exact.
  const slack = 1 + 0.02 * sorted.length;
  const of = (index: number) => sorted[Math.min(Math.max(index, 0), sorted.length - 1)] ?? 0;
  return [of(Math.floor(at - slack)), of(Math.ceil(at + slack))];
}

/** Sums are exact, times as near as a digest is. */
export function expectFigures(answered: Measured | undefined, records: readonly CallRecord[], times = "all") {
  const { latency, cache_share, ...sums } = answered as Measured;
  const wanted = reduced(records);
  expect(sums).toEqual(wanted);
  if (wanted.input_tokens === 0) expect(cache_share).toBeNull();
  else expect(cache_share).toBeCloseTo(wanted.cache_read_tokens / wanted.input_tokens, 3);
  const known = times === "all" ? records : [];
  const firsts = known.filter((r) => r.stream && r.ttftMs > 0).map((r) => r.ttftMs);
  const wholes = known.filter((r) => r.provider !== "").map((r) => r.durationMs);
  const bounds = {
    ttft_p50_ms: around(firsts, 0.5),
    ttft_p95_ms: around(firsts, 0.95),
    duration_p50_ms: around(wholes, 0.5),
    duration_p95_ms: around(wholes, 0.95),
  };
  for (const [name, bound] of Object.entries(bounds)) {
    const value = latency[name as keyof typeof latency];
    if (bound === null) expect([name, value]).toEqual([name, null]);
    else expect([name, value !== null && value >= bound[0] && value <= bound[1]]).toEqual([name, true]);
  }
}
