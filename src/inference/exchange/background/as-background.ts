/** A call whose answer comes later: what its upstreams are asked in place of what its client sent. */
import { fail } from "../../../base/errors.ts";
import { after, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { ClientRequest } from "../../../wire/format.ts";
import type { Bodies } from "../body/bodies.ts";
import type { Call } from "../call.ts";

/**
 * The request itself where its client waits for the answer; else one that asks for a stream, so that what was said is known at every
 * moment: to those who read it meanwhile, and to a cancel, which charges it.
 * @throws WeirError 400 where the request also says that the call ends with its client
 */
export function asBackground(
  bodies: Pick<Bodies, "read">,
  call: Call,
  request: ClientRequest,
): MaybePromise<ClientRequest> {
  const { format } = call.incoming;
  const { background } = format;
  if (background === undefined || !background.isAsked(request)) return request;
  const { onDisconnect } = request.svc;
  if (onDisconnect !== undefined && onDisconnect !== "detach") {
    const message = `A call in the background goes on without its client, so svc.on_disconnect "${onDisconnect}" has no meaning: leave out one of the two.`;
    throw fail("invalid_value", message, { param: "/svc/on_disconnect" });
  }
  call.isBackground = true;
  return after(bodies.read(format, background.asStream(request)), (read) =>
    background.continuing(read, request),
  );
}
