/** What the gateway sees of OpenTelemetry, and what it must provide. Knows nothing of the SDK. */

import type { CallRecord } from "../../record/record.ts";
import type { Candidate } from "../requests/answer.ts";
import type { BeginTrace, CallTrace } from "./call-trace.ts";

export interface Telemetry {
  /** Undefined where traces are off. */
  readonly begin: BeginTrace | undefined;
  /** Makes spans and metrics of a call. Never throws. @param trace of `begin`, where the call has one */
  settled(record: CallRecord, trace: CallTrace | undefined): void;
  /** Spans that reached no collector, by reason. */
  dropped(): Readonly<Record<DropReason, number>>;
  /** Sends what waits. Takes no longer than `withinMs`, and never rejects. */
  stop(withinMs: number): Promise<void>;
}

export type DropReason = "queue_full" | "export_failed";

/** A message as the record has it: after redaction. */
export interface RecordedContent {
  /** The request in canonical form; undefined if it cannot be read. */
  readonly request: Readonly<Record<string, unknown>> | undefined;
  readonly candidates: readonly Candidate[];
}

export interface TelemetryDeps {
  readonly version: string;
  /** Name of this process among those of an installation. */
  readonly cell: string;
  /** The redacted content of a record whose payload is available. Rejects where it must not be shown. */
  readonly contentOf: (record: CallRecord) => Promise<RecordedContent>;
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}
