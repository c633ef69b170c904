/**
 * Accepts a call in the background: its response is stored as queued, and then its client is answered. All before an upstream is asked:
 * what a client was told of is found, whatever happens to the process.
 */
import { asWeirError, fail } from "../../../base/errors.ts";
import type { Limits } from "../../../credits/limits/limits.ts";
import type { Store } from "../../../store/store.ts";
import { utf8Of } from "../../../wire/json/json.ts";
import type { ReservedCall } from "../call.ts";
import type { DetachedCalls } from "../detached/detached-calls.ts";
import type { DetachedReply } from "../detached/detached-reply.ts";
import { streamHeaders, typelessHeaders } from "../headers.ts";
import { answerBytes } from "../kept/idempotency.ts";
import { type StatesDeps, unanswered, wordsOf } from "./states.ts";

export interface AcceptDeps extends StatesDeps {
  readonly store: Pick<Store, "act">;
  readonly limits: Limits;
  readonly detached: Pick<DetachedCalls, "beginning">;
}

/** Its reply, once the call is detached. */
type DetachedCall = ReservedCall & { readonly detached: DetachedReply };

/** Resolves once the client is answered. @throws WeirError 503 where the response could not be stored */
export async function accepted(deps: AcceptDeps, call: ReservedCall): Promise<void> {
  if (!isDetached(call)) throw new Error(`call ${call.requestId} has no log`);
  const { responses, store, detached } = deps;
  const { key, incoming, request, requestId } = call;
  const { background } = wordsOf(call);
  const id = incoming.format.idPrefix + requestId;
  const names = call.answerNames(deps.clock);
  const queued = utf8Of(background.queued(request, names));
  const { isPolled } = call;
  const stored = unanswered(deps, call, "in_progress", queued);
  const putAnswer = isPolled ? answerToKey(call, Buffer.from(queued)) : undefined;
  const putLog = detached.beginning(requestId);
  call.hasState = true;
  await store
    .act(() => {
      responses.put(key, id, stored);
      putAnswer?.();
      putLog();
    })
    .catch((error: unknown) => {
      const { message } = asWeirError(error);
      throw fail("storage_unavailable", `The response could not be stored: ${message}`, {
        retryAfterMs: 1000,
      });
    });
  await Promise.all([responses.shared(key, id), isPolled ? call.idempotencyLock?.release() : undefined]);
  if (isPolled) dismiss(deps, call, queued);
  tellBeginning(deps, call);
}

const isDetached = (call: ReservedCall): call is DetachedCall => call.detached !== undefined;

/** A repetition of the key is given the same queued response, whose id leads to the rest. */
function answerToKey(call: ReservedCall, queued: Buffer): (() => void) | undefined {
  const { idempotencyLock: lock, keptRoom, requestId } = call;
  if (lock === undefined) return undefined;
  const hasRoom = keptRoom?.use(lock.keptBytes(queued)) ?? true;
  if (!hasRoom) keptRoom?.use(answerBytes(0));
  return () => lock.keep({ requestId, status: 200, isStream: false }, queued, hasRoom ? undefined : "quota");
}

/** The client has its answer: what the call says from now on goes to its log alone. */
function dismiss({ limits }: AcceptDeps, call: DetachedCall, queued: string): void {
  const { detached } = call;
  detached.dismiss((client) => client.sendJson(200, typelessHeaders(limits, call), queued));
  call.idempotencyLock = undefined;
  call.incoming = { ...call.incoming, reply: detached };
}

/** A stream that waited for credit was opened already. */
function tellBeginning({ clock, limits }: AcceptDeps, call: DetachedCall): void {
  const { reply, format } = call.incoming;
  if (!call.streaming) reply.openStream(streamHeaders(limits, call), format.keepAlive);
  call.streaming = true;
  const { text } = wordsOf(call).background.begin(call.request, call.answerNames(clock));
  reply.write(Buffer.from(text, "latin1"));
}
