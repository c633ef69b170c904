/** How a call parts from its client, and how a repetition of its request meets it again. */
import type { Clock } from "../../../base/clock.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { Call, PlannedCall } from "../call.ts";
import { type Claim, replayHeaders } from "../kept/idempotency.ts";
import type { DetachedCalls } from "./detached-calls.ts";
import { follow } from "./follow.ts";

/** From now on the call goes on without its client. */
export function detach(calls: DetachedCalls, call: PlannedCall): void {
  const over = (client: ClientReply) => {
    call.detached = calls.begin(call, client);
    return call.detached;
  };
  if (call.idempotencyLock !== undefined) call.idempotencyLock.passThrough(over);
  else call.incoming = { ...call.incoming, reply: over(call.incoming.reply) };
}

export interface JoinDeps {
  readonly calls: Pick<DetachedCalls, "readable">;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly onFault: (error: unknown, requestId: string) => void;
}

/**
 * The key's call runs: where that is detached, its repetition gets the same stream. Resolves once it has it.
 * @throws WeirError 409 `idempotency_in_progress` where it is not detached
 */
export async function joined(
  { calls, clock, keepAliveMs, onFault }: JoinDeps,
  { incoming: { reply }, requestId: ownId }: Call,
  { requestId, error }: Extract<Claim, { kind: "running" }>,
): Promise<void> {
  const running = requestId === undefined ? undefined : await calls.readable(requestId);
  if (running === undefined || requestId === undefined) throw error;
  const headers = replayHeaders(running.call.isStream, requestId);
  await follow(running, reply, { headers, clock, keepAliveMs }).catch((thrown: unknown) =>
    onFault(thrown, ownId),
  );
}
