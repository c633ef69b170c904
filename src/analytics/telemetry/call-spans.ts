/**
 * The spans of a settled call: one of the call (kind server) and one below it for each attempt (kind client). Made from times that
 * its record has, so nothing is measured for them; as plain data, which costs a fraction of the SDK's own recording spans.
 */
import {
  type Attributes,
  type HrTime,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  TraceFlags,
} from "@opentelemetry/api";
import type { InstrumentationScope } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { AttemptRecord, CallRecord } from "../../record/record.ts";
import { attemptAttributes, attemptStatus, callAttributes, callStatus, spanName } from "./call-attributes.ts";
import type { CallSpans } from "./call-traces.ts";

/** What all spans of the process share. */
export interface SpanSource {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
}

interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
}

/** @param content attributes with what was asked and answered; empty unless it is captured */
export function spansOf(
  source: SpanSource,
  record: CallRecord,
  trace: CallSpans,
  content: Attributes,
): ReadableSpan[] {
  const endMs = record.tsMs + record.durationMs;
  const name = spanName(record);
  const call = new SettledSpan(source, {
    name,
    kind: SpanKind.SERVER,
    context: trace.context,
    parent: trace.parent,
    startMs: record.tsMs,
    endMs,
    status: callStatus(record),
    attributes: Object.assign(callAttributes(record), content),
  });
  const attempts = record.attempts.map((attempt) => attemptSpan(source, record, attempt, trace, name, endMs));
  return [call, ...attempts];
}

function attemptSpan(
  source: SpanSource,
  record: CallRecord,
  attempt: AttemptRecord,
  trace: CallSpans,
  name: string,
  callEndMs: number,
): ReadableSpan {
  const { traceId, traceState } = trace.context;
  const spanId = trace.spanIdOf(attempt.attempt);
  const startMs = Math.min(attempt.tsMs, callEndMs);
  return new SettledSpan(source, {
    name,
    kind: SpanKind.CLIENT,
    context: { traceId, spanId, traceFlags: TraceFlags.SAMPLED, ...(traceState && { traceState }) },
    parent: trace.context,
    startMs,
    // Each time is rounded by itself: an attempt must not seem to outlast its call.
    endMs: Math.min(startMs + attempt.durationMs, callEndMs),
    status: attemptStatus(attempt),
    attributes: attemptAttributes(record, attempt),
  });
}

class SettledSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly links = [];
  readonly events = [];
  readonly ended = true;
  readonly resource: Resource;
  readonly instrumentationScope: InstrumentationScope;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #context: SpanContext;

  constructor({ resource, scope }: SpanSource, facts: SpanFacts) {
    this.name = facts.name;
    this.kind = facts.kind;
    this.#context = facts.context;
    if (facts.parent !== undefined) this.parentSpanContext = facts.parent;
    this.startTime = hrTimeOf(facts.startMs);
    this.endTime = hrTimeOf(facts.endMs);
    this.duration = hrTimeOf(facts.endMs - facts.startMs);
    this.status = facts.status;
    this.attributes = facts.attributes;
    this.resource = resource;
    this.instrumentationScope = scope;
  }

  // The interface asks for a property.
  readonly spanContext = (): SpanContext => this.#context;
}

/** Seconds and nanoseconds of milliseconds since 1970, or of a duration. */
function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
