/** What a running detached call would be charged, and its record, if its process ended now. */
import type { ByokFee } from "../../../base/usage.ts";
import type { CallRecord } from "../../../record/record.ts";
import type { AnswerStream } from "../../../wire/format.ts";
import type { ReservedCall } from "../call.ts";
import { BROKEN_OFF } from "../errors/broken-off.ts";
import { type Metered, meter } from "../meter.ts";
import { type RecordDeps, recordOf } from "../record.ts";
import { coveredAt } from "../reservation/fit.ts";
import { scopeOf } from "../reservation/holds.ts";
import type { AnsweredBy } from "./log-rows.ts";
import type { CallProgress } from "./log-writer.ts";

export interface ProgressDeps extends RecordDeps {
  readonly clock: { monotonic(): number };
  readonly byokFee: ByokFee;
}

/** The attempt whose answer is being told. */
export interface Telling {
  readonly stream: AnswerStream | undefined;
  /** More was read of its answer than was told. */
  readonly isAhead: boolean;
}

export function progressOf(
  deps: ProgressDeps,
  call: ReservedCall,
  telling: () => Telling | undefined,
): CallProgress {
  const metered = (): Metered | undefined => {
    const { stream, isAhead } = telling() ?? NOTHING_TOLD;
    if (isAhead) return undefined;
    const fee = call.lane?.key.isByok ? deps.byokFee : undefined;
    return meter(call.request.facts, call.endpoint, stream?.facts, coveredAt(call), fee, call.sent);
  };
  const record = (): CallRecord =>
    recordOf(
      deps,
      call,
      {
        status: "error",
        httpStatus: 200,
        error: BROKEN_OFF.charged,
        metered: meter(call.request.facts, call.endpoint, undefined),
        stopReason: "",
        toolCalls: 0,
        response: undefined,
        isPayloadLeftOut: false,
      },
      deps.clock.monotonic(),
    );
  return { metered, record, scope: scopeOf(call.key), by: answeredBy(call, record) };
}

/** Asked for each time that the call is stored: made anew only where the attempt that answers, or what is known of it, is another one. */
function answeredBy(call: ReservedCall, record: () => CallRecord): () => AnsweredBy | undefined {
  let known: readonly unknown[] = [];
  let by: AnsweredBy | undefined;
  return () => {
    const { endpoint, lane, attempts, firstSentMs, upstreamTtftMs } = call;
    if (endpoint === undefined) return undefined;
    const now = [endpoint, lane, attempts, firstSentMs, upstreamTtftMs];
    if (by !== undefined && now.every((each, at) => each === known[at])) return by;
    known = now;
    by = ofAttempt(record());
    return by;
  };
}

const ofAttempt = (record: CallRecord): AnsweredBy => ({
  provider: record.provider,
  endpointId: record.endpointId,
  upstreamModel: record.upstreamModel,
  region: record.region,
  byok: record.byok,
  ttftMs: record.ttftMs,
  upstreamTtftMs: record.upstreamTtftMs,
  attempts: record.attempts,
});

const NOTHING_TOLD: Telling = { stream: undefined, isAhead: false };
