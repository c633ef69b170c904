/**
 * What every request to the identity provider must be, and what every answer carries. A page elsewhere must neither reach
 * it under another name (DNS rebinding), nor send forms to it, nor show it in a frame.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import ipaddr from "ipaddr.js";
import { STYLE_SOURCE } from "./pages.ts";

const MAX_BODY_BYTES = 16_384;

/** `localhost`, or an address of 127.0.0.0/8, or `::1`. */
export const isLoopback = (host: string): boolean =>
  host.toLowerCase() === "localhost" || (ipaddr.isValid(host) && ipaddr.parse(host).range() === "loopback");

/** @returns why the request is not served, or undefined */
export function refusal(request: IncomingMessage): { status: number; reason: string } | undefined {
  const { host = "", origin } = request.headers;
  const address = URL.parse(`http://${host}`);
  if (address === null || !isLoopback(address.hostname.replace(/^\[|\]$/g, "")) || !isPlainHost(host))
    return { status: 421, reason: "This address is served on loopback names only." };
  if (!request.url?.startsWith("/")) return { status: 400, reason: "The target of the request is no path." };
  if (origin !== undefined && request.method === "POST" && origin !== `http://${address.host}`)
    return { status: 403, reason: "This form was sent from another page." };
  if (request.headers["transfer-encoding"] !== undefined)
    return { status: 411, reason: "The length of the body is not told." };
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES)
    return { status: 413, reason: `The body has more than ${MAX_BODY_BYTES} bytes.` };
  return undefined;
}

/** Name and port, and neither user nor path, which a URL may have too. */
const isPlainHost = (host: string): boolean => /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host);

/**
 * The headers of every answer. The library adds the digest of its own script to `script-src`, where a page of it hands a
 * form over by itself.
 * @param formTargets origins to which an answer may redirect after a form: browsers hold `form-action` against them too
 */
export const securityHeaders = (formTargets: readonly string[]): Readonly<Record<string, string>> => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src",
    `style-src ${STYLE_SOURCE}`,
    "img-src data:",
    // A source cannot name an IPv6 address: browsers would say so, and leave it out.
    ["form-action 'self'", ...formTargets.filter((origin) => !origin.includes("["))].join(" "),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  // Not "no-referrer", under which forms are sent with the origin "null".
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
});

export function sendPage(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, { "content-type": "text/html; charset=utf-8" });
  response.end(page);
}
