/** What of a request's head and socket says who sends it. */
import type { HttpResponse } from "uWebSockets.js";
import type { Credentials } from "./authorize.ts";
import type { DispatchDeps } from "./received.ts";
import { type Addresses, httpHead, ipPrefix, type RequestHead } from "./request.ts";

/** Read once for each use: the socket gives its peer only until the handler returns. */
export function addressesOf(
  { clientAddress }: Pick<DispatchDeps, "clientAddress">,
  res: HttpResponse,
  { forwardedFor }: RequestHead,
): Addresses {
  const peer = res.getRemoteAddress();
  return { peer, client: clientAddress(peer, forwardedFor) };
}

/** Must be called in the handler of the route, before it returns. @param secret the bearer credential, or the key of a format's own header */
export function credentialsOf(
  deps: Pick<DispatchDeps, "clientAddress" | "publicHost">,
  head: RequestHead,
  res: HttpResponse,
  requestId: string,
  secret: string | undefined,
): Credentials {
  const addresses = addressesOf(deps, res, head);
  const origin = { ipPrefix: ipPrefix(addresses.client), userAgent: head.userAgent };
  return { requestId, origin, secret, head: httpHead(head, addresses, deps.publicHost) };
}
