/** Tells those who watch an org of its calls while they run. Where nobody watches, nothing is made of a call. */
import type { CallWatch, RunningCall } from "../../../analytics/live/running-call.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ReservedCall } from "../call.ts";

export interface WatchedCallsDeps {
  readonly watch: CallWatch;
  readonly clock: Pick<Clock, "monotonic">;
}

export class WatchedCalls {
  readonly #deps: WatchedCallsDeps;

  constructor(deps: WatchedCallsDeps) {
    this.#deps = deps;
  }

  /** The first attempt was begun. Nothing but its end is told of a call that has ended already. */
  started(call: ReservedCall): void {
    const { watch } = this.#deps;
    if (watch.isWatched(call.key.orgId) && !call.settled) watch.started(runningCall(call, 0));
  }

  /** The first content of its stream is about to be sent. */
  firstContent(call: ReservedCall): void {
    const { watch, clock } = this.#deps;
    if (watch.isWatched(call.key.orgId))
      watch.firstToken(runningCall(call, msUntil(call, clock.monotonic())));
  }
}

/** The calls of an org among those that run. */
export function* runningOf(orgId: string, calls: Iterable<ReservedCall>): Iterable<RunningCall> {
  for (const call of calls)
    if (call.key.orgId === orgId) {
      const { firstSentMs } = call;
      yield runningCall(call, firstSentMs === 0 ? 0 : msUntil(call, firstSentMs));
    }
}

/** From arrival to an instant, milliseconds; as records have the time to the first token. */
const msUntil = ({ incoming }: ReservedCall, monotonicMs: number): number =>
  Math.max(1, Math.round(monotonicMs - incoming.startMs));

function runningCall(call: ReservedCall, ttftMs: number): RunningCall {
  const { key, endpoint, incoming } = call;
  return {
    requestId: incoming.requestId,
    orgId: key.orgId,
    projectId: key.projectId,
    keyId: key.keyId,
    environment: key.environment,
    appId: call.app,
    model: call.model.id,
    isStream: call.request.facts.stream,
    isDetached: call.detached !== undefined,
    startedAtMs: incoming.tsMs,
    provider: endpoint?.provider.id ?? "",
    endpointId: endpoint?.id ?? "",
    ttftMs,
  };
}
