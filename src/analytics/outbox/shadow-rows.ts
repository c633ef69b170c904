/**
 * The row of one shadow run: figures of the call beside those of its copy, and no text of either. In the queue a row is
 * JSON, so that a later release can read the members it knows; `shadow_runs` gets RowBinary.
 */

import { jsonIn } from "../../base/json.ts";
import type { CallStatus, ErrorClass } from "../../record/record.ts";
import { RowBinaryWriter } from "../../record/row-binary.ts";
import type { RowIdentity } from "./row-lookup.ts";

export interface ShadowRow {
  readonly orgId: string;
  /** When the call arrived; wall clock. */
  readonly tsMs: number;
  readonly requestId: string;
  /** The copy's own id: its charge is in the ledger under it. */
  readonly shadowRequestId: string;
  readonly policy: string;
  readonly policyVersion: number;
  /** The endpoint that answered the call, or was tried last. */
  readonly primaryEndpoint: string;
  readonly shadowEndpoint: string;
  readonly bill: "platform" | "org";
  /** Whether the org was charged for the copy. */
  readonly charged: boolean;
  readonly primaryStatus: CallStatus;
  /** `cancelled`: the copy was ended before its result was known. */
  readonly shadowStatus: "ok" | "error" | "cancelled";
  readonly shadowErrorClass: ErrorClass;
  readonly primaryCostMicroUsd: number;
  readonly shadowCostMicroUsd: number;
  /** Whether the call asked for a stream; its copy asks for the same. */
  readonly stream: boolean;
  /** From an attempt's start to its first content; 0 if there was none. */
  readonly primaryTtftMs: number;
  readonly shadowTtftMs: number;
  readonly primaryStopReason: string;
  readonly shadowStopReason: string;
  readonly primaryOutputTokens: number;
  readonly shadowOutputTokens: number;
}

type Column = readonly [name: string, write: (o: RowBinaryWriter, r: Partial<ShadowRow>) => void];

const COLUMNS: readonly Column[] = [
  ["org_id", (o, r) => o.text(r.orgId)],
  ["ts", (o, r) => o.time(r.tsMs)],
  ["request_id", (o, r) => o.text(r.requestId)],
  ["shadow_request_id", (o, r) => o.text(r.shadowRequestId)],
  ["policy", (o, r) => o.text(r.policy)],
  ["policy_version", (o, r) => o.u32(r.policyVersion)],
  ["primary_endpoint", (o, r) => o.text(r.primaryEndpoint)],
  ["shadow_endpoint", (o, r) => o.text(r.shadowEndpoint)],
  ["bill", (o, r) => o.text(r.bill)],
  ["charged", (o, r) => o.bool(r.charged)],
  ["primary_status", (o, r) => o.text(r.primaryStatus)],
  ["shadow_status", (o, r) => o.text(r.shadowStatus)],
  ["shadow_error_class", (o, r) => o.text(r.shadowErrorClass)],
  ["primary_cost_micro", (o, r) => o.u64(r.primaryCostMicroUsd)],
  ["shadow_cost_micro", (o, r) => o.u64(r.shadowCostMicroUsd)],
  ["primary_ttft_ms", (o, r) => o.u32(r.primaryTtftMs)],
  ["shadow_ttft_ms", (o, r) => o.u32(r.shadowTtftMs)],
  ["primary_stop_reason", (o, r) => o.text(r.primaryStopReason)],
  ["shadow_stop_reason", (o, r) => o.text(r.shadowStopReason)],
  ["stop_mismatch", (o, r) => o.bool(isMismatch(r))],
  ["primary_output_tokens", (o, r) => o.u32(r.primaryOutputTokens)],
  ["shadow_output_tokens", (o, r) => o.u32(r.shadowOutputTokens)],
  // An earlier release did not write this member: such a row counts as a stream, as it did there.
  ["stream", (o, r) => o.bool(r.stream !== false)],
];
export const SHADOW_COLUMNS: readonly string[] = COLUMNS.map(([name]) => name);

export const encodeRow = (row: ShadowRow): Uint8Array => Buffer.from(JSON.stringify(row));

/** A run with the values that identify its row in ClickHouse. */
export interface IdentifiedRun extends RowIdentity {
  readonly run: Partial<ShadowRow>;
}

/** @returns undefined for a row that cannot be read */
export function identified(bytes: Uint8Array): IdentifiedRun | undefined {
  const run = decoded(bytes);
  return (
    run && {
      run,
      // The values that the writer puts into these columns, whatever the JSON contains.
      orgId: textOf(run.orgId),
      tsMs: typeof run.tsMs === "number" ? Math.max(0, Math.round(run.tsMs)) : 0,
      id: textOf(run.shadowRequestId),
    }
  );
}

/** The runs as `INSERT INTO shadow_runs (…) FORMAT RowBinary` takes them. */
export function insertable(rows: readonly IdentifiedRun[]): Uint8Array {
  const out = new RowBinaryWriter(rows.length * BYTES_A_ROW);
  for (const { run } of rows) for (const [, write] of COLUMNS) write(out, run);
  return out.take();
}

const BYTES_A_ROW = 320;
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A member that is missing or of a wrong type does no harm: the writer limits every value to its column's range. */
function decoded(bytes: Uint8Array): Partial<ShadowRow> | undefined {
  const value = jsonIn(Buffer.from(bytes).toString("utf8"));
  return typeof value === "object" && value !== null ? value : undefined;
}

/** Only answers that both ended normally can have different stop reasons. */
const isMismatch = (r: Partial<ShadowRow>): boolean =>
  r.primaryStatus === "ok" && r.shadowStatus === "ok" && r.primaryStopReason !== r.shadowStopReason;
