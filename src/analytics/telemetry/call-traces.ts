/**
 * The ids of a call's spans, and whether they are sampled: decided when the call arrives, because upstreams are told. A client's
 * trace is continued where its `traceparent` is well-formed (W3C Trace Context, section 3.2).
 */
import {
  createTraceState,
  ROOT_CONTEXT,
  SamplingDecision,
  type SpanContext,
  SpanKind,
  type TraceState,
  trace as traces,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { BeginTrace, CallTrace } from "./call-trace.ts";
import type { SamplerName } from "./settings.ts";

const SAMPLED = 1;
/** The trace id is random (W3C Trace Context Level 2): passed on as the client says it. */
const RANDOM = 2;

const NO_ATTRIBUTES = {};

export class CallSpans implements CallTrace {
  readonly parent: SpanContext | undefined;
  readonly context: SpanContext;
  readonly #attempts: (string | undefined)[] = [];
  readonly #ids: RandomIdGenerator;
  /** As it is passed on; empty where there is none. */
  readonly #state: string;

  constructor(ids: RandomIdGenerator, parent: SpanContext | undefined, context: SpanContext) {
    this.#ids = ids;
    this.parent = parent;
    this.context = context;
    this.#state = context.traceState?.serialize() ?? "";
  }

  get isSampled(): boolean {
    return (this.context.traceFlags & SAMPLED) !== 0;
  }

  headersOf(attempt: number): Readonly<Record<string, string>> {
    const { traceId, traceFlags } = this.context;
    const traceparent = `00-${traceId}-${this.spanIdOf(attempt)}-0${traceFlags}`;
    return this.#state === "" ? { traceparent } : { traceparent, tracestate: this.#state };
  }

  /** @param attempt counted from 1 */
  spanIdOf(attempt: number): string {
    const known = this.#attempts[attempt];
    if (known !== undefined) return known;
    const id = this.#ids.generateSpanId();
    this.#attempts[attempt] = id;
    return id;
  }
}

export function samplerOf(name: SamplerName, ratio: number): Sampler {
  const root = rootSampler(name.replace(/^parentbased_/, ""), ratio);
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio);
  return name === "always_off" ? new AlwaysOffSampler() : new AlwaysOnSampler();
}

export function traceBeginner(sampler: Sampler): BeginTrace {
  const ids = new RandomIdGenerator();
  return (traceparent, tracestate) => {
    const parent = traceparent === "" ? undefined : parentOf(traceparent, tracestate);
    const traceId = parent?.traceId ?? ids.generateTraceId();
    const around = parent === undefined ? ROOT_CONTEXT : traces.setSpanContext(ROOT_CONTEXT, parent);
    // The model is not read yet: no sampler of the specification looks at name or attributes.
    const { decision } = sampler.shouldSample(around, traceId, "", SpanKind.SERVER, NO_ATTRIBUTES, []);
    const sampled = decision === SamplingDecision.RECORD_AND_SAMPLED ? SAMPLED : 0;
    const traceFlags = sampled | ((parent?.traceFlags ?? 0) & RANDOM);
    const spanId = ids.generateSpanId();
    const traceState = parent?.traceState;
    return new CallSpans(
      ids,
      parent,
      traceState === undefined
        ? { traceId, spanId, traceFlags }
        : { traceId, spanId, traceFlags, traceState },
    );
  };
}

/** Longer ones are of a later version; 55 characters are what this one has. */
const MAX_TRACEPARENT = 256;

function parentOf(traceparent: string, tracestate: string): SpanContext | undefined {
  const parsed = traceparent.length > MAX_TRACEPARENT ? null : parseTraceParent(traceparent);
  if (parsed === null) return undefined;
  const traceState = stateOf(tracestate);
  return { ...parsed, isRemote: true, ...(traceState && { traceState }) };
}

function stateOf(tracestate: string): TraceState | undefined {
  if (tracestate === "") return undefined;
  const state = createTraceState(tracestate);
  return state.serialize() === "" ? undefined : state;
}
