/** Sends answers and errors in the shape that the route's clients expect. */
import { asWeirError, errorEnvelope, type WeirError } from "../base/errors.ts";
import { CALLS } from "../inference/exchange/formats.ts";
import { identityHeaders, JSON_TYPE, retryHeaders } from "../inference/exchange/headers.ts";
import { acceptEncodingHeader } from "./body/codings.ts";
import { errorPage } from "./pages/error-page.ts";
import type { Answer } from "./perform.ts";
import type { SocketReply } from "./reply.ts";
import type { RequestHead } from "./request.ts";
import type { ErrorBody, Route } from "./routes.ts";

export interface FaultDeps {
  /** Called for internal errors: for the operator's log, never shown to clients. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** @param mediaType of the group's JSON, where it is not `application/json` */
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
  // What an operation says of caches stands in place of the usual word.
  if (lines.includes("cache-control")) reply.isPublic();
  reply.send(status, headerLines(lines) + identityHeaders(id), body);
}

/** Does not wait for the rest of a body that arrived too slowly. */
export function refuseBody(reply: SocketReply, error: WeirError, id: string, errorBody?: ErrorBody): void {
  if (error.kind === "request_timeout") reply.afterwards = "close";
  refuse(reply, error, id, errorBody, acceptEncodingHeader(error));
}

/** A person who opened the address in a browser gets a page; everybody else what `errorBody` makes. */
export function refuse(
  reply: SocketReply,
  error: WeirError,
  id: string,
  errorBody: ErrorBody = errorEnvelope,
  headers: readonly string[] = [],
): void {
  const { openedAt } = reply;
  const isPage = openedAt !== "";
  reply.send(
    error.status,
    (isPage ? HTML_TYPE : typeLine(errorBody)) +
      identityHeaders(id) +
      retryHeaders(error) +
      headerLines(headers),
    isPage ? errorPage(error, id, openedAt) : errorBody(error, id),
  );
}

const HTML_TYPE = "content-type: text/html; charset=utf-8\r\nvary: accept\r\n";

const typeLine = ({ mediaType }: ErrorBody): string =>
  mediaType === undefined ? JSON_TYPE : `content-type: ${mediaType}\r\n`;

/** Anthropic's clients send this header with every request. */
export const asksAnthropic = (head: RequestHead): boolean => head.anthropicVersion !== "";

export function errorBodyOf(route: Route | undefined, head: RequestHead): ErrorBody {
  if (route === undefined) return errorEnvelope;
  if ("exchange" in route) return CALLS[route.exchange].format.errorBody;
  const isAnthropic = "operation" in route && route.anthropic !== undefined && asksAnthropic(head);
  return isAnthropic ? CALLS.messages.format.errorBody : (route.group.errorBody ?? errorEnvelope);
}

/** @param headers alternating names and values. */
export function headerLines(headers: readonly string[]): string {
  let lines = "";
  for (let i = 0; i + 1 < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

/** Reports errors that are not the client's to `onFault`. */
export function reportedError(deps: FaultDeps, thrown: unknown, id: string): WeirError {
  const error = asWeirError(thrown);
  if (error.kind === "internal") deps.onFault(thrown, id);
  return error;
}
