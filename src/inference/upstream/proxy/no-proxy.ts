/**
 * `NO_PROXY`: which hosts are called around the proxy. There is no standard; this is curl's reading (curl.se/docs/manpage.html),
 * with the ports of hosts and the loopback of Go (pkg.go.dev/golang.org/x/net/http/httpproxy).
 */
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { cidrAllows } from "../../../base/network/cidr-list.ts";
import { peerOf } from "../http/dial.ts";

/** Whether an origin is called directly. */
export type IsDirect = (origin: URL) => boolean;

/** An entry of the list: whether it means this host, which is in lower case and without brackets. */
type Means = (host: string, port: number) => boolean;

/** This machine, whatever the list says: a proxy elsewhere would reach itself. An unspecified address is dialled as loopback. */
const THIS_MACHINE = ["127.0.0.0/8", "::1", "0.0.0.0", "::"];

/**
 * Reads a list, separated by commas or blanks, of names (with all names below them), addresses, ranges such as `10.0.0.0/8`, each of
 * the first two with or without a port, and `*` for all. What is none of these means no host.
 */
export function readNoProxy(text: string): IsDirect {
  const entries = entriesOf(text).flatMap((entry) => entryOf(entry) ?? []);
  return (origin) => {
    const { host: name, port } = peerOf(origin);
    const host = name.replace(/\.$/, "");
    return isThisMachine(host) || entries.some((means) => means(host, port));
  };
}

/** Places, from 1, of entries that mean no host: a URL, `10.*`, what has quotes. Not their texts, since a URL may hold a password. */
export function meaningless(text: string): number[] {
  return entriesOf(text).flatMap((entry, at) => (isUnderstood(entry) ? [] : [at + 1]));
}

const entriesOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map((entry) => entry.toLowerCase());

/** A range is one if its own address is in it. */
function isUnderstood(entry: string): boolean {
  if (!entry.includes("/")) return entryOf(entry) !== undefined;
  const range = entry.replace(/^\[([^\]]*)\]/, "$1");
  const address = range.split("/", 1)[0] as string;
  return isIP(address) !== 0 && cidrAllows([range], address);
}

/** Names of loopback mean it whatever DNS says (RFC 6761, 6.3). */
const isThisMachine = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || (isIP(host) !== 0 && cidrAllows(THIS_MACHINE, host));

/** Undefined: it means no host. */
function entryOf(entry: string): Means | undefined {
  const whole = meansHost(entry);
  if (whole !== undefined) return whole;
  const colon = entry.lastIndexOf(":");
  const port = entry.slice(colon + 1);
  const means = colon < 0 || !/^\d{1,5}$/.test(port) ? undefined : meansHost(entry.slice(0, colon));
  return means && ((host, at) => means(host, at) && at === Number(port));
}

/** Undefined where the text has a port, or is no host. */
function meansHost(text: string): Means | undefined {
  if (text === "*") return () => true;
  const address = /^\[([^\]]*)\](\/\d{1,3})?$/.exec(text);
  const range = address === null ? text : `${address[1]}${address[2] ?? ""}`;
  if (isIP(range.split("/", 1)[0] as string) !== 0) {
    const list = [range];
    return (host) => isIP(host) !== 0 && cidrAllows(list, host);
  }
  // What reads names would read the host of a whole URL.
  if (/[/\\?#@:%"'*]/.test(text.replace(/^\*\./, ""))) return undefined;
  const name = domainToASCII(text.replace(/^\*?\./, "").replace(/\.$/, ""));
  if (name === "") return undefined;
  return (host) => isIP(host) === 0 && (host === name || host.endsWith(`.${name}`));
}
