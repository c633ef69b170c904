/**
 * Simulated payment services on one loopback port: the APIs of Stripe (bearer key), Razorpay (basic auth) and `simulated`,
 * their hosted pages under `/pay/`, and a control API. Anyone who reaches it may pay, so it answers to loopback names only.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Clock, type Random, systemRandom, systemTimers, type Timers } from "../../src/base/clock.ts";
import { isFromThisMachine } from "../../src/base/network/local-request.ts";
import { createServer } from "../../src/base/network/node-http.ts";
import { isLoopback, refusal, securityHeaders, sendPage } from "../identity/request.ts";
import { Api, type ApiRequest, type Front, type Played } from "./api.ts";
import { type ControlAct, type ControlDeps, control } from "./control.ts";
import { Engine, SimRefusal } from "./engine.ts";
import { servePage } from "./hosted.ts";
import { type HookTarget, Notices, type NoticesOptions } from "./notices.ts";
import { problemPage } from "./pages.ts";
import { razorpayFront } from "./razorpay-api.ts";
import { razorpayEvents } from "./razorpay-events.ts";
import { simulatedEvents, simulatedFront } from "./simulated-api.ts";
import type { House, SimState } from "./state.ts";
import { stripeEvents, stripeFront } from "./stripe-api.ts";

export interface PaymentSimulatorOptions {
  /** A loopback address; default 127.0.0.1. */
  readonly host?: string;
  /** Default: that of the last start with this file, or any free one. A port that is taken is replaced by a free one. */
  readonly port?: number;
  /** JSON lines of all it knows; without it, all is lost with the process. */
  readonly file?: string;
  readonly clock: Clock;
  readonly timers?: Timers;
  readonly random?: Random;
  /** Where webhooks go; `hook` of {@link PaymentSimulator} sets more. */
  readonly hooks?: Partial<Record<House, HookTarget>>;
  /** Until a bank debit has ended. Default: a minute. */
  readonly processingMs?: number;
  /** Credentials that are accepted. Default: as `keys` says. */
  readonly keys?: Partial<ServiceKeys>;
  /** Told of the port, the moment it listens. */
  readonly onListening?: (port: number) => void;
}

export interface ServiceKeys {
  readonly stripeKey: string;
  readonly razorpayKeyId: string;
  readonly razorpayKeySecret: string;
  /** Bearer key of the `simulated` API; made at the first start, and kept in the file. */
  readonly simulatedKey: string;
}

export interface PaymentSimulator {
  /** `http://127.0.0.1:<port>`: STRIPE_API_BASE, RAZORPAY_API_BASE, and base of the `simulated` API. */
  readonly url: string;
  readonly keys: ServiceKeys;
  /** Signs webhooks of `simulated`; made at the first start, and kept in the file. */
  readonly webhookSecret: string;
  readonly engine: Engine;
  readonly notices: Notices;
  readonly api: Api;
  /** The acts of `POST /control`. */
  control(act: ControlAct): Promise<unknown>;
  hook(house: House, target: HookTarget): void;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 256;
const TIMEOUT_MS = 15_000;

/** @throws an Error where the host is not loopback or the file cannot be read; the system's error where no port opens */
export async function startPaymentSimulator(options: PaymentSimulatorOptions): Promise<PaymentSimulator> {
  const { host = "127.0.0.1", clock, timers = systemTimers, random = systemRandom } = options;
  if (!isLoopback(host))
    throw new Error(`The simulated payment services listen on loopback only, not on "${host}".`);
  const { file, processingMs } = options;
  const engine = new Engine({ clock, random, file, processingMs });
  const { state } = engine;
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS });
  server.maxConnections = MAX_CONNECTIONS;
  const port = await listen(server, host, options.port ?? Number(kept(state, "port", "0")));
  options.onListening?.(port);
  put(state, "port", String(port));
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const keys: ServiceKeys = {
    stripeKey: "sk_test_simulator",
    razorpayKeyId: "rzp_test_simulator",
    razorpayKeySecret: "simulator_secret",
    simulatedKey: kept(state, "key", state.newId("smk") + state.newId("")),
    ...options.keys,
  };
  const webhookSecret = kept(state, "webhook_secret", state.newId("smw") + state.newId(""));
  const urlOf = (id: string) => `${url}/pay/${id}`;
  const fronts = frontsOf(engine, keys, urlOf);
  const notices = new Notices({ clock, timers, eventsOf: eventsOf(engine, urlOf) });
  for (const [house, target] of Object.entries(options.hooks ?? {}))
    notices.targets.set(house as House, target);
  engine.changed = (change) => notices.tell(change);
  const api = new Api(state);
  const deps = { engine, api, notices, fronts, timers };
  server.on("request", (request, response) => listener(deps, request, response));
  return {
    url,
    keys,
    webhookSecret,
    engine,
    notices,
    api,
    control: (act) => control(deps, act),
    hook: (house, target) => void notices.targets.set(house, target),
    async close() {
      await notices.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const frontsOf = (engine: Engine, keys: ServiceKeys, urlOf: (id: string) => string): Fronts => ({
  stripe: stripeFront(engine, keys.stripeKey, urlOf),
  razorpay: razorpayFront(engine, keys.razorpayKeyId, keys.razorpayKeySecret, urlOf),
  simulated: simulatedFront(engine, keys.simulatedKey, urlOf),
});

const eventsOf = (engine: Engine, urlOf: (id: string) => string): NoticesOptions["eventsOf"] => ({
  stripe: (change) => stripeEvents(engine, change, urlOf),
  razorpay: (change) => razorpayEvents(engine, change, urlOf),
  simulated: (change) => simulatedEvents(change, engine.state.newId("sev")),
});

type Fronts = Readonly<Partial<Record<House, Front>>>;

interface Deps extends ControlDeps {
  readonly fronts: Fronts;
  readonly timers: Timers;
}

/** What the file remembers of the service itself. */
function kept(state: SimState, id: string, fresh: string): string {
  const found = state.get("meta", id);
  if (found !== undefined) return found.value;
  put(state, id, fresh);
  return fresh;
}

const put = (state: SimState, id: string, value: string): void =>
  state.put("meta", { id, house: "simulated", createdAtMs: 0, value });

function listener(deps: Deps, request: IncomingMessage, response: ServerResponse): void {
  serve(deps, request, response).catch((error: unknown) => {
    if (request.socket.destroyed) return;
    if (response.headersSent) return void response.destroy();
    sendJson(response, 500, { error: { code: "simulator", message: String(error) } });
  });
}

async function serve(deps: Deps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refused = refusal(request);
  if (refused !== undefined) {
    response.setHeader("connection", "close");
    for (const [name, value] of Object.entries(securityHeaders([]))) response.setHeader(name, value);
    return sendPage(response, refused.status, problemPage(refused.reason));
  }
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const body = await text(request);
  const method = request.method ?? "GET";
  if (pathname.startsWith("/pay/") || pathname === "/control") {
    const { headers, socket } = request;
    const origin = {
      peer: socket.remoteAddress ?? "",
      host: headers.host ?? "",
      names: Object.keys(headers),
    };
    // They ask for no credential: whoever a proxy asks for is not at this machine.
    if (!isFromThisMachine(origin)) return sendPage(response, 404, problemPage("There is no such page."));
  }
  const page = /^\/pay\/(\w{1,60})$/.exec(pathname)?.[1];
  if (page !== undefined) return servePage(deps.engine, page, { method, body }, response);
  if (pathname === "/control" && method === "POST") return serveControl(deps, body, response);
  const header = (name: string): string => String(request.headers[name] ?? "");
  const asked: ApiRequest = { method, path: pathname, query: searchParams, body, header };
  const front = frontOf(deps.fronts, asked);
  if (front === undefined)
    return sendJson(response, 404, { error: { code: "not_found", message: "Nothing." } });
  finish(deps, deps.api.play(front, asked), request, response);
}

/** Stripe and Razorpay have the same paths: they differ in how a caller signs in. */
function frontOf(fronts: Fronts, { path, header }: ApiRequest): Front | undefined {
  if (path.startsWith("/simulated/")) return fronts.simulated;
  if (!path.startsWith("/v1/")) return undefined;
  return header("authorization").startsWith("Basic ") ? fronts.razorpay : fronts.stripe;
}

function finish({ timers }: Deps, played: Played, request: IncomingMessage, response: ServerResponse): void {
  const { reply, isCut, delayMs } = played;
  if (isCut === true) request.socket.destroy();
  if (reply === undefined) return;
  const send = () => sendJson(response, reply.status, reply.body, reply.headers);
  if (delayMs === undefined) send();
  else timers.after(delayMs, send);
}

async function serveControl(deps: Deps, body: string, response: ServerResponse): Promise<void> {
  try {
    sendJson(response, 200, await control(deps, JSON.parse(body)));
  } catch (error) {
    const status = error instanceof SimRefusal && error.why === "missing" ? 404 : 400;
    sendJson(response, status, {
      error: { message: error instanceof Error ? error.message : String(error) },
    });
  }
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    ...headers,
  });
  response.end(JSON.stringify(body));
}

/** On any port, if this one is taken. */
function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE" || port === 0) return reject(error);
      listen(server, host, 0).then(resolve, reject);
    };
    server.once("error", onError);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener("error", onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
