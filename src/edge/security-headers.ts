/**
 * What every answer says to browsers, in one place: the reply adds it to whatever is answered, so that a route need not think of it.
 * An answer to a program may load, run and submit nothing, in no frame. A page may use styles of its own (their hashes are taken from
 * it) and of `/assets/`, and send forms to this gateway; it has no script. An answer that sets one of these headers itself keeps what
 * it says. The lines are made once: for a model call they are one constant more behind its own headers.
 */
import { createHash } from "node:crypto";

export interface SecurityHeaders {
  /** Behind the headers of JSON and of event streams that set none of these. */
  readonly plain: string;
  /**
   * Behind any other headers.
   * @param headers lines of the answer
   * @param body undefined where it is a stream: a page then has no styles of its own
   */
  of(headers: string, body: string | Buffer | undefined): string;
}

const POLICY = "content-security-policy";
/** For what is no page. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

const COMMON: readonly (readonly [string, string])[] = [
  [POLICY, NOTHING],
  // For browsers that do not know frame-ancestors.
  ["x-frame-options", "DENY"],
  ["x-content-type-options", "nosniff"],
  // Not "no-referrer", under which forms are sent with the origin "null".
  ["referrer-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
];

/** RFC 6797: a year. Not for other names below this one, which may not have certificates. */
const HSTS = ["strict-transport-security", "max-age=31536000"] as const;

/** @param isHttps browsers reach the gateway by https only: `PUBLIC_URL` says so */
export function securityHeaders(isHttps: boolean): SecurityHeaders {
  const all = isHttps ? [...COMMON, HSTS] : COMMON;
  return {
    plain: linesOf(all),
    of(headers, body) {
      const own = new Set(headers.split("\r\n").map((line) => line.slice(0, line.indexOf(":"))));
      const type = /^content-type: ([^;\r\n]*)/m.exec(headers)?.[1] ?? "";
      const lines = all
        .filter(([name]) => !own.has(name))
        .map(([name, value]) => [name, valueFor(type, name, body) ?? value] as const);
      return linesOf(lines);
    },
  };
}

const linesOf = (headers: readonly (readonly [string, string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");

/** The value of a header; undefined: the usual one. */
function valueFor(type: string, name: string, body: string | Buffer | undefined): string | undefined {
  if (name === POLICY && type === "text/html") return pagePolicy(body);
  // Badges are shown in other sites' pages.
  if (name === "cross-origin-resource-policy" && type.startsWith("image/")) return "cross-origin";
  return undefined;
}

function pagePolicy(body: string | Buffer | undefined): string {
  const text = typeof body === "string" ? body : (body?.toString() ?? "");
  const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style = ""]) => hashOf(style));
  return [
    "default-src 'none'",
    ["style-src 'self'", ...new Set(styles)].join(" "),
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const hashOf = (style: string): string => `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
