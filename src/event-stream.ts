/** Server-sent events of the control plane, such as live lists of calls; model calls stream by other code. */
import type { z } from "zod";
import type { ErrorName } from "./errors.ts";
import type { HttpHead } from "./http-head.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import type { Caller, Inputs, Parsed } from "./operation.ts";

/** Sink for the events of one client. Every method is safe after the client has disconnected: it then does nothing. */
export interface EventSink {
  /**
   * False: sent, but the client reads more slowly; skip what can be skipped until `isBehind` is false.
   * @param data sent as JSON
   */
  send(data: unknown, as?: { readonly event?: string; readonly id?: string }): boolean;
  readonly isBehind: boolean;
  /** Ends the stream. */
  end(): void;
  /** Calls the listener once the client has disconnected or the stream has ended. One listener only. */
  onOver(over: () => void): void;
}

export interface StreamOperation<
  P extends z.ZodType | undefined = z.ZodType | undefined,
  Q extends z.ZodType | undefined = z.ZodType | undefined,
> {
  /** `operationId` in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  readonly path?: P;
  readonly query?: Q;
  /** Of the data of an event. */
  readonly event: z.ZodType;
  readonly errors?: readonly ErrorName[];
  /** An error before the first event is answered like any other; afterwards it is sent as an event `error`. */
  open(
    input: Inputs<Parsed<P>, Parsed<Q>, undefined>,
    caller: Caller,
    head: HttpHead,
    events: EventSink,
  ): MaybePromise<void>;
}

/** Fixes the type parameters, so that `open` is checked against the schemas beside it. */
export const streamOperation = <
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
>(
  stream: StreamOperation<P, Q>,
): StreamOperation<P, Q> => stream;
