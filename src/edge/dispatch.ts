/** Dispatches a request to what its route runs: a model call, an operation, an event stream or a hook. */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { svcVersion } from "../account/versions.ts";
import type { BeginTrace } from "../call-trace.ts";
import type { Clock } from "../clock.ts";
import { asWeirError, errorEnvelope, fail, type WeirError } from "../errors.ts";
import type { Incoming } from "../exchange/call.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { CALLS } from "../exchange/formats.ts";
import { identityHeaders } from "../exchange/headers.ts";
import type { Inquiry } from "../exchange/inquire.ts";
import type { Caller } from "../operation.ts";
import {
  asksAnthropic,
  errorBodyOf,
  type FaultDeps,
  headerLines,
  refuse,
  refuseBody,
  reportedError,
  send,
} from "./answers.ts";
import { authorize, authorizeKey, type CredentialPorts, type Credentials } from "./authorize.ts";
import type { ClientAddress } from "./client-address.ts";
import { ReplyEvents } from "./events.ts";
import { answerOf, inputsOf, perform } from "./perform.ts";
import type { SocketReply } from "./reply.ts";
import {
  apiKey,
  bearer,
  httpHead,
  idempotencyKey,
  ipPrefix,
  passingHeaders,
  type RequestHead,
  requireJson,
} from "./request.ts";
import type { Route } from "./routes.ts";
import { sendFile } from "./send-file.ts";
import { sendStream } from "./send-stream.ts";
import type { Uploads } from "./uploads.ts";

export interface DispatchDeps extends FaultDeps {
  readonly credentials: CredentialPorts;
  readonly clientAddress: ClientAddress;
  readonly exchange: Exchange;
  /** Undefined where calls are not traced. */
  readonly beginTrace?: BeginTrace | undefined;
  /** Answers a question about a call, such as its token count, without making it. */
  inquire(inquiry: Inquiry, incoming: Incoming): Promise<void>;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  readonly uploads: Uploads;
  /** Undefined: no other process changes rows that this one has. */
  readonly catchUp?: CatchUp | undefined;
  /** Told of an operation's refusals once its caller is known, those of the body included; for logs of their own. */
  readonly onRefused?: (route: Route, caller: Caller, path: string, error: WeirError) => void;
}

/** Rows of this process may be old: it stood still, or does not hear the others that change them. */
export interface CatchUp {
  isBehind(): boolean;
  /** Resolves once the process has caught up, or after a second. */
  soon(): Promise<unknown>;
}

/** Control-plane bodies are small; larger ones are mistakes. */
const MAX_CONTROL_BYTES = 256 * 1024;

/**
 * Must be called in the handler of the route, before it returns.
 * @param params of the path
 * @throws WeirError where the head suffices to refuse the request: its body may still be arriving
 */
export function dispatch(
  deps: DispatchDeps,
  route: Route,
  request: Received,
  params: Readonly<Record<string, string>>,
): void {
  if ("exchange" in route) callModel(deps, route, request);
  else if ("stream" in route) openEvents(deps, route, request, params);
  else if ("hook" in route) callHook(deps, route, request, params);
  else callOperation(deps, route, request, params);
}

export interface Received {
  readonly res: HttpResponse;
  readonly req: HttpRequest;
  readonly reply: SocketReply;
  readonly head: RequestHead;
  readonly id: string;
}

function callModel(
  deps: DispatchDeps,
  route: Extract<Route, { exchange: unknown }>,
  { res, reply, head, id }: Received,
): void {
  const { format, inquiry } = CALLS[route.exchange];
  const startMs = deps.clock.monotonic();
  const tsMs = deps.clock.now();
  const credential = bearer(head) ?? (format.habits.sendsApiKey === true ? apiKey(head) : undefined);
  const key = authorizeKey(deps.credentials.keyring, credential, route.access);
  requireJson(head);
  if (head.svcVersion !== "") svcVersion(head.svcVersion, "svc-version");
  const passing = passingHeaders(head, format.habits);
  const idempotent = idempotencyKey(head);
  const clientIpPrefix = ipPrefix(addressOf(deps, res, head));
  const trace = inquiry === undefined ? deps.beginTrace?.(head.traceparent, head.tracestate) : undefined;
  deps.uploads.read(res, reply, head, key.orgId, deps.maxBodyBytes, (uploaded) => {
    if (!("body" in uploaded)) {
      refuseBody(reply, uploaded, id, format.errorBody);
      return;
    }
    const { body, share } = uploaded;
    const incoming: Incoming = {
      requestId: id,
      tsMs,
      startMs,
      format,
      key,
      body,
      release: () => share.release(),
      debug: head.debug === "1",
      passing,
      idempotencyKey: idempotent,
      userAgent: head.userAgent,
      appUrl: head.appUrl,
      appTitle: head.appTitle,
      clientIpPrefix,
      trace,
      reply,
    };
    const pass = (checked: Incoming) => {
      if (inquiry === undefined) deps.exchange.run(checked);
      else void deps.inquire(inquiry, checked);
    };
    if (deps.catchUp?.isBehind() !== true) pass(incoming);
    else {
      const keyNow = () => authorizeKey(deps.credentials.keyring, credential, route.access);
      void afterCatchUp(deps, deps.catchUp, incoming, keyNow).then((checked) => checked && pass(checked));
    }
  });
}

/** The call with its key as it is once the process has caught up; undefined, and refused, where the key may not call any more. */
async function afterCatchUp(
  deps: DispatchDeps,
  catchUp: CatchUp,
  incoming: Incoming,
  keyNow: () => Incoming["key"],
): Promise<Incoming | undefined> {
  try {
    await catchUp.soon();
    return { ...incoming, key: keyNow() };
  } catch (error) {
    const { reply, requestId, format, release } = incoming;
    release();
    refuse(reply as SocketReply, reportedError(deps, error, requestId), requestId, format.errorBody);
    return undefined;
  }
}

function callOperation(
  deps: DispatchDeps,
  route: Extract<Route, { operation: unknown }>,
  { res, req, reply, head, id }: Received,
  params: Readonly<Record<string, string>>,
): void {
  const credential = bearer(head) ?? (route.anthropic === undefined ? undefined : apiKey(head));
  const caller = authorize(deps.credentials, route, params, credentialsOf(deps, head, res, id, credential));
  const operation = (asksAnthropic(head) ? route.anthropic : undefined) ?? route.operation;
  const errorBody = errorBodyOf(route, head);
  const query = req.getQuery() ?? "";
  const seen = httpHead(head, addressOf(deps, res, head));
  const { mediaType } = route.group;
  const path = query === "" ? req.getUrl() : `${req.getUrl()}?${query}`;
  const told = (error: WeirError): WeirError => {
    deps.onRefused?.(route, caller, path, error);
    return error;
  };
  const run = (body: Buffer) =>
    perform(operation, { params, query, body }, caller, seen)
      .then((answer) =>
        answer.stream !== undefined
          ? sendStream(reply, headerLines(answer.headers) + identityHeaders(id), answer.stream)
          : answer.file === undefined
            ? send(reply, id, answer, mediaType)
            : sendFile(reply, headerLines(answer.headers) + identityHeaders(id), answer.file),
      )
      .catch((error: unknown) => refuse(reply, told(reportedError(deps, error, id)), id, errorBody));
  if (route.method === "GET") {
    void run(NO_BODY);
    return;
  }
  // An absent body has no type.
  if (head.isChunked || head.contentLength > 0) requireJsonOr(head, told);
  const maxBytes = operation.maxBytes ?? MAX_CONTROL_BYTES;
  deps.uploads.read(res, reply, head, caller.orgId, maxBytes, (uploaded) => {
    if (!("body" in uploaded)) refuseBody(reply, told(uploaded), id, errorBody);
    else void run(uploaded.body).finally(() => uploaded.share.release());
  });
}

/** @throws what `told` returns of a WeirError 415 */
function requireJsonOr(head: RequestHead, told: (error: WeirError) => WeirError): void {
  try {
    requireJson(head);
  } catch (error) {
    throw told(asWeirError(error));
  }
}

function openEvents(
  deps: DispatchDeps,
  route: Extract<Route, { stream: unknown }>,
  { res, req, reply, head, id }: Received,
  params: Readonly<Record<string, string>>,
): void {
  const seen = credentialsOf(deps, head, res, id, bearer(head));
  const caller = authorize(deps.credentials, route, params, seen);
  const input = inputsOf(route.stream, { params, query: req.getQuery() ?? "", body: NO_BODY });
  const mayStillRead = () => {
    const now = authorize(deps.credentials, route, params, seen);
    if (now.orgId !== caller.orgId)
      throw fail("session_expired", "The session acts in another organisation now.");
  };
  const events = new ReplyEvents(reply, identityHeaders(id), mayStillRead, (error) => failed(error));
  const failed = (thrown: unknown) => {
    const error = reportedError(deps, thrown, id);
    if (!events.isOpen) {
      refuse(reply, error, id, errorBodyOf(route, head));
      return;
    }
    events.send(JSON.parse(errorEnvelope(error, id)), { event: "error" });
    events.end();
  };
  const opened = async () => {
    await route.stream.open(input, caller, httpHead(head, addressOf(deps, res, head)), events);
    events.open();
  };
  opened().catch(failed);
}

function callHook(
  deps: DispatchDeps,
  route: Extract<Route, { hook: unknown }>,
  { res, reply, head, id }: Received,
  params: Readonly<Record<string, string>>,
): void {
  const { hook, group } = route;
  const seen = httpHead(head, addressOf(deps, res, head));
  const errorBody = errorBodyOf(route, head);
  const run = async (bytes: Buffer) =>
    send(reply, id, answerOf(await hook.run(bytes, params, seen, id), 200), group.mediaType);
  deps.uploads.read(res, reply, head, "", hook.maxBytes, (uploaded) => {
    if (!("body" in uploaded)) refuseBody(reply, uploaded, id, errorBody);
    else
      run(uploaded.body)
        .catch((error: unknown) => refuse(reply, reportedError(deps, error, id), id, errorBody))
        .finally(() => uploaded.share.release());
  });
}

const NO_BODY = Buffer.alloc(0);

/** Read once for each use: the socket gives its peer only until the handler returns. */
const addressOf = (
  { clientAddress }: DispatchDeps,
  res: HttpResponse,
  { forwardedFor }: RequestHead,
): ArrayBuffer => clientAddress(res.getRemoteAddress(), forwardedFor);

function credentialsOf(
  deps: DispatchDeps,
  head: RequestHead,
  res: HttpResponse,
  requestId: string,
  secret: string | undefined,
): Credentials {
  const address = addressOf(deps, res, head);
  const seen = httpHead(head, address);
  return {
    requestId,
    origin: { ipPrefix: ipPrefix(address), userAgent: head.userAgent },
    secret,
    cookie: seen.cookie,
    header: seen.header,
    address: seen.address,
  };
}
