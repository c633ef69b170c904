/** How requests are answered and refused, in the shapes that their clients read. */
import { asWeirError, errorEnvelope, type WeirError } from "../errors.ts";
import { CALLS } from "../exchange/formats.ts";
import { identityHeaders, JSON_TYPE, retryHeaders } from "../exchange/headers.ts";
import type { Answer } from "./perform.ts";
import type { SocketReply } from "./reply.ts";
import type { RequestHead } from "./request.ts";
import type { Route } from "./routes.ts";

export interface FaultDeps {
  /** A fault of ours: for the operator's log, never shown. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** @param mediaType of the group's JSON, where it is not the usual one */
export function send(
  reply: SocketReply,
  id: string,
  { status, headers, body }: Answer,
  mediaType?: string,
): void {
  const lines =
    mediaType === undefined
      ? headers
      : headers.map((text) => (text === "application/json" ? mediaType : text));
  reply.send(status, headerLines(lines) + identityHeaders(id), body);
}

/** What is still to come of a body that came too slowly is not waited for. */
export function refuseBody(reply: SocketReply, error: WeirError, id: string, errorBody?: ErrorBody): void {
  if (error.kind === "request_timeout") reply.afterwards = "close";
  refuse(reply, error, id, errorBody);
}

export function refuse(
  reply: SocketReply,
  error: WeirError,
  id: string,
  errorBody: ErrorBody = errorEnvelope,
  headers: readonly string[] = [],
): void {
  reply.send(
    error.status,
    JSON_TYPE + identityHeaders(id) + retryHeaders(error) + headerLines(headers),
    errorBody(error, id),
  );
}

/** An error as the clients of a route read it. */
export type ErrorBody = (error: WeirError, requestId: string) => string;

/** Anthropic's clients send it with every request, whatever they ask for. */
export const asksAnthropic = (head: RequestHead): boolean => head.anthropicVersion !== "";

export function errorBodyOf(route: Route | undefined, head: RequestHead): ErrorBody {
  if (route === undefined) return errorEnvelope;
  if ("exchange" in route) return CALLS[route.exchange].format.errorBody;
  const isAnthropic = "operation" in route && route.anthropic !== undefined && asksAnthropic(head);
  return isAnthropic ? CALLS.messages.format.errorBody : (route.group.errorBody ?? errorEnvelope);
}

/** @param headers names and values in turn. */
export function headerLines(headers: readonly string[]): string {
  let lines = "";
  for (let i = 0; i + 1 < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

/** Tells of what is no error of the client's. */
export function known(deps: FaultDeps, thrown: unknown, id: string): WeirError {
  const error = asWeirError(thrown);
  if (error.kind === "internal") deps.onFault(thrown, id);
  return error;
}
