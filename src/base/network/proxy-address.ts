/**
 * Addresses of proxies as operators write them: `http://user:password@proxy.example:3128`. What serialisers and loggers
 * see of one names the proxy and never contains its credentials (T61).
 */
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";

/** `socks5`: names are looked up here; `socks5h`: by the proxy. */
type ProxyScheme = "http" | "https" | "socks5" | "socks5h";

export interface ProxyAddress {
  readonly scheme: ProxyScheme;
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The URL without credentials: `http://proxy.example:3128`. */
  readonly shown: string;
  /** Not enumerable; never logged, never in an error. */
  readonly credentials: ProxyCredentials | undefined;
  /** Equal for addresses that agree in everything, credentials included. Not enumerable: it is a digest of them. */
  readonly id: string;
}

/** Percent-decoded. Bytes, because a password for a proxy of HTTP need not be UTF-8. */
export interface ProxyCredentials {
  readonly user: Buffer;
  readonly password: Buffer;
}

/** What signs in to a proxy of HTTP, before it is encoded (RFC 7617, 2). */
export const basicPair = ({ user, password }: ProxyCredentials): Buffer =>
  Buffer.concat([user, Buffer.from(":"), password]);

const PORTS: Readonly<Record<ProxyScheme, number>> = { http: 80, https: 443, socks5: 1080, socks5h: 1080 };
/** RFC 1929 has one byte for each length. */
const MAX_SOCKS_BYTES = 255;
const COLON = 0x3a;
/** Names of DNS with what else resolvers take, and addresses. A URL's reader takes other signs too, such as those of a variable that was not filled in. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])$/;

/**
 * Reads the URL of a proxy; without a scheme it is `http`, as curl has it.
 * @throws Error with what is wrong, without repeating the text: it may hold a password
 */
export function readProxyAddress(text: string): ProxyAddress {
  const trimmed = text.trim();
  if (trimmed === "")
    throw new Error("is blank: unset it, or name a proxy such as http://proxy.example:3128");
  if (/^["'\u0060\u2018\u201c]|["'\u0060\u2019\u201d]$/.test(trimmed))
    throw new Error("has quotes around it: leave them out");
  // A URL's reader leaves line breaks out, wherever they are.
  if (/\p{Cc}/u.test(trimmed)) throw new Error("has a line break or another control character within");
  const url = URL.parse(trimmed.includes("://") ? trimmed : `http://${trimmed}`);
  if (url === null) throw new Error("is no URL of a proxy such as http://proxy.example:3128");
  const scheme = url.protocol.slice(0, -1);
  if (!isScheme(scheme)) throw new Error("must be an http, https, socks5 or socks5h URL");
  if (url.pathname.length > 1 || url.search !== "" || url.hash !== "") {
    throw new Error("must end behind the port; write / ? # of a password as %2F %3F %23");
  }
  // A URL of SOCKS leaves its host as it was written.
  const host = URL.parse(`http://${url.hostname}`)?.hostname ?? "";
  if (!HOST.test(host)) throw new Error("names no host");
  const port = url.port === "" ? PORTS[scheme] : Number(url.port);
  if (port === 0) throw new Error("must have a port from 1 to 65535");
  const credentials = credentialsOf(url, scheme);
  const shown = `${scheme}://${host}:${port}`;
  const id = hash("sha256", JSON.stringify([shown, url.username, url.password]));
  const address = { scheme, host: withoutBrackets(host), port, shown };
  // Not enumerable: JSON.stringify, spreads, console and loggers skip them.
  return Object.freeze(
    Object.defineProperties(address, {
      credentials: { value: credentials },
      id: { value: id },
    }) as typeof address & Pick<ProxyAddress, "credentials" | "id">,
  );
}

const isScheme = (text: string): text is ProxyScheme => Object.hasOwn(PORTS, text);

/** A URL writes IPv6 addresses in brackets. */
export const withoutBrackets = (hostname: string): string =>
  hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;

/** @throws Error where the proxy's protocol cannot carry them */
function credentialsOf({ username, password }: URL, scheme: ProxyScheme): ProxyCredentials | undefined {
  if (username === "" && password === "") return undefined;
  const credentials = { user: decoded(username), password: decoded(password) };
  if (scheme === "http" || scheme === "https") {
    // RFC 7617, 2: the first colon ends the name.
    if (credentials.user.includes(COLON)) throw new Error("must have no colon in the name of its user");
  } else {
    const parts = [credentials.user, credentials.password];
    if (parts.some(({ length }) => length === 0 || length > MAX_SOCKS_BYTES))
      throw new Error(`must have a user and a password of 1 to ${MAX_SOCKS_BYTES} bytes`);
    // The library of SOCKS takes texts, and makes three bytes of one that is none.
    if (!parts.every(isUtf8)) throw new Error("must have a user and a password in UTF-8");
  }
  return Object.freeze(credentials);
}

/** The URL has percent-encoded all but ASCII; a percent sign that encodes nothing is itself. */
const decoded = (text: string): Buffer =>
  Buffer.from(
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
