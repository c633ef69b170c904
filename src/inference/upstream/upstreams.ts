/**
 * Calls providers in any dialect: builds the URL, adds the credential, sends the body. What calls to one endpoint share
 * is computed once; only signatures and access tokens are computed per call.
 */
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Act, Dialect, Endpoint, Provider, ProviderKey } from "../../base/endpoint.ts";
import type { ProxyAddress } from "../../base/network/proxy-address.ts";
import { openAccessTokens } from "./access-tokens.ts";
import { type Answer, post, wholeAnswer } from "./ask.ts";
import { DispatchedCall, type UpstreamCall, type UpstreamHandler } from "./call.ts";
import { callHeaders } from "./credentials.ts";
import { failure, networkFailure } from "./failure.ts";
import { urlOf } from "./paths.ts";
import { openPools, type Pools } from "./pools.ts";
import { NO_PROXIES, type ProxySettings } from "./proxy/settings.ts";
import { type RequestTemplate, RequestTemplates } from "./request-templates.ts";

export type { Answer } from "./ask.ts";
export type { UpstreamCall, UpstreamHandler } from "./call.ts";
export type { AnswerHeaders } from "./http/answer-head.ts";

export interface UpstreamRequest {
  readonly endpoint: Endpoint;
  /** The credential to use: one of the provider's, or an org's own. */
  readonly key: ProviderKey;
  readonly dialect: Dialect;
  /** Parts of the body, written in order, large ones without a copy. */
  readonly parts: readonly Uint8Array[];
  readonly stream: boolean;
  /** The client's headers, added to the provider's; names in lower case. Credentials are never taken from here. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface UpstreamQuestion extends Omit<UpstreamRequest, "stream"> {
  readonly act: Act;
  readonly timeoutMs: number;
}

export interface UpstreamOptions {
  readonly connectTimeoutMs: number;
  /** The environment's, for providers that name none. Default: they are called directly. */
  readonly proxies?: ProxySettings;
  readonly clock?: Clock;
}

export interface Upstreams extends Pick<Pools, "connections" | "close"> {
  /**
   * Starts now, or once its credential is available; `cancel` works in either case. Fails with class `auth` where no
   * credential can be had.
   * @throws errors that prevent sending at all, before the handler is called.
   */
  call(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall;
  /** The proxies by which a provider may be called: what is said of a call may repeat their passwords. */
  proxiesOf(provider: Provider): readonly ProxyAddress[];
  /** Whether the endpoint supports this act in this dialect. */
  does(endpoint: Endpoint, dialect: Dialect, act: Act): boolean;
  /**
   * A small request: the complete answer, whatever its status.
   * @throws WeirError `upstream_timeout`, `upstream_invalid_response`, `upstream_error`.
   */
  ask(question: UpstreamQuestion): Promise<Answer>;
}

const TOKEN_TIMEOUT_MS = 10_000;
/** Headers that only the gateway sets. */
const OWN_HEADERS: readonly string[] = [
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "host",
  "content-length",
  "content-type",
  "accept",
  "accept-encoding",
  "user-agent",
  "connection",
  "transfer-encoding",
];

export function openUpstreams({
  connectTimeoutMs,
  proxies = NO_PROXIES,
  clock = systemClock,
}: UpstreamOptions): Upstreams {
  const pools = openPools(connectTimeoutMs, proxies, clock);
  const templates = new RequestTemplates(pools);
  const tokens = openAccessTokens((url, form, proxy) => {
    const headers = ["content-type", "application/x-www-form-urlencoded", "accept", "application/json"];
    return post(pools.of(url.origin, proxy), url, headers, form, TOKEN_TIMEOUT_MS);
  }, clock);

  const send = (
    template: RequestTemplate,
    { endpoint, key, parts, headers }: Omit<UpstreamRequest, "stream">,
    call: DispatchedCall,
  ) => {
    const own = withExtra(template.headers, headers);
    const { head, start } = template;
    if (head !== undefined) {
      if (own === template.headers) template.pool.send({ head, start, parts }, call);
      else dispatch(template, own, parts, call);
      return;
    }
    const signable = { url: template.url, headers: own, parts };
    const made = callHeaders(endpoint, key, signable, tokens, clock);
    if (Array.isArray(made)) {
      dispatch(template, made, parts, call);
      return;
    }
    made.then(
      (all) => sendLater(template, all, parts, call),
      (error: unknown) => call.fail(failure("connect_error", "auth", 0, uncredited(error))),
    );
  };

  return {
    call(request, handler) {
      const { endpoint, key, dialect, stream } = request;
      const act = endpoint.task === "generate" ? (stream ? "stream" : "call") : endpoint.task;
      const call = new DispatchedCall(handler);
      send(templates.of(key, endpoint, dialect, act), request, call);
      return call;
    },
    proxiesOf: ({ proxy }) => pools.proxiesOf(proxy),
    does: (endpoint, dialect, act) => urlOf(endpoint, dialect, act) !== undefined,
    ask: (question) =>
      wholeAnswer((call) => {
        const { endpoint, key, dialect, act } = question;
        send(templates.of(key, endpoint, dialect, act), question, call);
      }, question.timeoutMs),
    connections: (origin) => pools.connections(origin),
    close: () => pools.close(),
  };
}

/** Returns the template's own array where the client adds nothing. */
function withExtra(headers: readonly string[], extra: UpstreamRequest["headers"]): readonly string[] {
  if (isEmpty(extra)) return headers;
  const added = Object.keys(extra).filter((name) => !OWN_HEADERS.includes(name));
  if (added.length === 0) return headers;
  const all = added.flatMap((name) => [name, extra[name] as string]);
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!added.includes(name)) all.push(name, headers[i + 1] as string);
  }
  return all;
}

/** @throws TypeError for headers that cannot be sent */
function dispatch(
  { pool, path }: RequestTemplate,
  headers: readonly string[],
  parts: readonly Uint8Array[],
  call: DispatchedCall,
): void {
  pool.send({ head: pool.head(path, headers), parts }, call);
}

function isEmpty(extra: object): boolean {
  for (const _ in extra) return false;
  return true;
}

/** Sends once the credential is available: the call may have been cancelled, and no caller is left to throw to. */
function sendLater(
  template: RequestTemplate,
  headers: readonly string[],
  parts: readonly Uint8Array[],
  call: DispatchedCall,
): void {
  if (call.over) return;
  try {
    dispatch(template, headers, parts, call);
  } catch (error) {
    call.fail(networkFailure(error, 0));
  }
}

const uncredited = (error: unknown) => ({
  code: "no_access_token",
  type: "",
  message: error instanceof Error ? error.message : "",
});
