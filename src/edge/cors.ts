/**
 * What pages of other origins may call (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol): routes that a bearer key opens and that
 * are of use to a page, which are model calls, the catalog and usage. Nothing here opens them to a cookie: no answer allows credentials,
 * and `request.ts` gives a session's cookie to no script of another origin.
 */
import { needsOf } from "../base/operation/access.ts";
import type { Group } from "../base/operation/group.ts";
import type { RequestHead } from "./request.ts";
import type { Route } from "./routes.ts";

/** What one route says to pages of other origins. As lines of a head, made once. */
export interface Cors {
  /** To a request without an origin; may be empty. */
  readonly unasked: string;
  /** To a request of this origin, in every answer. */
  of(origin: string): string;
  /** To a preflight. @param head needs `keepsAll` */
  preflight(head: RequestHead): string;
}

/** Every origin. */
export const ANY_ORIGIN = "*";

/** Headings under which everything is open that a key opens, or that is public. */
const HEADINGS: ReadonlySet<Group> = new Set(["Inference", "Native inference", "Catalog", "Usage"]);
/** Headings of which other origins may call the public routes alone: prices, pages of apps. */
const PUBLIC_HEADINGS: ReadonlySet<Group> = new Set(["Plans", "Apps"]);

/** Whether pages of other origins may call the route. */
export function isForOtherOrigins({ access, group: { heading } }: Pick<Route, "access" | "group">): boolean {
  if (access === "public") return HEADINGS.has(heading) || PUBLIC_HEADINGS.has(heading);
  return HEADINGS.has(heading) && needsOf(access).key !== undefined;
}

/** The state of a key's limits, in the names of both formats. */
const LIMIT_HEADERS = ["requests", "tokens"].flatMap((unit) =>
  ["limit", "remaining", "reset"].flatMap((what) => [
    `x-ratelimit-${what}-${unit}`,
    `anthropic-ratelimit-${unit}-${what}`,
  ]),
);

/** Headers of answers that scripts may read, beside the few that they always may. A list: `*` is unknown to older browsers. */
const EXPOSED = `access-control-expose-headers: ${[
  "x-svc-request-id",
  "x-request-id",
  "request-id",
  "x-svc-route-trace",
  "idempotent-replayed",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  ...LIMIT_HEADERS,
  "allow",
  "accept-encoding",
  "etag",
  "content-disposition",
  "x-svc-incomplete-since",
  "x-svc-next-cursor",
  "x-svc-rows",
  "x-svc-row-limit",
  "x-svc-time-limit-seconds",
].join(", ")}\r\n`;

/** Chromium keeps a preflight no longer: two hours. */
const MAX_AGE_S = 7200;

/**
 * @param origins of `weir.yaml`: `*` alone, or exact origins; not empty
 * @param methods of the routes of this path that other origins may call
 * @param isCall a model call: no cache keeps its answers, so that one without an origin says nothing of origins
 */
export function corsOf(origins: readonly string[], methods: readonly string[], isCall: boolean): Cors {
  const isAny = origins.includes(ANY_ORIGIN);
  // For caches: the answer is another one to another origin.
  const vary = isAny ? "" : "vary: origin\r\n";
  const allowed = new Map(
    origins.map((origin) => [origin, `access-control-allow-origin: ${origin}\r\n${vary}`]),
  );
  const answers = new Map([...allowed].map(([origin, lines]) => [origin, lines + EXPOSED]));
  const nameOf = (origin: string) => (isAny ? ANY_ORIGIN : origin);
  const of = (origin: string) => answers.get(nameOf(origin)) ?? vary;
  const names = methods.join(", ");
  const allow = `allow: ${names}, OPTIONS\r\n`;
  return {
    unasked: isCall ? "" : of(""),
    of,
    preflight(head) {
      const lines = allowed.get(nameOf(head.origin));
      if (lines === undefined || head.header("access-control-request-method") === "") return allow + vary;
      const mayAsk = `access-control-allow-methods: ${names}\r\naccess-control-max-age: ${MAX_AGE_S}\r\n`;
      return allow + lines + mayAsk + headerLine(head) + (isAny ? "" : networkLine(head));
    },
  };
}

/** Longer lists are not looked at; clients' own have some twenty names. */
const MOST_CHARACTERS = 4096;
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** The one belongs to sessions, which are not for other origins; the other is a name, but would stand for all but `authorization`. */
const NOT_ALLOWED: ReadonlySet<string> = new Set(["x-svc-csrf", "*"]);

/**
 * The headers that the page wants to send are allowed as it names them: SDKs send many of their own, and none opens anything but the
 * two that carry a key.
 */
function headerLine(head: RequestHead): string {
  const asked = head.header("access-control-request-headers");
  if (asked === "" || asked.length > MOST_CHARACTERS) return "";
  const names = asked.split(",").map((name) => name.trim());
  const allowed = names.filter((name) => TOKEN.test(name) && !NOT_ALLOWED.has(name.toLowerCase()));
  return allowed.length === 0 ? "" : `access-control-allow-headers: ${allowed.join(", ")}\r\n`;
}

/**
 * Chromium 131 to 141 asks so before a public page may reach a private network (https://wicg.github.io/private-network-access/); later
 * ones ask their user. Only for origins that the operator named: `*` would open gateways within a network to every page outside.
 */
const networkLine = (head: RequestHead): string =>
  head.header("access-control-request-private-network") === "true"
    ? "access-control-allow-private-network: true\r\n"
    : "";
