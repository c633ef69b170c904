/**
 * The place of a model call in a distributed trace (W3C Trace Context). Absent where tracing is off. The ids are fixed while the
 * call runs, because upstreams are told of them; its spans are made from its record once it has settled.
 */

export interface CallTrace {
  /**
   * Headers that tell an upstream of the attempt that calls it, in lower case. The attempt's span has the id that they carry.
   * @param attempt counted from 1, once each
   */
  headersOf(attempt: number): Readonly<Record<string, string>>;
}

/** Begins the trace of a call, or its part in the client's. @param traceparent as it came; empty where missing, ignored where malformed */
export type BeginTrace = (traceparent: string, tracestate: string) => CallTrace;
