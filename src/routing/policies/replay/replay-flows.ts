/**
 * The flows of a replay: from what became of calls to what would become of them, with calls, money and first tokens of
 * each. A report has the largest of them, and sums of the rest.
 */
import type { ReplayReport } from "./replay-report.ts";

/** `served`, or no endpoint answered the call: it failed, or was refused. */
export type Outcome = "served" | "failed" | "refused";

/** One side of a flow. */
export interface FlowEnd {
  readonly outcome: Outcome;
  /** The endpoint, where one served it; empty otherwise. */
  readonly endpointId: string;
}

export const FAILED: FlowEnd = { outcome: "failed", endpointId: "" };
export const REFUSED: FlowEnd = { outcome: "refused", endpointId: "" };

/** Flows of a report, beside the sums of the others. */
export const MAX_FLOWS = 60;

type WireFlow = ReplayReport["flows"][number];

/** Running sums of one flow, or of several. */
class FlowSum {
  requests = 0;
  recordedMicroUsd = 0;
  replayedMicroUsd = 0;
  readonly recordedTtft = new Milliseconds();
  readonly expectedTtft = new Milliseconds();

  join(other: FlowSum): void {
    this.requests += other.requests;
    this.recordedMicroUsd += other.recordedMicroUsd;
    this.replayedMicroUsd += other.replayedMicroUsd;
    this.recordedTtft.join(other.recordedTtft);
    this.expectedTtft.join(other.expectedTtft);
  }
}

interface Flow extends FlowSum {
  readonly from: FlowEnd;
  readonly to: FlowEnd;
}

export class ReplayFlows {
  readonly #flows = new Map<string, Flow>();

  /** @param ttft first tokens of a stream, recorded and expected; undefined: they are not compared */
  add(
    from: FlowEnd,
    to: FlowEnd,
    recordedMicroUsd: number,
    replayedMicroUsd: number,
    ttft?: readonly [recordedMs: number, expectedMs: number],
  ): void {
    const key = `${from.outcome} ${from.endpointId} ${to.outcome} ${to.endpointId}`;
    let flow = this.#flows.get(key);
    if (flow === undefined) {
      flow = Object.assign(new FlowSum(), { from, to });
      this.#flows.set(key, flow);
    }
    flow.requests += 1;
    flow.recordedMicroUsd += recordedMicroUsd;
    flow.replayedMicroUsd += replayedMicroUsd;
    if (ttft === undefined) return;
    flow.recordedTtft.add(ttft[0]);
    flow.expectedTtft.add(ttft[1]);
  }

  /** All flows together. */
  total(): FlowSum {
    const total = new FlowSum();
    for (const flow of this.#flows.values()) total.join(flow);
    return total;
  }

  /** The largest first; behind them the sums of those that are left out. */
  report(): WireFlow[] {
    const sorted = [...this.#flows.values()].sort((a, b) => b.requests - a.requests || byEnds(a, b));
    const shown = sorted.slice(0, MAX_FLOWS).map((flow) => ({
      from: endWire(flow.from),
      to: endWire(flow.to),
      changed: isChanged(flow),
      ...sumWire(flow),
    }));
    const left = sorted.slice(MAX_FLOWS);
    return [...shown, ...restOf(left)];
  }
}

const isChanged = ({ from, to }: Flow): boolean =>
  from.outcome !== to.outcome || from.endpointId !== to.endpointId;

function byEnds(a: Flow, b: Flow): number {
  const [one, other] = [a, b].map(({ from, to }) => JSON.stringify([endWire(from), endWire(to)]));
  return (one ?? "") < (other ?? "") ? -1 : 1;
}

const endWire = ({ outcome, endpointId }: FlowEnd): WireFlow["from"] => ({
  outcome,
  endpoint_id: endpointId,
});

const REST: WireFlow["from"] = Object.freeze({ outcome: "other", endpoint_id: "" });

/** Endpoints are summed; what failed and what is refused stays apart, so that their sums are whole. */
const restEnd = (end: FlowEnd): WireFlow["from"] => (end.outcome === "served" ? REST : endWire(end));

function restOf(left: readonly Flow[]): WireFlow[] {
  const sums = new Map<string, FlowSum & Pick<WireFlow, "from" | "to" | "changed">>();
  for (const flow of left) {
    const ends = { from: restEnd(flow.from), to: restEnd(flow.to), changed: isChanged(flow) };
    const key = JSON.stringify(ends);
    const sum = sums.get(key) ?? Object.assign(new FlowSum(), ends);
    sum.join(flow);
    sums.set(key, sum);
  }
  return [...sums]
    .sort(([one, a], [other, b]) => b.requests - a.requests || (one < other ? -1 : 1))
    .map(([, sum]) => ({ from: sum.from, to: sum.to, changed: sum.changed, ...sumWire(sum) }));
}

const sumWire = (sum: FlowSum): Omit<WireFlow, "from" | "to" | "changed"> => ({
  requests: sum.requests,
  recorded_micro: sum.recordedMicroUsd,
  replayed_micro: sum.replayedMicroUsd,
  compared: sum.recordedTtft.count,
  recorded_ttft_p50_ms: sum.recordedTtft.figures().p50,
  expected_ttft_p50_ms: sum.expectedTtft.figures().p50,
});

export interface MillisecondFigures {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly mean: number | null;
}

const NO_FIGURES: MillisecondFigures = { p50: null, p95: null, mean: null };
/** There are as many flows as pairs of endpoints, and most have few calls. */
const FIRST_PLACES = 32;

/** Measurements in four bytes each. */
class Milliseconds {
  #values = new Uint32Array(FIRST_PLACES);
  count = 0;
  #sum = 0;

  add(ms: number): void {
    this.#makeRoom(this.count + 1);
    this.#values[this.count++] = Math.round(ms);
    this.#sum += ms;
  }

  join(other: Milliseconds): void {
    this.#makeRoom(this.count + other.count);
    this.#values.set(other.#values.subarray(0, other.count), this.count);
    this.count += other.count;
    this.#sum += other.#sum;
  }

  /** Quantiles are values that were measured: of two middle ones the lower. */
  figures(): MillisecondFigures {
    if (this.count === 0) return NO_FIGURES;
    const sorted = this.#values.slice(0, this.count).sort();
    const at = (share: number) => sorted[Math.ceil(share * this.count) - 1] ?? null;
    return { p50: at(0.5), p95: at(0.95), mean: tenths(this.#sum / this.count) };
  }

  #makeRoom(places: number): void {
    if (places <= this.#values.length) return;
    const grown = new Uint32Array(Math.max(places, this.#values.length * 2));
    grown.set(this.#values.subarray(0, this.count));
    this.#values = grown;
  }
}

/** Rounded, as times of the report are. */
export const tenths = (n: number): number => Math.round(n * 10) / 10;
