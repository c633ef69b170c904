/**
 * What a URL that a tenant gives says of where a call goes: checked when it is saved, and again for each call, because rules
 * change. Names are looked up later (`resolve.ts`); nothing here waits.
 */
import { fail } from "../base/errors.ts";
import { type Address, isLocalName, LOOPBACK, readAddress } from "./address.ts";
import { allowsPrivate, isAllowed, type OutboundRules } from "./rules.ts";

export interface Target {
  /** Normalised, without a fragment. */
  readonly href: string;
  readonly origin: string;
  readonly isTls: boolean;
  /** Value of the header `Host`. */
  readonly host: string;
  /** The name or address to call: lower case, ASCII, without brackets and without a dot at its end. */
  readonly name: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** Where no name has to be looked up: the addresses that the URL or its special name means, all of them allowed. */
  readonly addresses: readonly Address[] | undefined;
}

const MAX_URL_LENGTH = 2048;

/**
 * Checks a URL that is about to be saved.
 * @param param pointer to the field that has the URL
 * @returns the normalised URL (WHATWG), without its fragment
 * @throws `invalid_value` where it can be told without DNS that calls of this URL will be refused
 */
export function parseTarget(url: string, rules: OutboundRules, param = "/url"): string {
  const target = readTarget(url, rules);
  if (typeof target === "string") throw fail("invalid_value", target, { param });
  return target.href;
}

/**
 * @param mayBePlain whether `http://` may be called beyond this machine
 * @returns where a call of this URL goes, or why it is refused, in a sentence for the tenant
 */
export function readTarget(text: string, rules: OutboundRules, mayBePlain = false): Target | string {
  if (text.length > MAX_URL_LENGTH) return `The URL is longer than ${MAX_URL_LENGTH} characters.`;
  // The parser would drop some of them without a word.
  if (/[\0-\x20\x7f]/.test(text)) return "The URL contains white space or control characters.";
  const url = URL.parse(text);
  if (url === null) return "This is not a valid URL.";
  const isTls = url.protocol === "https:";
  if (!isTls && url.protocol !== "http:")
    return `The URL must begin with https://${mayBePlain ? " or http://" : ""}.`;
  if (url.username !== "" || url.password !== "")
    return "The URL must not contain a user name or a password.";
  url.hash = "";
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (url.href.length > MAX_URL_LENGTH) return `The URL is longer than ${MAX_URL_LENGTH} characters.`;
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  if (port === 0) return "No call can be made to port 0.";

  const name = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const addresses = addressesIn(name, port, rules);
  if (typeof addresses === "string") return addresses;
  if (!isTls && !mayBePlain && (addresses === undefined || !areLoopback(addresses)))
    return "The URL must begin with https://.";
  const path = `${url.pathname}${url.search}`;
  return { href: url.href, origin: url.origin, isTls, host: url.host, name, port, path, addresses };
}

/** Whether `http://` is allowed: nobody but this machine can read what is sent. */
const areLoopback = (addresses: readonly Address[]): boolean =>
  addresses.every((address) => address.class === "loopback");

/** @returns undefined if the name has to be looked up, or why it is refused */
function addressesIn(
  name: string,
  port: number,
  rules: OutboundRules,
): readonly Address[] | string | undefined {
  if (rules.isNameOfInstallation?.(name, port) === true)
    return "Calls to the gateway itself are not allowed.";
  const literal = readAddress(name);
  if (literal !== undefined) {
    return isAllowed(literal, port, rules) ? [literal] : "Calls to this address and port are not allowed.";
  }
  if (!isHostName(name)) return "The host of the URL is not a valid name.";
  if (isLocalName(name)) {
    const allowed = LOOPBACK.filter((address) => isAllowed(address, port, rules));
    return allowed.length > 0 ? allowed : "Calls to this host and port are not allowed.";
  }
  if (isPrivateName(name) && !allowsPrivate(rules))
    return "Calls to hosts of a private network are not allowed.";
  return undefined;
}

/** RFC 1035, 2.3.4, and the underscore, which some hosts have. */
const isHostName = (name: string): boolean =>
  name.length <= 253 && name.split(".").every((label) => /^[a-z\d_-]{1,63}$/.test(label));

/** Names that mean something inside a network only: RFC 6762, RFC 8375, ICANN's `.internal`, and names without a dot. */
const isPrivateName = (name: string): boolean =>
  !name.includes(".") ||
  [".local", ".internal", ".home.arpa"].some((end) => name.endsWith(end)) ||
  name === "home.arpa";
