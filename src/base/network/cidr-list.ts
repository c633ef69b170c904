/**
 * Lists of IP addresses and CIDR ranges (RFC 4632, RFC 4291): `console_ip_allow`. Kept in one canonical form, so that two
 * entries that mean the same are the same text. An IPv4-mapped IPv6 address counts as its IPv4 address.
 */
import ipaddr from "ipaddr.js";
import { z } from "zod";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Range {
  readonly first: Address;
  readonly bits: number;
}

const MAX_ENTRIES = 64;
/** A mapped address: ::ffff:0:0/96 (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;
/** Longer than any address with a prefix length. */
const MAX_CHARACTERS = 64;

/** Octal, hexadecimal and shortened IPv4 addresses are refused: programs do not agree on what they mean. */
function parseAddress(text: string): Address | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // A zone (%eth0) names a network card of one machine.
  if (!text.includes(":") || text.includes("%") || /(?:^|[:.])0\d+\./.test(text)) return undefined;
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

const widthOf = (address: Address): number => (address.kind() === "ipv4" ? 32 : 128);

/** The range of an entry, with the address as it was written; undefined if it is none. */
function parseRange(text: string): Range | undefined {
  const slash = text.indexOf("/");
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  const written = slash < 0 ? String(widthOf(address)) : text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(written) || Number(written) > widthOf(address)) return undefined;
  const bits = Number(written);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_BITS) {
    return { first: address.toIPv4Address(), bits: bits - MAPPED_BITS };
  }
  return { first: address, bits };
}

const textOf = (address: Address): string =>
  address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();

/** One address is written without its prefix length. */
const rangeText = ({ first, bits }: Range): string =>
  bits === widthOf(first) ? textOf(first) : `${textOf(first)}/${bits}`;

/** The range's first address: the one given, with its host bits cleared. */
function networkOf({ first, bits }: Range): Address {
  const family = first instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  return family.networkAddressFromCIDR(`${first}/${bits}`);
}

const entryField = z
  .string()
  .max(MAX_CHARACTERS, "an address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24")
  .meta({ examples: ["203.0.113.0/24"] })
  .transform((given, context) => {
    const range = parseRange(given.trim());
    if (range === undefined) {
      const message = "an address or a CIDR, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32";
      context.issues.push({ code: "custom", message, input: given });
      return given;
    }
    const network = rangeText({ first: networkOf(range), bits: range.bits });
    if (network !== rangeText(range)) {
      const message = `this range begins at another address: write ${network}, or ${textOf(range.first)} for the one address`;
      context.issues.push({ code: "custom", message, input: given });
    }
    return network;
  });

/** A list of addresses and CIDRs; canonical and each once after it is read. */
export const cidrListField = z
  .array(entryField)
  .max(MAX_ENTRIES, `at most ${MAX_ENTRIES} addresses and CIDRs`)
  .transform((entries) => [...new Set(entries)]);

/** Parsed lists: the list of a row is replaced, never changed. */
const parsed = new WeakMap<readonly string[], readonly Range[]>();

/**
 * Whether a list lets an address in. An empty list lets everyone in; else a text that is no address is refused.
 * `::/0` means every IPv6 address and no IPv4 address.
 */
export function cidrAllows(list: readonly string[], address: string): boolean {
  if (list.length === 0) return true;
  const one = address.includes("/") ? undefined : parseRange(address);
  if (one === undefined) return false;
  let ranges = parsed.get(list);
  if (ranges === undefined) {
    ranges = list.flatMap((entry) => parseRange(entry) ?? []);
    parsed.set(list, ranges);
  }
  return ranges.some(({ first, bits }) => first.kind() === one.first.kind() && one.first.match(first, bits));
}
