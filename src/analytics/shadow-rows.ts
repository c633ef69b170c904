/**
 * What is recorded of one shadow run: the call's own figures beside its copy's, and nothing of what was said. On its way a
 * row is JSON, so that a row which a later release finds waiting reads as far as it goes; `shadow_runs` gets RowBinary.
 */

import { RowBinaryWriter } from "../record/row-binary.ts";
import type { CallStatus, ErrorClass } from "../record.ts";
import type { RowIdentity } from "./row-lookup.ts";

export interface ShadowRow {
  readonly orgId: string;
  /** When the call came in; wall clock. */
  readonly tsMs: number;
  readonly requestId: string;
  /** The copy's own: the ledger knows its charge by it. */
  readonly shadowRequestId: string;
  readonly policy: string;
  readonly policyVersion: number;
  /** The endpoint that answered the call, or was tried last. */
  readonly primaryEndpoint: string;
  readonly shadowEndpoint: string;
  readonly bill: "platform" | "org";
  /** Whether the copy's cost was taken from the org's balance. */
  readonly charged: boolean;
  readonly primaryStatus: CallStatus;
  /** `cancelled`: nobody saw how it would have ended. */
  readonly shadowStatus: "ok" | "error" | "cancelled";
  readonly shadowErrorClass: ErrorClass;
  readonly primaryCostMicroUsd: number;
  readonly shadowCostMicroUsd: number;
  /** Whether the call asked for a stream; its copy asks for the same. */
  readonly stream: boolean;
  /** From an attempt's start to its first content; 0 where none came. */
  readonly primaryTtftMs: number;
  readonly shadowTtftMs: number;
  readonly primaryStopReason: string;
  readonly shadowStopReason: string;
  readonly primaryOutputTokens: number;
  readonly shadowOutputTokens: number;
}

/** In the order of {@link writeRow}. */
export const SHADOW_COLUMNS: readonly string[] = [
  ...["org_id", "ts", "request_id", "shadow_request_id", "policy", "policy_version"],
  ...["primary_endpoint", "shadow_endpoint", "bill", "charged"],
  ...["primary_status", "shadow_status", "shadow_error_class", "primary_cost_micro", "shadow_cost_micro"],
  ...["primary_ttft_ms", "shadow_ttft_ms", "primary_stop_reason", "shadow_stop_reason", "stop_mismatch"],
  ...["primary_output_tokens", "shadow_output_tokens", "stream"],
];

export const encodeRow = (row: ShadowRow): Uint8Array => Buffer.from(JSON.stringify(row));

/** A run, and what finds its row in ClickHouse. */
export interface IdentifiedRun extends RowIdentity {
  readonly run: Partial<ShadowRow>;
}

/** What cannot be read is left out and counted: one damaged row must not hold up those behind it. */
export function identified(rows: readonly Uint8Array[]): { rows: IdentifiedRun[]; damaged: number } {
  const runs = rows.flatMap((bytes) => decoded(bytes) ?? []);
  return {
    rows: runs.map((run) => ({
      run,
      // As the writer puts them into their columns, whatever the JSON holds.
      orgId: textOf(run.orgId),
      tsMs: typeof run.tsMs === "number" ? Math.max(0, Math.round(run.tsMs)) : 0,
      id: textOf(run.shadowRequestId),
    })),
    damaged: rows.length - runs.length,
  };
}

/** Runs as `INSERT INTO shadow_runs (…) FORMAT RowBinary` takes them. */
export function insertable(rows: readonly IdentifiedRun[]): Uint8Array {
  const out = new RowBinaryWriter(rows.length * BYTES_A_ROW);
  for (const { run } of rows) writeRow(out, run);
  return out.take();
}

const BYTES_A_ROW = 320;
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The writer brings every value into its column's range, so a member that is missing or odd does no harm. */
function decoded(bytes: Uint8Array): Partial<ShadowRow> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function writeRow(o: RowBinaryWriter, r: Partial<ShadowRow>): void {
  o.text(r.orgId);
  o.time(r.tsMs);
  o.text(r.requestId);
  o.text(r.shadowRequestId);
  o.text(r.policy);
  o.u32(r.policyVersion);
  o.text(r.primaryEndpoint);
  o.text(r.shadowEndpoint);
  o.text(r.bill);
  o.bool(r.charged);
  o.text(r.primaryStatus);
  o.text(r.shadowStatus);
  o.text(r.shadowErrorClass);
  o.u64(r.primaryCostMicroUsd);
  o.u64(r.shadowCostMicroUsd);
  o.u32(r.primaryTtftMs);
  o.u32(r.shadowTtftMs);
  o.text(r.primaryStopReason);
  o.text(r.shadowStopReason);
  o.bool(isMismatch(r));
  o.u32(r.primaryOutputTokens);
  o.u32(r.shadowOutputTokens);
  // An earlier release did not say: such a row counts, as it did there.
  o.bool(r.stream !== false);
}

/** Only two answers that came to their end can end differently. */
const isMismatch = (r: Partial<ShadowRow>): boolean =>
  r.primaryStatus === "ok" && r.shadowStatus === "ok" && r.primaryStopReason !== r.shadowStopReason;
