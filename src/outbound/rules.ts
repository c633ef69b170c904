/**
 * What an installation lets its tenants have called beside public addresses, and what never: the gateway's own ports on
 * this machine, and services that give out credentials unless each is listed by itself.
 */
import { isIP, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import type { Clock } from "../base/clock.ts";
import { fail } from "../base/errors.ts";
import { type Address, readAddress } from "./address.ts";

/** What URLs of one org may reach. */
export interface OutboundRules {
  /** Addresses that may be called although they are not public. */
  readonly allow: readonly Cidr[];
  /** Ports on which processes of the installation listen: refused on every address of this machine, whatever is allowed. */
  readonly ownPorts: () => readonly number[];
  /** Addresses of this machine's interfaces, canonical; those of loopback need not be among them. */
  readonly ownAddresses: () => ReadonlySet<string>;
  /** Whether a process of the installation on another machine, or a service that it uses, listens there. Undefined: none does. */
  readonly isOfInstallation?: ((address: Address, port: number) => boolean) | undefined;
  /** Whether the installation itself, or a service that it uses, is known by this name, without brackets. Undefined: none is. */
  readonly isNameOfInstallation?: ((name: string, port: number) => boolean) | undefined;
}

/** The rules for URLs that this org gives. Asked for each call. */
export type RulesOf = (orgId: string) => OutboundRules;

/** A range of addresses, as in RFC 4632, 3.1 and RFC 4291, 2.3. */
export interface Cidr {
  /** The first address of the range. */
  readonly base: Address;
  /** Number of bits that all addresses of the range share. */
  readonly prefix: number;
}

const MAX_RANGES = 256;

/**
 * Reads ranges such as `10.0.0.0/8` and `fd00::/8`.
 * @throws `invalid_value` with what to write instead; `param` is the pointer to the range within the list
 */
export function readAllow(ranges: readonly string[]): readonly Cidr[] {
  if (ranges.length > MAX_RANGES) throw fail("invalid_value", `At most ${MAX_RANGES} ranges may be listed.`);
  return ranges.map((text, i) => {
    const read = readCidr(text);
    if (typeof read === "string") throw fail("invalid_value", read, { param: `/${i}` });
    return read;
  });
}

/** @returns the range, or what is wrong with the text */
function readCidr(text: string): Cidr | string {
  const quoted = JSON.stringify(text.slice(0, 100));
  const [start = "", bits, ...more] = text.split("/", 3);
  const address = readAddress(start);
  if (address === undefined || more.length > 0) {
    return `${quoted} is no range of addresses such as 10.0.0.0/8 or fd00::/8.`;
  }
  const size = isIPv4(start) ? 32 : 128;
  if (bits === undefined)
    return `${quoted} has no prefix length; for this one address write ${start}/${size}.`;
  // A range of mapped addresses would match nothing: they are looked at as IPv4 addresses.
  if (isIP(start) !== isIP(address.text)) {
    return `${quoted} is a range of IPv4-mapped addresses; write the IPv4 range itself.`;
  }
  const prefix = Number(bits);
  if (!/^\d{1,3}$/.test(bits) || prefix > size) {
    return `The prefix length of ${quoted} is not a number from 0 to ${size}.`;
  }
  const range = `${address.text}/${prefix}`;
  const first =
    size === 32 ? ipaddr.IPv4.networkAddressFromCIDR(range) : ipaddr.IPv6.networkAddressFromCIDR(range);
  if (first.toString() !== address.text)
    return `${quoted} does not begin at ${address.text}; write ${first}/${prefix}.`;
  return { base: address, prefix };
}

/** Whether the address may be called on this port. */
export function isAllowed(address: Address, port: number, rules: OutboundRules): boolean {
  if (rules.ownPorts().includes(port) && isOwn(address, rules)) return false;
  if (rules.isOfInstallation?.(address, port) === true) return false;
  return address.class === "public" || rules.allow.some((range) => covers(range, address));
}

/** A wide range does not open metadata services: an operator who means one lists its address alone. */
function covers({ base, prefix }: Cidr, { ip, class: kind }: Address): boolean {
  if (base.ip.kind() !== ip.kind()) return false;
  if (kind === "metadata" && prefix !== (ip.kind() === "ipv4" ? 32 : 128)) return false;
  return ip.match(base.ip, prefix);
}

/** Whether it is an address of this machine. An unspecified address is dialled as loopback. */
export const isOwn = (
  { text, class: kind }: Address,
  { ownAddresses }: Pick<OutboundRules, "ownAddresses">,
): boolean => kind === "loopback" || kind === "unspecified" || ownAddresses().has(text);

/** Whether ranges outside loopback are allowed, so that names of a private network may be meant. */
export const allowsPrivate = ({ allow }: OutboundRules): boolean =>
  allow.some(({ base, prefix }) => base.class !== "loopback" || prefix < 8);

/** Interfaces change rarely, and listing them is a dozen system calls. */
const INTERFACES_MS = 5_000;

/** The addresses of this machine's interfaces, looked up again after five seconds. */
export function ownAddresses({ monotonic }: Clock): () => ReadonlySet<string> {
  let addresses: ReadonlySet<string> = new Set();
  let untilMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (monotonic() < untilMs) return addresses;
    untilMs = monotonic() + INTERFACES_MS;
    const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    addresses = new Set(all.flatMap(({ address }) => readAddress(address.replace(/%.*/, ""))?.text ?? []));
    return addresses;
  };
}
