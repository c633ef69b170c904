/**
 * Running sums of a replay. It may see a million calls, so it keeps at most two numbers per call; only the report
 * consists of objects.
 */
import { FAILED, type FlowEnd, REFUSED, ReplayFlows, tenths } from "./replay-flows.ts";
import type { ReplayReport } from "./replay-report.ts";

/** Why a recorded call is skipped. */
export type Skipped = "rejected" | "unknown_model" | "unreadable";
export type Refusal = "denied_by_policy" | "no_endpoint";

/** What became of a call, as it was recorded. */
export interface Then {
  readonly end: FlowEnd;
  /** The endpoint that served it, or was the last to fail; empty: none was tried. */
  readonly recordedAt: string;
  readonly recordedMicroUsd: number;
}

/** The outcome of one call that an endpoint serves under the version. */
export interface Compared extends Then {
  readonly replayedAt: string;
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
  #newlyRefusedCount = 0;
  #repriced = 0;
  #unmeasured = 0;
  #failedThen = 0;
  #failedNow = 0;
  readonly #skipped = { rejected: 0, unknown_model: 0, unreadable: 0 };
  readonly #refusedThen = { denied_by_policy: 0, no_endpoint: 0 };
  readonly #refusedNow = { denied_by_policy: 0, no_endpoint: 0 };
  readonly #rules = new Map<string, number>();
  readonly #endpoints = new Map<string, { recorded: number; replayed: number }>();
  readonly #flows = new ReplayFlows();
  readonly #newlyRefused: ReplayReport["examples"] = [];
  readonly #refusedAgain: ReplayReport["examples"] = [];

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

  /** @param then what became of it; refused then too: it is not newly refused */
  refused(what: Refusal, requestId: string, reason: string, then: Then): void {
    const isNew = then.end.outcome !== "refused";
    this.#refusedNow[what] += 1;
    if (isNew) this.#newlyRefusedCount += 1;
    this.#flows.add(then.end, REFUSED, then.recordedMicroUsd, 0);
    const examples = isNew ? this.#newlyRefused : this.#refusedAgain;
    if (examples.length < EXAMPLES) examples.push({ request_id: requestId, reason, is_new: isNew });
  }

  /** The call failed at every endpoint that the version would try. */
  failed(then: Then): void {
    this.#failedNow += 1;
    this.#flows.add(then.end, FAILED, then.recordedMicroUsd, 0);
  }

  served(call: Compared): void {
    const { recordedAt, replayedAt, recordedMicroUsd, replayedMicroUsd, recordedTtftMs, expectedTtftMs } =
      call;
    this.#endpoint(replayedAt).replayed += 1;
    const stays = recordedAt === replayedAt;
    if (recordedAt !== "" && !stays) this.#moved += 1;
    if (stays && recordedMicroUsd !== replayedMicroUsd) this.#repriced += 1;
    const isUnmeasured = recordedTtftMs !== 0 && expectedTtftMs === undefined;
    if (isUnmeasured) this.#unmeasured += 1;
    this.#flows.add(
      call.end,
      { outcome: "served", endpointId: replayedAt },
      recordedMicroUsd,
      replayedMicroUsd,
      recordedTtftMs === 0 || expectedTtftMs === undefined ? undefined : [recordedTtftMs, expectedTtftMs],
    );
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
    const total = this.#flows.total();
    const skipped = this.#skipped.rejected + this.#skipped.unknown_model + this.#skipped.unreadable;
    return {
      requests: this.#replayed + skipped,
      replayed: this.#replayed,
      skipped: { requests: skipped, ...this.#skipped },
      moved: this.#moved,
      moved_share: this.#replayed === 0 ? 0 : Math.round((this.#moved / this.#replayed) * 1e4) / 1e4,
      cost_micro: {
        recorded: total.recordedMicroUsd,
        replayed: total.replayedMicroUsd,
        delta: total.replayedMicroUsd - total.recordedMicroUsd,
        repriced: this.#repriced,
      },
      ttft_ms: this.#ttft(total),
      refusals: {
        recorded: { ...this.#refusedThen },
        replayed: { ...this.#refusedNow },
        newly: this.#newlyRefusedCount,
      },
      flows: this.#flows.report(),
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

  #ttft(total: ReturnType<ReplayFlows["total"]>): ReplayReport["ttft_ms"] {
    const recorded = total.recordedTtft.figures();
    const expected = total.expectedTtft.figures();
    return {
      compared: total.recordedTtft.count,
      recorded_p50: recorded.p50,
      recorded_p95: recorded.p95,
      recorded_mean: recorded.mean,
      expected_p50: expected.p50,
      expected_p95: expected.p95,
      expected_mean: expected.mean,
      delta_p50: difference(expected.p50, recorded.p50),
      delta_mean: difference(expected.mean, recorded.mean),
      unknown: this.#unmeasured,
    };
  }
}

const byId = (a: { endpoint_id: string }, b: { endpoint_id: string }): number =>
  a.endpoint_id < b.endpoint_id ? -1 : 1;

const difference = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : tenths(a - b);
