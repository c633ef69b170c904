/** How a call parts from its client, and how a repetition of its request meets it again. */
import type { Clock } from "../../../base/clock.ts";
import type { ClientReply } from "../../client-reply.ts";
import type { Call, PlannedCall } from "../call.ts";
import { type Claim, replayHeaders } from "../kept/idempotency.ts";
import type { DetachedCalls } from "./detached-calls.ts";
import { follow } from "./follow.ts";
import type { ReadableCall } from "./readable-call.ts";

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
  readonly calls: Pick<DetachedCalls, "own" | "readable">;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly onFault: (error: unknown, requestId: string) => void;
}

/**
 * The key's call runs: where that is detached, its repetition gets the same stream. Resolves once it follows that. From
 * then on it is a reader like any other, and no call under way: it may read slowly, and a call of another cell may outlive this one.
 * @throws WeirError 409 `idempotency_in_progress` where it is not detached
 */
export async function joined(
  { calls, clock, keepAliveMs, onFault }: JoinDeps,
  { incoming: { reply }, requestId: ownId }: Call,
  claim: Extract<Claim, { kind: "running" }>,
): Promise<void> {
  const { requestId, error } = claim;
  const running = await callOf(calls, claim);
  // What is polled for is answered in a moment, and then repeated as it was answered.
  if (running === undefined || requestId === undefined || running.call.isPolled === true) throw error;
  const headers = replayHeaders(running.call.isStream, requestId);
  void follow(running, reply, { headers, clock, keepAliveMs }).catch((thrown: unknown) =>
    onFault(thrown, ownId),
  );
}

/** The call that has the key, where it is detached and its cell can be asked. */
async function callOf(
  calls: JoinDeps["calls"],
  { requestId, cell }: Extract<Claim, { kind: "running" }>,
): Promise<ReadableCall | undefined> {
  if (requestId === undefined) return undefined;
  if (cell === undefined) return calls.own(requestId);
  // Nothing is known of a call whose cell is away, but that it has the key.
  return await calls.readable(requestId, cell).catch(() => undefined);
}
