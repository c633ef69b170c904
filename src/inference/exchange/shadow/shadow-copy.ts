/**
 * Makes the shadow copy of a call: the same request of the same key, with its own id, for one endpoint and for a client that
 * discards everything. It takes part in no canary or experiment, has no fallback, and its answer is not stored. Its result
 * counts for its endpoint's health like that of any other call: an endpoint that refuses a copy would refuse a call.
 */

import type { Clock } from "../../../base/clock.ts";
import type { Endpoint } from "../../../base/endpoint.ts";
import { requestId } from "../../../base/ids.ts";
import type { Plan } from "../../../routing/planner/planner.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { UpstreamHandler } from "../../upstream/upstreams.ts";
import type { AttemptDeps } from "../attempts.ts";
import { Call, type PlannedCall } from "../call.ts";

/** A longer answer is not read to its end. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** @param withOwnKeys whether the copy may use the org's own provider keys, as the call may */
export function copyOf(
  call: PlannedCall,
  endpoint: Endpoint,
  withOwnKeys: boolean,
  clock: Clock,
): PlannedCall {
  const nowMs = clock.now();
  const copy = new Call({
    ...call.incoming,
    requestId: requestId(nowMs),
    tsMs: nowMs,
    startMs: clock.monotonic(),
    idempotencyKey: "",
    debug: false,
    // A copy is no part of what the client waits for.
    trace: undefined,
    reply: NO_CLIENT,
  });
  copy.ownKeys = withOwnKeys ? call.ownKeys : undefined;
  const single = planOf(call.plan, endpoint);
  return copy.withRequest(call.request).withPlan(call.model, single.decision, single);
}

/** @param onTooMuch called when the answer exceeds {@link MAX_ANSWER_BYTES}: the copy must end */
export function copyDeps(
  deps: Omit<AttemptDeps, "beginDrain" | "endDrain" | "firstContent">,
  onTooMuch: () => void,
): AttemptDeps {
  const { upstreams } = deps;
  return {
    ...deps,
    timeouts: { ...deps.timeouts, keepAliveMs: 0 },
    bounds: { ...deps.bounds, maxPayloadBytes: 0 },
    upstreams: {
      ...upstreams,
      call: (request, handler) => upstreams.call(request, bounded(handler, onTooMuch)),
    },
    beginDrain: () => false,
    endDrain: () => {},
    firstContent: () => {},
  };
}

/** The plan of a copy. Canaries and experiments are judged by calls only. */
function planOf({ decision, limits }: Plan, endpoint: Endpoint): Plan {
  return {
    decision: {
      ...decision,
      maxAttempts: 1,
      fallbacks: false,
      hedgeAfterMs: undefined,
      canary: undefined,
      shadow: undefined,
      experiment: undefined,
    },
    canary: "",
    arm: "",
    shadow: undefined,
    attempts: [endpoint],
    excluded: [],
    limits,
    isLastResort: false,
    availability: "some",
    retryAfterMs: 0,
    ranking: () => [],
    trace: () => "",
  };
}

function bounded(handler: UpstreamHandler, onTooMuch: () => void): UpstreamHandler {
  let bytes = 0;
  return {
    onHead: (status, headers) => handler.onHead(status, headers),
    onData(read, start, end) {
      bytes += end - start;
      if (bytes > MAX_ANSWER_BYTES) onTooMuch();
      else handler.onData(read, start, end);
    },
    onReadOver: () => handler.onReadOver?.(),
    onEnd: () => handler.onEnd(),
    onFailure: (failure) => handler.onFailure(failure),
  };
}

/** The client of a copy: accepts everything at once and never leaves. */
export const NO_CLIENT: ClientReply = Object.freeze({
  gone: false,
  send() {},
  sendJson() {},
  openStream() {},
  write: () => true,
  end() {},
  abort() {},
  onDrain() {},
  onGone() {},
});
