/**
 * The HTTP server: binds the route table to uWebSockets.js, which only this folder uses, and reads request heads.
 * Nothing thrown here reaches the process.
 */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { BeginTrace } from "../analytics/telemetry/call-trace.ts";
import { type Clock, nextTurn } from "../base/clock.ts";
import { errorEnvelope, fail } from "../base/errors.ts";
import { requestId } from "../base/ids.ts";
import type { HttpHead } from "../base/operation/http-head.ts";
import { wantsPage } from "../base/operation/wants-page.ts";
import { CALLS } from "../inference/exchange/formats.ts";
import { identityHeaders } from "../inference/exchange/headers.ts";
import { errorBodyOf, type FaultDeps, headerLines, refuse, reportedError } from "./answers.ts";
import type { ClientAddress } from "./client-address.ts";
import { type Cors, corsOf, isForOtherOrigins } from "./cors.ts";
import { addressesOf } from "./credentials.ts";
import { dispatch } from "./dispatch.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { DispatchDeps, Received } from "./received.ts";
import { SocketReply } from "./reply.ts";
import { httpHead, RequestHead, servedAddress } from "./request.ts";
import type { Route } from "./routes.ts";
import type { SecurityHeaders } from "./security-headers.ts";
import { HeldHandlers } from "./sockets/held-handlers.ts";
import { assertPinned } from "./sockets/socket-library.ts";
import { codedFor, type StaticFiles } from "./static-files.ts";

// Read by the binding when it loads: its default of 4 KB is less than browsers and proxies send.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(32 * 1024);
assertPinned();
const { App, us_listen_socket_close, us_socket_local_port } = await import("uWebSockets.js");

/** What a page sees of a request. */
export interface PageRequest {
  /** The gateway's address as the reader used it: `http://localhost:8787`. */
  readonly address: string;
  /** Path and query: `/console?x=1`. */
  readonly path: string;
  /** The reader's `Accept` header. */
  readonly accept: string;
  readonly head: HttpHead;
}

/** Answers to GET that no operation gives: health, metrics, documentation, the console. */
export interface Page {
  /** Ends with `/*` where it is shown for every path below. */
  readonly path: string;
  /** Caches may store it: it is the same for everybody and changes only with the process. */
  readonly isPublic?: boolean;
  /** @throws WeirError (as a rejection) where it is refused */
  read(request: PageRequest): Promise<PageAnswer>;
}

export interface PageAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  /** Further headers: names and values in turn. */
  readonly headers?: readonly string[];
}

/** What a server of pages needs, without a route. */
export interface PageServerDeps extends FaultDeps {
  readonly pages: readonly Page[];
  readonly clientAddress: ClientAddress;
  /** Host and port of `PUBLIC_URL`. */
  readonly publicHost?: string | undefined;
  readonly clock: Clock;
  /** What every answer says to browsers. */
  readonly security: SecurityHeaders;
  /**
   * Called for each connection that opens (1) or closes (-1). A new connection is closed at once where this returns
   * false.
   */
  readonly onConnection: (change: 1 | -1) => boolean;
  /** Told of the port, the moment it listens. */
  readonly onListening: (port: number) => void;
  /** Whether too many connections are open: a 503 then closes its connection. */
  readonly isCrowded: () => boolean;
  /** Begins the trace of a call; undefined where calls are not traced. */
  readonly beginTrace?: BeginTrace | undefined;
  /** Other processes listen on the port too, by intent (SO_REUSEPORT): the system gives each its share of new connections. */
  readonly sharesPort?: boolean;
  /** People who open an address in a browser get errors as pages, whose styles are among the assets. */
  readonly hasErrorPages?: boolean;
  /** Counts the requests. Without it, connections that wait to be accepted when it stops are reset. */
  readonly requests?: OpenRequests | undefined;
}

export interface ServerDeps extends PageServerDeps, DispatchDeps {
  readonly routes: readonly Route[];
  readonly assets: readonly StaticFiles[];
  /** Whose pages may call the routes that are open to other origins: `*`, exact origins, or none. */
  readonly origins: readonly string[];
}

export interface Server {
  readonly port: number;
  /**
   * Accepts no new connections; open ones stay until `close`. It resolves a moment later: connections that wait to be accepted belong
   * to this process, and the system would reset them.
   */
  stopListening(): Promise<void>;
  close(): void;
}

/** @throws Error when the address cannot be bound: in use, not local, not permitted. */
export function openServer(deps: ServerDeps, host: string, wanted: number): Promise<Server> {
  const app = pagesApp(deps);
  for (const assets of deps.assets) {
    const serve = (res: HttpResponse, req: HttpRequest) => serveFile(deps, assets, res, req);
    app.on("get", `${assets.prefix}*`, serve).on("head", `${assets.prefix}*`, serve);
    refuseOthers(app, `${assets.prefix}*`, ["GET"], deps);
  }
  const byPath = new Map<string, Route[]>();
  for (const route of deps.routes) {
    const pattern = route.path.replace(/\{(\w+)\}/g, ":$1");
    byPath.set(pattern, [...(byPath.get(pattern) ?? []), route]);
  }
  for (const [pattern, routes] of byPath) {
    const cors = openToOthers(app, pattern, routes, deps);
    for (const route of routes) bind(app, pattern, route, deps, isForOtherOrigins(route) ? cors : undefined);
    const methods = routes.map((r) => r.method);
    refuseOthers(app, pattern, methods, deps, routes[0], cors);
  }
  return listen(app, deps, host, wanted);
}

/** A server that has pages alone. @throws Error as `openServer` */
export const openPages = (deps: PageServerDeps, host: string, wanted: number): Promise<Server> =>
  listen(pagesApp(deps), deps, host, wanted);

function pagesApp(deps: PageServerDeps): HeldHandlers {
  const app = new HeldHandlers(App());
  app.onConnection((res, change) => {
    if (!deps.onConnection(change)) res.close();
  });
  for (const page of deps.pages) {
    const serve = (res: HttpResponse, req: HttpRequest) => servePage(deps, page, res, req);
    app.on("get", page.path, serve).on("head", page.path, serve);
    refuseOthers(app, page.path, ["GET"], deps);
  }
  return app;
}

/** Answers what is not there with 404, and begins to accept. */
function listen(app: HeldHandlers, deps: PageServerDeps, host: string, wanted: number): Promise<Server> {
  app.on("any", "/*", (res, req) => {
    const path = req.getUrl();
    const error = fail("not_found", `There is no ${req.getCaseSensitiveMethod()} ${path.slice(0, 200)}.`);
    // Anthropic's clients use more routes below this path than the gateway offers.
    const errorBody = path.startsWith("/v1/messages/") ? CALLS.messages.format.errorBody : errorEnvelope;
    receive(deps, res, req, HEAD, ({ reply, id }) => refuse(reply, error, id, errorBody));
  });
  return new Promise((resolve, reject) => {
    // Exclusive port: two processes sharing one unknowingly would each get half of the calls.
    app.listen(host, wanted, deps.sharesPort === true ? SHARED_PORT : EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${wanted}`));
        return;
      }
      const port = us_socket_local_port(socket);
      deps.onListening(port);
      let listening = true;
      const endListening = () => {
        if (listening) us_listen_socket_close(socket);
        listening = false;
      };
      resolve({
        port,
        async stopListening() {
          if (deps.requests !== undefined) await emptyQueue(deps.clock);
          endListening();
        },
        close: () => {
          endListening();
          app.close();
        },
      });
    });
  });
}

/** How a request's head is read. */
interface Reading {
  /** Whether any header may be read. */
  readonly keepsHead: boolean;
  /** Undefined: the route is not for pages of other origins. */
  readonly cors?: Cors | undefined;
}

const HEAD: Reading = { keepsHead: false };
const WHOLE_HEAD: Reading = { keepsHead: true };

/** Path and query. */
function addressOf(req: HttpRequest): string {
  // Undefined without a question mark, whatever its type says.
  const query: string | undefined = req.getQuery();
  return query === undefined || query === "" ? req.getUrl() : `${req.getUrl()}?${query}`;
}

/**
 * Reads a request's head. Must be called in the route handler itself, before it returns.
 * @param act not called where the request's framing is unsafe: that is refused, and the connection closed
 */
function receive(
  deps: PageServerDeps,
  res: HttpResponse,
  req: HttpRequest,
  { keepsHead, cors }: Reading,
  act: (request: Received) => void,
): void {
  const { isCrowded, security, requests, hasErrorPages } = deps;
  const method = req.getMethod();
  const reply = new SocketReply(res, method === "head", isCrowded, security, requests);
  const mayBePage = hasErrorPages === true && (method === "get" || method === "head");
  if (mayBePage && wantsPage(req.getHeader("accept"))) reply.openedAt = addressOf(req);
  const isLeaving = requests?.requestBegan() === true;
  const head = new RequestHead(req, keepsHead, !keepsHead && deps.beginTrace !== undefined);
  const id = requestId(deps.clock.now());
  if (cors !== undefined) {
    const lines = head.origin === "" ? cors.unasked : cors.of(head.origin);
    if (lines !== "") reply.carries(lines);
  }
  // Trailers after the last chunk would be parsed as a request: such a connection gets no second one.
  if (head.fault !== undefined) reply.afterwards = "close";
  else if (head.isChunked || isLeaving) reply.afterwards = "drain";
  if (head.fault === undefined) act({ res, req, reply, head, id });
  else refuse(reply, fail("invalid_value", head.fault), id);
}

/** `LIBUS_LISTEN_EXCLUSIVE_PORT` of libusockets.h: without SO_REUSEPORT. SO_REUSEADDR stays, so a restart can bind at once. */
const EXCLUSIVE_PORT = 1;
/** `LIBUS_LISTEN_DEFAULT`: with SO_REUSEPORT. */
const SHARED_PORT = 0;

/** A busy process has no such turn: it must not take from the time that running calls have. */
const MOST_WAIT_MS = 300;
/** A turn of the event loop this short has just accepted all connections that waited. */
const SHORT_TURN_MS = 0.2;
const MAX_TURNS = 500;

/**
 * Resolves at a moment when hardly any connection waits to be accepted: right behind the phase of the event loop that accepts,
 * in a turn that had little else to do.
 */
async function emptyQueue(clock: Clock): Promise<void> {
  const began = clock.monotonic();
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    const before = clock.monotonic();
    await nextTurn();
    const now = clock.monotonic();
    if (now - began > MOST_WAIT_MS || (turns > 0 && now - before <= SHORT_TURN_MS)) return;
  }
}

/**
 * Answers preflights of the path, without a credential. It says what is allowed; that a page keeps to it is the browser's part.
 * @returns undefined where no route of the path is for other origins
 */
function openToOthers(
  app: HeldHandlers,
  pattern: string,
  routes: readonly Route[],
  deps: ServerDeps,
): Cors | undefined {
  const open = routes.filter(isForOtherOrigins);
  if (open.length === 0 || deps.origins.length === 0) return undefined;
  const methods = open.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method]));
  const cors = corsOf(
    deps.origins,
    methods,
    open.some((route) => "exchange" in route),
  );
  app.on("options", pattern, (res, req) =>
    receive(deps, res, req, WHOLE_HEAD, ({ reply, head, id }) =>
      reply.send(204, cors.preflight(head) + identityHeaders(id), ""),
    ),
  );
  return cors;
}

/** Answers a wrong method on an existing path with 405 and the allowed methods. */
function refuseOthers(
  app: HeldHandlers,
  pattern: string,
  methods: readonly string[],
  deps: PageServerDeps,
  route?: Route,
  cors?: Cors,
): void {
  const allowed = methods.join(", ").replace("GET", "GET, HEAD");
  app.on("any", pattern, (res, req) => {
    const error = fail("method_not_allowed", `${req.getCaseSensitiveMethod()} is not offered here.`);
    receive(deps, res, req, { keepsHead: false, cors }, ({ reply, head, id }) =>
      refuse(reply, error, id, errorBodyOf(route, head), ["allow", allowed]),
    );
  });
}

function bind(
  app: HeldHandlers,
  pattern: string,
  route: Route,
  deps: ServerDeps,
  cors: Cors | undefined,
): void {
  // A key's call needs no other header than those that are always kept; a session's has a cookie.
  const reading = { keepsHead: !("exchange" in route) || route.access !== "inference", cors };
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] as string);
  const act = (request: Received) => {
    try {
      dispatch(deps, route, request, names.length === 0 ? NO_PARAMS : paramsOf(names, request.req));
    } catch (error) {
      const { res, reply, head, id } = request;
      // The body is still arriving: it is read and dropped, so that the answer can be sent.
      if (!reply.closed) res.onData(() => {});
      refuse(reply, reportedError(deps, error, id), id, errorBodyOf(route, head));
    }
  };
  const answer = (res: HttpResponse, req: HttpRequest) => receive(deps, res, req, reading, act);
  const verbs = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "del" } as const;
  app.on(verbs[route.method], pattern, answer);
  if (route.method === "GET") app.on("head", pattern, answer);
}

function serveFile(
  deps: PageServerDeps,
  { prefix, files, isImmutable }: StaticFiles,
  res: HttpResponse,
  req: HttpRequest,
): void {
  const file = files.get(decode(req.getUrl().slice(prefix.length)));
  const known = req.getHeader("if-none-match");
  const accepted = req.getHeader("accept-encoding");
  receive(deps, res, req, HEAD, ({ reply, id }) => {
    if (file === undefined) {
      refuse(reply, fail("not_found", "There is no such file."), id);
      return;
    }
    reply.isPublic();
    const { body, etag, coding } = codedFor(file, accepted);
    const kept = isImmutable === true ? "public, max-age=31536000, immutable" : "max-age=0, must-revalidate";
    const headers = ["etag", etag, "cache-control", kept];
    if (file.coded.length > 0) headers.push("vary", "accept-encoding");
    if (coding !== undefined) headers.push("content-encoding", coding);
    // The header may list several ETags, weak ones too (RFC 9110, 13.1.2).
    const isKnown = known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
    if (isKnown) reply.send(304, headerLines(headers) + identityHeaders(id), "");
    else
      reply.send(
        200,
        headerLines(["content-type", file.contentType, ...headers]) + identityHeaders(id),
        body,
      );
  });
}

const NO_PARAMS = {};

const paramsOf = (names: readonly string[], req: HttpRequest): Record<string, string> =>
  Object.fromEntries(names.map((name, i) => [name, decode(req.getParameter(i) ?? "")]));

function servePage(deps: PageServerDeps, page: Page, res: HttpResponse, req: HttpRequest): void {
  receive(deps, res, req, WHOLE_HEAD, ({ reply, head, id }) => {
    if (page.isPublic === true) reply.isPublic();
    const seen = httpHead(head, addressesOf(deps, res, head), deps.publicHost);
    const query = req.getQuery() ?? "";
    const path = query === "" ? req.getUrl() : `${req.getUrl()}?${query}`;
    page
      .read({ address: servedAddress(req), path, accept: req.getHeader("accept"), head: seen })
      .then(({ status, contentType, body, headers = [] }) => {
        const lines = headerLines(["content-type", contentType, ...headers]);
        reply.send(status, lines + identityHeaders(id), body);
      })
      .catch((thrown: unknown) => {
        const error = reportedError(deps, thrown, id);
        refuse(reply, error, id, errorEnvelope, error.status === 401 ? ["www-authenticate", "Bearer"] : []);
      });
  });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
