/** A request whose head has arrived, and what it takes to answer it. */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { BeginTrace } from "../analytics/telemetry/call-trace.ts";
import type { Clock } from "../base/clock.ts";
import type { WeirError } from "../base/errors.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Caller } from "../base/operation/operation.ts";
import type { RequestLimits } from "../credits/limits/request-limits.ts";
import type { Incoming } from "../inference/exchange/call.ts";
import type { Exchange } from "../inference/exchange/exchange.ts";
import type { Inquiry } from "../inference/exchange/inquiry/inquire.ts";
import type { FaultDeps } from "./answers.ts";
import type { CredentialPorts } from "./authorize.ts";
import type { Uploads } from "./body/uploads.ts";
import type { CatchUp } from "./catch-up.ts";
import type { ClientAddress } from "./client-address.ts";
import type { SocketReply } from "./reply.ts";
import type { RequestHead } from "./request.ts";
import type { Route } from "./routes.ts";

export interface DispatchDeps extends FaultDeps {
  readonly credentials: CredentialPorts;
  readonly clientAddress: ClientAddress;
  /** Host and port of `PUBLIC_URL`. */
  readonly publicHost?: string | undefined;
  /** Limits of control-plane requests. */
  readonly requestLimits: RequestLimits;
  readonly exchange: Exchange;
  /** Begins the trace of a call; undefined where calls are not traced. */
  readonly beginTrace?: BeginTrace | undefined;
  /** Answers a question about a call, such as its token count, without making it. */
  inquire(inquiry: Inquiry, incoming: Incoming): Promise<void>;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  readonly uploads: Uploads;
  /** Waits for what other processes changed; undefined: none changes rows that this one has. */
  readonly catchUp?: CatchUp | undefined;
  /** Told of an operation's refusals once its caller is known, those of the body included; for logs of their own. */
  readonly onRefused?: (route: Route, caller: Caller, path: string, error: WeirError) => void;
}

export interface Received {
  readonly res: HttpResponse;
  readonly req: HttpRequest;
  readonly reply: SocketReply;
  readonly head: RequestHead;
  readonly id: string;
}

export interface Sender<T> {
  /** A promise while it is looked up once more who sends the request. */
  readonly who: MaybePromise<T>;
  readonly maxBytes: number;
  /** @param who undefined where that is not known */
  refused(error: WeirError, who: T | undefined): void;
}
