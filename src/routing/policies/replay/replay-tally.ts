/**
 * Running sums of a replay. It may see a million calls, so it keeps at most two numbers per call; only the report
 * consists of objects.
 */
import type { ReplayReport } from "./replay-report.ts";

/** Why a recorded call is skipped. */
export type Skipped = "rejected" | "unknown_model" | "unreadable";
export type Refusal = "denied_by_policy" | "no_endpoint";

/** The outcome of one call, recorded and replayed. */
export interface Compared {
  /** Empty: no endpoint was tried. */
  readonly recordedAt: string;
  readonly replayedAt: string;
  readonly recordedMicroUsd: number;
  readonly replayedMicroUsd: number;
  /** 0: no byte was sent to the client. */
  readonly recordedTtftMs: number;
  /** Undefined: the endpoint was never measured. */
  readonly expectedTtftMs: number | undefined;
}

const EXAMPLES = 5;

export class ReplayTally {
  #replayed = 0;
  #moved = 0;
  #recordedMicroUsd = 0;
  #replayedMicroUsd = 0;
  #repriced = 0;
  #unmeasured = 0;
  #failedThen = 0;
  #failedNow = 0;
  readonly #skipped = { rejected: 0, unknown_model: 0, unreadable: 0 };
  readonly #refusedThen = { denied_by_policy: 0, no_endpoint: 0 };
  readonly #refusedNow = { denied_by_policy: 0, no_endpoint: 0 };
  readonly #rules = new Map<string, number>();
  readonly #endpoints = new Map<string, { recorded: number; replayed: number }>();
  readonly #recordedTtft = new Milliseconds();
  readonly #expectedTtft = new Milliseconds();
  readonly #newlyRefused: { request_id: string; reason: string }[] = [];
  readonly #refusedAgain: { request_id: string; reason: string }[] = [];

  skip(why: Skipped): void {
    this.#skipped[why] += 1;
  }

  /** Counts a replayed call, whatever its outcome. @param rule empty: none matched. */
  decided(rule: string, recordedAt: string, refusedThen: Refusal | undefined, failedThen: boolean): void {
    this.#replayed += 1;
    this.#rules.set(rule, (this.#rules.get(rule) ?? 0) + 1);
    if (recordedAt !== "") this.#endpoint(recordedAt).recorded += 1;
    if (refusedThen !== undefined) this.#refusedThen[refusedThen] += 1;
    if (failedThen) this.#failedThen += 1;
  }

  refused(what: Refusal, requestId: string, reason: string, recordedMicroUsd: number, isNew: boolean): void {
    this.#refusedNow[what] += 1;
    this.#recordedMicroUsd += recordedMicroUsd;
    const examples = isNew ? this.#newlyRefused : this.#refusedAgain;
    if (examples.length < EXAMPLES) examples.push({ request_id: requestId, reason });
  }

  /** The call failed at every endpoint that the version would try. */
  failed(recordedMicroUsd: number): void {
    this.#failedNow += 1;
    this.#recordedMicroUsd += recordedMicroUsd;
  }

  served(call: Compared): void {
    this.#endpoint(call.replayedAt).replayed += 1;
    this.#recordedMicroUsd += call.recordedMicroUsd;
    this.#replayedMicroUsd += call.replayedMicroUsd;
    const stays = call.recordedAt === call.replayedAt;
    if (call.recordedAt !== "" && !stays) this.#moved += 1;
    if (stays && call.recordedMicroUsd !== call.replayedMicroUsd) this.#repriced += 1;
    if (call.recordedTtftMs === 0) return;
    if (call.expectedTtftMs === undefined) {
      this.#unmeasured += 1;
      return;
    }
    this.#recordedTtft.add(call.recordedTtftMs);
    this.#expectedTtft.add(call.expectedTtftMs);
  }

  #endpoint(id: string): { recorded: number; replayed: number } {
    let counts = this.#endpoints.get(id);
    if (counts === undefined) {
      counts = { recorded: 0, replayed: 0 };
      this.#endpoints.set(id, counts);
    }
    return counts;
  }

  /** The report, without the fields that only the caller knows. */
  report(): Omit<ReplayReport, "hours" | "version" | "truncated" | "incomplete_since" | "assumptions"> {
    const skipped = this.#skipped.rejected + this.#skipped.unknown_model + this.#skipped.unreadable;
    return {
      requests: this.#replayed + skipped,
      replayed: this.#replayed,
      skipped: { requests: skipped, ...this.#skipped },
      moved: this.#moved,
      moved_share: this.#replayed === 0 ? 0 : Math.round((this.#moved / this.#replayed) * 1e4) / 1e4,
      cost_micro: {
        recorded: this.#recordedMicroUsd,
        replayed: this.#replayedMicroUsd,
        delta: this.#replayedMicroUsd - this.#recordedMicroUsd,
        repriced: this.#repriced,
      },
      ttft_ms: this.#ttft(),
      refusals: { recorded: { ...this.#refusedThen }, replayed: { ...this.#refusedNow } },
      failures: { recorded: this.#failedThen, replayed: this.#failedNow },
      by_endpoint: [...this.#endpoints]
        .map(([endpoint_id, counts]) => ({ endpoint_id, ...counts }))
        .sort((a, b) => b.replayed - a.replayed || b.recorded - a.recorded || byId(a, b)),
      by_rule: [...this.#rules]
        .map(([rule, requests]) => ({ rule, requests }))
        .sort((a, b) => b.requests - a.requests || (a.rule < b.rule ? -1 : 1)),
      examples: [...this.#newlyRefused, ...this.#refusedAgain].slice(0, EXAMPLES),
    };
  }

  #ttft(): ReplayReport["ttft_ms"] {
    const [recordedP50, recordedMean] = this.#recordedTtft.medianAndMean();
    const [expectedP50, expectedMean] = this.#expectedTtft.medianAndMean();
    return {
      compared: this.#recordedTtft.count,
      recorded_p50: recordedP50,
      recorded_mean: recordedMean,
      expected_p50: expectedP50,
      expected_mean: expectedMean,
      delta_p50: difference(expectedP50, recordedP50),
      delta_mean: difference(expectedMean, recordedMean),
      unknown: this.#unmeasured,
    };
  }
}

const byId = (a: { endpoint_id: string }, b: { endpoint_id: string }): number =>
  a.endpoint_id < b.endpoint_id ? -1 : 1;

const tenths = (n: number): number => Math.round(n * 10) / 10;

const difference = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : tenths(a - b);

/** Measurements in four bytes each. */
class Milliseconds {
  #values = new Uint32Array(4096);
  count = 0;
  #sum = 0;

  add(ms: number): void {
    if (this.count === this.#values.length) {
      const grown = new Uint32Array(this.count * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.count++] = Math.round(ms);
    this.#sum += ms;
  }

  /** The lower of two middle values; null where empty. */
  medianAndMean(): readonly [number | null, number | null] {
    if (this.count === 0) return [null, null];
    const sorted = this.#values.slice(0, this.count).sort();
    return [sorted[(this.count - 1) >> 1] ?? null, tenths(this.#sum / this.count)];
  }
}
