/** The stored results of a canary: a row that grows by results, and how it is judged. */
import type { CanaryState } from "../../planner/decision.ts";
import { ENOUGH_EVIDENCE, errorRateTest } from "./sequential-test.ts";

/** Results so far, with the limits used to judge them. */
export interface CanaryRow {
  readonly endpointId: string;
  readonly state: CanaryState;
  readonly samples: number;
  readonly failures: number;
  /** 0 to 1. */
  readonly maxErrorRate: number;
  readonly minSamples: number;
  readonly evaluatedAtMs: number;
}

/** Results to be added, with the limits in force now. */
export type CanaryResults = Omit<CanaryRow, "state">;

/** Red is final: results of calls that were in flight change nothing. */
export function withResults(row: CanaryRow | undefined, results: CanaryResults): CanaryRow {
  if (row?.state === "red") return row;
  const samples = (row?.samples ?? 0) + results.samples;
  const failures = (row?.failures ?? 0) + results.failures;
  return { ...results, samples, failures, state: judge({ ...results, samples, failures }) };
}

function judge({ samples, failures, minSamples, maxErrorRate }: CanaryResults): CanaryState {
  if (samples < minSamples) return "warming";
  return errorRateTest(maxErrorRate).logEvidence(failures, samples) >= ENOUGH_EVIDENCE ? "red" : "green";
}
