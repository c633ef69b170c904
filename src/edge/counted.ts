/**
 * Who makes a control-plane request, counted against their limits before its body is read. Model calls do not come by here:
 * their keys have limits of their own, and clients take a 401 for final where a 429 would have them try again.
 */
import { WeirError } from "../base/errors.ts";
import { after, type MaybePromise } from "../base/maybe-promise.ts";
import type { Caller } from "../base/operation/operation.ts";
import type { RateState } from "../credits/limits/limits.ts";
import type { RequestKind, RequestLimits } from "../credits/limits/request-limits.ts";
import { rateLines } from "../inference/exchange/headers.ts";
import type { SocketReply } from "./reply.ts";
import type { Route } from "./routes.ts";

export interface Counting {
  readonly limits: RequestLimits;
  readonly route: Route;
  readonly address: string;
  readonly reply: SocketReply;
}

/**
 * @param find who calls
 * @throws what `find` throws, or WeirError 429 (also as a rejection)
 */
export function countedCaller(
  { limits, route, address, reply }: Counting,
  find: () => MaybePromise<Caller>,
): MaybePromise<Caller> {
  const kind = requestKind(route);
  const tell = (rate: RateState) => reply.carries(rateLines("requests", rate));
  const failed = (error: unknown): never => {
    // A fault of ours is no attempt of theirs.
    if (error instanceof WeirError && error.status < 500) limits.refused(address, tell);
    throw error;
  };
  const counted = (caller: Caller): MaybePromise<Caller> =>
    kind === undefined ? caller : after(limits.admit({ caller, address, kind, tell }), () => caller);
  let found: MaybePromise<Caller>;
  try {
    found = find();
  } catch (error) {
    return failed(error);
  }
  return found instanceof Promise ? found.catch(failed).then(counted) : counted(found);
}

/** What a request counts as; undefined: the route has no limit. */
export function requestKind({
  isCounted,
  isChange,
}: Pick<Route, "isCounted" | "isChange">): RequestKind | undefined {
  if (!isCounted) return undefined;
  return isChange ? "changes" : "reads";
}
