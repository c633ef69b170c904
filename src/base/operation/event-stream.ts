/** Server-sent events of the control plane, such as live lists of calls; model calls stream by other code. */
import type { z } from "zod";
import type { ErrorName } from "../errors.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { Access } from "./access.ts";
import type { HttpHead } from "./http-head.ts";
import type { Caller, Inputs, Parsed, Place } from "./operation.ts";

export interface EventNames {
  readonly event?: string;
  /** Sent back by a client that connects again, as `Last-Event-ID`. */
  readonly id?: string;
}

/** An event as it is sent. @param data sent as JSON */
export function eventText(data: unknown, { event, id }: EventNames = {}): string {
  const named = event === undefined ? "" : `event: ${oneLine(event)}\n`;
  const numbered = id === undefined ? "" : `id: ${oneLine(id)}\n`;
  return `${named}${numbered}data: ${JSON.stringify(data)}\n\n`;
}

/** A line end would start a new field. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, " ");

/** Sink for the events of one client. Every method is safe after the client has disconnected: it then does nothing. */
export interface EventSink {
  /**
   * False: sent, but the client reads more slowly; skip what can be skipped until `isBehind` is false.
   * @param data sent as JSON
   */
  send(data: unknown, as?: EventNames): boolean;
  /** The same for events that {@link eventText} has made, one after another: those for many clients are made once. */
  sendText(events: string): boolean;
  readonly isBehind: boolean;
  /** Calls the listener once the client has read what was sent; at once if it is not behind. One listener only. */
  onReady(ready: () => void): void;
  /** Ends the stream. */
  end(): void;
  /** Calls the listener once the client has disconnected or the stream has ended. One listener only. */
  onOver(over: () => void): void;
}

/** A stream, by GET. */
export interface StreamOperation<
  P extends z.ZodType | undefined = z.ZodType | undefined,
  Q extends z.ZodType | undefined = z.ZodType | undefined,
> extends Place {
  readonly summary: string;
  /** What the events mean, for the API description. */
  readonly description?: string;
  /** Parameters of the path: a member for each. */
  readonly params?: P;
  readonly query?: Q;
  /** Schema of an event's data; where there are several events, that of each by its name. */
  readonly event: z.ZodType | Readonly<Record<string, z.ZodType>>;
  readonly errors?: readonly ErrorName[];
  /** An error before the first event is answered like any other; afterwards it is sent as an event `error`. */
  open(
    input: Inputs<Parsed<P>, Parsed<Q>, undefined>,
    caller: Caller,
    head: HttpHead,
    events: EventSink,
    needs: Needs,
  ): MaybePromise<void>;
}

/**
 * What a part of a stream asks of its caller beside the stream's own access. The stream ends once the caller has it no longer.
 * @throws WeirError 403 where the caller lacks it
 */
export type Needs = (access: Access) => void;

/** Fixes the type parameters, so that `open` is checked against the schemas beside it. */
export const streamOperation = <
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
>(
  stream: StreamOperation<P, Q>,
): StreamOperation<P, Q> => stream;
