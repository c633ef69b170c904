/**
 * The HTTP server. The only folder that knows uWebSockets.js is this one; this file binds the route table to it and
 * takes a request as far as the operation or the exchange. Nothing thrown here reaches the process.
 */
import type { HttpRequest, HttpResponse, us_listen_socket } from "uWebSockets.js";
import { callerOf, type KeyContext, type Keyring } from "../account/keyring.ts";
import { svcVersion } from "../account/versions.ts";
import type { Clock } from "../clock.ts";
import { asWeirError, errorEnvelope, fail, type WeirError } from "../errors.ts";
import type { Incoming } from "../exchange/call.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { CALLS } from "../exchange/formats.ts";
import { identityHeaders, JSON_TYPE, retryHeaders } from "../exchange/headers.ts";
import type { Inquiry } from "../exchange/inquire.ts";
import { requestId } from "../ids.ts";
import type { Caller } from "../operation.ts";
import { perform } from "./perform.ts";
import { SocketReply } from "./reply.ts";
import {
  apiKey,
  bearer,
  idempotencyKey,
  ipPrefix,
  passingHeaders,
  RequestHead,
  requireJson,
  servedAddress,
} from "./request.ts";
import type { Access, Route } from "./routes.ts";
import type { Uploads } from "./uploads.ts";

// Read by the binding when it loads: its own default of 4 KB is less than browsers and proxies send.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(32 * 1024);
const { App, us_listen_socket_close, us_socket_local_port } = await import("uWebSockets.js");

/** Answers that need no key and read no body: health, metrics, documentation. */
export interface Page {
  readonly path: string;
  /** The same for everybody, until the process is replaced: caches may keep it. */
  readonly isPublic: boolean;
  /**
   * @param address where the reader found this gateway: `http://localhost:8787`
   * @param accept what the reader would like: the header of that name
   */
  read(
    address: string,
    accept: string,
  ): Promise<{ status: number; contentType: string; body: string | Buffer }>;
}

export interface ServerDeps {
  readonly routes: readonly Route[];
  readonly pages: readonly Page[];
  readonly keyring: Keyring;
  readonly exchange: Exchange;
  /** Answers what is asked about a call without making it. */
  inquire(inquiry: Inquiry, incoming: Incoming): Promise<void>;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  readonly uploads: Uploads;
  /** Called for each connection that opens (1) or closes (-1). A connection that opens is closed at once where this returns false. */
  readonly onConnection: (change: 1 | -1) => boolean;
  /** Whether calls are refused because too many connections are open: a 503 then closes its connection. */
  readonly isCrowded: () => boolean;
  readonly onFault: (error: unknown, requestId: string) => void;
}

export interface Server {
  readonly port: number;
  /** Takes no new connections; those that are open stay until `close`. */
  stopListening(): void;
  close(): void;
}

/** Control-plane bodies are small; what is larger is a mistake. */
const MAX_CONTROL_BYTES = 256 * 1024;

/** @throws Error when the address cannot be bound: in use, not of this machine, not allowed. */
export function openServer(deps: ServerDeps, host: string, port: number): Promise<Server> {
  const app = App();
  // biome-ignore lint/suspicious/useIterableCallbackReturn: not the filter of a list
  app.filter((res, change) => {
    if (!deps.onConnection(change > 0 ? 1 : -1)) res.close();
  });
  for (const page of deps.pages) {
    const serve = (res: HttpResponse, req: HttpRequest) => servePage(deps, page, res, req);
    app.get(page.path, serve).head(page.path, serve);
    refuseOthers(app, page.path, ["GET"], deps);
  }
  const byPath = new Map<string, Route[]>();
  for (const route of deps.routes) {
    const pattern = route.path.replace(/\{(\w+)\}/g, ":$1");
    byPath.set(pattern, [...(byPath.get(pattern) ?? []), route]);
  }
  for (const [pattern, routes] of byPath) {
    for (const route of routes) bind(app, pattern, route, deps);
    const methods = routes.map((r) => r.method);
    refuseOthers(app, pattern, methods, deps, routes[0]);
  }
  app.any("/*", (res, req) => {
    const path = req.getUrl();
    const error = fail("not_found", `There is no ${req.getCaseSensitiveMethod()} ${path.slice(0, 200)}.`);
    // Anthropic's clients ask for more below this path than is offered.
    const errorBody = path.startsWith("/v1/messages/") ? CALLS.messages.format.errorBody : errorEnvelope;
    receive(deps, res, req, (reply, _, id) => refuse(reply, error, id, errorBody));
  });
  return new Promise((resolve, reject) => {
    // Alone on its port: two processes that shared one without knowing would each get half of the calls.
    const listen = app.listen as unknown as Listen;
    listen.call(app, host, port, EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${port}`));
        return;
      }
      let listening = true;
      const stopListening = () => {
        if (listening) us_listen_socket_close(socket);
        listening = false;
      };
      resolve({
        port: us_socket_local_port(socket),
        stopListening,
        close: () => {
          stopListening();
          app.close();
        },
      });
    });
  });
}

/**
 * Takes a request as far as its head. Must be called in the route handler itself, before it returns.
 * @param act not called where the request's end cannot be trusted: that is refused, and the connection closed
 */
function receive(
  deps: ServerDeps,
  res: HttpResponse,
  req: HttpRequest,
  act: (reply: SocketReply, head: RequestHead, id: string) => void,
): void {
  const reply = new SocketReply(res, req.getMethod() === "head", deps.isCrowded);
  const head = new RequestHead(req);
  const id = requestId(deps.clock.now());
  // Trailers behind the last chunk would be taken for a request: such a connection gets no second one.
  if (head.fault !== undefined) reply.afterwards = "close";
  else if (head.isChunked) reply.afterwards = "drain";
  if (head.fault === undefined) act(reply, head, id);
  else refuse(reply, fail("invalid_value", head.fault), id);
}

/** `LIBUS_LISTEN_EXCLUSIVE_PORT` of libusockets.h: without SO_REUSEPORT. SO_REUSEADDR stays, so a restart can bind at once. */
const EXCLUSIVE_PORT = 1;

/** With host and option, which the binding takes and its types leave out. */
type Listen = (
  host: string,
  port: number,
  option: number,
  done: (socket: us_listen_socket | false) => void,
) => void;

/** A path that exists answers a wrong method with 405 and what it would take. */
function refuseOthers(
  app: ReturnType<typeof App>,
  pattern: string,
  methods: readonly string[],
  deps: ServerDeps,
  route?: Route,
): void {
  const allowed = methods.join(", ").replace("GET", "GET, HEAD");
  app.any(pattern, (res, req) => {
    const error = fail("method_not_allowed", `${req.getCaseSensitiveMethod()} is not offered here.`);
    receive(deps, res, req, (reply, head, id) =>
      refuse(reply, error, id, errorBodyOf(route, head), ["allow", allowed]),
    );
  });
}

function bind(app: ReturnType<typeof App>, pattern: string, route: Route, deps: ServerDeps): void {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] as string);
  const answer = (res: HttpResponse, req: HttpRequest) =>
    receive(deps, res, req, (reply, head, id) => {
      try {
        const request = { res, req, reply, head, id };
        if ("exchange" in route) callModel(deps, route, request);
        else {
          const params = Object.fromEntries(
            names.map((name, i) => [name, decode(req.getParameter(i) ?? "")]),
          );
          callOperation(deps, route, request, params);
        }
      } catch (error) {
        // The body is still under way: it is read and dropped, so that the answer can be.
        if (!reply.closed) res.onData(() => {});
        refuse(reply, known(deps, error, id), id, errorBodyOf(route, head));
      }
    });
  const verbs = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "del" } as const;
  app[verbs[route.method]](pattern, answer);
  if (route.method === "GET") app.head(pattern, answer);
}

interface Received {
  readonly res: HttpResponse;
  readonly req: HttpRequest;
  readonly reply: SocketReply;
  readonly head: RequestHead;
  readonly id: string;
}

function callModel(
  deps: ServerDeps,
  route: Extract<Route, { exchange: unknown }>,
  { res, reply, head, id }: Received,
): void {
  const { format, inquiry } = CALLS[route.exchange];
  const startMs = deps.clock.monotonic();
  const tsMs = deps.clock.now();
  const credential = bearer(head) ?? (format.name === "messages" ? apiKey(head) : undefined);
  const key = authorize(deps.keyring, credential, route.access) as KeyContext;
  requireJson(head);
  if (head.svcVersion !== "") svcVersion(head.svcVersion, "svc-version");
  const passing = passingHeaders(head, format.name);
  const idempotent = idempotencyKey(head);
  const clientIpPrefix = ipPrefix(res.getRemoteAddress());
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
      clientIpPrefix,
      reply,
    };
    if (inquiry === undefined) deps.exchange.run(incoming);
    else void deps.inquire(inquiry, incoming);
  });
}

function callOperation(
  deps: ServerDeps,
  route: Extract<Route, { operation: unknown }>,
  { res, req, reply, head, id }: Received,
  params: Record<string, string>,
): void {
  const credential = bearer(head) ?? (route.anthropic === undefined ? undefined : apiKey(head));
  const key = authorize(deps.keyring, credential, route.access);
  const operation = (asksAnthropic(head) ? route.anthropic : undefined) ?? route.operation;
  const errorBody = errorBodyOf(route, head);
  const caller = key === undefined ? nobody(id) : callerOf(key, id);
  const query = req.getQuery() ?? "";
  const run = (body: Buffer) =>
    perform(operation, { params, query, body }, caller)
      .then(({ status, headers, body: answer }) =>
        reply.send(status, headerLines(headers) + identityHeaders(id), answer),
      )
      .catch((error: unknown) => refuse(reply, known(deps, error, id), id, errorBody));
  if (route.method === "GET") {
    void run(NO_BODY);
    return;
  }
  // A body that is not there has no type.
  if (head.isChunked || head.contentLength > 0) requireJson(head);
  deps.uploads.read(res, reply, head, caller.orgId, MAX_CONTROL_BYTES, (uploaded) => {
    if (!("body" in uploaded)) refuseBody(reply, uploaded, id, errorBody);
    else void run(uploaded.body).finally(() => uploaded.share.release());
  });
}

/** What is still to come of a body that came too slowly is not waited for. */
function refuseBody(reply: SocketReply, error: WeirError, id: string, errorBody?: ErrorBody): void {
  if (error.kind === "request_timeout") reply.afterwards = "close";
  refuse(reply, error, id, errorBody);
}

const NO_BODY = Buffer.alloc(0);

const nobody = (id: string): Caller => ({
  requestId: id,
  actor: { kind: "nobody", id: "" },
  orgId: "",
  projectId: "",
  environment: "live",
  scopes: new Set(),
});

/** @throws WeirError 401, or 403 `scope`. */
function authorize(keyring: Keyring, credential: string | undefined, access: Access): KeyContext | undefined {
  if (access === "public") return undefined;
  const key = keyring.resolve(credential);
  if (access !== "key" && !key.scopes.has(access)) {
    throw fail("scope", `This key lacks the scope "${access}".`, { details: { scope: access } });
  }
  return key;
}

function refuse(
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
type ErrorBody = (error: WeirError, requestId: string) => string;

/** Anthropic's clients send it with every request, whatever they ask for. */
const asksAnthropic = (head: RequestHead): boolean => head.anthropicVersion !== "";

function errorBodyOf(route: Route | undefined, head: RequestHead): ErrorBody {
  if (route === undefined) return errorEnvelope;
  if ("exchange" in route) return CALLS[route.exchange].format.errorBody;
  return route.anthropic !== undefined && asksAnthropic(head)
    ? CALLS.messages.format.errorBody
    : errorEnvelope;
}

/** @param headers names and values in turn. */
function headerLines(headers: readonly string[]): string {
  let lines = "";
  for (let i = 0; i + 1 < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

function known(deps: ServerDeps, thrown: unknown, id: string): WeirError {
  const error = asWeirError(thrown);
  if (error.kind === "internal") deps.onFault(thrown, id);
  return error;
}

function servePage(deps: ServerDeps, page: Page, res: HttpResponse, req: HttpRequest): void {
  receive(deps, res, req, (reply, _, id) => {
    if (page.isPublic) reply.isPublic();
    page
      .read(servedAddress(req), req.getHeader("accept"))
      .then(({ status, contentType, body }) =>
        reply.send(status, headerLines(["content-type", contentType]) + identityHeaders(id), body),
      )
      .catch((error: unknown) => refuse(reply, known(deps, error, id), id));
  });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
