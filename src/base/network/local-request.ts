/**
 * Whether a request comes from this machine directly: what is built in for people who try the gateway, and metrics without a token, are
 * for such requests alone. A proxy on this machine has a loopback address too, so it is known by what it adds or leaves.
 */
import ipaddr from "ipaddr.js";

export interface RequestOrigin {
  /** Address of the socket's other end, whatever a header says; empty where it is gone. */
  readonly peer: string;
  /** Value of `Host`. */
  readonly host: string;
  /** Names of all headers, in lower case. */
  readonly names: Iterable<string>;
}

/** A name that leads here from elsewhere (DNS rebinding), or that a proxy is known by, is no name of this machine. */
const LOCAL_HOST = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/**
 * What browsers, curl and the like, SDKs and Prometheus send of themselves (RFC 9110; Fetch, "forbidden request-header"; Prometheus, `scrape`).
 * Proxies have no end of names to say for whom they ask, so any other header counts as one of theirs.
 */
const OF_CLIENTS: ReadonlySet<string> = new Set([
  "accept",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "authorization",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "date",
  "dnt",
  "expect",
  "host",
  "idempotency-key",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "keep-alive",
  "origin",
  "pragma",
  "priority",
  "range",
  "referer",
  "te",
  "transfer-encoding",
  "upgrade-insecure-requests",
  "user-agent",
  "x-requested-with",
  "x-svc-csrf",
  "x-prometheus-scrape-timeout-seconds",
]);
/** Only browsers send these, and no script can set them. */
const OF_BROWSERS = /^sec-(?:ch-|fetch-|gpc$|purpose$)/;

export function isFromThisMachine({ peer, host, names }: RequestOrigin): boolean {
  if (!isLoopback(peer) || !LOCAL_HOST.test(host)) return false;
  for (const name of names) if (!OF_CLIENTS.has(name) && !OF_BROWSERS.test(name)) return false;
  return true;
}

const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
