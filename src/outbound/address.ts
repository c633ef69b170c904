/**
 * What kind of address an IP address is. A tenant may have public ones called; whatever is not known to be public is not,
 * and an address that carries another one (NAT64, 6to4, Teredo, …) is never better than what it carries.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * `special`: every other address that the registries of special-purpose addresses list, or that nobody has allocated.
 * `metadata`: services of cloud providers that give credentials to whoever asks from inside.
 */
export type AddressClass = "public" | "loopback" | "unspecified" | "metadata" | "special";

export interface Address {
  /** Canonical (RFC 5952). An IPv4-mapped address is the IPv4 address that the system would dial for it. */
  readonly text: string;
  readonly class: AddressClass;
  readonly ip: ipaddr.IPv4 | ipaddr.IPv6;
}

/** Most are inside special ranges; here are those that an operator must name to allow (`isAllowed`). */
const METADATA: ReadonlySet<string> = new Set([
  // AWS, Google, Azure, Oracle, DigitalOcean, Hetzner, OpenStack; then AWS alone: tasks, pods, over IPv6.
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "fd00:ec2::254",
  "fd00:ec2::23",
  // Google over IPv6; Azure's agent, which has a public address; Oracle Classic; Alibaba; Scaleway.
  "fd20:ce::254",
  "168.63.129.16",
  "192.0.0.192",
  "100.100.100.200",
  "169.254.42.42",
  "fd00:42::42",
]);

/**
 * The class of an address by IANA's registries of special-purpose IPv4 and IPv6 addresses (RFC 6890). Text that is no
 * address, or has a zone (`fe80::1%eth0`), is `special`.
 */
export const addressClass = (text: string): AddressClass => readAddress(text)?.class ?? "special";

/** Whether anybody on the Internet may be meant by this address. */
export const isPublic = (text: string): boolean => addressClass(text) === "public";

/** @returns undefined for what is no address in its usual form: four decimal numbers, or RFC 4291, 2.2, without a zone */
export function readAddress(text: string): Address | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes("%")) return undefined;
  const ip = family === 4 ? ipaddr.IPv4.parse(text) : unmapped(ipaddr.IPv6.parse(withHexEnd(text)));
  const canonical = ip.toString();
  if (METADATA.has(canonical)) return { text: canonical, class: "metadata", ip };
  return { text: canonical, class: ip instanceof ipaddr.IPv4 ? classOf4(ip) : classOf6(ip), ip };
}

/** `::1.2.3.4` as `::102:304`: the library takes it for an IPv4-mapped address, which it is not (RFC 4291, 2.5.5). */
function withHexEnd(text: string): string {
  const start = text.lastIndexOf(":") + 1;
  if (!text.includes(".", start)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = text.slice(start).split(".").map(Number);
  return `${text.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

const unmapped = (ip: ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 =>
  ip.isIPv4MappedAddress() ? ip.toIPv4Address() : ip;

function classOf4(ip: ipaddr.IPv4): AddressClass {
  const range = ip.range();
  if (range === "unicast") return "public";
  return range === "loopback" || range === "unspecified" ? range : "special";
}

/** NAT64 with the prefix that everybody knows; a network's own prefix (RFC 8215) is its own business, so special. */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
/** The only block of which addresses are allocated to anybody (RFC 4291, 2.5.4). */
const ALLOCATED = ipaddr.IPv6.parseCIDR("2000::/3");

function classOf6(ip: ipaddr.IPv6): AddressClass {
  if (ip.match(NAT64)) {
    // With DNS64, a network without IPv4 reaches every IPv4 address of the Internet so (RFC 6052).
    const inner = new ipaddr.IPv4(ip.toByteArray().slice(12));
    if (METADATA.has(inner.toString())) return "metadata";
    return classOf4(inner) === "public" ? "public" : "special";
  }
  const range: string = ip.range();
  if (range === "loopback" || range === "unspecified") return range;
  return range === "unicast" && ip.match(ALLOCATED) && !isIsatap(ip) ? "public" : "special";
}

/** Carries an IPv4 address in its last bytes (RFC 5214, 6.1), whatever network it is in. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean =>
  ((parts[4] as number) & 0xfdff) === 0 && parts[5] === 0x5efe;

export const LOOPBACK = ["127.0.0.1", "::1"].flatMap((text) => readAddress(text) ?? []);

/** These names mean loopback, whatever DNS says (RFC 6761, 6.3). */
export const isLocalName = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");
