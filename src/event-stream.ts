/** Server-sent events of the control plane, such as a tail of calls; model calls stream by a path of their own. */
import type { z } from "zod";
import type { ErrorName } from "./errors.ts";
import type { HttpHead } from "./http-head.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import type { Caller, Inputs, Parsed } from "./operation.ts";

/** Where the events of one client go. Every method is safe after the client has gone: it then does nothing. */
export interface EventSink {
  /**
   * False: it is on its way, and the client reads more slowly than that; leave out what can be left out until `isBehind` is false.
   * @param data sent as JSON
   */
  send(data: unknown, as?: { readonly event?: string; readonly id?: string }): boolean;
  readonly isBehind: boolean;
  /** Ends the stream. */
  end(): void;
  /** Tells one listener, once the client has gone or the stream has ended. */
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
  /** What it throws, or rejects with, before the first event is an answer like any other; afterwards it is an event `error`. */
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
