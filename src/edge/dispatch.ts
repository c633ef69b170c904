/** Dispatches a request to what its route runs: a model call, an operation, an event stream or a hook. */
import { asWeirError, errorEnvelope, fail, type WeirError } from "../base/errors.ts";
import { after } from "../base/maybe-promise.ts";
import type { Access } from "../base/operation/access.ts";
import type { Caller } from "../base/operation/operation.ts";
import { identityHeaders } from "../inference/exchange/headers.ts";
import {
  asksAnthropic,
  errorBodyOf,
  headerLines,
  refuse,
  refuseBody,
  reportedError,
  send,
} from "./answers.ts";
import { authorize } from "./authorize.ts";
import type { BodyShare } from "./body/body-budget.ts";
import { whoReads } from "./catch-up.ts";
import { countedCaller } from "./counted.ts";
import { addressesOf, credentialsOf } from "./credentials.ts";
import { answerOf, inputsOf, perform } from "./perform.ts";
import type { DispatchDeps, Received, Sender } from "./received.ts";
import { ReceivedCall } from "./received-call.ts";
import { EVENTS_TYPE, ReplyEvents } from "./reply-events.ts";
import { apiKey, bearer, httpHead, type RequestHead, requireJson } from "./request.ts";
import type { Route } from "./routes.ts";
import { sendFile } from "./send-file.ts";
import { sendStream } from "./send-stream.ts";

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

function callModel(
  deps: DispatchDeps,
  route: Extract<Route, { exchange: unknown }>,
  request: Received,
): void {
  const call = new ReceivedCall(deps, route, request);
  const { who, maxBytes } = call;
  if (who instanceof Promise) readLate(deps, request, call);
  else
    deps.uploads.read(request.res, request.reply, request.head, who.orgId, maxBytes, (uploaded) =>
      call.uploaded(who, uploaded),
    );
}

const readLate = (deps: DispatchDeps, request: Received, call: ReceivedCall): void =>
  readFor(deps, request, call, (key, body, share) => call.begin(key, body, share));

/** Whose share of the memory for bodies an unknown sender's body takes, a second at most if it stays unknown. */
const UNKNOWN_ORG = "unknown";

/** Reads the body, also while it is looked up who sends it. @param act not called where the request was refused */
function readFor<T extends { readonly orgId: string }>(
  deps: DispatchDeps,
  { res, reply, head, id }: Received,
  sender: Sender<T>,
  act: (who: T, body: Buffer, share: BodyShare) => void,
): void {
  const { who, maxBytes } = sender;
  if (!(who instanceof Promise)) {
    deps.uploads.read(res, reply, head, who.orgId, maxBytes, (uploaded) => {
      if (!("body" in uploaded)) sender.refused(uploaded, who);
      else act(who, uploaded.body, uploaded.share);
    });
    return;
  }
  let known: T | undefined;
  const upload = deps.uploads.read(res, reply, head, UNKNOWN_ORG, maxBytes, (uploaded) => {
    if (!("body" in uploaded)) {
      sender.refused(uploaded, known);
      return;
    }
    const { body, share } = uploaded;
    void who.then(
      (found) => act(found, body, share),
      (error: unknown) => {
        share.release();
        sender.refused(asWeirError(error), undefined);
      },
    );
  });
  who.then(
    (found) => {
      known = found;
    },
    (error: unknown) => upload.refuse(reportedError(deps, error, id)),
  );
}

function callOperation(
  deps: DispatchDeps,
  route: Extract<Route, { operation: unknown }>,
  request: Received,
  params: Readonly<Record<string, string>>,
): void {
  const { res, req, reply, head, id } = request;
  const credential = bearer(head) ?? (route.anthropic === undefined ? undefined : apiKey(head));
  const credentials = credentialsOf(deps, head, res, id, credential);
  const counting = { limits: deps.requestLimits, route, address: credentials.head.address, reply };
  const who = countedCaller(counting, () =>
    whoReads(deps.catchUp, () => authorize(deps.credentials, route, params, credentials)),
  );
  const operation = (asksAnthropic(head) ? route.anthropic : undefined) ?? route.operation;
  const errorBody = errorBodyOf(route, head);
  const query = req.getQuery() ?? "";
  const { mediaType } = route.group;
  const path = query === "" ? req.getUrl() : `${req.getUrl()}?${query}`;
  const told = (error: WeirError, caller: Caller | undefined): WeirError => {
    if (caller !== undefined) deps.onRefused?.(route, caller, path, error);
    return error;
  };
  const run = (caller: Caller, body: Buffer) =>
    perform(operation, { params, query, body }, caller, credentials.head)
      .then((answer) =>
        answer.stream !== undefined
          ? sendStream(reply, headerLines(answer.headers) + identityHeaders(id), answer.stream)
          : answer.file === undefined
            ? send(reply, id, answer, mediaType)
            : sendFile(reply, headerLines(answer.headers) + identityHeaders(id), answer.file),
      )
      .catch((error: unknown) => refuse(reply, told(reportedError(deps, error, id), caller), id, errorBody));
  if (route.method === "GET") {
    const refused = (error: unknown) => refuse(reply, reportedError(deps, error, id), id, errorBody);
    if (who instanceof Promise) void who.then((caller) => run(caller, NO_BODY), refused);
    else void run(who, NO_BODY);
    return;
  }
  // An absent body has no type.
  if (head.isChunked || head.contentLength > 0)
    requireJsonOr(head, (error) => told(error, who instanceof Promise ? undefined : who));
  const maxBytes = operation.maxBytes ?? MAX_CONTROL_BYTES;
  const refused = (error: WeirError, caller?: Caller) =>
    refuseBody(reply, told(error, caller), id, errorBody);
  readFor(deps, request, { who, maxBytes, refused }, (caller, body, share) => {
    void run(caller, body).finally(() => share.release());
  });
}

/** @throws WeirError 415 where the body is not JSON, as `told` returns it */
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
  const callerNow = (access = route.access) =>
    authorize(deps.credentials, { ...route, access }, params, seen);
  const counting = { limits: deps.requestLimits, route, address: seen.head.address, reply };
  const who = countedCaller(counting, () => whoReads(deps.catchUp, callerNow));
  const parts = new Set<Access>();
  const needs = (access: Access) => {
    callerNow(access);
    parts.add(access);
  };
  const input = inputsOf(route.stream, { params, query: req.getQuery() ?? "", body: NO_BODY });
  let orgId: string | undefined;
  const mayStillRead = () => {
    if (callerNow().orgId !== orgId)
      throw fail("session_expired", "The session acts in another organisation now.");
    for (const access of parts) callerNow(access);
  };
  const events = new ReplyEvents(reply, identityHeaders(id), mayStillRead, (error) => failed(error));
  const failed = (thrown: unknown) => {
    const error = reportedError(deps, thrown, id);
    if (!events.isOpen) {
      events.abandon();
      refuse(reply, error, id, errorBodyOf(route, head));
      return;
    }
    events.send(JSON.parse(errorEnvelope(error, id)), { event: "error" });
    events.end();
  };
  const open = async (caller: Caller) => {
    orgId = caller.orgId;
    // A HEAD has a head for its answer: what came behind it would pass for the next answer of the connection.
    if (reply.isBodiless) {
      events.abandon();
      reply.send(200, EVENTS_TYPE + identityHeaders(id), "");
      return;
    }
    reply.hasNoEnd();
    await route.stream.open(input, caller, seen.head, events, needs);
    events.open();
  };
  Promise.resolve(after(who, open)).catch(failed);
}

function callHook(
  deps: DispatchDeps,
  route: Extract<Route, { hook: unknown }>,
  { res, reply, head, id }: Received,
  params: Readonly<Record<string, string>>,
): void {
  const { hook, group } = route;
  const seen = httpHead(head, addressesOf(deps, res, head), deps.publicHost);
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
