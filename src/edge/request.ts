/** Reads the heads of requests, which uWebSockets.js makes available only until the handler returns. */

import type { HttpRequest } from "uWebSockets.js";
import { parseCookie } from "cookie";
import { fail } from "../base/errors.ts";
import { isFromThisMachine } from "../base/network/local-request.ts";
import type { HttpHead } from "../base/operation/http-head.ts";
import type { CallKind } from "../inference/exchange/formats.ts";

/**
 * A key that was sent and is empty, which no key may be. uWebSockets.js takes bytes above ASCII at a value's ends for spaces, so this
 * may be a key too; it must not pass for none, or its repetition would be a second order.
 */
const NO_KEY = " ";

type ClientFormat = CallKind["format"];

/**
 * The parts of a request head, read in one pass over its lines: look-ups by name cost more, and return only the first
 * of two equal names. Empty where a line is missing; of repeated lines the first counts.
 */
export class RequestHead {
  authorization = "";
  apiKey = "";
  contentType = "";
  contentEncoding = "";
  userAgent = "";
  idempotencyKey = "";
  /** The origin of the page whose script asks; empty where none does. */
  origin = "";
  svcVersion = "";
  debug = "";
  anthropicBeta = "";
  anthropicVersion = "";
  openaiBeta = "";
  forwardedFor = "";
  /** `HTTP-Referer`: where the app is, as clients of OpenRouter say it. */
  appUrl = "";
  /** `X-Title` or `X-OpenRouter-Title`: the app's name. */
  appTitle = "";
  /** Empty unless `readsTrace`. Repeated lines are no valid value, as they must not be (W3C Trace Context, 3.2). */
  traceparent = "";
  /** Repeated lines are one list. */
  tracestate = "";
  /** -1 where the head does not say. */
  contentLength = -1;
  /** The body is chunked. */
  isChunked = false;
  /**
   * Why the request's framing is unsafe: a proxy may have read another length, and would take the rest for the next
   * request.
   */
  fault: string | undefined;
  #hosts = 0;
  readonly #others: Map<string, string> | undefined;

  /**
   * @param keepsAll whether `header` may be called: model calls never do, and their clients send many headers
   * @param readsTrace whether the request's place in a trace is read
   */
  constructor(req: HttpRequest, keepsAll: boolean, readsTrace: boolean) {
    if (keepsAll) this.#others = new Map();
    req.forEach((name, value) => {
      this.#take(name, value);
      if (keepsAll) this.#keep(name, value);
      if (readsTrace) this.#takeTrace(name, value);
    });
    if (this.#others?.get("idempotency-key") === "") this.#others.set("idempotency-key", NO_KEY);
  }

  /** The value of a header; empty where missing. Needs `keepsAll`. @param name in lower case */
  header(name: string): string {
    return this.#others?.get(name) ?? "";
  }

  /** Names of all headers, in lower case. Needs `keepsAll`. */
  names(): Iterable<string> {
    return this.#others?.keys() ?? [];
  }

  #take(name: string, value: string): void {
    switch (name) {
      case "authorization":
        this.authorization ||= value;
        break;
      case "x-api-key":
        this.apiKey ||= value;
        break;
      case "content-type":
        this.contentType ||= value;
        break;
      case "content-encoding":
        this.contentEncoding = listed(this.contentEncoding, value);
        break;
      case "user-agent":
        this.userAgent ||= value;
        break;
      case "idempotency-key":
        this.idempotencyKey ||= value || NO_KEY;
        break;
      case "svc-version":
        this.svcVersion ||= value;
        break;
      case "x-svc-debug":
        this.debug ||= value;
        break;
      case "anthropic-beta":
        this.anthropicBeta ||= value;
        break;
      case "anthropic-version":
        this.anthropicVersion ||= value;
        break;
      case "openai-beta":
        this.openaiBeta ||= value;
        break;
      case "x-forwarded-for":
        // Each proxy may add a line of its own.
        this.forwardedFor = listed(this.forwardedFor, value);
        break;
      case "http-referer":
        this.appUrl ||= value;
        break;
      case "x-title":
      case "x-openrouter-title":
        this.appTitle ||= value;
        break;
      default:
        this.#takeFraming(name, value);
    }
  }

  #keep(name: string, value: string): void {
    if (this.#others?.has(name) === false) this.#others.set(name, value);
  }

  #takeTrace(name: string, value: string): void {
    if (name === "traceparent") this.traceparent += this.traceparent === "" ? value : `,${value}`;
    else if (name === "tracestate") this.tracestate += this.tracestate === "" ? value : `,${value}`;
  }

  #takeFraming(name: string, value: string): void {
    if (name === "content-length") {
      if (this.contentLength >= 0) this.fault = "Content-Length stands twice.";
      else {
        const length = lengthOf(value);
        if (length < 0) this.fault = "Content-Length is no length.";
        else this.contentLength = length;
      }
    } else if (name === "transfer-encoding") {
      if (this.isChunked) this.fault = "Transfer-Encoding stands twice.";
      else if (value.toLowerCase() !== "chunked") this.fault = "Transfer-Encoding is not chunked.";
      this.isChunked = true;
    } else if (name === "host" && ++this.#hosts > 1) this.fault = "Host stands twice.";
    else if (name === "origin") this.origin ||= value;
  }
}

const MOST_DIGITS = 18;
const ZERO = 48;

/** A length in digits; -1 where it is none. */
function lengthOf(value: string): number {
  const { length } = value;
  if (length < 1 || length > MOST_DIGITS) return -1;
  let sum = 0;
  for (let i = 0; i < length; i++) {
    const digit = value.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    sum = sum * 10 + digit;
  }
  return sum;
}

/** Lines of one name are one list (RFC 9110, section 5.3). */
const listed = (list: string, value: string): string => (list === "" ? value : `${list},${value}`);

/** 4 or 16 bytes each: of the socket's other end, and of the client behind proxies that are trusted. */
export interface Addresses {
  readonly peer: ArrayBuffer;
  readonly client: ArrayBuffer;
}

/**
 * The head as operations, hooks and pages see it; needs `keepsAll`.
 * @param publicHost host and port by which browsers reach the gateway, where a proxy may send another `Host`
 */
export function httpHead(head: RequestHead, { peer, client }: Addresses, publicHost?: string): HttpHead {
  let cookies: Record<string, string | undefined> | undefined;
  // Read now: the socket's bytes are another request's soon.
  const address = addressText(client);
  const peerText = peer === client ? address : addressText(peer);
  return {
    header: (name) => head.header(name),
    cookie(name) {
      cookies ??= isOfOtherOrigin(head, publicHost) ? {} : parseCookie(head.header("cookie"));
      return Object.hasOwn(cookies, name) ? cookies[name] : undefined;
    },
    address,
    get isFromThisMachine() {
      return isFromThisMachine({ peer: peerText, host: head.header("host"), names: head.names() });
    },
  };
}

/**
 * Whether a script or an element of another origin's page sends the request: a link or a form that leads here does not count. Browsers
 * send cookies unasked, to another port of a host or another name of a site even where they are SameSite. They say what they do in
 * fetch metadata (https://www.w3.org/TR/fetch-metadata/), but not over http to another machine.
 */
function isOfOtherOrigin(head: RequestHead, publicHost: string | undefined): boolean {
  const site = head.header("sec-fetch-site");
  if (site !== "")
    return site !== "same-origin" && site !== "none" && head.header("sec-fetch-mode") !== "navigate";
  if (head.origin === "") return false;
  const host = head.origin.slice(head.origin.indexOf("://") + 3);
  return host !== head.header("host").toLowerCase() && host !== publicHost;
}

const BEARER = "Bearer ";

/** The bearer credential; undefined where missing. RFC 6750: scheme in any case, one space or more. */
export function bearer({ authorization }: RequestHead): string | undefined {
  const scheme = authorization.slice(0, BEARER.length);
  // As nearly all clients write it.
  if (scheme !== BEARER && scheme.toLowerCase() !== BEARER.toLowerCase()) return undefined;
  return authorization.length === BEARER.length ? undefined : authorization.slice(BEARER.length).trim();
}

const HOST = /^[\w.-]{1,253}(:\d{1,5})?$|^\[[\da-f:.]{2,45}\](:\d{1,5})?$/i;

/**
 * The base URL that the client used, safe to show to it again; empty where its `Host` is invalid. A proxy signals https
 * by `X-Forwarded-Proto`.
 */
export function servedAddress(req: HttpRequest): string {
  const host = req.getHeader("host");
  if (!HOST.test(host)) return "";
  return `${req.getHeader("x-forwarded-proto") === "https" ? "https" : "http"}://${host}`;
}

/** The credential in Anthropic's header; undefined where missing. */
export const apiKey = (head: RequestHead): string | undefined => head.apiKey || undefined;

/**
 * Checks the body's content type if there is one: many clients send none. @throws WeirError 415
 * `unsupported_media_type`
 */
export function requireJson({ contentType }: RequestHead): void {
  if (contentType === "" || contentType === "application/json" || JSON_TYPES.test(contentType)) return;
  throw fail(
    "unsupported_media_type",
    `The body's Content-Type is "${contentType.slice(0, 100)}". Send JSON, with "Content-Type: application/json".`,
  );
}

const JSON_TYPES = /^application\/([\w.+-]+\+)?json\s*(;|$)/i;

const NO_FEATURES: Readonly<Record<string, string>> = Object.freeze({});
/** Comma-separated names of features; anything else is not passed on. */
const FEATURES = /^[\w.,=; -]{1,1000}$/;

/** Headers by which a client of a format sets provider options outside the body; they are passed on. */
export function passingHeaders(
  head: RequestHead,
  { featuresHeader }: ClientFormat["habits"],
): Readonly<Record<string, string>> {
  if (featuresHeader === undefined) return NO_FEATURES;
  const features = featuresHeader === "anthropic-beta" ? head.anthropicBeta : head.openaiBeta;
  return FEATURES.test(features) ? { [featuresHeader]: features } : NO_FEATURES;
}

/** Texts of /24 of IPv4, by their 24 bits; those beyond are written each time. */
const nets = new Map<number, string>();
const MOST_NETS = 10_000;

function netText(net: number): string {
  const text = `${net >> 16}.${(net >> 8) & 255}.${net & 255}.0/24`;
  if (nets.size < MOST_NETS) nets.set(net, text);
  return text;
}

/**
 * /24 of an IPv4, /48 of an IPv6 address: enough for the region, not for the person.
 * @param address its 4 or 16 bytes; an IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) counts as IPv4.
 */
export function ipPrefix(address: ArrayBuffer): string {
  const bytes = new Uint8Array(address);
  if (bytes.length === 4) {
    const net = ((bytes[0] as number) << 16) | ((bytes[1] as number) << 8) | (bytes[2] as number);
    return nets.get(net) ?? netText(net);
  }
  if (bytes.length !== 16) return "";
  if (isMapped(bytes)) return `${bytes[12]}.${bytes[13]}.${bytes[14]}.0/24`;
  const group = (at: number) => (((bytes[at] as number) << 8) | (bytes[at + 1] as number)).toString(16);
  return `${group(0)}:${group(2)}:${group(4)}::/48`;
}

/** An IPv4-mapped IPv6 address is written as IPv4; IPv6 as in RFC 5952. */
export function addressText(address: ArrayBuffer): string {
  const bytes = new Uint8Array(address);
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) return "";
  if (isMapped(bytes)) return bytes.subarray(12).join(".");
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number)).toString(16),
  );
  // URL writes the shortest form.
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

const isMapped = (bytes: Uint8Array): boolean =>
  bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((byte) => byte === 0);
